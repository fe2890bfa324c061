"""Politeness and slow names over real sockets on loopback: the times are those at which requests reached the server.

The rules themselves are tested on a virtual clock (`test_service_files.py`, `test_hosts.py`).
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver

from scenthound.loop.settings import Settings, read
from scenthound.web.addresses import parse_networks
from scenthound.web.connection import FetchLimits
from scenthound.web.fetch import HttpFetcher
from scenthound.wiring import begin
from support.hostile import Everywhere, Exchange, HostileServer

PATIENT = FetchLimits(connect=60.0, idle=60.0, total=120.0)
QUICK = {"delay": 0, "workers": 0, "host_patience": 0, "allow_private": ["loopback"], "contact": "test@example.org"}
CLOCKS = 0.01  # seconds by which a clock that is read twice may differ
REST = 0.3


def crawl(
    folder: Path, server: HostileServer, hosts: Iterable[str], resolver: AbstractResolver | None, **more: object
) -> int:
    """Crawl the front pages of hosts that are all served here. Returns the number of pages."""
    settings = read(Settings, {**QUICK, **more})

    async def run() -> int:
        networks = parse_networks(settings.allow_private)
        async with HttpFetcher(PATIENT, "scenthound-test", networks, resolver=resolver) as fetcher:
            seeds = [server.url("/", host) for host in hosts]
            session = begin("bees honey", seeds, folder, settings=settings, fetcher=fetcher)
            try:
                await session.run()
                return session.crawl.pages
            finally:
                session.close()

    return asyncio.run(run())


def times(server: HostileServer, prefix: str = "") -> list[float]:
    return sorted(request.time for request in server.requests if request.host.startswith(prefix))


def shortest_gap(moments: list[float]) -> float:
    return min(later - before for before, later in itertools.pairwise(moments))


async def _page(exchange: Exchange) -> bool:
    status = "404 Not Found" if exchange.request.path == "/robots.txt" else "200 OK"
    return await exchange.reply(b"<title>bees</title><p>bees and honey", status=status)


def test_redirects_of_robots_files_wait_for_the_crawl_delay_of_the_host_they_lead_to(tmp_path: Path) -> None:
    server = HostileServer()

    async def elsewhere(exchange: Exchange) -> bool:
        request = exchange.request
        if request.path == "/robots.txt":
            name = request.host.partition(".")[0]
            return await exchange.reply(b"", f"Location: http://hub.test:{server.port}/for/{name}\r\n", "301 Moved")
        return await _page(exchange)

    async def hub(exchange: Exchange) -> bool:
        is_rules = exchange.request.path == "/robots.txt"
        body = f"User-agent: *\nCrawl-delay: {REST}\n" if is_rules else "User-agent: *\nDisallow: /no\n"
        kind = "" if exchange.request.path == "/" else "Content-Type: text/plain\r\n"
        return await exchange.reply(body.encode(), kind)

    server.serve_hosts("hub", hub)
    server.serve_hosts("away", elsewhere)
    names = ["hub.test", *(f"away{n}.test" for n in range(10))]
    with server:
        assert crawl(tmp_path / "crawl", server, names, Everywhere(), address_delay=0) == len(names)
    request_times = times(server, "hub")
    assert len(request_times) == 12, "its rules, its page, and the rules of the ten others"
    assert shortest_gap(request_times) >= REST - CLOCKS


def test_hosts_at_one_address_are_asked_one_after_the_other(tmp_path: Path) -> None:
    server = HostileServer()
    server.serve_hosts("h", _page)
    names = [f"h{n}.test" for n in range(10)]
    with server:
        assert crawl(tmp_path / "crawl", server, names, Everywhere(), address_delay=0.1) == 10
    request_times = times(server)
    assert len(request_times) == 20
    assert request_times[-1] - request_times[0] >= 19 * 0.1 - 2 * CLOCKS
    crowded = [
        later - before for before, later in zip(request_times, request_times[3:], strict=False) if later - before < 0.2
    ]
    assert crowded == [], "a request may be late on its way, but four never come within two rests"


def test_names_that_are_slow_to_look_up_delay_no_other_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, slow = HostileServer(), 8.0
    server.serve_hosts("healthy", _page)
    answered: list[float] = []

    def look_up(host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
        if host.startswith("slow"):
            time.sleep(slow)
            answered.append(time.monotonic())
            raise OSError("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    names = [*(f"slow{n}.test" for n in range(40)), *(f"healthy{n}.test" for n in range(8))]
    with server:
        assert crawl(tmp_path / "crawl", server, names, None, pages=8, concurrency=4) == 8
    request_times = times(server, "healthy")
    assert len(request_times) == 16
    assert request_times[-1] - request_times[0] < slow, "they did not wait for a lookup to be given up"
    assert not [moment for moment in answered if moment < request_times[-1]]
