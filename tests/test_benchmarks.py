"""Every benchmark runs to its end in its quick form. Its results are not checked here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("scale.py --quick", "a page of the last step costs"),
        ("scale.py --quick --memory --strategy breadth-first", "a page of the last step costs"),
        ("frontier.py --quick", "SQLite"),
        ("throughput.py --quick --only ours,contexts", "scenthound, contexts"),
        ("throughput.py --quick --latency", "possible/s"),
        ("kill.py --quick", "kills"),
        ("power_loss.py --quick", "all promises kept"),
        ("bad_state.py --changes 4", "changes: "),
        ("findings.py F1 --quick", "F1 on generated"),
        ("economy.py --quick", "auctions/s"),
        ("judge.py --quick", "topic, revised"),
        ("companion.py --quick", "| page order |"),
        ("ask.py --quick", "| command | hound | "),
        ("related.py --quick", "All webs: mean confidence"),
        ("site_map.py --quick", "| 60 | shark-search |"),
        ("stopping.py --quick", "on the test half"),
        ("replay.py --quick --web-pages 600 --bed generated --strategies best-first,bayes", "target 1,000"),
        (
            "replay_pairs.py . --bed generated --web-pages 300 --pairs 2 --strategies breadth-first",
            "| breadth-first | ",
        ),
        ("polite.py --quick", "polite replay"),
        ("hound.py recall --quick", "Below by more than one standard error"),
        ("hound.py ablations --quick", "words of the link"),
        ("traps.py --pages 300 --strategies breadth-first,best-first", "requests in traps"),
        ("replay.py --prepare --quick", "pages prepared by 2 processes"),
        ("replay.py --experiment --quick --strategies breadth-first,best-first", "4 cells, 400 visits, 0 failed"),
    ],
)
def test_a_benchmark_runs_to_its_end(command: str, said: str, tmp_path: Path) -> None:
    script, *options = command.split()
    if "--only" in options and not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"):
        pytest.skip("there is no nginx: `scripts/system_tools.sh nginx` installs it or says how")
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SCENTHOUND_CACHE": str(tmp_path),
        "SCENTHOUND_SHARED": str(tmp_path / "nowhere"),
    }
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *options],
        capture_output=True,
        text=True,
        env=surroundings,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout
