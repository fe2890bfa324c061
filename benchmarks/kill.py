"""Kill a crawl with SIGKILL at random moments, 200 times by default, and print what was lost.

python benchmarks/kill.py [--kills 200] [--rounds 10] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.killing import CONCURRENCY, kill_often


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10, help="number of crawls to spread the kills over")
    parser.add_argument("--quick", action="store_true", help="only 2 kills")
    options = parser.parse_args()
    kills, rounds, pages = (2, 1, 200) if options.quick else (options.kills, options.rounds, 3000)
    print("round kills  pages  lost  asked again, most per kill hasty bad WARCs")
    broken = 0
    for round_number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            verdict = kill_often(Path(folder), kills // rounds, seed=100 + round_number, pages=pages)
        most = max(verdict.duplicates, default=0)
        broken += len(verdict.lost) + len(verdict.hasty) + len(verdict.invalid) + (most > CONCURRENCY)
        print(
            f"{round_number + 1:>5} {verdict.kills:>5} {verdict.pages:>6} {len(verdict.lost):>5} {most:>27}"
            f" {len(verdict.hasty):>5} {len(verdict.invalid):>9}",
            flush=True,
        )
        for host, gap in verdict.hasty:
            print(f"      {host} got a request {1000 * gap:.1f} ms after its last reply")
    print(f"at most {CONCURRENCY} in flight; {'all promises kept' if not broken else f'{broken} promises broken'}")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
