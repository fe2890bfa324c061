"""Replies become results, without a driver: literal replies in, results out."""

from __future__ import annotations

import gzip

from scenthound.loop.messages import HOPS, SITEMAP, Fetch, RobotsLanded, SitemapLanded
from scenthound.loop.replies import Replies, most_bytes, response_to_store
from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page.page import Page
from scenthound.page.read import PageLimits
from scenthound.ports import Failure

REPLIES = Replies("scenthound", PageLimits())
PAGE = Fetch(Candidate(Url("http://a.test/"), 0.5))
ROBOTS = Fetch(Candidate(Url("http://a.test/robots.txt"), 1.0), "robots")
MAP = Fetch(Candidate(Url("http://a.test/map.xml"), 0.0, {SITEMAP: True}), "sitemap")


def reply(status: int = 200, body: bytes = b"", kind: str = "text/html", **headers: str) -> Response:
    pairs = (("Content-Type", kind), *((name.replace("_", "-"), value) for name, value in headers.items()))
    return Response("http://a.test/", status, "", pairs, body)


def test_a_page_a_miss_or_a_redirect() -> None:
    page = REPLIES.result(PAGE, reply(body=b"<title>bees</title>"), 0.0)
    assert isinstance(page, Page)
    assert page.title == "bees"
    missing = REPLIES.result(PAGE, reply(404), 0.0)
    assert isinstance(missing, Miss)
    assert (missing.reason, missing.status) == ("http-404", 404)
    moved = REPLIES.result(PAGE, reply(301, Location="/new"), 0.0)
    assert isinstance(moved, Moved)
    assert moved.url == "http://a.test/new"


def test_a_failure_says_whether_it_may_be_tried_again() -> None:
    for may_retry, after in ((True, 0.0), (False, None)):
        miss = REPLIES.result(PAGE, Failure("timeout", "slow", 7, may_retry), 0.0)
        assert miss == Miss(PAGE.candidate, "timeout", "slow", size=7, retry_after=after)


def test_a_page_that_wants_to_be_in_no_collection_is_read_and_not_kept() -> None:
    private = reply(body=b"<meta name=robots content=noindex><a href=/b>b</a>")
    result = REPLIES.result(PAGE, private, 0.0)
    assert isinstance(result, Page)
    assert [link.url for link in result.outlinks] == ["http://a.test/b"]
    assert response_to_store(result, private) is None
    assert response_to_store(REPLIES.result(PAGE, reply(), 0.0), reply()) == reply()
    assert response_to_store(Miss(PAGE.candidate, "timeout"), Failure("timeout")) is None


def robots(answer: Response | Failure) -> RobotsLanded:
    result = REPLIES.result(ROBOTS, answer, 0.0)
    assert isinstance(result, RobotsLanded)
    return result


def test_robots_rules_are_read_refused_or_unreachable() -> None:
    rules = robots(reply(body=b"User-agent: *\nDisallow: /x", kind="text/plain")).rules
    assert rules is not None
    assert (rules.may_fetch("http://a.test/x"), rules.may_fetch("http://a.test/y")) == (False, True)
    nothing = robots(reply(404)).rules
    assert nothing is not None
    assert nothing.may_fetch("http://a.test/x"), "no file forbids nothing"
    busy = robots(reply(503, Retry_After="30"))
    assert (busy.rules, busy.retry_after, busy.answered) == (None, 30.0, True)
    assert robots(Failure("no-such-host")).hopeless == "no-such-host"
    assert robots(Failure("timeout", may_retry=True)).hopeless == ""


def test_a_sitemap_lists_urls_even_if_it_is_compressed() -> None:
    text = b"<urlset><url><loc>http://a.test/1</loc></url><url><loc>nonsense:</loc></url></urlset>"
    for body, coding in ((text, ""), (gzip.compress(text), "gzip")):
        result = REPLIES.result(MAP, reply(body=body, kind="text/xml", Content_Encoding=coding), 0.0)
        assert result == SitemapLanded(MAP.candidate, [(Url("http://a.test/1"), "http://a.test/1")], [])
    assert REPLIES.result(MAP, reply(500), 0.0) == SitemapLanded(MAP.candidate)


def test_redirects_of_robots_and_sitemaps_are_for_the_loop_to_follow() -> None:
    def target(fetch: Fetch, answer: Response | Failure) -> str | None:
        result = REPLIES.result(fetch, answer, 0.0)
        return result.spelling if isinstance(result, Moved) else None

    there = reply(301, Location="http://b.test/there")
    assert target(ROBOTS, there) == "http://b.test/there"
    assert target(MAP, there) is None, "a sitemap is valid for its own host only"
    assert target(MAP, reply(302, Location="/m2.xml")) == "http://a.test/m2.xml"
    assert target(ROBOTS, reply(301)) is None
    assert target(ROBOTS, reply(200, Location="/x")) is None
    assert target(ROBOTS, Failure("timeout")) is None
    last = Fetch(ROBOTS.candidate._replace(carry={HOPS: 5}), "robots")
    assert target(last, there) is None, "RFC 9309, 2.3.1.2"


def test_only_a_robots_file_has_a_limit_of_its_own() -> None:
    assert (most_bytes(PAGE), most_bytes(MAP)) == (None, None)
    assert (most_bytes(ROBOTS) or 0) >= 500 * 1024
