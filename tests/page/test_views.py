"""Views of pages, elements, anchors and windows."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.lab.testing import page_of
from scenthound.model import Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity, Query, page_similarity
from scenthound.page.page import Page
from scenthound.page.record import Analysed, Record
from scenthound.page.views.anchors import (
    anchor_counts,
    anchor_leaves,
    anchor_tokens,
    heading_leaves,
    link_leaves,
    term_positions,
    token_terms,
    window_counts,
    window_similarities,
)
from scenthound.page.views.elements import (
    REPETITION,
    WHOLE_PAGE,
    climbed_similarities,
    element_counts,
    element_similarities,
    elements_above,
    surroundings,
    tag_path,
    url_text,
)
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies
from support.long_form import long_form
from support.plain_views import PlainPage
from support.random_pages import html_pages, record_of

SMALL, PLAIN = Analyser("small"), Analyser("none", stem=False)
B, C = Url("http://b.test/"), Url("http://c.test/")
SHOP = (
    "<h1>Beta panels</h1>"
    f"<p>Supplier of parts. Panel price list. See the <a href={B}>energy blog</a></p>"
    f"<div><ul><a href={C}>garden shop</a> flowers</ul></div>"
)
"""Page s2 of the toy web, with its list wrapped once more."""


@pytest.fixture
def shop() -> Page:
    return page_of(SHOP, "http://s2.test/")


def leaf_texts(record: Record, begin: int, end: int) -> str:
    """The text of some leaves."""
    spans = zip(record.leaves.begin[begin:end].tolist(), record.leaves.end[begin:end].tolist(), strict=True)
    return " ".join(record.text[first:last] for first, last in spans)


# ---- the page


def test_the_page_is_as_similar_to_strategies_as_to_the_judge(shop: Page) -> None:
    query = Query("solar panel", SMALL)
    assert shop.record.counts(SMALL)["panel"] == 2
    assert page_similarity(shop.record, query) == pytest.approx(0.365148, abs=1e-6)
    assert KeywordSimilarity(Topic("solar panel"), Analyser("small"))(shop) == page_similarity(shop.record, query)


def test_counts_that_came_with_the_record_are_used() -> None:
    record = Record(B, "", "other words", [], {SMALL.key: Analysed(TermCounts.of(SMALL.counts("solar panel")))})
    assert page_similarity(record, Query("panel solar", SMALL)) == pytest.approx(1.0)


def test_repeated_keywords_count() -> None:
    assert Query("solar solar panel", SMALL).counts == {"solar": 2, "panel": 1}
    assert Query("a", SMALL) == Query("a", Analyser("small"))
    assert {Query("a", SMALL)} == {Query("a", SMALL)}


@given(st.text(max_size=300))
def test_the_similarity_of_a_text_is_that_of_its_counts(text: str) -> None:
    query = Query("chess club", SMALL)
    assert query.text_similarity(text) == query.similarity(SMALL.counts(text)) == query.text_similarity(text)


def test_an_empty_page_has_empty_views() -> None:
    record = record_of("")
    assert record.counts(SMALL) == {}
    assert page_similarity(record, Query("", SMALL)) == 0.0
    assert (token_terms(record, SMALL).tolist(), anchor_tokens(record), heading_leaves(record)) == ([], [], [])


# ---- elements


def test_an_element_is_all_text_under_the_aggregation_node(shop: Page) -> None:
    query, record = Query("solar panel", SMALL), shop.record
    first, second = record.links
    assert query.similarity(element_counts(record, first, 1, SMALL)) == pytest.approx(0.25)
    assert element_counts(record, second, 0, SMALL) == {"garden": 1, "shop": 1}
    assert element_counts(record, second, 1, SMALL) == {"garden": 1, "shop": 1, "flower": 1}
    assert element_counts(record, second, 2, SMALL) == element_counts(record, second, 1, SMALL)
    assert element_counts(record, second, WHOLE_PAGE, SMALL) == record.counts(SMALL)


def test_links_under_one_element_have_the_same_similarity() -> None:
    asked: list[Any] = []

    class Watched(Query):
        def similarity(self, counts: Any) -> float:
            asked.append(counts)
            return super().similarity(counts)

    record = record_of("<p>chess " + "<a href=/x>club</a> " * 50 + "</p>")
    assert elements_above(record, 1).tolist() == [2] * 50
    assert len(set(element_similarities(record, Watched("chess", SMALL), 1))) == 1
    assert len(asked) == 1


def test_a_text_under_an_ancestor_is_the_same_element_for_all_its_links() -> None:
    record = record_of("<ul><li>wax <a href=1>one</a> and <a href=2>two</a><script>no</script></li><li>end</li></ul>")
    assert elements_above(record, 1).tolist()[0] == elements_above(record, 1).tolist()[1]
    assert len({*elements_above(record, 0).tolist(), *elements_above(record, 1).tolist()}) == 3
    assert elements_above(record, 4).tolist() == elements_above(record, 99).tolist(), "never above the root"
    one, _ = record.links
    assert [" ".join(element_counts(record, one, up, PLAIN)) for up in (0, 1, 2)] == [
        "one",
        "wax one and two",
        "wax one and two end",
    ]


def test_a_tag_path_has_ids_and_first_classes() -> None:
    record = record_of(
        "<div id=nav><ul class='wide  x'><li><a href=1>one</a></ul></div><p id='a b/c.d' class=e><a href=2>"
    )
    assert [tag_path(record, link) for link in record.links] == [
        "html/body/div#nav/ul.wide/li/a",
        "html/body/p#a_b_c_d.e/a",
    ]


def test_the_similarity_of_a_link_does_not_depend_on_the_links_around_it() -> None:
    """The picture's `alt` text is not part of its element, which the link inside it climbs through."""
    record = record_of(
        "<p>chess <a href=/1><img alt='golf course'><table><td><a href=/2><img alt=x1></a></td></table></a></p>"
    )
    assert climbed_similarities(record, Query("golf", SMALL), 0, 2) == [pytest.approx(0.577350, abs=1e-6), 0.0]


# ---- the limit on repeated text


DEPTH, BODY = 500, "honey comb " * 2000


@pytest.fixture(scope="module")
def nested() -> Record:
    """Many elements around one large text, each with a link."""
    return record_of("<div><a href=x></a>" * DEPTH + BODY)


def test_nested_elements_repeat_the_page_only_up_to_the_limit(nested: Record) -> None:
    links = nested.links
    assert len(links) == DEPTH
    counts = {link: element_counts(nested, link, 1, SMALL) for link in links}
    is_counted = [bool(counts[link]) for link in links]
    assert is_counted == sorted(is_counted, reverse=True), "the outer ones are counted, the inner ones are not"
    assert sum(is_counted) == REPETITION
    shuffled = random.Random(3).sample(links, 60)
    assert [element_counts(nested, link, 1, SMALL) for link in shuffled] == [counts[link] for link in shuffled]


def test_the_limit_is_the_same_for_every_view(nested: Record) -> None:
    expected = [1.0] * REPETITION + [0.0] * (DEPTH - REPETITION)
    query = Query("honey comb", SMALL)
    for _ in range(2):
        assert element_similarities(nested, query, 1) == pytest.approx(expected)
    around = surroundings(nested, SMALL)
    has_text = ["honei" in around.of(position) for position in (0, 20, REPETITION, DEPTH - 1)]
    assert has_text == [True, True, False, False]


def test_the_limit_holds_for_climbed_similarities(nested: Record) -> None:
    query = Query("honey", SMALL)
    for min_words in (1, 10**9):
        found = climbed_similarities(nested, query, 0, min_words)
        assert found == [pytest.approx(page_similarity(nested, query))] * DEPTH, "each element has the whole text"


def test_small_pages_may_repeat_themselves_without_limit() -> None:
    record = record_of("<div><a href=x></a>" * 400 + "honey")
    assert element_similarities(record, Query("honey", SMALL), 1) == [1.0] * 400


# ---- anchors and windows


def test_the_anchor_of_an_image_link_is_its_alt_text() -> None:
    record = record_of(SHOP + f"<a href={B}><img alt='solar roof'></a>")
    picture = record.links[2]
    assert anchor_counts(record, picture, SMALL) == {"solar": 1, "roof": 1}
    assert element_counts(record, picture, 0, SMALL) == {"solar": 1, "roof": 1}
    assert window_counts(record, picture, 1, SMALL) == {"flower": 1, "solar": 1, "roof": 1}


def test_a_picture_has_a_span_before_the_next_anchor_with_text() -> None:
    record = record_of(
        f"<a href={B}>energy blog</a> news <a href={C}><img alt=rose></a> more <a href=/s>garden shop</a>"
    )
    assert list(window_counts(record, record.links[1], 1, SMALL)) == ["more", "rose", "garden"]


@pytest.mark.parametrize(
    ("link", "width", "expected"),
    [
        (0, 0, ["energi", "blog"]),
        (0, 2, ["see", "energi", "blog", "garden", "shop"]),
        (1, 1, ["blog", "garden", "shop", "flower"]),
        (1, 3, ["energi", "blog", "garden", "shop", "flower"]),
    ],
)
def test_a_window_counts_raw_tokens_across_elements_and_is_clipped(
    shop: Page, link: int, width: int, expected: list[str]
) -> None:
    found = window_counts(shop.record, shop.links[link], width, SMALL)
    assert list(found) == expected, "`the` takes up room but is no term"


@pytest.mark.parametrize("width", [1000, WHOLE_PAGE])
def test_a_window_as_wide_as_the_page_is_the_page(shop: Page, width: int) -> None:
    assert window_counts(shop.record, shop.links[0], width, SMALL) == shop.record.counts(SMALL)
    query = Query("panel", SMALL)
    assert window_similarities(shop.record, query, width) == [page_similarity(shop.record, query)] * 2


def test_an_anchor_of_several_leaves_is_one_anchor() -> None:
    record = record_of("before <a href=/b><b>solar</b> panel <i>»</i></a> after")
    assert anchor_tokens(record) == [(1, 3)]
    assert list(window_counts(record, record.links[0], 1, SMALL)) == ["befor", "solar", "panel", "after"]


# ---- leaves, headings, surroundings, positions


def test_leaves_keep_their_terms_and_links_their_positions(shop: Page) -> None:
    found = link_leaves(shop.record, SMALL)
    flat, starts = found.flat.tolist(), found.starts.tolist()
    names = shop.record.counts(SMALL).terms
    assert [names[index] for index in flat[starts[2] :]] == ["energi", "blog", "garden", "shop", "flower"]
    assert np.diff(found.starts)[2:].tolist() == [2, 2, 1]
    assert (found.begins.tolist(), found.ends.tolist()) == ([2, 3], [3, 4])
    assert [link.position for link in shop.links] == [0, 1]


def test_anchors_are_gathered_by_url_without_those_to_the_page_itself() -> None:
    page = page_of(f"<a href={C}>c</a><a href={B}>b</a><a href=/>me</a><a href={C}>again</a>", "http://s2.test/")
    found = link_leaves(page.record, SMALL)
    assert [link.url for link in page.outlinks] == [C, B]
    assert (found.positions.tolist(), found.outlinks.tolist()) == ([0, 3, 1], [0, 2, 3])


def test_every_link_knows_its_leaves_and_the_heading_above_it() -> None:
    record = record_of(
        "<title>T</title><a href=/0>zero</a><h1>Big <b>news</b></h1><h2><a href=/1>one <i>more</i></a> today</h2>"
        "<p>text <a href=/2><img alt=two></a> <a href=/3>three</a>"
    )
    spans = list(zip(*(column.tolist() for column in anchor_leaves(record)), strict=True))
    assert [leaf_texts(record, *span) for span in spans] == ["zero", "one more", "", "three"]
    above = [leaf_texts(record, *span) for span in heading_leaves(record)]
    assert above == ["", "one more today", "one more today", "one more today"]
    assert spans[2] == (8, 8), "a picture stands before the next anchor that has text"
    assert link_leaves(record, SMALL).alternatives == {2: ("two",)}


def test_words_around_links_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.page.views.elements.MOST_WORDS_AROUND", 5)
    cut = []

    class Watched(Analyser):
        def terms(self, text: str) -> list[str]:
            cut.append(text)
            return super().terms(text)

    links = "".join(f"<p>words <a href=/{number}>anchor{number}</a></p>" for number in range(9))
    found = surroundings(record_of(f"<title>title</title><h1>heading</h1>{links}"), Watched("none", False))
    assert found.of(0) == ["title", "heading", "words", "anchor0", "anchor0"]
    assert [found.of(position) for position in range(1, 9)] == [["title", "heading"]] * 8
    assert cut == ["title", "anchor0"]


def test_terms_are_in_anchors_or_between_them() -> None:
    names = [f"word{number}" for number in range(30)]
    record = record_of(
        f"<p>{' '.join(names)} <a href=/one>{names[3]} inside</a> {names[3]}"
        f"<a href=/two><img alt='{names[4]} pictured'></a> {names[29]}"
    )
    positions = term_positions(record, PLAIN)
    expected = {
        **{name: [0] for name in names},
        names[3]: [0, 1, 2],
        names[4]: [0, 3],
        names[29]: [0, 2],
        "inside": [1],
        "pictured": [3],
        "absent": [],
    }
    assert {name: positions.of(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("url", "text"),
    [("https://www.reef.test/a", "reef.test/a"), ("http://reef.test/www./", "reef.test/www./"), ("", "")],
)
def test_the_words_of_a_url(url: str, text: str) -> None:
    assert url_text(Url(url)) == text


# ---- against plain Python


QUERY = Query("chess golf club ete", SMALL)


def both(html: str) -> tuple[Record, PlainPage]:
    return record_of(html), PlainPage(html)


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages)
def test_leaves_and_elements_are_those_of_the_tree(html: str) -> None:
    record, page = both(html)
    leaves = record.leaves
    assert [leaf_texts(record, place, place + 1) for place in range(leaves.size)] == [leaf.text for leaf in page.leaves]
    assert leaves.anchor.tolist() == [leaf.anchor for leaf in page.leaves]
    assert [leaves.words[token] for token in leaves.tokens.tolist()] == page.tokens
    headings, plain_headings = leaves.heading.tolist(), [leaf.heading for leaf in page.leaves]
    assert list(map(headings.index, headings)) == list(map(plain_headings.index, plain_headings)), "the same leaves"
    assert [number >= 0 for number in headings] == [number >= 0 for number in plain_headings]
    assert [tag_path(record, link) for link in record.links] == [page.tag_path(link) for link in page.links]


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages)
def test_anchors_and_headings_are_where_the_tree_has_them(html: str) -> None:
    record, page = both(html)
    spans = list(zip(*(column.tolist() for column in anchor_leaves(record)), strict=True))
    assert spans == [page.anchor_leaves(link) for link in page.links]
    assert anchor_tokens(record) == [page.anchor_tokens(link) for link in page.links]
    headings = [leaf_texts(record, *span) for span in heading_leaves(record)]
    assert headings == [" ".join(leaf.text for leaf in page.heading(link)) for link in page.links]


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages, st.integers(0, 6))
def test_windows_are_those_of_plain_python(html: str, width: int) -> None:
    record, page = both(html)
    windows = [page.window(link, width, SMALL) for link in page.links]
    found = [window_counts(record, link, width, SMALL) for link in record.links]
    assert [list(counts.items()) for counts in found] == [list(counts.items()) for counts in windows]
    assert window_similarities(record, QUERY, width) == [QUERY.similarity(counts) for counts in windows]


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages, st.sampled_from([0, 1, 2, 3, 9, WHOLE_PAGE]))
def test_elements_are_those_of_plain_python(html: str, up: int) -> None:
    record, page = both(html)
    elements: list[Counts] = [term_frequencies(page.element(link, up, SMALL)) for link in page.links]
    found = [element_counts(record, link, up, SMALL) for link in record.links]
    assert [list(counts.items()) for counts in found] == [list(counts.items()) for counts in elements]
    assert element_similarities(record, QUERY, up) == [QUERY.similarity(counts) for counts in elements]


@settings(deadline=None, max_examples=long_form(66, 200))
@given(html_pages, st.integers(0, 4), st.integers(0, 8))
def test_climbed_similarities_are_those_of_plain_python(html: str, up: int, min_words: int) -> None:
    record, page = both(html)
    expected = [page.climbed_similarity(link, QUERY, up, min_words) for link in page.links]
    assert climbed_similarities(record, QUERY, up, min_words) == expected


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages)
def test_link_leaves_are_those_of_plain_python(html: str) -> None:
    record, page = both(html)
    found = link_leaves(record, SMALL)
    per_leaf = [SMALL.terms(leaf.text) for leaf in page.leaves]
    flat = [term for terms in per_leaf for term in terms]
    names = record.counts(SMALL).terms
    assert list(names) == list(dict.fromkeys(flat))
    assert [names[index] for index in found.flat.tolist()] == flat
    assert np.diff(found.starts).tolist() == [len(terms) for terms in per_leaf]
    assert list(zip(found.begins.tolist(), found.ends.tolist(), strict=True)) == (
        [page.anchor_leaves(link) for link in page.links]
    )
    assert {position: list(terms) for position, terms in found.alternatives.items()} == page.alternatives(SMALL)
    by_outlink = np.split(found.positions, found.outlinks[1:-1]) if record.outlinks else []
    assert [positions.tolist() for positions in by_outlink] == [
        [link.position for link in page.links if link.url == outlink.url] for outlink in record.outlinks
    ]


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages)
def test_surroundings_are_those_of_plain_python(html: str) -> None:
    record, page = both(html)
    found = surroundings(record, SMALL)
    expected = [page.surroundings(link, SMALL) for link in page.links]
    assert [found.of(link.position) for link in record.links] == expected
    assert set(found.names) >= {term for terms in expected for term in terms}


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages)
def test_term_positions_are_those_of_plain_python(html: str) -> None:
    record, page = both(html)
    found, expected = term_positions(record, SMALL), page.term_positions(SMALL)
    assert {term: found.of(term) for term in expected} == expected
    assert len(found.where) == sum(map(len, expected.values()))
    assert found.of("stranger") == []
