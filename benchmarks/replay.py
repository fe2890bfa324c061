"""Page visits per second and core in replay, and the memory: `python benchmarks/replay.py [--quick]`.

Two beds: schools (skipped where ../shared is missing) and a generated web of 200,000 pages (5,000 with `--quick`),
prepared first if they are not in the cache. Every line is a process of its own, crawling topic after topic with a
budget of pages each; seconds are CPU seconds, so a busy machine hardly matters. Seed numbers are fixed.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from scenthound.lab.bed import Bed, BedTopic, Web
from scenthound.lab.generate import GeneratedWeb
from scenthound.lab.prepared import PreparedBed, prepare
from scenthound.lab.replaying import ReplayLimits, run_cell

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
STRATEGIES = ("breadth-first", "best-first", "best-n-first")
TARGET = 3000  # DESIGN, section 7: visits per second and core for best-first


def crawl(folder: Path, topics: list[BedTopic], strategy: str, pages: int) -> tuple[int, float, float, int]:
    """Visits, CPU seconds, those of them spent in ranking, and the largest memory of the process in bytes."""
    bed = PreparedBed(folder)
    gc.freeze()  # as in the processes of an experiment
    gc.set_threshold(50_000, 20, 100)
    visits, ranking = 0, 0.0
    before = time.process_time()
    for topic in topics:
        result = run_cell(bed, topic, strategy, limits=ReplayLimits(pages), seed_number=1)
        visits += len(result.steps)
        ranking += result.rank_seconds[-1] if result.rank_seconds else 0.0
    spent = time.process_time() - before
    return visits, spent, ranking, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def beds(quick: bool) -> list[tuple[str, Web, int, int]]:
    """Name, web, topics used and pages a crawl."""
    found: list[tuple[str, Web, int, int]] = []
    if (SHARED / "data" / "schools").is_dir():
        found.append(("schools", Bed.open(SHARED / "data" / "schools"), 4 if quick else 20, 1000))
    else:
        print("schools: skipped, ../shared is not here")
    pages = 5_000 if quick else 200_000
    found.append((f"generated {pages:,}", GeneratedWeb(pages, seed=1), 2 if quick else 4, 1000 if quick else 20_000))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller generated web and fewer topics")
    quick = parser.parse_args().quick
    print(f"{'bed':<20}{'strategy':<16}{'visits':>9}{'visits/s':>10}{'ranking':>9}{'memory':>10}")
    for name, web, topics, pages in beds(quick):
        began = time.perf_counter()
        ready = prepare(web)
        took, size = time.perf_counter() - began, sum(file.stat().st_size for file in ready.folder.rglob("*"))
        for strategy in STRATEGIES:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                visits, spent, ranking, memory = pool.submit(
                    crawl, ready.folder, web.topics[:topics], strategy, pages
                ).result()
            verdict = "" if strategy != "best-first" else f"   target {TARGET:,}"
            print(
                f"{name:<20}{strategy:<16}{visits:>9,}{visits / spent:>10,.0f}{ranking / spent:>9.0%}"
                f"{memory / 1e6:>7,.0f} MB{verdict}",
                flush=True,
            )
        print(
            f"{name:<20}{len(ready):,} pages; ready after {took:.1f} s; {size / 1e6:,.0f} MB in the cache", flush=True
        )


if __name__ == "__main__":
    main()
