"""Change crawl folders and the files beside them at random, thousands of times, and count what is neither a clear
refusal nor a repair.

python benchmarks/bad_state.py [--changes 2000] [--seed 1] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support import mutating_files
from support.mutating import findings


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--changes", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="30 changes, for a look")
    asked = options.parse_args()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        number = 30 if asked.quick else asked.changes
        for name in ("crawls", "files"):
            Path(folder, name).mkdir()
        of_crawls = findings(Path(folder) / "crawls", number, asked.seed)
        for finding in chain(of_crawls, mutating_files.findings(Path(folder) / "files", number, asked.seed)):
            outcomes[finding.outcome] += 1
            if finding.outcome == "uncaught":
                print(f"{finding.strategy}: {finding.change}\n{finding.detail}", flush=True)
    print(f"{sum(outcomes.values()):,} changes: " + ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes.items())))
    return int(outcomes["uncaught"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
