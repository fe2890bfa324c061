"""Crawl an endless web in replay, in crawls of increasing length, and print the cost per page and the memory.

    python benchmarks/scale.py [--pages 10000,100000,1000000] [--memory] [--strategy best-first] [--fresh 10] [--quick]

Each step is a new crawl in a separate process. It writes a crawl folder as `scenthound crawl` does (history, frontier,
hosts and robots in SQLite; politeness; scope; only the network and the WARC are left out), with 20,000 hosts, 10 new
URLs per page (`--fresh`), and at most 1,000,000 URLs waiting. Seconds are CPU seconds of the crawl; generating the
pages is subtracted and shown separately, and so is reading them, for strategies that use leaves. `late` is the cost of
the last tenth of the pages. Then a new process resumes the folder. `--memory` crawls without a folder, as the
laboratory does. `--soak N` crawls N pages in one process, with at most 20,000 URLs waiting, and prints the resident
memory after each tenth: how many bytes each further page adds.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from scenthound import wiring
from scenthound.lab.generate.on_the_fly import KEYWORDS, EndlessWeb
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits, RobotsLanded
from scenthound.loop.replay import Landing, replay
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Topic
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.page.record import Parts
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.web.robots import ALLOW_ALL
from scenthound.wiring.parts_from_settings import parts_read

BOUND = 1_000_000
TOPIC = Topic(KEYWORDS, looking_for="sites")  # its seeds are home pages; sites cost hound more than pages
GROUP = 50  # pages per transaction: a quarter of 200 requests in flight, as in a live crawl
PACE = 0.0005  # seconds of crawl time from page to page: with a delay of 1 s some 2,000 hosts rest at any moment
GROWTH, MEMORY, START = 1.5, 2e9, 30.0  # the limits that we promise


class Crawled(NamedTuple):
    """Cost of one step."""

    pages: int
    offered: int
    waiting: int
    cost: float
    """CPU seconds per page."""
    late: float
    making: float
    wall: float
    peak: int
    size: int


class _Meter:
    """Fetches from the web, measures the time that takes, and commits after every `GROUP` pages."""

    def __init__(self, web: EndlessWeb, pages: int) -> None:
        self.web, self.pages = web, pages
        self.making, self.fetched, self.robots = 0.0, 0, 0
        self.late_from = (0.0, 0.0)
        self.session: wiring.Session | None = None
        self.parts = Parts()

    def read_for(self, loop: Crawl) -> None:
        """Read the parts of pages that the strategy uses, such as leaves or elements."""
        self.parts = parts_read(loop.strategy)

    def fetch(self, candidate: Candidate) -> Landing:
        if candidate.spelling.endswith("/robots.txt"):
            self.robots += 1
            return RobotsLanded(candidate, ALLOW_ALL, answered=True)
        if self.session is not None and self.fetched and self.fetched % GROUP == 0:
            self.session.crawl.has_unstored_pages = False  # as if the WARC had the pages: no snapshot with every commit
            self.session.folder.commit(self.session.clock())
        if self.fetched == self.pages * 9 // 10:
            self.late_from = (time.process_time(), self.making)
        before = time.thread_time()
        page = self.web.fetch(candidate)
        if self.parts.leaves:
            record = read_html(self.web.html(candidate.url), candidate.url, self.parts)
            page = Page(candidate.url, candidate, record, 200, page.size)
        self.making += time.thread_time() - before
        self.fetched += 1
        return page


def crawl(folder: Path | None, pages: int, strategy: str, bound: int = BOUND, fresh: int = 10) -> Crawled:
    """Run one step in this process."""
    web = EndlessWeb(fresh=fresh)
    meter = _Meter(web, pages)
    seeds = [web.home(number) for number in range(10)]
    began, wall = time.process_time(), time.perf_counter()
    if folder is None:
        strategy_object = wiring.make_strategy(strategy)
        frontier = MemoryFrontier(bound, getattr(strategy_object, "eviction", "scored"))
        limits = Limits(pages=pages, nofollow=False)
        loop = Crawl(
            strategy_object,
            frontier,
            _History(),
            TOPIC,
            [(url, url) for url in seeds],
            limits=limits,
            judging=wiring.start_judge(Settings().judge, TOPIC, seeds),
        )
        meter.read_for(loop)
        loop.start()
        replay(loop, meter.fetch)
    else:
        settings = Settings(pages=pages, frontier=bound)
        session = meter.session = wiring.begin(TOPIC, seeds, folder, strategy=strategy, settings=settings)
        loop = session.crawl
        meter.read_for(loop)
        reason = replay(loop, meter.fetch, now=session.clock(), pace=PACE)
        session.folder.finish(reason, session.clock())
        session.close()
    spent, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    late = time.process_time() - meter.late_from[0] - (meter.making - meter.late_from[1])
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder else 0
    return Crawled(
        loop.pages,
        meter.fetched * web.fresh,
        len(loop.frontier),
        (spent - meter.making) / meter.fetched,
        late / (meter.fetched - meter.pages * 9 // 10),
        meter.making / meter.fetched,
        time.perf_counter() - wall,
        peak,
        size,
    )


SOAK_BOUND = 20_000
SOAK_GROWTH = 100  # bytes per page: 8 for a hash, the rest for caches that are still filling below 100,000 pages


def soak(pages: int, strategy: str) -> int:
    """Crawl `pages` pages in this process, printing the memory as it grows; returns 1 if it grows too much."""
    resident: list[int] = []

    class Watched(_Meter):
        def fetch(self, candidate: Candidate) -> Landing:
            landing = super().fetch(candidate)
            if self.fetched % (self.pages // 10) == 0 and len(resident) < self.fetched * 10 // self.pages:
                resident.append(_resident())
                print(f"{self.fetched:>9,} pages {resident[-1] / 1e6:>8.1f} MB", flush=True)
            return landing

    web = EndlessWeb()
    meter = Watched(web, pages)
    with tempfile.TemporaryDirectory() as top:
        seeds, settings = [web.home(number) for number in range(10)], Settings(pages=pages, frontier=SOAK_BOUND)
        session = meter.session = wiring.begin(TOPIC, seeds, Path(top) / "crawl", strategy=strategy, settings=settings)
        meter.read_for(session.crawl)
        reason = replay(session.crawl, meter.fetch, now=session.clock(), pace=PACE)
        session.folder.finish(reason, session.clock())
        session.close()
    grown = (resident[-1] - resident[len(resident) // 2 - 1]) / (pages / 2)
    print(f"each page of the second half adds {grown:,.0f} bytes (at most {SOAK_GROWTH})")
    return int(grown > SOAK_GROWTH and pages >= 100_000)  # a short run only checks for crashes


def _resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


class _History(MemoryHistory):
    """A history that does not keep links, as in the laboratory."""

    def link(self, source: object, targets: object) -> None:
        return None


def resume(folder: Path, pages: int) -> tuple[float, float, int]:
    """Seconds, CPU seconds and memory until a resumed crawl can request its next page."""
    began, cpu = time.perf_counter(), time.process_time()
    session = wiring.resume(folder, pages=2 * pages)
    session.crawl.next(session.clock() + 10.0)
    took = time.perf_counter() - began, time.process_time() - cpu
    session.close()
    return *took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="10000,100000,1000000", help="pages of each step")
    parser.add_argument("--strategy", default="best-first")
    parser.add_argument("--bound", type=int, default=BOUND, help="most URLs in the frontier")
    parser.add_argument(
        "--fresh", type=int, default=10, help="new URLs per page: with 400, 2,500 pages fill the frontier"
    )
    parser.add_argument("--memory", action="store_true", help="without a crawl folder")
    parser.add_argument("--soak", type=int, default=0, metavar="N", help="one crawl of N pages, with its memory")
    parser.add_argument("--quick", action="store_true", help="200 and 800 pages, only to check for crashes")
    options = parser.parse_args()
    if options.soak:
        return soak(options.soak, options.strategy)
    steps = [200, 800] if options.quick else [int(step) for step in options.pages.split(",")]
    print(
        f"{'pages':>9}{'new URLs':>12}{'waiting':>11}{'pages/s':>9}{'CPU us/page':>13}{'late':>7}{'making':>8}"
        f"{'s':>7}{'peak':>10}{'folder':>10}{'resume':>9}{'CPU':>8}{'its peak':>10}",
        flush=True,
    )
    costs: list[float] = []
    within_limits = True
    for pages in steps:
        with tempfile.TemporaryDirectory() as top:
            folder = None if options.memory else Path(top) / "crawl"
            result = _alone(crawl, folder, pages, options.strategy, options.bound, options.fresh)
            line = (
                f"{result.pages:>9,}{result.offered:>12,}{result.waiting:>11,}{1 / result.cost:>9,.0f}"
                f"{result.cost * 1e6:>13,.0f}{result.late * 1e6:>7,.0f}{result.making * 1e6:>8,.0f}"
                f"{result.wall:>7,.0f}{result.peak / 1e6:>7,.0f} MB"
            )
            if folder is not None:
                seconds, cpu, peak = _alone(resume, folder, pages)
                line += f"{result.size / 1e6:>7,.0f} MB{seconds:>7.1f} s{cpu:>6.1f} s{peak / 1e6:>7,.0f} MB"
                within_limits = within_limits and seconds < START and peak < MEMORY
            print(line, flush=True)
            costs.append(result.cost)
            within_limits = within_limits and result.peak < MEMORY
    within_limits = within_limits and costs[-1] <= GROWTH * costs[0]
    print(
        f"a page of the last step costs {costs[-1] / costs[0]:.2f} times one of the first (at most {GROWTH}); memory "
        f"under {MEMORY / 1e9:.0f} GB, resume under {START:.0f} s: {'all kept' if within_limits else 'NOT kept'}"
    )
    return 0 if within_limits or options.quick else 1


def _alone(function, *arguments):  # type: ignore[no-untyped-def]
    """Call a function in a new process, so that its memory is measured alone."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


if __name__ == "__main__":
    sys.exit(main())
