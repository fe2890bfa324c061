"""Odd and broken HTTP replies through the real fetcher: our own, and the suites of curl, llhttp and Scrapy.

Where we differ from a suite, the table beside the test says how and why; a difference that is not in
the table fails, and so does an entry that no longer differs.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.model import Candidate, Moved, Response
from scenthound.page.landing import land
from scenthound.ports import Failure
from scenthound.url import make, origin, resolve
from scenthound.web.addresses import parse_networks
from scenthound.web.connection import FetchLimits
from scenthound.web.fetch import HttpFetcher
from support.hostile import HostileServer, raw
from support.long_form import long_form
from support.suites import Suites, bytes_of

AGENT = "scenthound-test/1.0 (+mailto:test@example.org)"
LOOPBACK = parse_networks(["loopback"])
QUICK = FetchLimits(connect=60.0, idle=60.0, total=120.0)  # every reply here ends; long enough on the busiest machine


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as running:
        yield running


def fetched(*urls: str, proxy: str | None = None) -> list[Response | Failure]:
    async def run() -> list[Response | Failure]:
        async with HttpFetcher(QUICK, AGENT, LOOPBACK, proxy) as fetcher:
            return [await fetcher.fetch(url) for url in urls]

    return asyncio.run(run())


def page(url: str) -> Response:
    (result,) = fetched(url)
    assert isinstance(result, Response), result
    return result


def replay(server: HostileServer, reply: bytes) -> Response | Failure:
    server.serve("/replay", raw(reply))
    return fetched(server.url("/replay"))[0]


def test_how_the_network_cuts_the_stream_makes_no_difference(server: HostileServer) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"
    stream = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + head + b"<title>and rubbish"
    for cut in (0, 1, 20, 40, len(stream) - 25, len(stream) - 20, len(stream) - 19, len(stream) - 18, len(stream) - 5):
        server.serve("/cut", raw(stream[:cut], stream[cut:], pause=0.01))
        result = page(server.url("/cut"))
        assert (result.status, result.body, result.headers) == (200, b"<title>", (("Content-Length", "7"),))


def test_headers_are_text_in_order_whatever_bytes_they_were(server: HostileServer) -> None:
    result = page(server.url("/header-bytes"))
    assert result.headers[1:3] == (("X-Raw", "café"), ("X-Good", "café"))
    server.serve("/reason", raw(b"HTTP/1.0 404 Niet gevond\xebn\r\nContent-Length: 0\r\n\r\n"))
    odd = page(server.url("/reason"))
    assert (odd.reason, odd.http_version) == ("Niet gevondën", "1.0")
    "".join([odd.reason, *(text for line in result.headers for text in line)]).encode()  # no lone surrogate


@settings(max_examples=long_form(20, 60), deadline=None)
@given(reply=st.binary(max_size=300), start=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]))
def test_no_bytes_whatsoever_raise(server: HostileServer, reply: bytes, start: bytes) -> None:
    server.serve("/any", raw(start + reply))
    (result,) = fetched(server.url("/any"))
    assert isinstance(result, Response | Failure)


def test_a_cookie_is_never_sent_back(server: HostileServer) -> None:
    result = fetched(*[server.url("/set-cookie")] * 3)[-1]
    assert isinstance(result, Response)
    assert result.header("Set-Cookie") == "id=1; Path=/", "it is reported"
    assert [request.header("Cookie") for request in server.asked("/set-cookie")[-3:]] == [None] * 3, "and forgotten"


def test_a_content_length_that_is_too_short_ends_the_body(server: HostileServer) -> None:
    result = page(server.url("/length-too-short"))
    assert (result.body, result.truncated) == (b"<title>", "")


# curl: 32 replies, some with a second one behind a redirect

CURL_DIFFERS = {
    395: "a Content-Length beyond all numbers: curl reads to the end, the parser refuses what it cannot count",
    770: "`Content-Length: 6,06,6`: curl joins equal lengths, the parser refuses a list, which is how smuggling begins",
    1723: "an unknown transfer coding: curl refuses, we keep the bytes as they came, framing and all",
}
TOO_MANY_REDIRECTS, BAD_CONTENT_ENCODING = 47, 61  # the loop's and the decoder's business: here the reply is fine


def curl_agrees(case: dict[str, Any], reply: bytes, result: Response | Failure, last: bool) -> bool:
    fails = last and case["curl_error"] not in (0, TOO_MANY_REDIRECTS)
    decodes = case["curl_error"] == BAD_CONTENT_ENCODING and b"Content-Encoding" in reply
    if isinstance(result, Failure):
        return bool(fails) and not decodes
    if fails and not decodes:
        return result.truncated != ""
    _, body = re.split(rb"\r?\n\r?\n", reply, maxsplit=1)
    return result.status == int(reply[9:12]) and result.body == body[: int(result.header("Content-Length", "1000000"))]


def test_replies_give_what_curl_gives(server: HostileServer, suites: Suites) -> None:
    cases = suites.cases("http-replies/outcomes", "http-replies/curl_http_get")
    assert len(cases) == (8 if suites.is_own else 32)
    differs = set()
    for case in cases:
        texts = [text for name, text in sorted(case["replies"].items()) if name.startswith("data")]
        replies = [text.encode("latin-1") if suites.is_own else base64.b64decode(text) for text in texts]
        for number, reply in enumerate(replies, 1):
            if not curl_agrees(case, reply, replay(server, reply), last=number == len(replies)):
                differs.add(case["id"])
    assert differs == (set() if suites.is_own else set(CURL_DIFFERS))


# llhttp: 47 replies; aiohttp drives the same parser, in the lenient mode that browsers have

LLHTTP_DIFFERS = {
    "HTTP/1.1 with keep-alive disabled and 204 status": "rubbish behind a whole reply is dropped with its connection",
    "HTTP/1.1 with keep-alive disabled, content-length": "the same",
    "HTTP 100 first, then 400": "the suite notes the first status, we report the final one, 404",
    "Tabs in `Content-Length` (surrounding)": "42 bytes are promised and none comes: read rightly, and then a reset",
    "Bare CR after response line (lenient)": "a bare CR ends no line for us: that leniency is off",
    "Only LFs present and no body": "LF alone ends a line, as in every browser; the lenient twin agrees",
    "Only LFs present": "the same",
    "No carriage ret": "the same",
}


def test_replies_give_what_llhttp_gives(server: HostileServer, suites: Suites) -> None:
    cases = suites.cases("http-replies/statuses", "http-replies/llhttp_responses")
    assert len(cases) == (10 if suites.is_own else 47)
    differs = set()
    for case in cases:
        result = replay(server, bytes_of(case, "raw"))
        if case["error"]:
            agrees = isinstance(result, Failure)
        else:
            agrees = isinstance(result, Response) and result.status == case["status"]
        if not agrees:
            differs.add(case["title"])
    assert differs == (set() if suites.is_own else set(LLHTTP_DIFFERS))


# Scrapy: what follows a redirect

REDIRECT_DIFFERS = {
    "test_dont_redirect": "a switch of Scrapy's: we always report where a redirect leads",
    "test_max_redirect_times": "the target is the same; that it was one redirect too many is the loop's to say",
    "test_ttl": "the same",
}
SECRETS = ("Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Referer")


def target(result: Response) -> str | None:
    landed = land(Candidate(make(result.url), 1.0), result)
    return landed.spelling if isinstance(landed, Moved) else None


def plain(url: str) -> str:
    """The same URL without TLS, so that our server can act as the proxy; what we send does not depend on TLS."""
    return url.replace("https://", "http://", 1)


def test_no_credential_or_cookie_follows_a_redirect_and_it_leads_where_scrapy_goes(
    server: HostileServer, suites: Suites
) -> None:
    suite = suites.cases("redirects/own", "redirects/scrapy")
    cases = [case for case in suite if case["cls"] == "RedirectMiddleware"]  # the others are meta refreshes
    assert len(cases) == (14 if suites.is_own else 48)
    proxy, differs, crossed = server.url(""), set(), 0
    for case in cases:
        first, answer = resolve(case["req"]["url"]), case["resp"]
        lines = "".join(f"{name}: {value}\r\n" for name, values in answer["headers"].items() for value in values)
        lines += "Set-Cookie: id=secret; Path=/\r\nContent-Length: 0\r\n\r\n"
        for path in ("/", "*"):
            server.serve(path, raw(f"HTTP/1.1 {answer['status']} Moved\r\n{lines}".encode("latin-1")))
        secret = plain(first).replace("://", "://user:secret@")  # the only way in for a credential
        (result,) = fetched(secret, proxy=proxy)
        assert isinstance(result, Response)
        moved = target(Response(first, result.status, result.reason, result.headers, b""))
        expected = resolve(case["out"]["url"]) if case.get("followed") else None
        if moved != expected:
            differs.add(case["test"].rpartition("::")[2])
        if moved is not None:
            before = len(server.requests)
            fetched(secret, plain(moved), proxy=proxy)
            assert len(server.requests) == before + 2
            for request in server.requests[before:]:
                assert [name for name in SECRETS if request.header(name) is not None] == []
            crossed += origin(moved) != origin(first)
    assert differs == (set() if suites.is_own else set(REDIRECT_DIFFERS))
    assert crossed >= 7, "the suite has cases that cross to another origin"
