"""Damage crawl folders and related files at random, thousands of times, and count the cases that end neither in a clear
refusal nor in a repair.

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="only 30 changes")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        changes = 30 if options.quick else options.changes
        for name in ("crawls", "files"):
            Path(folder, name).mkdir()
        crawl_findings = findings(Path(folder) / "crawls", changes, options.seed)
        for finding in chain(crawl_findings, mutating_files.findings(Path(folder) / "files", changes, options.seed)):
            outcomes[finding.outcome] += 1
            if finding.outcome == "uncaught":
                print(f"{finding.strategy}: {finding.change}\n{finding.detail}", flush=True)
    print(f"{sum(outcomes.values()):,} changes: " + ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes.items())))
    return int(outcomes["uncaught"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
