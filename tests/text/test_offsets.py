"""Terms at their distance from an anchor: features and their sums, compared with the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.papers.parts.offsets import SHORT, LeafTerms, LinkSpan, LinkSpans, features, sums_around

TERMS = 6
LEAVES = st.lists(st.lists(st.integers(0, TERMS - 1), max_size=4), max_size=2 * SHORT)


def leaf_terms(leaves: list[list[int]]) -> LeafTerms:
    """The ids of terms are 10 more than their indices."""
    starts = np.cumsum([0, *map(len, leaves)])
    flat = [term for leaf in leaves for term in leaf]
    return LeafTerms(np.arange(10, 10 + TERMS), np.array(flat, dtype=np.int32), starts.astype(np.int32))


def plain_features(leaves: list[list[int]], begin: int, end: int, alt_terms: list[int], reach: int) -> list[int]:
    """The definition, leaf by leaf."""
    found = []
    for number, leaf in enumerate([*leaves, []]):
        if number == begin:
            found += [(term, 0) for term in alt_terms]
        offset = number - begin if number < begin else 0 if number < end else number - end + 1
        if abs(offset) <= reach:
            found += [(10 + term, offset) for term in leaf]
    return [term * (2 * reach + 1) + offset + reach for term, offset in found]


@st.composite
def pages(draw: st.DrawFn) -> tuple[list[list[int]], list[tuple[int, int, list[int]]]]:
    """The leaves of a page, and its links: begin, end, and what is said alt_terms where that is nothing."""
    leaves, links = draw(LEAVES), []
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(leaves)))
        end = draw(st.integers(begin, len(leaves)))
        alt_terms = draw(st.lists(st.integers(10, 9 + TERMS), max_size=2)) if begin == end else []
        links.append((begin, end, alt_terms))
    return leaves, links


@settings(deadline=None)
@given(pages(), st.integers(0, 3))
def test_features_are_those_of_the_definition(
    page: tuple[list[list[int]], list[tuple[int, int, list[int]]]], reach: int
) -> None:
    leaves, links = page
    spans = [LinkSpan(leaf_terms(leaves), *link) for link in links]
    assert features(spans, reach).tolist() == [one for link in links for one in plain_features(leaves, *link, reach)]


def test_links_of_no_page_have_no_features() -> None:
    assert features([], 2).tolist() == []


def test_a_term_for_which_there_was_no_room_is_not_a_feature() -> None:
    leaves = LeafTerms(np.array([4, -1], dtype=np.int32), np.array([0, 1, 0]), np.array([0, 3]))
    assert features([LinkSpan(leaves, 0, 1)], 0).tolist() == [4, 4]


@settings(deadline=None)
@given(pages(), st.integers(0, 3), st.integers(0, 10**6))
def test_links_added_up_together_are_worth_what_each_alone_is(
    page: tuple[list[list[int]], list[tuple[int, int, list[int]]]], reach: int, seed: int
) -> None:
    leaves, links = page
    table = np.random.default_rng(seed).normal(size=(10 + TERMS, 2 * reach + 1))
    begins, ends = (np.array(column, dtype=np.int32) for column in zip(*(link[:2] for link in links), strict=True))
    alt_terms = {place: said for place, (_, _, said) in enumerate(links) if said}
    found = sums_around(leaf_terms(leaves), LinkSpans(begins, ends, alt_terms), table.__getitem__, reach)
    alone = [sum(table.ravel()[plain_features(leaves, *link, reach)]) for link in links]
    assert found.tolist() == pytest.approx(alone, abs=1e-9)
