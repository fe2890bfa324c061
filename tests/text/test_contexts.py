"""What pages, elements, anchors and windows say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from scenthound.text.contexts import (
    WHOLE_PAGE,
    Query,
    anchor_counts,
    context_counts,
    headings_of,
    link_leaves,
    link_number,
    page_counts,
    page_similarity,
    stream,
    window_counts,
)

from scenthound.model import Candidate, Leaf, Link, Topic, Url
from scenthound.page.judge import Judge
from scenthound.page.page import Page
from scenthound.text.tokens import Analyser
from scenthound.web.parse import parse_html

SMALL = Analyser("small")
HOME = Url("http://s2.test/")
B, C = Url("http://b.test/"), Url("http://c.test/")


@dataclass
class HandMade:
    """A document whose elements are written down: for each link the texts of its ancestors, from `<a>` up."""

    leaves: Sequence[Leaf] = ()
    links: Sequence[Link] = ()
    ancestors: Sequence[Sequence[tuple[int, str]]] = ()
    title: str = ""
    asked: list[tuple[int, int]] = field(default_factory=list)
    read: int = 0

    @property
    def text(self) -> str:
        self.read += 1
        return " ".join(leaf.text for leaf in self.leaves)

    def under(self, link: Link, up: int) -> tuple[int, str]:
        self.asked.append((link.node, up))
        line = self.ancestors[link.node]
        return line[min(up, len(line) - 1)]

    def path(self, link: Link) -> str:
        return "html/body/a"


def page_of(document: HandMade) -> Page:
    return Page(HOME, Candidate(HOME, float("inf")), document)


PARAGRAPH = "Supplier of parts. Panel price list. See the energy blog"
LIST = "garden shop flowers"
ALL = f"Beta panels {PARAGRAPH} {LIST}"


@pytest.fixture
def document() -> HandMade:
    """Page s2 of the toy web, with its list wrapped once more."""
    return HandMade(
        leaves=[
            Leaf("Beta panels"),
            Leaf("Supplier of parts. Panel price list. See the"),
            Leaf("energy blog", 0),
            Leaf("garden shop", 1),
            Leaf("flowers"),
        ],
        links=[Link(B, "energy blog", node=0), Link(C, "garden shop", node=1)],
        ancestors=[
            [(2, "energy blog"), (1, PARAGRAPH), (9, ALL)],
            [(5, "garden shop"), (4, LIST), (3, LIST), (9, ALL)],
        ],
    )


def test_a_page_is_counted_once_for_strategy_and_judge(document: HandMade) -> None:
    page = page_of(document)
    query = Query("solar panel", SMALL)
    assert page_counts(page, SMALL)["panel"] == 2
    assert page_similarity(page, query) == pytest.approx(0.365148, abs=1e-6)
    assert Judge(Topic("solar panel"), Analyser("small"))(page) == page_similarity(page, query)
    assert document.read == 1


def test_an_answer_that_a_bed_has_recorded_is_taken(document: HandMade) -> None:
    page = page_of(document)
    page._memo[("counts", SMALL)] = SMALL.counts("solar panel")
    assert page_similarity(page, Query("panel solar", SMALL)) == pytest.approx(1.0)
    assert document.read == 0


def test_repeated_keywords_count(document: HandMade) -> None:
    assert Query("solar solar panel", SMALL).counts == {"solar": 2, "panel": 1}
    assert Query("a", SMALL) == Query("a", Analyser("small"))
    assert {Query("a", SMALL)} == {Query("a", SMALL)}


def test_a_context_is_all_text_under_the_aggregation_node(document: HandMade) -> None:
    page, query = page_of(document), Query("solar panel", SMALL)
    first, second = page.links
    assert query.similarity(context_counts(page, first, 1, SMALL)) == pytest.approx(0.25)
    assert context_counts(page, second, 0, SMALL) == {"garden": 1, "shop": 1}
    assert context_counts(page, second, 1, SMALL) == {"garden": 1, "shop": 1, "flower": 1}
    assert context_counts(page, second, WHOLE_PAGE, SMALL) == page_counts(page, SMALL)


def test_links_under_one_element_share_one_answer(document: HandMade) -> None:
    page = page_of(document)
    first, second = page.links
    assert context_counts(page, first, 2, SMALL) is context_counts(page, second, 3, SMALL)
    context_counts(page, first, 2, SMALL)
    assert document.asked.count((0, 2)) == 1, "nor is the tree asked twice"


def test_an_image_link_speaks_by_its_alt_text(document: HandMade) -> None:
    document.links = [*document.links, Link(B, "solar roof", node=2)]
    document.ancestors = [*document.ancestors, [(6, ""), (9, ALL)]]
    page = page_of(document)
    picture = page.links[2]
    assert anchor_counts(page, picture, SMALL) == {"solar": 1, "roof": 1}
    assert context_counts(page, picture, 0, SMALL) == {"solar": 1, "roof": 1}
    assert window_counts(page, picture, 1, SMALL) == {"flower": 1, "solar": 1, "roof": 1}


def test_a_picture_stands_before_the_next_anchor_that_has_text(document: HandMade) -> None:
    document.links = [document.links[0], Link(C, "rose", node=1), document.links[1]._replace(node=2)]
    document.leaves = [leaf._replace(anchor=2) if leaf.anchor == 1 else leaf for leaf in document.leaves]
    page = page_of(document)
    assert list(window_counts(page, page.links[1], 1, SMALL)) == ["blog", "rose", "garden"]


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
    document: HandMade, link: int, width: int, expected: list[str]
) -> None:
    page = page_of(document)
    assert list(window_counts(page, page.links[link], width, SMALL)) == expected, "`the` takes up room but is no term"


def test_a_window_as_wide_as_the_page_is_the_page(document: HandMade) -> None:
    page = page_of(document)
    assert window_counts(page, page.links[0], 1000, SMALL) == page_counts(page, SMALL)


def test_an_anchor_of_several_leaves_is_one_anchor() -> None:
    document = HandMade(
        leaves=[Leaf("before"), Leaf("solar", 0), Leaf("panel", 0), Leaf("»", 0), Leaf("after")],
        links=[Link(B, "solar panel »", node=0)],
    )
    page = page_of(document)
    assert stream(page) == (["before", "solar", "panel", "after"], [(1, 3)])
    assert list(window_counts(page, page.links[0], 1, SMALL)) == ["befor", "solar", "panel", "after"]


def test_leaves_keep_their_terms_and_links_their_numbers(document: HandMade) -> None:
    page = page_of(document)
    terms, flat, starts = link_leaves(page, SMALL).leaves
    assert terms.at(flat[starts[2] :].tolist()) == ["energi", "blog", "garden", "shop", "flower"]
    assert np.diff(starts)[2:].tolist() == [2, 2, 1]
    assert [link_number(page, link) for link in page.links] == [0, 1]


def test_anchors_are_gathered_by_url_without_those_to_the_page_itself() -> None:
    links = [Link(C, "c", node=0), Link(B, "b", node=1), Link(HOME, "me", node=2), Link(C, "again", node=3)]
    found = link_leaves(page_of(HandMade(links=links)), SMALL)
    assert (found.places.tolist(), found.outlinks.tolist()) == ([0, 3, 1], [0, 2, 3])


def test_a_page_without_anything_has_nothing_to_say() -> None:
    page = page_of(HandMade())
    assert page_counts(page, SMALL) == {}
    assert page_similarity(page, Query("", SMALL)) == 0.0
    assert stream(page) == ([], [])


def parsed(html: str) -> Page:
    return Page(HOME, Candidate(HOME, 1.0), parse_html(html, HOME))


def test_every_link_knows_its_leaves_and_the_heading_above_it() -> None:
    page = parsed(
        "<title>T</title><a href=/0>zero</a><h1>Big <b>news</b></h1><h2><a href=/1>one <i>more</i></a> today</h2>"
        "<p>text <a href=/2><img alt=two></a> <a href=/3>three</a>"
    )
    leaves, found = page.document.leaves, link_leaves(page, SMALL)
    spans = list(zip(found.begins.tolist(), found.ends.tolist(), strict=True))
    terms = [" ".join(leaf.text for leaf in leaves[begin:end]) for begin, end in spans]
    assert terms == ["zero", "one more", "", "three"]
    headings = headings_of([leaf.anchor for leaf in leaves], [leaf.heading for leaf in leaves], len(page.links))
    above = [" ".join(leaf.text for leaf in leaves[begin:end]) for begin, end in headings]
    assert above == ["", "one more today", "one more today", "one more today"]
    assert spans[2] == (8, 8), "a picture stands before the next anchor that has text"
    assert found.pictures == {2: ["two"]}
