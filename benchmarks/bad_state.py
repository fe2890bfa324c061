"""Change crawl folders at random, thousands of times, and count what is neither a clear refusal nor a repair.

python benchmarks/bad_state.py [--changes 2000] [--seed 1] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.mutating import findings


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--changes", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="30 changes, for a look")
    asked = options.parse_args()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for finding in findings(Path(folder), 30 if asked.quick else asked.changes, asked.seed):
            outcomes[finding.outcome] += 1
            if finding.outcome == "uncaught":
                print(f"{finding.strategy}: {finding.change}\n{finding.detail}", flush=True)
    print(f"{sum(outcomes.values()):,} changes: " + ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes.items())))
    return int(outcomes["uncaught"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
