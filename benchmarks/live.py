"""Our live crawl beside Scrapy's, on the same served bed, in the same run.

    python benchmarks/live.py [--pages 1500] [--rounds 3] [--quick]

Ours fetches, parses, finds links, scores (best-first) and stores durably (WARC and SQLite). Scrapy is tuned for
concurrency and fetches, parses, finds links with its own link extractor and writes JSON lines. Both obey robots.txt,
wait for nobody, and fetch through the same loopback server. Without Scrapy (`make peers`) its row is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scenthound.lab.generate import GeneratedWeb

SCRAPY = """
import sys
from scrapy import Spider, Request
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

pages, out, seeds = int(sys.argv[1]), sys.argv[2], sys.argv[3:]

class Peer(Spider):
    name = "peer"
    start_urls = seeds
    links = LinkExtractor()
    async def start(self):
        for url in self.start_urls:
            yield Request(url)
    def parse(self, response):
        if not hasattr(response, "text"):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield Request(link.url)

process = CrawlerProcess({
    "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64, "DOWNLOAD_DELAY": 0, "COOKIES_ENABLED": False, "RETRY_ENABLED": False,
    "CLOSESPIDER_PAGECOUNT": pages, "FEEDS": {out: {"format": "jsonlines"}}, "REACTOR_THREADPOOL_MAXSIZE": 20,
})
process.crawl(Peer)
process.start()
"""


class Result(NamedTuple):
    """What one run cost."""

    pages: int
    seconds: float
    cpu: float
    peak_mb: float

    @property
    def rate(self) -> float:
        return self.pages / self.seconds


def measured(command: list[str], count: Callable[[], int], **more: str) -> Result:
    """Run a command to its end; pages by `count()`, CPU and peak memory from the kernel."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as talk:
        process = subprocess.Popen(
            ["timeout", "300", *command], stdout=subprocess.DEVNULL, stderr=talk, env={**os.environ, **more}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            talk.seek(0)
            raise SystemExit(f"{command[:3]} failed ({process.returncode}): {talk.read().decode()[-800:]}")
    return Result(count(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ours(folder: Path, address: str, pages: int, seeds: list[str], keywords: str) -> Result:
    out = folder / "ours"
    command = [sys.executable, "-m", "scenthound", "crawl", keywords, "--out", str(out), "--pages", str(pages)]
    command += ["--proxy", address, "--delay", "0", "--concurrency", "64", "--set", "host_patience=0"]
    command += [part for seed in seeds for part in ("--seed", seed)]

    def count() -> int:
        from scenthound.crawl.folder import CrawlFolder

        with CrawlFolder.look(out) as crawl:
            return len(crawl.history)

    return measured(command, count)


def scrapys(folder: Path, address: str, pages: int, seeds: list[str]) -> Result:
    script, out = folder / "peer.py", folder / "peer.jsonl"
    script.write_text(SCRAPY)
    command = [sys.executable, str(script), str(pages), str(out), *seeds]
    return measured(command, lambda: len(out.read_text().splitlines()), http_proxy=address)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pages", type=int, default=1500)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--quick", action="store_true", help="one small round, for crashes only")
    asked = options.parse_args()
    pages, rounds = (150, 1) if asked.quick else (asked.pages, asked.rounds)
    has_scrapy = importlib.util.find_spec("scrapy") is not None
    found: dict[str, list[Result]] = {"scenthound": []}
    with tempfile.TemporaryDirectory() as top:
        bed = Path(top) / "bed"
        command = [sys.executable, "-m", "scenthound", "lab"]
        subprocess.run(
            [*command, "generate", str(bed), "--pages", str(pages * 2), "--seed", "3", "--page-size", "40000"],
            check=True,
        )
        web = GeneratedWeb(pages=pages * 2, seed=3, page_size=40_000)
        topic = web.topics[0]
        port = _free_port()
        server = subprocess.Popen([*command, "serve", str(bed), "--port", str(port)], stderr=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(port)
            for number in range(rounds):
                folder = Path(top) / f"round{number}"
                folder.mkdir()
                seeds = list(topic.seeds)
                found["scenthound"].append(ours(folder, address, pages, seeds, topic.keywords))
                if has_scrapy:
                    found.setdefault("scrapy", []).append(scrapys(folder, address, pages, seeds))
        finally:
            server.terminate()
            server.wait()
    _print(found)


def _print(found: dict[str, list[Result]]) -> None:
    base = statistics.median(r.rate for r in found["scrapy"]) if "scrapy" in found else None
    print(f"crawler       pages  pages/s  CPU ms/page  peak MB  x Scrapy   median of {len(found['scenthound'])}")
    for name, results in found.items():
        rate = statistics.median(r.rate for r in results)
        cpu = statistics.median(1000 * r.cpu / r.pages for r in results)
        peak = statistics.median(r.peak_mb for r in results)
        times = f"{rate / base:.2f}" if base else "-"
        print(f"{name:<12} {results[0].pages:>6} {rate:>8.1f} {cpu:>12.2f} {peak:>8.0f} {times:>9}")


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    import socket

    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
