"""Replay breadth-first alternately on a realistic web generated on the fly and on the same web stored as a bed.

    python benchmarks/on_the_fly.py [--stored 10000] [--large 1000000] [--pages 2000] [--rounds 3]

Prints pages per CPU second (`time.process_time`) of each round, and what it takes to make a web ready for crawling: CPU
time, disk space, and the peak memory of the process so far. The web of `--stored` pages is both generated on the fly
and stored; that of `--large` pages is never stored.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import open_for_replay
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.generate.web_kinds import WebOrder, write_web
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.topic_list import BedTopic


def pages_per_second(bed: ReplayBed, topic: BedTopic, pages: int, strategy: str) -> float:
    before = time.process_time()
    result = run_cell(bed, topic, strategy, limits=ReplayLimits(pages))
    return len(result.steps) / (time.process_time() - before)


def open_web(folder: Path, pages: int, on_the_fly: bool) -> tuple[ReplayBed, BedTopic]:
    """Write a web to a folder and open it for replay; prints the cost."""
    before = time.process_time()
    write_web(folder, WebOrder("realistic", pages, 1, topics=1), on_the_fly)
    bed = Bed.open(folder)
    ready = open_for_replay(bed, jobs=1)
    size = sum(file.stat().st_size for file in folder.iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    how = "on the fly" if on_the_fly else "stored"
    took = f"{time.process_time() - before:>6.1f} CPU s, {size / 1e6:>6.1f} MB on disk, peak memory {peak:,.0f} MB"
    print(f"{pages:>9,} pages {how:<10} ready after {took}", flush=True)
    return ready, bed.topics[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=2_000, help="pages per crawl")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strategy", default="breadth-first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        webs = {
            "large": open_web(Path(top) / "large", options.large, on_the_fly=True),
            "on the fly": open_web(Path(top) / "fly", options.stored, on_the_fly=True),
            "stored": open_web(Path(top) / "stored", options.stored, on_the_fly=False),
        }
        for round_number in range(options.rounds):
            speeds = {name: pages_per_second(*web, options.pages, options.strategy) for name, web in webs.items()}
            print(
                f"round {round_number + 1}: "
                + ", ".join(f"{name} {speed:,.0f} pages/s" for name, speed in speeds.items())
            )


if __name__ == "__main__":
    main()
