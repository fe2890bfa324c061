"""What a response means."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import PartMissing
from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import PageLimits
from scenthound.page.record import Parts
from scenthound.page.views.elements import WHOLE_PAGE, element_counts, tag_path
from scenthound.text.tokens import Analyser
from support.long_form import long_form

HOME = Url("http://x.test/")
WANTED = Candidate(HOME, 1.0)
HTML = ("Content-Type", "text/html; charset=utf-8")


def response(status: int = 200, *headers: tuple[str, str], body: bytes = b"", url: str = HOME) -> Response:
    return Response(url, status, "Reason", headers, body)


def page(body: bytes, *headers: tuple[str, str], limits: PageLimits | None = None) -> Page:
    landed = land(WANTED, response(200, *headers, body=body), limits or PageLimits())
    assert isinstance(landed, Page)
    return landed


def miss(*args: object, now: float = 0.0, **kwargs: object) -> Miss:
    landed = land(WANTED, response(*args, **kwargs), now=now)  # type: ignore[arg-type]
    assert isinstance(landed, Miss)
    assert landed.candidate is WANTED
    return landed


def test_html_becomes_a_page() -> None:
    body = "<title>Grün</title><a href=b>b</a>".encode()
    landed = page(gzip.compress(body), HTML, ("Content-Encoding", "gzip"))
    assert (landed.url, landed.title, landed.status, landed.size) == (HOME, "Grün", 200, len(gzip.compress(body)))
    assert [link.url for link in landed.links] == ["http://x.test/b"]
    assert not landed.record.noindex
    assert landed.record.url == HOME


def test_the_page_has_the_address_of_the_response() -> None:
    landed = land(WANTED, response(200, HTML, body=b"<a href=c>c</a>", url="http://y.test/a/index.html"))
    assert isinstance(landed, Page)
    assert landed.url == "http://y.test/a/"
    assert landed.links[0].url == "http://y.test/a/c"


def test_a_page_has_the_requested_parts() -> None:
    reply = response(200, HTML, body=b"<h1>x</h1>")
    landed = land(WANTED, reply, parts=Parts(leaves=True))
    assert isinstance(landed, Page)
    assert landed.record.leaves.size == 1
    with pytest.raises(PartMissing):
        _ = landed.record.elements


@pytest.mark.parametrize(
    ("status", "location", "spelling"),
    [
        (301, "/a", "http://x.test/a"),
        (302, " http://Y.test/~b#c ", "http://y.test/~b"),
        (308, "//y.test", "http://y.test/"),
        (303, "", "http://x.test/"),
        (300, "/a", "http://x.test/a"),
        (307, "/\udcfc", "http://x.test/%FC"),
    ],
)
def test_a_redirect_is_reported(status: int, location: str, spelling: str) -> None:
    landed = land(WANTED, response(status, ("location", location)))
    assert isinstance(landed, Moved)
    assert (landed.spelling, landed.status, landed.candidate) == (spelling, status, WANTED)


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Location", "javascript:x"),),
        (("Location", "http://["),),
        (("Location", "/" + "a" * 3000),),
        (("Location", "/a"), ("Location", "/b")),
    ],
)
def test_a_redirect_without_a_valid_target_is_a_miss(headers: tuple[tuple[str, str], ...]) -> None:
    assert miss(302, *headers).reason == "bad-redirect"


@pytest.mark.parametrize(
    ("status", "header", "wait"),
    [
        (404, "", None),
        (410, "5", None),
        (429, "", 0.0),
        (429, "120", 120.0),
        (503, "0", 0.0),
        (503, "999999999999", 86_400.0),
        (503, "Thu, 01 Jan 1970 00:01:40 GMT", 70.0),
        (503, "Wed, 31 Dec 1969 00:00:00 GMT", 0.0),
        (503, "Thu, 01 Jan 9999 00:00:00 GMT", 86_400.0),
        (503, "soon", 0.0),
        (503, "-5", 0.0),
        (503, "²", 0.0),
        (500, "7", 0.0),
        (502, "", 0.0),
        (504, "", 0.0),
        (501, "", None),
    ],
)
def test_an_error_says_whether_to_retry(status: int, header: str, wait: float | None) -> None:
    landed = miss(status, *([("Retry-After", header)] if header else []), now=30.0)
    assert (landed.reason, landed.status, landed.retry_after) == (f"http-{status}", status, wait)


@pytest.mark.parametrize(
    ("status", "headers", "body", "reason"),
    [
        (304, (), b"", "not-modified"),
        (204, (HTML,), b"", "no-content"),
        (100, (), b"", "http-100"),
        (999, (), b"", "http-999"),
        (200, (("Content-Type", "application/pdf"),), b"<p>", "not-html"),
        (200, (("Content-Type", "text/plain"),), b"<html>", "not-html"),
        (200, (), b"%PDF", "not-html"),
        (200, (HTML, ("Content-Encoding", "gzip")), b"<p>", "damaged"),
        (200, (HTML, ("Content-Encoding", "compress")), b"<p>", "coding"),
        (200, (HTML, ("Content-Encoding", "gzip")), gzip.compress(bytes(5_000_000)), "bomb"),
    ],
)
def test_a_response_that_is_not_a_page_is_a_miss(
    status: int, headers: tuple[tuple[str, str], ...], body: bytes, reason: str
) -> None:
    landed = miss(status, *headers, body=body)
    assert (landed.reason, landed.retry_after, landed.size) == (reason, None, len(body))


def test_html_without_a_type_and_xhtml_are_pages() -> None:
    assert page(b"<!doctype html><p>x").text == "x"
    assert page(b"<p>x", ("Content-Type", "application/xhtml+xml")).text == "x"
    assert page(b"\n<html>x", ("Content-Type", "unknown/unknown")).text == "x"


def test_the_charset_of_the_header_is_used() -> None:
    assert page(b"gr\xfcn", ("Content-Type", "text/html;charset=latin1")).text == "grün"


def test_a_refresh_at_once_is_a_redirect_and_a_later_one_a_link() -> None:
    landed = land(WANTED, response(200, HTML, body=b"<meta http-equiv=refresh content='0; url=/new'>"))
    assert landed == Moved(WANTED, Url("http://x.test/new"), "http://x.test/new", 200, 47)
    later = page(b"<a href=a>a</a><meta http-equiv=refresh content='5; url=/new'>honey", HTML)
    assert [link.url for link in later.links] == ["http://x.test/a", "http://x.test/new"]
    assert later.text == "a honey"
    plain = Analyser("none", stem=False)
    assert element_counts(later.record, later.links[1], 1, plain) == later.record.counts(plain) == {"honey": 1}
    assert tag_path(later.record, later.links[1]) == "html"
    assert later.record.leaves.anchor.tolist() == [0, -1], "it belongs to the whole page and contains none of its text"


@pytest.mark.parametrize("content", [b"0", b"0; url=/", b"0; url=javascript:x", b"x", b"30"])
def test_a_refresh_of_the_page_itself_is_ignored(content: bytes) -> None:
    landed = page(b"<meta http-equiv=refresh content='" + content + b"'>x", HTML)
    assert list(landed.links) == []


@pytest.mark.parametrize(
    ("meta", "header", "noindex", "nofollow"),
    [
        (b"noindex", "", True, False),
        (b"nofollow", "", False, True),
        (b"", "none", True, True),
        (b"", "otherbot: none", False, False),
    ],
)
def test_robots_directives_are_recorded_and_nofollow_bars_the_links(
    meta: bytes, header: str, noindex: bool, nofollow: bool
) -> None:
    body = b"<meta name=robots content='" + meta + b"'><a href=a>a</a>"
    landed = page(body, HTML, ("X-Robots-Tag", header))
    assert landed.record.noindex == noindex
    assert landed.record.nofollow == nofollow
    assert len(landed.outlinks) == (0 if nofollow else 1)
    assert landed.record.barred == (("http://x.test/a",) if nofollow else ())
    assert landed.text == "a"
    allowed = page(body, HTML, ("X-Robots-Tag", header), limits=PageLimits(nofollow=False))
    assert len(allowed.outlinks) == 1, "the setting nofollow=false ignores the marks"


def test_limits_are_kept() -> None:
    many = b"<a href=a>a</a>" * 50
    assert len(page(many, HTML, limits=PageLimits(links=3)).links) == 3
    assert page(b"<p>honey", HTML, limits=PageLimits(unpacked=5)).text == "ho"
    assert page(b"<a href=/12345>", HTML, limits=PageLimits(url_length=15)).links == ()
    late = b"<a " + b"".join(b"a%d=1 " % number for number in range(100)) + b"href=b>b</a>"
    assert len(page(late, HTML).links) == 1
    assert len(page(late, HTML, limits=PageLimits(attributes=20)).links) == 0


def test_a_cut_body_is_still_a_page() -> None:
    whole = gzip.compress(b"".join(b"<p>honey %d" % n for n in range(5000)))
    assert page(whole[: len(whole) // 2], HTML, ("Content-Encoding", "gzip")).text.startswith("honey 0 honey 1 ")


NAMES = st.sampled_from(
    ["Content-Type", "content-encoding", "Location", "Retry-After", "X-Robots-Tag", "Refresh", "Content-Length"]
)
VALUES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["text/html", "text/html;charset=utf-16", "gzip", "br, zstd", "http://[", "/\udc80", "none", "\0", ""]
    ),
)
BODIES = st.one_of(
    st.binary(max_size=300),
    st.text(alphabet=st.sampled_from("<>/='\" ahrefmtcnip:;0&#\0\n-!"), max_size=300).map(str.encode),
    st.binary(max_size=200).map(gzip.compress),
)


@settings(max_examples=long_form(100, 300))
@given(
    st.integers(-1, 1000),
    st.lists(st.tuples(NAMES, VALUES), max_size=5),
    BODIES,
    st.one_of(st.just("http://x.test/a?b"), st.text(max_size=20)),
    st.floats(allow_nan=False),
)
def test_no_response_raises(status: int, headers: list[tuple[str, str]], body: bytes, url: str, now: float) -> None:
    landed = land(WANTED, response(status, *headers, body=body, url=url), now=now)
    if isinstance(landed, Page):
        assert landed.title is not None
        assert landed.text is not None
        for link in landed.links:
            assert tag_path(landed.record, link).startswith("html")
            assert element_counts(landed.record, link, WHOLE_PAGE, Analyser()) == landed.record.counts(Analyser())
    elif isinstance(landed, Miss):
        assert landed.reason.replace("-", "").isalnum()
        assert landed.retry_after is None or 0 <= landed.retry_after <= 86_400
    else:
        assert landed.url.startswith(("http://", "https://"))


def test_configured_default_pages_have_the_url_of_their_folder() -> None:
    body = b"<a href=/a/Default.asp>one</a><a href=/a/>two</a>"
    assert len({link.url for link in page(body, HTML).links}) == 2
    landed = page(body, HTML, limits=PageLimits(default_pages=("default.asp",)))
    assert {link.url for link in landed.links} == {"http://x.test/a/"}
    assert landed.links[0].spelling == "http://x.test/a/Default.asp", "it is requested as it was written"
