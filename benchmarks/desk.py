"""What the desk costs, and how fast it responds.

    python benchmarks/desk.py index [--pages 1500] [--rounds 3]
    python benchmarks/desk.py large [--pages 100000]
    python benchmarks/desk.py map [--pages 10000]

`index` crawls a generated web on this machine, alternately with and without a running `scenthound index --follow`, and
compares the throughput; after each round it prints how long the index needed to catch up, and the CPU time of both.
Delays are 0, so the crawl uses all the CPU time it can get: the worst case for the indexer, which gets the rest.
`large` makes a folder with many pages and its index, opens it in Chromium (timed from the click to the first results),
and searches it. `map` opens the map of such a folder in Chromium without a graphics card, and moves it for five
seconds; it counts the frames that were drawn and prints the longest pause between two of them.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step, Topic, Url
from scenthound.search import search
from scenthound.store.text_index import INDEX, Document, TextIndex

COMMAND = [sys.executable, "-m", "scenthound"]
QUERIES = 40
PAN = """(length) => new Promise((done) => {
  const canvas = document.getElementById('map'), box = canvas.getBoundingClientRect();
  const context = canvas.getContext('2d'), draw = context.drawImage.bind(context);
  const times = [], begin = performance.now();
  context.drawImage = (...given) => { draw(...given); times.push(performance.now()); };
  const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, { pointerId: 1, bubbles: true,
    clientX: box.left + x, clientY: box.top + y }));
  canvas.setPointerCapture = () => {};
  send('pointerdown', 300, 300);
  let angle = 0;
  const step = (now) => {
    angle += 0.05;
    send('pointermove', 300 + 250 * Math.sin(angle), 300 + 250 * Math.sin(1.3 * angle));
    if (now - begin < length) { requestAnimationFrame(step); return; }
    send('pointerup', 0, 0);
    delete context.drawImage;
    const pauses = times.slice(1).map((time, at) => time - times[at]);
    done({ rate: 1000 * times.length / (performance.now() - begin), longest: Math.max(...pauses) });
  };
  requestAnimationFrame(step);
})"""


class Run(NamedTuple):
    """Pages per second, how long the index needed to catch up, and the CPU seconds of crawl and indexer."""

    rate: float
    lag: float
    crawl_cpu: float
    index_cpu: float


def crawl(folder: Path, web: GeneratedWeb, address: str, pages: int, follow: bool) -> Run:
    """Run a crawl, with an indexer at the same time if `follow`."""
    topic = web.topics[0]
    seeds = [argument for seed in topic.seeds for argument in ("--seed", seed)]
    arguments = ["crawl", topic.keywords, *seeds, "--out", str(folder), "--proxy", address, "--pages", str(pages)]
    arguments += ["--delay", "0", "--set", "host_patience=0", "--set", "backoff=0.1", "--order", "speed"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*COMMAND, *arguments], **quiet)
    while not (folder / "crawl.db").exists() and process.poll() is None:
        time.sleep(0.02)
    indexer = subprocess.Popen([*COMMAND, "index", str(folder), "--follow"], **quiet) if follow else None
    before = _children_cpu()
    process.wait()
    ended, after = time.monotonic(), _children_cpu()
    lag = 0.0
    if indexer is not None:
        indexer.wait()
        lag = time.monotonic() - ended
    with CrawlFolder.look(folder) as opened:
        rate = len(opened.history) / opened.seconds()
    return Run(rate, lag, after - before, _children_cpu() - after)


def _children_cpu() -> float:
    """CPU seconds of the child processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def index(pages: int, rounds: int) -> None:
    web = GeneratedWeb(pages=3 * pages, seed=3, page_size=20_000)
    runs: dict[bool, list[Run]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as temporary, serving(BedServer(web, ServerOptions())) as address:
        for round_number, follow in itertools.product(range(rounds), (False, True)):
            run = crawl(Path(temporary) / f"{round_number}-{follow}", web, address, pages, follow)
            runs[follow].append(run)
            cpu = f"{run.crawl_cpu:.1f} s of CPU, indexer {run.index_cpu:.1f} s"
            print(
                f"round {round_number + 1} {'with' if follow else 'without'} index: {run.rate:.1f} pages/s, {cpu}",
                flush=True,
            )
    without, beside = (statistics.median(run.rate for run in runs[follow]) for follow in (False, True))
    alone, together = (statistics.median(run.crawl_cpu for run in runs[follow]) for follow in (False, True))
    indexer = statistics.median(run.index_cpu for run in runs[True])
    print(f"median {without:.1f} pages/s without, {beside:.1f} with: {1 - beside / without:+.1%} slower")
    used = f"{alone:.1f} s of CPU without and {together:.1f} s with"
    print(f"the crawl itself used {used}: {together / alone - 1:+.1%}")
    print(f"the indexer used {indexer:.1f} s, {indexer / together:.0%} of the crawl's; it has the lowest priority")
    print(f"the index was complete {statistics.median(run.lag for run in runs[True]):.1f} s after the crawl ended")


class Words:
    """Random words with the frequency distribution of a natural language."""

    def __init__(self, rng: random.Random) -> None:
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._rng = rng
        self._cumulative = list(itertools.accumulate(1 / (rank + 3) for rank in range(60_000)))
        self.all = ["".join(rng.choice(letters) for _ in range(rng.randint(3, 9))) for _ in self._cumulative]

    def text(self, count: int) -> str:
        last = self._cumulative[-1]
        return " ".join(self.all[bisect(self._cumulative, self._rng.random() * last)] for _ in range(count))


def large(pages: int) -> None:
    rng = random.Random(1)
    words = Words(rng)
    text = words.text
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "crawl"
        request = CrawlRequest(Topic("balloons"), ("http://h0.test/",), "best-first", {})
        with CrawlFolder.create(folder, request) as opened, TextIndex(folder / INDEX, write=True) as text_index:
            for begin in range(1, pages + 1, 500):
                documents = []
                for n in range(begin, begin + 500):
                    url, relevance = Url(f"http://h{n % 800}.test/{n}"), rng.random()
                    title, parent = text(6), None if n == 1 else Url("http://h1.test/1")
                    opened.history.record(
                        Step(n, url, parent, text(3), 0.5, {}, relevance, 1, 200, 40_000, float(n), title)
                    )
                    documents.append(
                        Document(url, f"h{n % 800}.test", title, "", text(400), relevance, "en", float(n), n)
                    )
                opened.database.commit()
                text_index.add(documents, begin + 499)
        _open(folder)
        _search(folder, words.all, rng)


def show_map(pages: int) -> None:
    rng = random.Random(1)
    words = Words(rng)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "crawl"
        request = CrawlRequest(Topic("balloons"), ("http://h0.test/0",), "best-first", {})
        with CrawlFolder.create(folder, request) as opened:
            urls: list[Url] = []
            for n in range(1, pages + 1):
                url = Url(f"http://h{int(800 * rng.random() ** 2)}.test/{n}")
                parent, relevance = rng.choice(urls) if urls else None, rng.random()
                urls.append(url)
                step = Step(n, url, parent, "", 0.5, {}, relevance, 1, 200, 1, float(n), words.text(6))
                opened.history.record(step)
                if parent is not None:
                    opened.history.link(parent, [url, *(rng.choice(urls) for _ in range(2))])
            opened.database.commit()
        with _browser(folder) as (page, address):
            begin = time.perf_counter()
            page.goto(f"{address}/c/crawl/map")
            page.wait_for_selector(f"#map[data-pages='{pages}']")
            print(f"the map of {pages:,} pages is drawn after {time.perf_counter() - begin:.2f} s")
            for about, links in (("links that led to pages", "led"), ("30,000 links", "all"), ("no links", "none")):
                page.select_option("#map-links", links)
                page.wait_for_timeout(2000)
                moved = page.evaluate(PAN, 5000)
                print(f"moving it with {about}: {moved['rate']:.0f} frames/s, longest pause {moved['longest']:.0f} ms")


@contextlib.contextmanager
def _browser(folder: Path) -> Iterator[tuple[Any, str]]:
    """A page in Chromium without a graphics card, and the address of a desk that shows the folder."""
    from playwright.sync_api import sync_playwright

    arguments = [*COMMAND, "desk", "--no-browser", "--port", "0", "--home", str(folder.parent / "home"), str(folder)]
    desk = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert desk.stdout is not None
    try:
        address = desk.stdout.readline().strip()
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            yield page, address.partition("/#")[0]
            browser.close()
    finally:
        desk.terminate()
        desk.wait()


def _open(folder: Path) -> None:
    times: list[float] = []
    with _browser(folder) as (page, address):
        for _ in range(5):
            page.goto(f"{address}/")
            begin = time.perf_counter()
            page.click(".collections a")
            page.wait_for_selector("#results .result")
            times.append(time.perf_counter() - begin)
    print(f"opening the folder: median {statistics.median(times):.2f} s, longest {max(times):.2f} s")


def _search(folder: Path, words: list[str], rng: random.Random) -> None:
    for about, low, high, count in (
        ("one word of medium frequency", 200, 2000, 1),
        ("two words of medium frequency", 200, 2000, 2),
        ("a rare and a frequent word", 2000, 20_000, 2),
        ("two words that most pages have", 0, 20, 2),
    ):
        times, totals = [], []
        for _ in range(QUERIES):
            query = " ".join(rng.choice(words[low:high]) for _ in range(count))
            begin = time.perf_counter()
            totals.append(search(folder, query).total)
            times.append(time.perf_counter() - begin)
        median = statistics.median(times) * 1000
        print(
            f"{about}: median {median:.0f} ms, longest {max(times) * 1000:.0f} ms, {statistics.median(totals):.0f} hits"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["index", "large", "map"])
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", os.pathsep.join(sys.path))
    if options.part == "index":
        index(options.pages or 1500, options.rounds)
    elif options.part == "large":
        large(options.pages or 100_000)
    else:
        show_map(options.pages or 10_000)


if __name__ == "__main__":
    main()
