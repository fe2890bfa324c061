"""Simulate a power cut at 1,000 random points of a crawl, as SQLite's own crash tests do, and resume each time.

python benchmarks/power_loss.py [--points 1000] [--rounds 4] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.power_loss import build_shim, cut_power, record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=4, help="number of crawls to spread the points over")
    parser.add_argument("--sync-time", type=float, default=0.1)
    parser.add_argument("--quick", action="store_true", help="only 10 points")
    options = parser.parse_args()
    points, rounds = (10, 1) if options.quick else (options.points, options.rounds)
    print("round points  pages  changes  syncs  longest unsafe  problems", flush=True)
    broken = 0
    for round_number in range(rounds):
        with tempfile.TemporaryDirectory() as top:
            shim = build_shim(Path(top))
            if shim is None:
                print("skipped: no C compiler found")
                return 0
            recording = record(Path(top) / "run", shim, options.sync_time)
            problems = []
            for outcome in cut_power(recording, Path(top) / "run", points // rounds, round_number, finish_every=50):
                problems += [f"at {outcome.point}: {problem}" for problem in outcome.problems]
        broken += len(problems)
        print(
            f"{round_number + 1:>5} {points // rounds:>6} {len(recording.trail):>6} {len(recording.changes):>8}"
            f" {len(recording.syncs):>6} {recording.longest_unsafe():>13.2f} s {len(problems):>9}",
            flush=True,
        )
        for problem in problems[:10]:
            print(f"      {problem}")
    print("all promises kept" if not broken else f"{broken} promises broken")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
