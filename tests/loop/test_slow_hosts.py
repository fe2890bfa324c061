"""Hosts that hang, reset connections or redirect in circles hardly slow down a crawl."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from scenthound.loop.settings import Settings, read
from scenthound.wiring import begin
from support.hostile import Exchange, HostileServer

QUICK = {"delay": "20 ms", "backoff": "100 ms", "host_patience": 0, "workers": 0, "contact": "test@example.org"}
PAGES = 6  # of each healthy host
LATENCY = 0.05  # seconds that a healthy host takes: waiting decides how long a crawl takes, not the processor


async def _healthy(exchange: Exchange) -> bool:
    await asyncio.sleep(LATENCY)
    path = exchange.request.path
    links = "".join(f'<a href="/{n}">honey {n}</a>' for n in range(1, PAGES)) if path == "/" else ""
    status = "404 Not Found" if path == "/robots.txt" else "200 OK"
    return await exchange.reply(f"<title>bees</title><p>bees and honey {links}".encode(), status=status)


async def _hanging(exchange: Exchange) -> None:
    await asyncio.sleep(3600)


async def _tarpit(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await exchange.send(b"X-Wait: a little longer\r\n")
        await asyncio.sleep(0.5)


async def _resetting(exchange: Exchange) -> None:
    exchange.writer.transport.abort()


async def _looping(exchange: Exchange) -> bool:
    path = exchange.request.path
    if path == "/robots.txt":
        return await exchange.reply(b"", status="404 Not Found")
    return await exchange.reply(b"", f"Location: {path}x\r\n", "302 Found")


class Web:
    """An index page that links to hosts of each kind, in this order."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self.server = HostileServer()
        for behaviour in (_healthy, _hanging, _tarpit, _resetting, _looping):
            self.server.serve_hosts(behaviour.__name__.strip("_"), behaviour)
        self.server.serve_hosts("index", self._index)

    async def _index(self, exchange: Exchange) -> bool:
        links = "".join(f'<a href="http://{name}.test/">honey</a>' for name in self.names)
        return await exchange.reply(f"<title>bees</title><p>bees and honey {links}".encode())

    @property
    def healthy_pages(self) -> int:
        return PAGES * sum(name.startswith("healthy") for name in self.names)

    def seconds(self, folder: Path, **settings: object) -> float:
        """Crawl until all healthy pages are there; gives the seconds from the first request to the last of these."""
        with self.server:
            values = {**QUICK, "pages": 1 + self.healthy_pages, "proxy": self.server.url()[:-1], **settings}
            session = begin("bees honey", ["http://index.test/"], folder, settings=read(Settings, values))
            try:
                asyncio.run(session.run())
                assert session.crawl.pages == 1 + self.healthy_pages, session.crawl.end_reason
            finally:
                session.close()
        requests = self.server.requests
        return max(r.time for r in requests if r.host.startswith("healthy")) - requests[0].time


def hosts(**counts: int) -> list[str]:
    return [f"{kind}{n}" for kind, count in counts.items() for n in range(count)]


def mixed(healthy: int) -> list[str]:
    """Half of the hosts are healthy, 30 % hang, 10 % reset and 10 % loop, in random order."""
    names = hosts(healthy=healthy, hanging=3 * healthy // 5, resetting=healthy // 5, looping=healthy // 5)
    random.Random(7).shuffle(names)
    return names


def ratios(names: list[str], folder: Path, **settings: object) -> Iterator[float]:
    """How many times as long the healthy pages take as without the others, in two pairs of crawls: a machine that is
    busy for a moment is nobody's fault."""
    healthy = [name for name in names if name.startswith("healthy")]
    for pair in ("first", "second"):
        among, alone = (Web(some).seconds(folder / f"{pair}-{len(some)}", **settings) for some in (names, healthy))
        yield among / alone


@pytest.mark.parametrize("concurrency", [1, 4, 32])
def test_hanging_hosts_that_come_first_do_not_hold_up_the_others(tmp_path: Path, concurrency: int) -> None:
    web = Web(hosts(hanging=40, healthy=8))
    web.seconds(tmp_path / "crawl", concurrency=concurrency)
    hanging = [request.host for request in web.server.requests if request.host.startswith("hanging")]
    assert len(hanging) == len(set(hanging)), "all healthy pages came before the first hanging request was given up"


def test_hosts_that_are_given_up_one_after_the_other_are_not_taken_for_an_outage(tmp_path: Path) -> None:
    web = Web(hosts(hanging=40, healthy=8))
    web.seconds(tmp_path / "crawl", concurrency=2, first_byte_timeout="500 ms", time=60)


@pytest.mark.slow
def test_a_page_that_links_to_tarpits_costs_next_to_nothing(tmp_path: Path) -> None:
    assert any(ratio < 1.5 for ratio in ratios(hosts(tarpit=32, healthy=16), tmp_path, delay="300 ms"))


@pytest.mark.slow
@pytest.mark.parametrize(("concurrency", "healthy"), [(1, 10), (4, 30), (64, 60)])
def test_healthy_pages_arrive_in_time_among_hosts_that_hang_reset_and_loop(
    tmp_path: Path, concurrency: int, healthy: int
) -> None:
    assert any(ratio < 1.5 for ratio in ratios(mixed(healthy), tmp_path, concurrency=concurrency))


@pytest.mark.slow
def test_a_full_allowance_of_slow_requests_blocks_no_other_request(tmp_path: Path) -> None:
    web = Web(hosts(hanging=12, healthy=4))
    web.seconds(
        tmp_path / "crawl", concurrency=1, slow_requests=4, first_byte_timeout="1 h", page_timeout="1 h", time=60
    )
