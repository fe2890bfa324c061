"""What the desk costs and how fast it answers.

    python benchmarks/desk.py index [--pages 1500] [--rounds 3]
    python benchmarks/desk.py large [--pages 100000]

`index` crawls a generated web on this machine, with and without `scenthound index --follow` beside it, in turns, and
compares the throughput; after each round it says how long the index needed to catch up. Delays are 0, so the crawl
uses all the time it can get: the worst case for the indexer, which gets what is left. `large` makes a folder with many
pages and its index, opens it at the desk (server side: overview and first results) and searches it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from pathlib import Path

from scenthound.lab.beds.serve import BedServer, ServerOptions, serving
from scenthound.lab.generate.web import GeneratedWeb
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step, Topic, Url
from scenthound.search import search
from scenthound.store.live_queries import Wanted
from scenthound.store.text_index import INDEX, Document, TextIndex

COMMAND = [sys.executable, "-m", "scenthound"]
QUERIES = 40


def crawl(folder: Path, web: GeneratedWeb, address: str, pages: int, follow: bool) -> tuple[float, float]:
    """Crawl and return pages a second, and how long the index needed to catch up."""
    topic = web.topics[0]
    seeds = [word for seed in topic.seeds for word in ("--seed", seed)]
    words = ["crawl", topic.keywords, *seeds, "--out", str(folder), "--proxy", address, "--pages", str(pages)]
    words += ["--delay", "0", "--set", "host_patience=0", "--set", "backoff=0.1", "--order", "speed"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*COMMAND, *words], **quiet)
    while not (folder / "crawl.db").exists() and process.poll() is None:
        time.sleep(0.02)
    indexer = subprocess.Popen([*COMMAND, "index", str(folder), "--follow"], **quiet) if follow else None
    process.wait()
    ended = time.monotonic()
    lag = 0.0
    if indexer is not None:
        indexer.wait()
        lag = time.monotonic() - ended
    with CrawlFolder.look(folder) as opened:
        return len(opened.history) / opened.seconds(), lag


def index(pages: int, rounds: int) -> None:
    web = GeneratedWeb(pages=3 * pages, seed=3, page_size=20_000)
    rates: dict[bool, list[float]] = {False: [], True: []}
    lags = []
    with tempfile.TemporaryDirectory() as temporary, serving(BedServer(web, ServerOptions())) as address:
        for number, follow in itertools.product(range(rounds), (False, True)):
            rate, lag = crawl(Path(temporary) / f"{number}-{follow}", web, address, pages, follow)
            rates[follow].append(rate)
            lags += [lag] if follow else []
            print(f"round {number + 1} {'with' if follow else 'without'} index: {rate:.1f} pages/s", flush=True)
    without, beside = statistics.median(rates[False]), statistics.median(rates[True])
    print(f"median {without:.1f} pages/s without, {beside:.1f} with: {1 - beside / without:+.1%} slower")
    print(f"the index was complete {statistics.median(lags):.1f} s after the crawl ended")


def large(pages: int) -> None:
    luck = random.Random(1)
    cumulative = list(itertools.accumulate(1 / (rank + 3) for rank in range(60_000)))
    words = ["".join(luck.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(luck.randint(3, 9))) for _ in cumulative]

    def text(count: int) -> str:
        return " ".join(words[bisect(cumulative, luck.random() * cumulative[-1])] for _ in range(count))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "crawl"
        request = CrawlRequest(Topic("balloons"), ("http://h0.test/",), "best-first", {})
        with CrawlFolder.create(folder, request) as opened, TextIndex(folder / INDEX, write=True) as made:
            for begin in range(1, pages + 1, 500):
                documents = []
                for n in range(begin, begin + 500):
                    url, relevance = Url(f"http://h{n % 800}.test/{n}"), luck.random()
                    title, parent = text(6), None if n == 1 else Url("http://h1.test/1")
                    opened.history.record(
                        Step(n, url, parent, text(3), 0.5, {}, relevance, 1, 200, 40_000, float(n), title)
                    )
                    documents.append(
                        Document(url, f"h{n % 800}.test", title, "", text(400), relevance, "en", float(n), n)
                    )
                opened.database.commit()
                made.add(documents, begin + 499)
        _open(folder)
        _search(folder, words, luck)


def _open(folder: Path) -> None:
    from scenthound.desk import api, views
    from scenthound.desk.collections import Collections
    from scenthound.desk.security import Access

    desk = api.Desk(Access("127.0.0.1", 1, "x"), Collections(folder.parent / "none", [folder]))
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        api.overview(desk, "crawl", folder)
        views.pages(folder, Wanted())
        times.append(time.perf_counter() - begin)
    print(f"opening the folder: {statistics.median(times):.2f} s")


def _search(folder: Path, words: list[str], luck: random.Random) -> None:
    for about, low, high, count in (
        ("one word of middling frequency", 200, 2000, 1),
        ("two words of middling frequency", 200, 2000, 2),
        ("a rare and a frequent word", 2000, 20_000, 2),
        ("two words that most pages have", 0, 20, 2),
    ):
        times, totals = [], []
        for _ in range(QUERIES):
            query = " ".join(luck.choice(words[low:high]) for _ in range(count))
            begin = time.perf_counter()
            totals.append(search(folder, query).total)
            times.append(time.perf_counter() - begin)
        median = statistics.median(times) * 1000
        print(
            f"{about}: median {median:.0f} ms, longest {max(times) * 1000:.0f} ms, {statistics.median(totals):.0f} hits"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["index", "large"])
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", os.pathsep.join(sys.path))
    if given.part == "index":
        index(given.pages or 1500, given.rounds)
    else:
        large(given.pages or 100_000)


if __name__ == "__main__":
    main()
