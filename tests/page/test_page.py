"""A fetched page: views are computed once, and candidates know where they come from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from scenthound.lab.testing import page_of
from scenthound.model import Candidate, Link, Url
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.page.views import KEPT
from scenthound.page.views.anchors import anchor_counts, link_leaves
from scenthound.page.views.elements import surroundings
from scenthound.text.tokens import Analyser

SMALL = Analyser("small")
HTML = "<title>Clubs</title><p>The best <a href=/c>chess club</a> and <a href=/c>again</a> <a href=/>me</a></p>"


def test_a_view_is_computed_once_for_each_set_of_arguments() -> None:
    page, asked = page_of(HTML), []

    def counted(record: Record, number: int, *, more: int = 0) -> int:
        asked.append((number, more))
        return number + more + len(record.links)

    assert [page.view(counted, 1), page.view(counted, 1), page.view(counted, 2)] == [4, 4, 5]
    assert [page.view(counted, 1, more=3), page.view(counted, 1, more=3)] == [7, 7]
    assert asked == [(1, 0), (2, 0), (1, 3)]


def test_a_view_that_returns_none_is_computed_once_too() -> None:
    page, asked = page_of(""), []

    def nothing(record: Record) -> None:
        asked.append(record)

    assert [page.view(nothing), page.view(nothing)] == [None, None]
    assert len(asked) == 1


class Kept:
    """Caches every view of `KEPT`, as a prepared bed does."""

    def __init__(self) -> None:
        self.views: dict[Hashable, Any] = {}

    def key(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        return (function, arguments) if function in KEPT else None

    def find(self, key: Any) -> Any | None:
        return self.views.get(key)

    def make(self, key: Any) -> Any | None:
        function, arguments = key
        return self.views.setdefault(key, function(page_of(HTML).record, *arguments))


def test_views_that_do_not_depend_on_the_crawl_are_kept_for_the_next_visit() -> None:
    kept = Kept()
    first, second = (Page(page.url, page.candidate, page.record, kept=kept) for page in (page_of(HTML), page_of(HTML)))
    assert first.view(link_leaves, SMALL) is second.view(link_leaves, SMALL)
    assert first.view(surroundings, SMALL) is second.view(surroundings, SMALL)
    query = Query("chess", SMALL)
    assert first.view(page_similarity, query) == second.view(page_similarity, query)
    assert len(kept.views) == 2


def test_pages_that_no_bed_keeps_share_nothing() -> None:
    first, second = page_of(HTML), page_of(HTML)
    assert first.view(link_leaves, SMALL) is not second.view(link_leaves, SMALL)


def test_the_time_spent_in_views_is_measured_by_the_clock_of_the_crawl() -> None:
    now = 0.0

    def slow(record: Record) -> None:
        nonlocal now
        now += 5.0

    page = page_of(HTML)
    page.clock = lambda: now
    assert page.reading_seconds == 0.0
    page.view(slow)
    assert page.reading_seconds == 5.0
    page.view(slow)
    assert page.reading_seconds == 5.0


def test_a_page_has_the_values_of_its_record() -> None:
    page = page_of(HTML, "http://clubs.test/")
    assert (page.title, page.text) == ("Clubs", "Clubs The best chess club and again me")
    assert [link.url for link in page.links] == ["http://clubs.test/c", "http://clubs.test/c", "http://clubs.test/"]
    assert page.outlinks == (page.links[0],), "one per URL, at its first anchor, none to the page itself"
    assert page.view(anchor_counts, page.links[0], SMALL) == {"chess": 1, "club": 1}


def test_a_candidate_knows_where_it_comes_from() -> None:
    url = Url("http://a.test/")
    page = Page(url, Candidate(url, 1.0, depth=4), page_of(HTML, url).record)
    link = Link(Url("http://b.test/"), "bees", "http://B.test/", 0)
    assert page.offer(link, 0.5, {"jumps": 1}, {"anchor": 0.5}) == Candidate(
        link.url, 0.5, {"jumps": 1}, {"anchor": 0.5}, parent=url, anchor="bees", depth=5, spelling="http://B.test/"
    )
