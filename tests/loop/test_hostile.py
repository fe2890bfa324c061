"""A live crawl of a hostile web continues, uses constant memory, and counts every case."""

from __future__ import annotations

import asyncio
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.web.addresses import parse_networks
from scenthound.web.connection import FetchLimits
from scenthound.web.fetch import HttpFetcher
from scenthound.wiring import begin
from support.hostile import BEHAVIOURS, Everywhere, HostileServer
from support.warc_check import check

QUICK = {
    "delay": 0,
    "backoff": 0.01,
    "retries": 0,
    "page_bytes": "2 MB",
    "concurrency": 8,
    "host_patience": 60,
    "allow_private": ["loopback"],
}
PATIENT = FetchLimits(connect=60.0, idle=60.0, total=120.0)  # a busy machine is no reason to lose a page
BRIEF = FetchLimits(connect=60.0, idle=4.0, total=8.0)  # for those who never come to an end
NEVER_DONE = ("slow-head.", "slow-drip.", "stalls.", "hangs.")
EXPECTED_MISSES = {
    "timeout": ["slow-head", "hangs"],
    "refused-address": ["10", "169"],
    "redirect-loop": ["redirect-loop", "redirect-pair"],
    "bad-redirect": ["redirect-file", "redirect-javascript", "redirect-nowhere"],
    "bomb": ["gzip-bomb"],
    "header-bomb": ["header-huge", "header-many", "header-sum"],
    "bad-http": ["bad-chunk"],
}


class Waits:
    """A fetcher with a short time-out for hosts that never answer, and a long one for all others."""

    def __init__(self, patient: HttpFetcher, brief: HttpFetcher) -> None:
        self._patient, self._brief = patient, brief

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        fetcher = self._brief if url.partition("://")[2].startswith(NEVER_DONE) else self._patient
        return await fetcher.fetch(url, most)


def crawl(folder: Path, seeds: list[str], pages: int = 300, **more: object) -> CrawlFolder:
    settings = read(Settings, {**QUICK, "pages": pages, **more})

    async def run() -> None:
        networks = parse_networks(settings.allow_private)
        patient, brief = (
            HttpFetcher(replace(limits, bytes=settings.page_bytes), "scenthound-test", networks, resolver=Everywhere())
            for limits in (PATIENT, BRIEF)
        )
        async with patient, brief:
            session = begin("bees honey", seeds, folder, settings=settings, fetcher=Waits(patient, brief))
            try:
                await session.run()
            finally:
                session.close()

    asyncio.run(run())
    return CrawlFolder.look(folder)


@pytest.mark.slow
def test_a_crawl_of_everything_hostile_goes_on_and_counts_each_case(tmp_path: Path) -> None:
    with HostileServer() as server:
        seeds = []
        for path in BEHAVIOURS:
            name = path.strip("/*").partition("/")[0]
            seeds.append(server.url(path.replace("*", "1"), f"{name}.test"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with crawl(tmp_path / "crawl", seeds) as stored:
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            fate = {}
            for miss in stored.history.misses():
                fate.setdefault(miss.url.split("/")[2].split(".")[0], miss.reason)
            for reason, names in EXPECTED_MISSES.items():
                for name in names:
                    assert fate.get(name) == reason, (name, fate.get(name))
            visited = {step.url.split("/")[2].split(".")[0] for step in stored.history.trail()}
            survivors = {"fine", "gzip", "nul", "wrong-charset", "links", "one-line", "strange-links", "escapes"}
            assert survivors | {"endless", "slow-drip"} <= visited, "what came before a cap is kept"
            cases = {path.strip("/*").partition("/")[0] for path in BEHAVIOURS}
            heard = visited | set(fate) | {"redirect-private", "redirect-metadata"}  # these end elsewhere, see above
            assert cases <= heard, "every case ends as a page or as a miss with a reason"
            assert not any(report.good < report.size for report in check(tmp_path / "crawl" / "pages"))
            suspended = {str(event.facts["host"]) for event in stored.history.strategy_events("suspended")}
            assert any(host.startswith("calendar.test") for host in suspended), "the calendar is left alone"
            months = sum(request.host.startswith("calendar.test") for request in server.requests)
            assert months < 100, "it is left after a while: 300 pages are allowed, and it has one for each month"
            assert stored.suspended_urls > 0, "its other months wait, and so does the path that grows for ever"
        assert after - before < 200_000, f"peak memory grew by {(after - before) // 1000} MB"


@pytest.mark.slow
def test_a_robots_txt_of_100_mb_is_read_to_its_limit_and_obeyed(tmp_path: Path) -> None:
    with HostileServer(robots="/huge-robots") as server:
        with crawl(tmp_path / "crawl", [server.url("/fine", "a.test")], pages=2) as stored:
            assert len(stored.history) + len(list(stored.history.misses())) >= 1
        assert sum(server.sent.values()) < 60_000_000, "the rest was not read"


def test_no_request_goes_to_a_private_address_unless_allowed(tmp_path: Path) -> None:
    with HostileServer() as server:
        with crawl(tmp_path / "crawl", [server.url("/fine", "a.test")], allow_private=[]) as stored:
            assert [miss.reason for miss in stored.history.misses()] == ["refused-address"]
        assert server.requests == []
