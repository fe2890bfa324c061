"""The frontier alone: pushes and pops per second, and bytes per URL, while 20,000 hosts rest.

    python benchmarks/frontier.py [--urls 1000000,10000000] [--pops 200000] [--quick]
    python benchmarks/frontier.py --open 10000000      # takes some minutes

The URLs have some 60 characters and are on 20,000 hosts; each page contributes ten of them with the same score. First
all are pushed; then URLs are popped as in a crawl, and each host rests long enough that nearly all of them rest at any
moment. The cost of a pop includes letting its host rest and, in SQLite, settling the URL. SQLite commits every 5,000
pushes and every 100 pops. `full` pushes more URLs into a frontier that has reached its limit. Seconds are CPU seconds,
without generating the candidates; every line is a separate process, and bytes are the growth of its memory. Ten million
URLs take some 5 GB.

`--open N` writes a database with N waiting URLs, opens it in a new process, pops 60,000 URLs and pushes 200,000, and
prints the peak memory of the process after each step, above the memory before. The exit code is 1 if that is 256 MB or
more, or if a URL takes more than 150 bytes on disk, including the temporary file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from scenthound.model import Candidate, Url
from scenthound.store.cold_order import RECORD
from scenthound.store.frontier_rows import RowWriter
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteFrontier
from scenthound.url import host

HOSTS = 20_000
DELAY = 30.0
PUSHES, POPS = 5_000, 100  # per commit


class Cost(NamedTuple):
    """Operations per CPU second, and bytes per URL."""

    push: float
    pop: float
    full: float
    memory: float
    file: float
    reopen: float


def candidates(first: int, last: int) -> Iterator[Candidate]:
    """Numbered URLs with scores that look like similarities; equal numbers give equal candidates."""
    for page in range(first // 10, last // 10):
        score = (page * 2654435761 & 0xFFFFFFFF) / 2**32
        parts, parent = {"page": score}, Url(f"http://h{page % HOSTS}.frontier.test/parents/page-{page}.html")
        for link in range(10):
            number = page * 10 + link
            url = Url(f"http://h{number * 7919 % HOSTS}.frontier.test/some/folder/page-{number}.html")
            yield Candidate(url, score, parts=parts, parent=parent, anchor="some words", depth=3, spelling=url)


def measure(urls: int, pops: int, folder: str) -> Cost:
    """Fill a frontier and pop from it; in a database if `folder` is not empty."""
    database = CrawlDatabase(Path(folder) / "crawl.db") if folder else None
    frontier = MemoryFrontier(urls) if database is None else SqliteFrontier(database, urls)
    before = _resident()
    push = _push_seconds(frontier, database, 0, urls)
    memory = (_resident() - before) / urls
    pop = _pop_seconds(frontier, database, pops)
    fill = urls // 10
    _push_seconds(frontier, database, urls, urls + pops // 10 * 10)
    full = _push_seconds(frontier, database, urls + pops // 10 * 10, urls + pops // 10 * 10 + fill)
    size, reopen = 0.0, 0.0
    if database is not None:
        database.row("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / len(frontier)
        del frontier
        began = time.process_time()
        SqliteFrontier(CrawlDatabase(Path(folder) / "crawl.db"), urls)
        reopen = time.process_time() - began
    return Cost(urls / push, pops / pop, fill / full, memory, size, reopen)


def _push_seconds(frontier: MemoryFrontier, database: CrawlDatabase | None, first: int, last: int) -> float:
    spent = 0.0
    for start in range(first, last, PUSHES):
        batch = list(candidates(start, min(start + PUSHES, last)))
        began = time.process_time()
        for candidate in batch:
            frontier.push(candidate)
        if database is not None:
            database.commit()
        spent += time.process_time() - began
    return spent


def _pop_seconds(frontier: MemoryFrontier, database: CrawlDatabase | None, pops: int) -> float:
    for number in range(HOSTS):  # from here on, one host wakes at each step
        frontier.host_clock.rest(f"h{number}.frontier.test", DELAY * (number + 1) / HOSTS)
    now = 0.0
    began = time.process_time()
    for number in range(pops):
        now += DELAY / HOSTS
        popped = frontier.pop(now + 1e-9)
        if popped is None:
            continue
        frontier.host_clock.rest(host(popped.candidate.url), now + DELAY)
        frontier.settle(popped.candidate.url)
        if database is not None and number % POPS == 0:
            database.commit()
    if database is not None:
        database.commit()
    return time.process_time() - began


MOST_MEMORY, MOST_ON_DISK = 256e6, 150


def write_rows(urls: int, folder: str) -> float:
    """Write a database with `urls` waiting URLs; returns its bytes per URL."""
    path = Path(folder) / "crawl.db"
    database = CrawlDatabase(path)
    for start in range(0, urls, PUSHES):
        row_of = RowWriter(database)
        rows = [row_of(start + index, candidate) for index, candidate in enumerate(candidates(start, start + PUSHES))]
        database.executemany("INSERT INTO frontier VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        database.commit()
    database.row("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path.stat().st_size / urls


def open_rows(urls: int, folder: str) -> int:
    """Open the database, pop and push, and print the cost of each; returns the peak memory above idle."""
    database = CrawlDatabase(Path(folder) / "crawl.db")
    idle, began = _resident(), time.process_time()
    frontier = SqliteFrontier(database, 2 * urls)
    print(f"opened in {time.process_time() - began:.0f} s: {(_resident('VmHWM:') - idle) / 1e6:.0f} MB", flush=True)
    pops, pushes = min(60_000, urls // 4), min(200_000, urls)
    rate = pops / _pop_seconds(frontier, database, pops)
    print(f"{rate:,.0f} pops/s: {(_resident('VmHWM:') - idle) / 1e6:.0f} MB", flush=True)
    rate = pushes / _push_seconds(frontier, database, urls, urls + pushes)
    most = _resident("VmHWM:") - idle
    print(f"{rate:,.0f} pushes/s: {most / 1e6:.0f} MB", flush=True)
    database.close()
    return most


def open_large(urls: int) -> int:
    """Run `--open`; returns the exit code."""
    with tempfile.TemporaryDirectory() as top:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            size = pool.submit(write_rows, urls, top).result() + RECORD.itemsize
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            most = pool.submit(open_rows, urls, top).result()
    is_within_limits = most < MOST_MEMORY and size <= MOST_ON_DISK
    print(
        f"{urls:,} URLs: at most {most / 1e6:.0f} MB above idle, {size:.0f} bytes per URL on disk: "
        f"{'within the limits' if is_within_limits else 'OVER the limits'}"
    )
    return int(not is_within_limits)


def _resident(field: str = "VmRSS:") -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", default="1000000,10000000")
    parser.add_argument("--pops", type=int, default=200_000)
    parser.add_argument("--quick", action="store_true", help="20,000 URLs, only to check for crashes")
    parser.add_argument(
        "--open", type=int, default=0, metavar="N", help="measure the memory of opening a large frontier"
    )
    options = parser.parse_args()
    if options.open:
        return open_large(options.open)
    sizes, pops = (
        ([20_000], 2_000) if options.quick else ([int(size) for size in options.urls.split(",")], options.pops)
    )
    print(
        f"{'store':<8}{'URLs':>12}{'push/s':>10}{'pop/s':>10}{'full/s':>10}{'bytes/URL':>11}{'on disk':>9}{'reopen':>9}"
    )
    for urls in sizes:
        for store in ("memory", "SQLite"):
            with tempfile.TemporaryDirectory() as top, ProcessPoolExecutor(1, get_context("spawn")) as pool:
                cost = pool.submit(measure, urls, min(pops, urls // 4), top if store == "SQLite" else "").result()
            line = f"{store:<8}{urls:>12,}{cost.push:>10,.0f}{cost.pop:>10,.0f}{cost.full:>10,.0f}{cost.memory:>11,.0f}"
            print(line + (f"{cost.file:>9,.0f}{cost.reopen:>7.1f} s" if cost.file else ""), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
