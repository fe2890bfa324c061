"""The fetcher and a server that misbehaves: the right result, within the limits, and ready for the next request."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from scenthound.errors import BadConfig
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.web.addresses import parse_networks
from scenthound.web.connection import FetchLimits
from scenthound.web.fetch import HttpFetcher
from support.hostile import BEHAVIOURS, Exchange, HostileServer, raw, whole

T = TypeVar("T")
AGENT = "scenthound-test/1.0 (+mailto:test@example.org)"
LOOPBACK = parse_networks(["loopback"])
QUICK = FetchLimits(bytes=1_000_000, connect=60.0, idle=60.0, total=120.0)  # long enough on the busiest machine
BRIEF = replace(QUICK, connect=2.0, idle=2.0, total=4.0)  # for what never comes to an end
NEVER_DONE = {"/slow-drip", "/slow-head", "/stalls", "/hangs"}


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as running:
        yield running


def using(work: Callable[[HttpFetcher], Awaitable[T]], limits: FetchLimits = QUICK, **settings: object) -> T:
    settings.setdefault("allow_private", LOOPBACK)

    async def run() -> T:
        async with HttpFetcher(limits, AGENT, **settings) as fetcher:  # type: ignore[arg-type]
            return await work(fetcher)

    return asyncio.run(run())


def fetched(url: str, limits: FetchLimits = QUICK, **settings: object) -> Response | Failure:
    return using(lambda fetcher: fetcher.fetch(url), limits, **settings)


def page(url: str, limits: FetchLimits = QUICK, **settings: object) -> Response:
    result = fetched(url, limits, **settings)
    assert isinstance(result, Response), result
    return result


# path -> (status, truncated) of a response, or the reason of a failure and whether it may be tried again
EXPECTED: dict[str, tuple[int, str] | tuple[str, bool]] = {
    "/endless": (200, "length"),
    "/endless-chunked": (200, "length"),
    "/tiny-chunks": (200, "length"),
    "/chunk-extension": ("too-large", False),
    "/trailer": ("header-bomb", False),
    "/trailer-line": ("header-bomb", False),
    "/continue": ("header-bomb", False),
    "/slow-drip": (200, "time"),
    "/slow-head": ("timeout", True),
    "/stalls": (200, "time"),
    "/length-too-long": (200, "disconnect"),
    "/length-nonsense": ("bad-http", False),
    "/length-twice": ("bad-http", False),
    "/nothing-of-it": ("reset", True),
    "/header-huge": ("header-bomb", False),
    "/header-many": ("header-bomb", False),
    "/header-sum": ("header-bomb", False),
    "/redirect-loop": (302, ""),
    "/redirect-pair/*": (302, ""),
    "/redirect-private": (302, ""),
    "/redirect-metadata": (302, ""),
    "/redirect-file": (302, ""),
    "/redirect-javascript": (302, ""),
    "/redirect-nowhere": (301, ""),
    "/links": (200, "length"),
    "/one-line": (200, "length"),
    "/huge-robots": (200, "length"),
    "/hangs": ("timeout", True),
    "/resets": ("reset", True),
    "/resets-late": (200, "disconnect"),
    "/closes": ("empty-reply", True),
    "/half-status": ("reset", True),
    "/half-head": ("reset", True),
    "/http09": ("bad-http", False),
    "/bad-chunk": ("bad-http", False),
    "/huge-chunk": ("bad-http", False),
    "/cut-chunk": (200, "disconnect"),
    "/switch": ("bad-http", False),
}


@pytest.mark.parametrize("path", BEHAVIOURS)
def test_whatever_the_server_does_is_an_answer_within_the_caps_and_the_next_page_comes(
    server: HostileServer, path: str
) -> None:
    spot = path.replace("*", "x")

    async def work(fetcher: HttpFetcher) -> tuple[Response | Failure, Response | Failure]:
        return await fetcher.fetch(server.url(spot)), await fetcher.fetch(server.url("/fine"))

    asked, sent = len(server.asked(spot)), server.sent.get(spot, 0)
    result, after = using(work, BRIEF if path in NEVER_DONE else QUICK)
    if isinstance(result, Response):
        assert (result.status, result.truncated) == EXPECTED.get(path, (200, ""))
        assert len(result.body) <= QUICK.bytes
        assert result.address == "127.0.0.1"
    else:
        assert (result.reason, result.may_retry) == EXPECTED[path]
        assert result.detail.isprintable()
        assert 0 < len(result.detail) <= 200
    assert isinstance(after, Response)
    assert after.body == b"<title>fine</title><p>bees and honey"
    repeats = 2 if path == "/fine" else 1
    assert len(server.asked(spot)) - asked == repeats, "no server is asked twice for one page"
    assert server.sent.get(spot, 0) - sent < 40_000_000, "what is beyond the cap stays in the buffers of the kernel"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/endless", "/header-huge", "/one-line", "/tiny-chunks", "/continue", "/trailer-line"]
)
def test_memory_is_bounded_by_the_cap_and_not_by_what_is_sent(server: HostileServer, path: str) -> None:
    fetched(server.url("/fine"))  # what is imported and built once does not count
    tracemalloc.start()
    try:
        fetched(server.url(path), replace(QUICK, bytes=500_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000  # server and client live in this process: buffers of both, the body twice (pieces, whole)


def test_a_body_of_exactly_the_cap_is_whole_and_one_byte_more_is_cut(server: HostileServer) -> None:
    limits = replace(QUICK, bytes=1000)
    server.serve("/1000", whole(b"x" * 1000))
    server.serve("/1001", whole(b"x" * 1001))
    exact, more = page(server.url("/1000"), limits), page(server.url("/1001"), limits)
    assert (len(exact.body), exact.truncated) == (1000, "")
    assert (len(more.body), more.truncated) == (1000, "length")


def test_a_reply_that_does_not_begin_in_time_is_given_up(server: HostileServer) -> None:
    result = fetched(server.url("/hangs"), replace(QUICK, first_byte=0.3))
    assert isinstance(result, Failure)
    assert (result.reason, result.detail, result.may_retry) == ("timeout", "no reply within 0.3 s", True)


def test_a_reply_that_has_begun_may_take_longer_than_its_first_byte(server: HostileServer) -> None:
    async def slow_but_sure(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n")
        for _ in range(6):
            await asyncio.sleep(0.2)
            await exchange.send(b"x" * 1000)

    server.serve("/slow-but-sure", slow_but_sure)
    limits = replace(QUICK, first_byte=0.6, rate=100.0, rate_time=0.6)
    assert len(page(server.url("/slow-but-sure"), limits).body) == 6000


@pytest.mark.parametrize(("path", "head"), [("/slow-drip", True), ("/slow-head", False)])
def test_a_reply_below_the_least_rate_is_given_up(server: HostileServer, path: str, head: bool) -> None:
    result = fetched(server.url(path), replace(QUICK, rate=1000.0, rate_time=0.5))
    if head:
        assert isinstance(result, Response)
        assert result.truncated == "time", "what came of its body is kept"
    else:
        assert isinstance(result, Failure)
        assert (result.reason, result.detail) == ("timeout", "less than 1000 bytes a second")


def test_a_connection_is_not_watched_between_two_requests(server: HostileServer) -> None:
    async def work(fetcher: HttpFetcher) -> int:
        await fetcher.fetch(server.url("/fine"))
        before = server.connections
        await asyncio.sleep(0.5)
        await fetcher.fetch(server.url("/fine"))
        return server.connections - before

    assert using(work, replace(QUICK, first_byte=0.2, rate_time=0.2)) == 0


def test_slow_names_do_not_hold_up_the_others(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def lookup(host: str, port: int, **_: object) -> list[object]:
        if host.startswith("slow"):
            over.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def work(fetcher: HttpFetcher) -> tuple[Response | Failure, int]:
        slow = [asyncio.create_task(fetcher.fetch(server.url("/fine", f"slow{n}.test"))) for n in range(32)]
        await asyncio.sleep(0)
        try:
            return await fetcher.fetch(server.url("/fine", "quick.test")), sum(task.done() for task in slow)
        finally:
            over.set()
            await asyncio.gather(*slow)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    reply, finished = using(work, replace(QUICK, connect=20.0))
    assert isinstance(reply, Response), reply
    assert finished == 0, "it did not wait for them"


def test_what_arrived_before_the_end_is_kept(server: HostileServer) -> None:
    assert page(server.url("/length-too-long")).body == b"<title>short</title>"
    assert page(server.url("/resets-late")).body == b"<title>cut</title>"
    assert page(server.url("/stalls"), BRIEF).body == b"<title>half a page</title>"
    assert page(server.url("/cut-chunk")).body == b"<title>cut</title>"


def test_a_redirect_whose_body_never_comes_is_a_redirect(server: HostileServer) -> None:
    server.serve("/moved", raw(b"HTTP/1.1 301 Moved\r\nLocation: /fine\r\nContent-Length: 10\r\n\r\n"))
    result = page(server.url("/moved"))
    assert (result.status, result.header("location"), result.truncated) == (301, "/fine", "disconnect")


def test_the_body_stays_as_it_came_over_the_wire(server: HostileServer) -> None:
    result = page(server.url("/gzip"))
    assert result.body[:2] == b"\x1f\x8b"
    assert result.header("Content-Encoding") == "gzip"
    bomb = page(server.url("/gzip-bomb"))
    assert len(bomb.body) < 200_000, "nothing is unpacked here"


# What is sent


TARGETS = """/a%2fb?q=%E4|x /%7e/../b/./c? /?a=1&a=2;b='"<>{}^`\\ /%zz% //double//slash /%61%2F?x=%20+%2b /[x]"""


@pytest.mark.parametrize("target", TARGETS.split())
def test_the_url_reaches_the_wire_byte_for_byte(server: HostileServer, target: str) -> None:
    fetched(server.url(target))
    assert server.requests[-1].target == target


def test_a_request_says_who_asks_and_nothing_else(server: HostileServer) -> None:
    fetched(server.url("/fine"))
    asked = server.requests[-1]
    assert asked.method == "GET"
    assert asked.header("User-Agent") == AGENT
    assert {name for name, _ in asked.headers} == {"Host", "User-Agent", "Accept", "Accept-Encoding"}
    assert str(asked.header("Accept-Encoding")).startswith("gzip, deflate")


def test_credentials_in_a_url_are_not_sent(server: HostileServer) -> None:
    fetched(server.url("/fine").replace("127.0.0.1", "user:secret@127.0.0.1"))
    assert server.requests[-1].header("Authorization") is None


NO_URLS = """fine ftp://127.0.0.1/ file:///etc/passwd javascript:alert(1) http:// http:///x http://a/\u00e9 http://a\\b/
http://127.0.0.1:99999/ http://127.0.0.1:x/ http://[::1/"""


@pytest.mark.parametrize("url", [*NO_URLS.split(), "", "http://a b/", "http://a/\r\nX: y"])
def test_what_is_not_an_http_url_is_refused_without_a_request(server: HostileServer, url: str) -> None:
    before = len(server.requests)
    result = fetched(url)
    assert isinstance(result, Failure)
    assert result.reason == "bad-url"
    assert len(server.requests) == before


def test_a_connection_is_used_again_and_few_are_kept(server: HostileServer) -> None:
    async def work(fetcher: HttpFetcher) -> int:
        before = server.connections
        for _ in range(5):
            await fetcher.fetch(server.url("/fine"))
        return server.connections - before

    assert using(work) == 1

    async def many(fetcher: HttpFetcher) -> int:
        await asyncio.gather(*(fetcher.fetch(server.url("/fine")) for _ in range(10)))
        await asyncio.sleep(0.05)
        before = server.connections
        await asyncio.gather(*(fetcher.fetch(server.url("/fine")) for _ in range(10)))
        return server.connections - before

    assert using(many, replace(QUICK, idle_connections=3)) == 7


def test_an_idle_connection_that_the_server_closed_costs_nothing(server: HostileServer) -> None:
    async def once(exchange: Exchange) -> None:
        await exchange.reply(b"<title>once</title>")
        await asyncio.sleep(0.02)

    server.serve("/once", once)

    async def work(fetcher: HttpFetcher) -> list[Response | Failure]:
        result = [await fetcher.fetch(server.url("/once"))]
        for pause in (0.0, 0.021, 0.1):
            await asyncio.sleep(pause)
            result.append(await fetcher.fetch(server.url("/once")))
        return result

    assert [isinstance(result, Response) for result in using(work)] == [True] * 4


def test_words_that_were_not_requested_are_not_taken_for_the_next_answer(server: HostileServer) -> None:
    unasked = threading.Event()

    async def chatty(exchange: Exchange) -> bool:
        await exchange.reply(b"first")
        await asyncio.sleep(0.05)
        await exchange.reply(b"unasked")
        unasked.set()
        return True

    server.serve("/chatty", chatty)

    async def work(fetcher: HttpFetcher) -> list[bytes]:
        first = await fetcher.fetch(server.url("/chatty"))
        await asyncio.to_thread(unasked.wait, 60)
        await asyncio.sleep(0.05)
        second = await fetcher.fetch(server.url("/fine"))
        assert isinstance(first, Response)
        assert isinstance(second, Response)
        return [first.body, second.body]

    assert using(work) == [b"first", b"<title>fine</title><p>bees and honey"]


def test_a_cancellation_is_the_only_thing_raised(server: HostileServer) -> None:
    async def work(fetcher: HttpFetcher) -> Response | Failure:
        task = asyncio.create_task(fetcher.fetch(server.url("/hangs")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await fetcher.fetch(server.url("/fine"))

    assert isinstance(using(work), Response)


# Where it connects


class Rebinding(AbstractResolver):
    """A name server whose answers change: a public address at the check, then another address."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers, self.request = list(answers), 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        answer = self.answers[min(self.request, len(self.answers) - 1)]
        self.request += 1
        if not answer:
            raise OSError(socket.EAI_NONAME, "no such name")
        kinds = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in answer]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=0)
            for address, kind in zip(answer, kinds, strict=True)
        ]

    async def close(self) -> None:
        return None


def reason(url: str, **settings: object) -> str:
    result = fetched(url, **settings)
    return result.reason if isinstance(result, Failure) else str(result.status)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_the_loopback_is_refused_unless_allowed(server: HostileServer, host: str) -> None:
    before = server.connections
    assert reason(server.url("/fine", host), allow_private=()) == "refused-address"
    assert server.connections == before


def test_a_private_or_metadata_address_is_refused_at_once() -> None:
    for host in ("10.0.0.1", "169.254.169.254", "[fd00:ec2::254]", "100.64.0.1", "192.168.0.1"):
        result = fetched(f"http://{host}/latest/meta-data/")
        assert isinstance(result, Failure)
        assert (result.reason, result.may_retry) == ("refused-address", False)
        assert host.strip("[]") in result.detail


def test_a_name_that_leads_to_a_private_address_is_refused(server: HostileServer) -> None:
    before = server.connections
    url = server.url("/fine", "public.example")
    for answer in (["127.0.0.1"], ["127.0.0.1", "::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["fe80::1"]):
        assert reason(url, resolver=Rebinding(answer), allow_private=()) == "refused-address"
    assert server.connections == before


def test_a_rebinding_name_is_judged_by_the_address_that_is_connected_to(server: HostileServer) -> None:
    resolver = Rebinding(["127.0.0.1"], ["169.254.169.254"])

    async def work(fetcher: HttpFetcher) -> list[Response | Failure]:
        url = server.url("/length-too-short", "rebinding.example")  # its connection is not used again
        first = await fetcher.fetch(url)
        await asyncio.sleep(0.02)
        return [first, await fetcher.fetch(url)]

    first, second = using(work, replace(QUICK, dns_cache=0.01), resolver=resolver)
    assert isinstance(first, Response)
    assert first.address == "127.0.0.1"
    assert isinstance(second, Failure)
    assert (second.reason, resolver.request) == ("refused-address", 2)


def test_of_several_addresses_an_allowed_one_is_taken(server: HostileServer) -> None:
    result = page(server.url("/fine", "mixed.example"), resolver=Rebinding(["10.0.0.1", "127.0.0.1"]))
    assert (result.status, result.address) == (200, "127.0.0.1")
    assert server.requests[-1].host == f"mixed.example:{server.port}"


def test_a_name_that_does_not_exist_is_a_dns_failure() -> None:
    assert reason("http://nowhere.invalid/", resolver=Rebinding([])) == "dns"
    assert reason(f"http://{'a' * 64}.invalid/") == "dns"


def test_a_port_without_a_listener_is_a_connect_failure() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        result = fetched(f"http://127.0.0.1:{bound.getsockname()[1]}/")
    assert isinstance(result, Failure)
    assert (result.reason, result.may_retry) == ("connect", True)


# Through a proxy, and over TLS


def test_an_http_proxy_is_asked_for_the_whole_url_and_looks_up_the_name_itself(server: HostileServer) -> None:
    url = "http://far.example/fine?q=%E4|x"
    result = page(url, proxy=server.url("").replace("127.0.0.1", "user:pass@127.0.0.1"), allow_private=())
    asked = server.requests[-1]
    assert result.url == asked.target == url
    assert (result.status, asked.host) == (200, "far.example")
    assert asked.header("Proxy-Authorization") == "Basic dXNlcjpwYXNz"
    assert asked.header("Authorization") is None


def test_a_proxy_is_not_asked_for_addresses_that_are_refused(server: HostileServer) -> None:
    before = len(server.requests)
    for host in ("127.0.0.1", "10.0.0.1", "[::1]", "localhost", "a.localhost", "169.254.169.254",
                 "intranet", "db.internal", "printer.local.", "nas.lan", "x.corp",
                 "127.0.0.1.nip.io", "a-7f000001.nip.io", "10-0-0-1.sslip.io", "lvh.me"):  # fmt: skip
        assert reason(f"http://{host}/", proxy=server.url(""), allow_private=()) == "refused-address"
    assert len(server.requests) == before
    assert reason(server.url("/fine"), proxy=server.url("")) == "200"


def test_a_proxy_that_is_not_there_or_will_not_is_a_proxy_failure(server: HostileServer) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{bound.getsockname()[1]}"
        assert reason("http://far.example/", proxy=f"http://{nobody}") == "proxy"
        assert reason("http://far.example/", proxy=f"socks5://{nobody}") == "proxy"
    assert reason("https://far.example/", proxy=server.url("")) == "proxy"  # it knows no CONNECT
    mute = f"socks5://127.0.0.1:{server.port}"  # it knows no SOCKS either, and waits for more
    assert reason("http://far.example/", limits=BRIEF, proxy=mute) in ("proxy", "timeout")


def test_a_socks_proxy_is_given_the_name_and_the_caps_still_hold(server: HostileServer) -> None:
    names: list[bytes] = []

    at_work: list[asyncio.Task[None] | None] = []

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.close()

    async def socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_work.append(asyncio.current_task())
        await reader.readexactly((await reader.readexactly(2))[1])
        writer.write(b"\x05\x00")
        names.append(await reader.readexactly((await reader.readexactly(5))[4]))
        await reader.readexactly(2)
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        there, out = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(pump(there, writer), pump(reader, out))

    async def run() -> list[Response | Failure]:
        async with await asyncio.start_server(socks, "127.0.0.1", 0) as proxy:
            port = proxy.sockets[0].getsockname()[1]
            async with HttpFetcher(QUICK, AGENT, proxy=f"socks5h://127.0.0.1:{port}") as fetcher:
                paths = ("/fine", "/endless", "/continue")
                result = [await fetcher.fetch(f"http://far.example{path}") for path in paths]
            await asyncio.gather(*(task for task in at_work if task))
            return result

    fine, endless, flood = asyncio.run(run())
    assert isinstance(fine, Response)
    assert isinstance(endless, Response)
    assert isinstance(flood, Failure)
    assert (fine.status, endless.truncated, flood.reason, set(names)) == (
        200,
        "length",
        "header-bomb",
        {b"far.example"},
    )


@pytest.mark.parametrize("proxy", ["", "ftp://h:1", "http://", "socks5://host", "http://h:port"])
def test_a_proxy_that_cannot_be_used_is_bad_configuration(proxy: str) -> None:
    with pytest.raises(BadConfig, match="proxy"):
        HttpFetcher(QUICK, AGENT, proxy=proxy)


def test_a_socks_proxy_without_its_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadConfig, match=r"pip install scenthound\[socks\]"):
        HttpFetcher(QUICK, AGENT, proxy="socks5://127.0.0.1:1080")


@pytest.mark.parametrize("agent", ["", " ", "x\r\nX: y", "caf\u00e9"])
def test_a_user_agent_must_be_fit_for_a_header(agent: str) -> None:
    with pytest.raises(BadConfig):
        HttpFetcher(QUICK, agent)


def test_tls_is_verified_unless_switched_off(tmp_path: Path) -> None:
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("needs openssl to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    order = f"req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout {key} -out {cert}"
    subprocess.run([tool, *order.split()], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async def run(verify: bool, offered: ssl.SSLContext | None) -> Response | Failure:
        async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=offered) as secure:
            port = secure.sockets[0].getsockname()[1]
            async with HttpFetcher(QUICK, AGENT, LOOPBACK, verify_tls=verify) as fetcher:
                return await fetcher.fetch(f"https://127.0.0.1:{port}/")

    for result in (asyncio.run(run(True, context)), asyncio.run(run(True, None)), asyncio.run(run(False, None))):
        assert isinstance(result, Failure)
        assert (result.reason, result.may_retry) == ("tls", False)
    unverified = asyncio.run(run(False, context))
    assert isinstance(unverified, Response)
    assert unverified.body == b"ok"


def test_few_large_bodies_are_read_at_a_time_and_all_arrive(server: HostileServer) -> None:
    async def large(exchange: Exchange) -> bool | None:
        return await exchange.reply(b"x" * 200_000)

    server.serve("/large", large)

    async def work(fetcher: HttpFetcher) -> list[Response | Failure]:
        return await asyncio.gather(*(fetcher.fetch(server.url("/large")) for _ in range(12)))

    replies = using(work, replace(QUICK, small=10_000, large_bodies=2))
    assert [len(reply.body) for reply in replies if isinstance(reply, Response)] == [200_000] * 12


def test_a_large_body_is_not_read_on_while_too_many_others_are(server: HostileServer) -> None:
    async def large(exchange: Exchange) -> bool | None:
        return await exchange.reply(b"x" * 2_000_000)

    server.serve("/too-large", large)
    result = fetched(server.url("/too-large"), replace(QUICK, small=10_000, large_bodies=0, total=0.5))
    assert isinstance(result, Response)
    assert result.truncated == "time"
    assert len(result.body) < 1_000_000
    assert isinstance(fetched(server.url("/fine"), replace(QUICK, small=10_000, large_bodies=0)), Response)
