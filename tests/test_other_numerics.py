"""The numerics of a plainer CPU are really others, wherever this CPU has more to offer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "other_numerics.py"
PROGRAM = """
import json, os, sys
import numpy as np
features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
print(json.dumps([features, os.environ["OPENBLAS_NUM_THREADS"]]))
sys.exit(7)
"""


def test_a_command_runs_without_the_optional_features_of_numpy() -> None:
    command = [sys.executable, str(SCRIPT), sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 7, done.stderr
    assert json.loads(done.stdout) == [[], "1"]
    assert done.stderr == ""  # numpy warns about names that it does not know


def test_a_command_that_does_not_exist_is_named() -> None:
    command = [sys.executable, str(SCRIPT), "no-such-program"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "no-such-program: No such file or directory\n")
