"""Crawls over HTTP with the default delay, each with its replay on the virtual clock and its replay without delays.

Every crawl has its own server, on which all hosts of the web answer after 0.2 seconds. A finished crawl is kept as a
JSON file and not repeated. Trap watch and host patience are off, because replays have neither.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hound_lab import OURS, BenchWeb, Settings, hound_digest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.process_pool import ProcessPool
from scenthound.lab.run.polite_replay import PoliteLimits
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.loop.settings import Settings as CrawlSettings
from scenthound.model import Response, Step
from scenthound.ports import Failure, Fetcher
from scenthound.topic_list import BedTopic
from scenthound.wiring import begin, make_fetcher

POLITE = PoliteLimits(sigma=0.0)


class LiveCrawl(NamedTuple):
    """A live crawl and its replays."""

    strategy: str
    topic: str
    pages: int
    recall: float
    seconds: float
    polite_recall: float
    polite_seconds: float
    plain_recall: float
    """Recall of the replay without delays, one request at a time."""
    same: float
    """The share of pages of the live crawl that the polite replay fetched too."""


def live_crawls(web: BenchWeb, strategies: Sequence[str], topics: Sequence[str], settings: Settings) -> list[LiveCrawl]:
    """Run all these crawls, several at the same time, and return them."""
    folder = settings.work / "live"
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        (strategy, topic): folder / f"{web.name}-{_version(strategy)}-{topic}-{settings.pages}.json"
        for strategy in strategies
        for topic in topics
    }
    missing = [(*crawl, file) for crawl, file in files.items() if not file.exists()]
    if missing:
        prepare(web.bed)  # once, before several processes need it
        pool = ProcessPool(min(settings.jobs, len(missing)))
        try:
            for future in as_completed(
                pool.submit(_crawl_and_keep, web.folder, *crawl, settings.pages) for crawl in missing
            ):
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)
    return [LiveCrawl(**json.loads(file.read_text())) for file in files.values()]


def _version(strategy: str) -> str:
    return f"{strategy}-{hound_digest()}" if strategy.startswith(OURS) else strategy


def _crawl_and_keep(folder: Path, strategy: str, topic_id: str, file: Path, pages: int) -> None:
    bed = Bed.open(folder)
    topic = next(topic for topic in bed.topics if topic.id == topic_id)
    result = _live_crawl(bed, prepare(bed), topic, strategy, pages)
    file.write_text(json.dumps(result._asdict()) + "\n")


def _live_crawl(bed: Bed, prepared: PreparedBed, topic: BedTopic, strategy: str, pages: int) -> LiveCrawl:
    replays: list[Any] = [
        run_cell(prepared, topic, strategy, None, ReplayLimits(pages, polite=limits), topics=bed.topics)
        for limits in (POLITE, None)
    ]
    polite, plain = replays
    steps, seconds = _over_http(bed, topic, strategy, pages)
    urls = {step.url for step in steps}
    return LiveCrawl(
        strategy,
        topic.id,
        len(steps),
        _recall(steps, topic, prepared),
        seconds,
        _recall(polite.steps, topic, prepared),
        polite.polite["seconds"],
        _recall(plain.steps, topic, prepared),
        len(urls & {step.url for step in polite.steps}) / len(urls),
    )


def _over_http(bed: Bed, topic: BedTopic, strategy: str, pages: int) -> tuple[list[Step], float]:
    """The steps of a crawl over HTTP, and its duration in seconds."""
    options = ServerOptions(latency=POLITE.latency, robots="allow")
    with tempfile.TemporaryDirectory() as aside, serving(BedServer(bed, options)) as address:
        settings = CrawlSettings(
            pages=pages, proxy=f"http://{address}", contact="bench@scenthound.invalid", traps=False, host_patience=0
        )
        began = time.monotonic()
        steps = asyncio.run(_crawl(topic, strategy, settings, Path(aside) / "live"))
        return steps, time.monotonic() - began


async def _crawl(topic: BedTopic, strategy: str, settings: CrawlSettings, out: Path) -> list[Step]:
    async with make_fetcher(settings) as fetcher:
        plain = _WithoutTls(fetcher)
        session = begin(topic.topic, list(topic.seeds), out, strategy=strategy, settings=settings, fetcher=plain)
        await session.run()
    steps = list(session.folder.history.trail())
    session.close()
    return steps


class _WithoutTls:
    """Fetches https pages over http, because the server of a bed has no TLS."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        reply = await self._fetcher.fetch(url.replace("https://", "http://", 1), most)
        return reply if isinstance(reply, Failure) else replace(reply, url=url)


def _recall(steps: Sequence[Step], topic: BedTopic, bed: PreparedBed) -> float:
    return target_recall(steps, frozenset(topic.targets), topic.seeds, bed.aliases)[-1] or 0.0
