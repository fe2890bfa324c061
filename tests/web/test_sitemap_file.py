"""Sitemaps of every kind, valid and broken, and malicious files."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.sitemap_file import Sitemap, SitemapLimits, SitemapUrl, read_sitemap
from support.suites import Suites, bytes_of

BASE = "http://x.test/sitemap.xml"
MEGABYTE = 1024 * 1024


def read(body: bytes | str, limits: SitemapLimits | None = None) -> Sitemap:
    return read_sitemap(body.encode() if isinstance(body, str) else body, BASE, limits=limits or SitemapLimits())


def urls(body: bytes | str, limits: SitemapLimits | None = None) -> list[str]:
    return [entry.url for entry in read(body, limits).urls]


@pytest.mark.parametrize(
    "body",
    [
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://x.test/a</loc></url></urlset>',
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>http://x.test/a</loc></url></urlset>',
        '<s:urlset xmlns:s="urn:x"><s:url><s:loc>http://x.test/a</s:loc><loc>/no</loc></s:url></s:urlset>',
        "<urlset><url><loc>http://x.test/a</loc></url></urlset>",
        "<URLSET><URL><LOC>http://x.test/a</LOC></URL></URLSET>",
        "\ufeff\r\n <?xml version='1.0'?><urlset><url><loc>\n http://x.test/a\n</loc></url></urlset>",
        "<urlset><url><loc><![CDATA[http://x.test/a]]></loc></url></urlset>",
        "<urlset><url><loc>/a</loc></url></urlset>",
        "<urlset><url><loc>x.test/a</loc></url></urlset>",
        "<urlset><url>http://x.test/a</url></urlset>",
        "<urlset><url><i:i xmlns:i='urn:i'><i:loc>/i.png</i:loc></i:i><loc>http://x.test/a#b</loc></url></urlset>",
        "<rss><channel><link>/</link><item><link>http://x.test/a</link><link>/b</link></item></channel></rss>",
        "<rss><channel><item><title>http://x.test/no</title><guid>http://x.test/a</guid></item></channel></rss>",
        "<rdf:RDF xmlns:rdf='urn:r'><channel><link>/</link></channel><item><link>http://x.test/a</link></item></rdf:RDF>",
        "<feed><link href='/'/><entry><link rel='edit' href='/e'/><link href='http://x.test/a'/></entry></feed>",
        "<atom:feed xmlns:atom='urn:a'><atom:entry><atom:link href='http://x.test/a'/></atom:entry></atom:feed>",
        "http://x.test/a\r\n",
        "# a comment\n  http://x.test/a  \nftp://x.test/b\nwords\n",
        "<?xml version='1.0' encoding='no-such'?><urlset><url><loc>http://x.test/a</loc></url></urlset>",
        "<?xml version='1.0' encoding='gb2312'?><urlset><url><loc>http://x.test/a</loc></url></urlset>",
        "<!DOCTYPE rss SYSTEM 'http://x.test/rss.dtd'><rss><item><link>http://x.test/a</link></item></rss>",
    ],
)
def test_one_page_is_found_in_every_kind_of_sitemap(body: str) -> None:
    assert urls(body) == ["http://x.test/a"]


def test_utf_16_is_understood() -> None:
    text = "<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>/ä</loc></url></urlset>"
    assert urls(text.encode("utf-16")) == ["http://x.test/%C3%A4"]


def test_an_index_names_further_sitemaps_and_no_pages() -> None:
    sitemap = read(
        "<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap><sitemap><loc>http://y.test/2</loc></sitemap></sitemapindex>"
    )
    assert sitemap == Sitemap(urls=[], children=["http://x.test/1.xml.gz", "http://y.test/2"], problems=[])


def test_date_and_priority_come_along() -> None:
    body = (
        "<urlset><url><loc>/a</loc><lastmod>2020-02-03T04:05:06+01:00</lastmod><priority>0.8</priority></url></urlset>"
    )
    assert read(body).urls == [SitemapUrl("http://x.test/a", datetime(2020, 2, 3, 3, 5, 6, tzinfo=UTC), 0.8)]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2020", datetime(2020, 1, 1, tzinfo=UTC)),
        ("2020-05", datetime(2020, 5, 1, tzinfo=UTC)),
        ("2020-05-06", datetime(2020, 5, 6, tzinfo=UTC)),
        ("2020-05-06T07:08Z", datetime(2020, 5, 6, 7, 8, tzinfo=UTC)),
        ("2020-05-06T07:08:09.5-02:00", datetime(2020, 5, 6, 9, 8, 9, 500000, tzinfo=UTC)),
        ("Wed, 06 May 2020 07:08:09 GMT", datetime(2020, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("06 May 20 07:08:09 +0200", datetime(2020, 5, 6, 5, 8, 9, tzinfo=UTC)),
        *(
            (bad, None)
            for bad in ("", "yesterday", "2020-13", "0000", "2020-05-06T", "0001-01-01T00:00+23:00", "9" * 99)
        ),
        *((bad, None) for bad in ("06 May 20 07:08:09", "Mon, 99 Foo 2020 99:99:99 +9999", "1 2 3 4 5", ",,,,")),
    ],
)
def test_dates_are_read_as_feeds_and_sitemaps_write_them(text: str, moment: datetime | None) -> None:
    assert read(f"<urlset><url><loc>/a</loc><lastmod>{text}</lastmod></url></urlset>").urls[0].lastmod == moment


@pytest.mark.parametrize("text", ["", "high", "-0.1", "1.1", "nan", "inf", "1e999"])
def test_a_priority_outside_its_range_is_none(text: str) -> None:
    assert read(f"<urlset><url><loc>/a</loc><priority>{text}</priority></url></urlset>").urls[0].priority is None


def test_what_is_not_a_web_address_is_dropped_and_said() -> None:
    body = "".join(
        f"<url><loc>{raw}</loc></url>" for raw in ("javascript:1", "ftp://x/a", "http://", "", "/" + "a" * 3000, "/b")
    )
    sitemap = read(f"<urlset>{body}</urlset>")
    assert ([entry.url for entry in sitemap.urls], sitemap.problems) == (["http://x.test/b"], ["bad-url"])


def test_a_name_and_password_in_a_url_are_dropped() -> None:
    assert urls("<urlset><url><loc>http://me:secret@x.test/a</loc></url></urlset>") == ["http://x.test/a"]


WHOLE = (
    "<urlset><url><loc>/a</loc></url>"
    "<url><loc>/b</loc><lastmod>2020-01-02</lastmod></url>"
    "<url><loc>/c</loc></url></urlset>"
)


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        (WHOLE[: WHOLE.index("/c")], "ab"),
        (WHOLE[: WHOLE.index("</urlset>")], "abc"),
        (WHOLE[: WHOLE.index("/b") + 1], "a"),
        (WHOLE[: WHOLE.index("/b") + 4], "ab"),
        (WHOLE.replace("/b<", "/b\x00<"), "a"),
        (WHOLE.replace("</lastmod>", ""), "ab"),
    ],
)
def test_a_file_that_breaks_off_gives_what_stood_before_the_break(broken: str, kept: str) -> None:
    sitemap = read(broken)
    assert [entry.url[-1] for entry in sitemap.urls] == list(kept)
    assert sitemap.problems == ["broken-xml"]


@given(st.integers(0, len(WHOLE)))
def test_no_cut_invents_a_page(end: int) -> None:
    assert urls(WHOLE[:end]) == [f"http://x.test/{letter}" for letter in "abc"][: len(urls(WHOLE[:end]))]


def test_a_bare_ampersand_is_mended() -> None:
    sitemap = read("<urlset><url><loc>/a?b=1&c=2&amp;d=3</loc></url><url><loc><![CDATA[/e?f&g]]></loc></url></urlset>")
    assert [entry.url for entry in sitemap.urls] == ["http://x.test/a?b=1&c=2&d=3", "http://x.test/e?f&g"]
    assert sitemap.problems == ["bad-ampersand"]


def test_gzip_is_known_by_its_first_bytes() -> None:
    packed = gzip.compress(WHOLE.encode())
    assert len(urls(packed)) == 3
    assert len(urls(gzip.compress(packed))) == 3, "compressed once by the author and once by the server"
    assert len(urls(gzip.compress(WHOLE[:40].encode()) + gzip.compress(WHOLE[40:].encode()))) == 3
    assert len(urls(packed + b"\0" * 100)) == 3


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-9], lambda packed: packed[:-4] + b"size", lambda packed: packed[:5]]
)
def test_damaged_gzip_is_said(damage: Callable[[bytes], bytes]) -> None:
    assert "broken-gzip" in read(damage(gzip.compress(WHOLE.encode()))).problems


def test_cut_gzip_gives_what_could_be_unpacked() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(20_000)) + b"</urlset>"
    packed = gzip.compress(body)
    sitemap = read(packed[: len(packed) // 2])
    assert sitemap.urls[:2] == [SitemapUrl("http://x.test/0"), SitemapUrl("http://x.test/1")]
    assert sitemap.problems == ["broken-gzip", "broken-xml"]


# Caps


def test_more_urls_than_allowed_are_not_read() -> None:
    few = SitemapLimits(urls=2)
    assert (urls(WHOLE, few), read(WHOLE, few).problems) == (["http://x.test/a", "http://x.test/b"], ["too-many"])
    lines = "http://x.test/a\n" * 3
    assert (len(urls(lines, few)), read(lines, few).problems) == (2, ["too-many"])
    index = "<sitemapindex>" + "<sitemap><loc>/a</loc></sitemap>" * 3
    assert (len(read(index, few).children), read(index, few).problems) == (2, ["too-many"])


def test_the_protocols_own_limit_is_the_default() -> None:
    assert len(urls(b"http://x.test/a\n" * 50_001)) == 50_000


def test_what_unpacks_to_more_than_allowed_is_cut_there() -> None:
    small = SitemapLimits(unpacked=len(WHOLE) - 40)
    for body in (WHOLE.encode(), gzip.compress(WHOLE.encode())):
        assert (len(urls(body, small)), read(body, small).problems) == (2, ["too-large", "broken-xml"])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: gzip.compress(b"\0" * (200 * MEGABYTE), 1), "too-large"),
        (lambda: gzip.compress(b"") * 50_000, "not-a-sitemap"),
        (lambda: gzip.compress(gzip.compress(gzip.compress(WHOLE.encode()))), "not-a-sitemap"),
        (lambda: b"<urlset>" + b"<a>" * 1_000_000, "too-deep"),
        (lambda: b"<urlset>" + b"<a/>" * 3_000_000, "too-many"),
        (lambda: b"<urlset><url a='" + b"a" * (20 * MEGABYTE), "too-large"),
        (lambda: b"<urlset><url " + b"a='' " * (2 * MEGABYTE), "too-large"),
        (lambda: b"<urlset><!--" + b"a-" * (10 * MEGABYTE), "too-large"),
        (lambda: b"<!DOCTYPE " + b"a" * (20 * MEGABYTE), "too-large"),
        (lambda: b"<urlset><url><loc>" + b"a" * (20 * MEGABYTE), "broken-xml"),
        (lambda: b"<urlset><url><loc>" + b"&" * (20 * MEGABYTE), "broken-xml"),
        (lambda: b"<urlset><url><loc>" + b"<![CDATA[" * (2 * MEGABYTE), "broken-xml"),
        (lambda: b"<" * (20 * MEGABYTE), "not-a-sitemap"),
        (lambda: b"http://" + b"a" * (20 * MEGABYTE), "bad-url"),
        (lambda: b"\0" * (20 * MEGABYTE), "not-a-sitemap"),
        (lambda: b"<html><body>Not found</body></html>", "not-a-sitemap"),
        (lambda: b"", "not-a-sitemap"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_file_comes_to_nothing_and_says_why(make: Callable[[], bytes], problem: str) -> None:
    sitemap = read(make())
    assert (sitemap.urls, sitemap.children) == ([], [])
    assert problem in sitemap.problems


@given(
    st.binary(max_size=200)
    | st.text("<>/!?[]&;'\" urlsetoc=", max_size=80).map(lambda text: b"<urlset><url>" + text.encode())
)
def test_no_bytes_make_the_reader_fail(body: bytes) -> None:
    assert isinstance(read(body), Sitemap)
    assert isinstance(read(gzip.compress(body)), Sitemap)


# Bombs


@pytest.fixture
def _no_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a sitemap reached for the outside")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("builtins.open", refuse)


@pytest.mark.usefixtures("_no_outside")
@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY a SYSTEM "http://127.0.0.1:9/">',
        '<!ENTITY % a SYSTEM "http://127.0.0.1:9/"> %a;',
        "<!ATTLIST url a CDATA 'aaaaaaaaaa'>",
        "<!ELEMENT urlset ANY>",
        "",
    ],
)
def test_a_file_with_declarations_of_its_own_is_refused(subset: str) -> None:
    sitemap = read(f"<!DOCTYPE urlset [{subset}]><urlset><url><loc>/a&a;</loc></url><url><loc>/b</loc></url></urlset>")
    assert sitemap == Sitemap(urls=[], children=[], problems=["declarations"])


def test_bombs_are_all_refused(suites: Suites, request: pytest.FixtureRequest) -> None:
    bombs = {path.name: path.read_bytes() for path in sorted((suites.folder / "bombs" / "xml").iterdir())}
    request.getfixturevalue("_no_outside")
    harmless = {"dtd.xml", "schema-include.xsd", "simple-ns.xml", "simple.xml", "xalan_exec.xsl", "xalan_write.xsl"}
    assert len(bombs) == (6 if suites.is_own else 13)
    for name, body in bombs.items():
        sitemap = read(body)
        assert (sitemap.urls, sitemap.children) == ([], []), name
        assert sitemap.problems == (["not-a-sitemap"] if name in harmless else ["declarations"]), name


# Other people's suite. The numbers are places in its file.

KNOWN_DIFFERENT = {
    4: "their strict mode drops URLs of another host than the sitemap's; scope is our caller's decision",
    7: "a file that declares an external entity is refused whole, as case 26, the same file, wants; 7 wants the rest",
}


def test_cases_are_read_as_they_say_but_for_the_known_ones(suites: Suites) -> None:
    cases = suites.cases("sitemaps/own", "sitemaps/crawler_commons")
    assert len(cases) == (8 if suites.is_own else 34)
    different = set()
    for n, case in enumerate(cases):
        sitemap = read_sitemap(bytes_of(case, "content"), case["url"])
        ours = [
            (entry.url, stamp(entry.lastmod), 0.5 if entry.priority is None else entry.priority)
            for entry in sitemap.urls
        ]
        theirs = [(entry["loc"], entry["lastmod"], entry.get("priority")) for entry in case.get("urls", ())]
        if case.get("index"):
            agree = sitemap.children == [loc for loc, *_ in theirs] and not ours
        else:
            agree = ours == theirs and not sitemap.children
        if not agree:
            different.add(n)
    assert different == (set() if suites.is_own else set(KNOWN_DIFFERENT))


def stamp(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def test_a_million_urls_in_a_gzip_file_cost_at_most_64_megabytes(tmp_path: Path) -> None:
    entries = b"".join(b"<url><loc>http://a.test/page/number/%d.html</loc></url>" % n for n in range(1_000_000))
    (tmp_path / "sitemap").write_bytes(gzip.compress(b"<urlset>" + entries + b"</urlset>", 1))
    script = """
import sys
from scenthound.web.sitemap_file import read_sitemap

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) // 1024

read_sitemap(b"<urlset><url><loc>http://a.test/</loc></url></urlset>", "http://a.test/sitemap.xml")
body, idle = open(sys.argv[1], "rb").read(), peak()
print(len(read_sitemap(body, "http://a.test/sitemap.xml.gz").urls), peak() - idle)
"""
    command = [sys.executable, "-P", "-c", script, str(tmp_path / "sitemap")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    urls, megabytes = map(int, done.stdout.split())
    assert urls == 50_000
    assert megabytes <= 64
