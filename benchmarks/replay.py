"""Speed and memory of replay: page visits per second and core.

    python benchmarks/replay.py [--strategies best-first,dom] [--bed schools] [--quick]
    python benchmarks/replay.py --prepare [--quick]       preparing a bed with an empty cache, in two processes
    python benchmarks/replay.py --experiment [--quick]    60 topics x 10 strategies x 1,000 pages, in two processes

Two beds: schools (skipped if ../shared is missing) and a generated web of 200,000 pages (5,000 with `--quick`),
prepared first if they are not in the cache. Every line is a separate process, which crawls topic after topic with a
page budget each. Seconds are CPU seconds, so a busy machine hardly matters. Training before a crawl is shown separately
(`training`, seconds per topic). Seed numbers are fixed. The other two forms run on schools, or on the small generated
web, and print wall-clock seconds as well as CPU seconds.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from scenthound.lab.beds.bed import Bed, Web
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb, generate
from scenthound.lab.run.experiment import RunOptions, run
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.topic_list import BedTopic
from scenthound.wiring.parts_from_settings import make_strategy

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
STRATEGIES = "breadth-first,best-first,best-n-first"
TEN = "breadth-first,random,best-first,best-n-first,dom,hub-seeking,fish-search,shark-search,alliance,backlink-count"
TARGET = {"best-first": 3000}  # visits per second and core that we aim for
LEARNED = 1000  # the same, for strategies that learn


class Crawled(NamedTuple):
    """Cost of the crawls of one strategy, in CPU seconds and bytes."""

    visits: int
    spent: float
    """Without training."""
    ranking: float
    training: float
    memory: int


def crawl(folder: Path, topics: list[BedTopic], strategy: str, pages: int) -> Crawled:
    bed = PreparedBed(folder)
    make_strategy(strategy)  # imports all strategies, which is not part of a crawl
    gc.freeze()  # as in the processes of an experiment
    gc.set_threshold(50_000, 20, 100)
    visits, ranking, training = 0, 0.0, 0.0
    before = time.process_time()
    for topic in topics:
        result = run_cell(bed, topic, strategy, limits=ReplayLimits(pages), seed_number=1)
        visits += len(result.steps)
        ranking += result.rank_seconds[-1] if result.rank_seconds else 0.0
        training += result.train_seconds
    spent = time.process_time() - before
    return Crawled(
        visits, spent - training, ranking, training, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    )


def schools() -> Bed | None:
    folder = SHARED / "data" / "schools"
    if folder.is_dir():
        return Bed.open(folder)
    print("schools: skipped, ../shared is missing")
    return None


def beds(quick: bool, web_pages: int) -> list[tuple[str, Web, int, int]]:
    """For each bed: its name, the web, the number of topics, and pages per crawl."""
    rows: list[tuple[str, Web, int, int]] = []
    if (bed := schools()) is not None:
        rows.append(("schools", bed, 4 if quick else 20, 1000))
    pages = web_pages or (5_000 if quick else 200_000)
    rows.append((f"generated {pages:,}", GeneratedWeb(pages, seed=1), 2 if quick else 4, 1000 if quick else 20_000))
    return rows


def visits(quick: bool, strategies: list[str], only: str, web_pages: int) -> None:
    print(f"{'bed':<20}{'strategy':<16}{'visits':>9}{'visits/s':>10}{'ranking':>9}{'training':>10}{'memory':>10}")
    for name, web, topics, pages in beds(quick, web_pages):
        if not name.startswith(only):
            continue
        began = time.perf_counter()
        ready = prepare(web)
        seconds, size = time.perf_counter() - began, sum(file.stat().st_size for file in ready.folder.rglob("*"))
        for strategy in strategies:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                result = pool.submit(crawl, ready.folder, web.topics[:topics], strategy, pages).result()
            target = TARGET.get(strategy, 0 if strategy in TEN.split(",") else LEARNED)
            training = f"{result.training / topics:.2f} s" if result.training else ""
            print(
                f"{name:<20}{strategy:<16}{result.visits:>9,}{result.visits / result.spent:>10,.0f}"
                f"{result.ranking / result.spent:>9.0%}{training:>10}"
                f"{result.memory / 1e6:>7,.0f} MB{f'   target {target:,}' if target else ''}",
                flush=True,
            )
        print(
            f"{name:<20}{len(ready):,} pages; ready after {seconds:.1f} s; {size / 1e6:,.0f} MB in the cache",
            flush=True,
        )


def preparing(quick: bool) -> None:
    """Prepare a bed into an empty cache."""
    web: Web | None = None if quick else schools()
    web = web or GeneratedWeb(400 if quick else 5_000, seed=1)
    with tempfile.TemporaryDirectory() as cache:
        os.environ[VARIABLE] = cache
        began, cpu = time.perf_counter(), _cpu()
        ready = prepare(web, jobs=2)
        print(
            f"{web.name}: {len(ready):,} pages prepared by 2 processes in {time.perf_counter() - began:.1f} s, "
            f"{_cpu() - cpu:.1f} s of CPU   target: 5,232 pages in 60 s"
        )


def experiment(quick: bool, strategies: str) -> None:
    """Time a whole experiment in two processes; the bed is prepared beforehand."""
    with tempfile.TemporaryDirectory() as top:
        bed = None if quick else schools()
        if bed is None:
            bed = generate(Path(top) / "bed", 400 if quick else 5_000, seed=1)
        topics, pages = (2, 100) if quick else (60, 1000)
        prepare(bed)
        began, cpu = time.perf_counter(), _cpu()
        finished = run(
            bed, strategies, Path(top) / "run", RunOptions(topics=topics, pages=pages, oracles=False), jobs=2
        )
        took, spent = time.perf_counter() - began, _cpu() - cpu
        fetched = sum(outcome.pages for outcome in finished.outcomes().values())
        print(
            f"{bed.name}: {len(finished.cells):,} cells, {fetched:,} visits, {len(finished.failures())} failed, in "
            f"{took:.0f} s by 2 processes, {spent:.0f} s of CPU, {fetched / spent:,.0f} visits per CPU second"
        )


def _cpu() -> float:
    """CPU seconds of this process and of the children it has waited for."""
    used = [resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller generated web and fewer topics")
    parser.add_argument("--prepare", action="store_true", help="time the preparation of a bed")
    parser.add_argument("--experiment", action="store_true", help="time a whole experiment")
    parser.add_argument(
        "--strategies", help=f"names, separated by commas; default: {STRATEGIES}, or ten strategies with --experiment"
    )
    parser.add_argument("--bed", default="", choices=["", "schools", "generated"], help="only this bed")
    parser.add_argument("--web-pages", type=int, default=0, metavar="N", help="size of the generated web")
    options = parser.parse_args()
    if options.prepare:
        preparing(options.quick)
    elif options.experiment:
        experiment(options.quick, options.strategies or TEN)
    else:
        visits(options.quick, (options.strategies or STRATEGIES).split(","), options.bed, options.web_pages)


if __name__ == "__main__":
    main()
