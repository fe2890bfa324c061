"""Is a plain crawl slower than before? Two checkouts crawl the same served web in alternating pairs.

    git worktree add ../before 1128353       # the commit before the work on reliability began
    python benchmarks/plain_pairs.py ../before .                    # ten pairs, two strategies: half an hour
    python benchmarks/plain_pairs.py ../before . --after-words "--judge keywords"  # without the later judge
    python benchmarks/plain_pairs.py ../before . --pairs 1 --pages 200    # just checks that it runs

Each checkout runs from its own `src` with this interpreter and its own defaults, except for the delay: pages of real
size on 50 loopback hosts, no delay, 64 connections. CPU time is that of all processes of a crawl, including start-up;
"own" is that of the crawl's main process, without those that read pages. The order within a pair alternates. Prints
medians over the pairs, and the median of the ratios after / before with its 95 % interval (bootstrap over pairs). The
exit code is 1 if an interval of CPU time is entirely above the bound.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from served_web import Served, free_port, generated, nginx, write_web
from throughput import HOSTS, PAGE_SIZE, SEED, SPARE, Result, measured

TOPIC = "garden plants and animals"
SETTINGS = {"delay": 0, "concurrency": 64, "host_patience": 0, "allow_private": "loopback"}
RESAMPLES = 10_000
OWN_CPU = """import atexit, os, resource, runpy, sys
def note():
    used = resource.getrusage(resource.RUSAGE_SELF)
    open(os.environ["OWN_CPU"], "w").write(str(used.ru_utime + used.ru_stime))
atexit.register(note)
runpy.run_module("scenthound", run_name="__main__", alter_sys=True)
"""
"""Runs the command and records the CPU seconds of its main process."""


class Crawled(NamedTuple):
    """Cost of one crawl."""

    result: Result
    own_ms: float
    """CPU milliseconds per page of the crawl's main process."""


class Ratio(NamedTuple):
    """The median of paired ratios, and its 95 % interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} to {self.high:.3f})"


def ratio(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """After / before, pair by pair.

    >>> str(ratio([2.0, 2.0], [3.0, 3.0]))
    '1.500 (1.500 to 1.500)'
    """
    ratios = [new / old for old, new in zip(before, after, strict=True)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return Ratio(statistics.median(ratios), medians[RESAMPLES // 40], medians[-RESAMPLES // 40])


def crawl(checkout: Path, served: Served, strategy: str, pages: int, arguments: Sequence[str], out: Path) -> Crawled:
    """Run one crawl with a checkout; exits if it did not fetch all pages."""
    seeds, cpu_file = out.with_suffix(".txt"), out.with_suffix(".cpu")
    seeds.write_text("\n".join(served.seeds) + "\n")
    command = [
        sys.executable,
        "-P",
        "-c",
        OWN_CPU,
        "crawl",
        served.topic,
        "--out",
        str(out),
        "--pages",
        str(pages),
    ]
    command += ["--strategy", strategy, "--seeds", str(seeds), *arguments]
    for name, value in SETTINGS.items():
        command += ["--set", f"{name}={value}"]
    result = measured(command, lambda: _pages(out), PYTHONPATH=str(checkout / "src"), OWN_CPU=str(cpu_file))
    if result.pages < pages:
        raise SystemExit(f"{checkout} fetched {result.pages} of {pages} pages with {strategy}")
    shutil.rmtree(out)
    return Crawled(result, 1000 * float(cpu_file.read_text()) / result.pages)


def _pages(out: Path) -> int:
    database = sqlite3.connect(f"file:{out / 'crawl.db'}?mode=ro", uri=True)
    try:
        return int(database.execute("SELECT count(*) FROM history WHERE kind = 'page'").fetchone()[0])
    finally:
        database.close()


def pairs(options: argparse.Namespace, served: Served, top: Path) -> dict[str, tuple[list[Crawled], list[Crawled]]]:
    """The results of both checkouts, pair by pair, for each strategy."""
    results_by_strategy: dict[str, tuple[list[Crawled], list[Crawled]]] = {
        name: ([], []) for name in options.strategies.split(",")
    }
    for number in range(options.pairs):
        for strategy, results in results_by_strategy.items():
            sides = list(zip((options.before, options.after), ([], options.after_words.split()), results, strict=True))
            for checkout, arguments, side in sides if number % 2 == 0 else reversed(sides):
                side.append(crawl(checkout.resolve(), served, strategy, options.pages, arguments, top / "crawl"))
            old, new = (side[-1] for side in results)
            print(
                f"pair {number + 1}: {strategy:14} {old.result.cpu_ms:6.2f} / {new.result.cpu_ms:6.2f} CPU ms,"
                f" {old.own_ms:6.2f} / {new.own_ms:6.2f} own, {old.result.seconds:6.1f} / {new.result.seconds:6.1f} s",
                file=sys.stderr,
                flush=True,
            )
    return results_by_strategy


def report(results: dict[str, tuple[list[Crawled], list[Crawled]]], bound: float) -> int:
    """Print the table; returns 1 if the interval of a ratio is entirely above the bound."""
    slower = 0
    print(f"{'strategy':14} {'':12} {'before':>8} {'after':>8}   after / before (95 %)")
    for strategy, (old, new) in results.items():
        for unit, values in (
            ("CPU ms/page", ([crawl.result.cpu_ms for crawl in old], [crawl.result.cpu_ms for crawl in new])),
            ("own CPU ms", ([crawl.own_ms for crawl in old], [crawl.own_ms for crawl in new])),
            ("seconds", ([crawl.result.seconds for crawl in old], [crawl.result.seconds for crawl in new])),
        ):
            change = ratio(*values)
            slower += unit == "CPU ms/page" and change.low > bound
            middles = [statistics.median(side) for side in values]
            print(f"{strategy:14} {unit:12} {middles[0]:8.2f} {middles[1]:8.2f}   {change}")
    return int(bool(slower))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout")
    parser.add_argument("after", type=Path, help="another checkout")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--strategies", default="best-first,breadth-first")
    parser.add_argument("--after-words", default="", help="further arguments for the command of the second checkout")
    parser.add_argument("--bound", type=float, default=1.03, help="largest allowed ratio of CPU times")
    options = parser.parse_args()
    for checkout in (options.before, options.after):
        if not (checkout / "src" / "scenthound").is_dir():
            parser.error(f"{checkout} is not a checkout: it has no src/scenthound")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped too
    with tempfile.TemporaryDirectory() as folder:
        top, port = Path(folder), free_port()
        served = write_web(top / "web", generated(options.pages * SPARE, HOSTS, SEED, PAGE_SIZE), port, TOPIC)
        with nginx(served, port, top / "nginx"):
            results = pairs(options, served, top)
    return report(results, options.bound)


if __name__ == "__main__":
    raise SystemExit(main())
