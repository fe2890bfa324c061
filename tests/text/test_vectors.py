"""Cosines and SMART weights."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import UnknownName
from scenthound.lab.measure import quality
from scenthound.lab.measure.quality import SCHEMES, Pool, Scheme
from scenthound.text.term_counts import TermCounts
from scenthound.text.vectors import Counts, cosine, dot, norm, square, term_frequencies

counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50))


def test_the_cosine_by_hand() -> None:
    said = "alpha solar alpha solar panel maker read company history office new industry list firm"
    page = term_frequencies(said.split())
    assert page.square == 18
    assert cosine({"solar": 1, "panel": 1}, page) == 0.5
    assert norm({"solar": 3, "panel": 4}) == 5.0


def test_the_cosine_with_an_empty_or_zero_vector_is_zero() -> None:
    assert cosine({}, {}) == cosine({"a": 1}, {}) == cosine({"a": 0}, {"a": 1}) == cosine({"a": 1}, {"b": 1}) == 0.0


@given(counts, counts)
def test_a_cosine_is_between_zero_and_one_and_symmetric(a: dict[str, int], b: dict[str, int]) -> None:
    assert 0.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == cosine(b, a) == cosine(Counts(a), Counts(b)) == cosine(TermCounts.of(a), TermCounts.of(b))
    assert cosine(dict(reversed(a.items())), b) == cosine(a, b)
    assert dot(a, b) == sum(a[k] * b[k] for k in a.keys() & b.keys())


@given(counts.filter(bool), st.integers(1, 9))
def test_the_cosine_with_a_multiple_is_one(a: dict[str, int], times: int) -> None:
    assert cosine(a, {term: times * n for term, n in a.items()}) == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.sampled_from("abcdefgh")))
def test_counts_cache_their_norm_and_survive_a_copy(terms: list[str]) -> None:
    counted = term_frequencies(terms)
    assert counted == {term: terms.count(term) for term in terms}
    assert square(counted) == counted.square == sum(n * n for n in counted.values())
    again = pickle.loads(pickle.dumps(counted))
    assert (again, again.square, type(again)) == (counted, counted.square, Counts)


def plain_weights(pages: list[dict[str, int]], page: Mapping[str, int], scheme: Scheme) -> dict[str, float]:
    """Sheet 10.3, term by term."""
    weights = {}
    for term, tf in page.items():
        df = sum(term in other for other in pages)
        if df:
            local = 0.5 + 0.5 * tf / max(page.values()) if scheme == "atc" else 1 + math.log(tf)
            weights[term] = local * math.log(len(pages) / df)
    return weights


@given(st.lists(counts, max_size=9), counts, st.sampled_from(SCHEMES), st.integers(1, 4))
def test_pool_weights_and_similarities_follow_the_sheet(
    pages: list[dict[str, int]], description: dict[str, int], scheme: Scheme, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "_BLOCK", block)
        pool = Pool(pages)
    wanted = plain_weights(pages, description, scheme)
    assert pool.weights(description, scheme) == pytest.approx(wanted, abs=1e-12)
    expected = []
    for page in pages:
        weights = plain_weights(pages, page, scheme)
        assert pool.weights(page, scheme) == pytest.approx(weights, abs=1e-12)
        expected.append(cosine(wanted, weights))
    assert pool.similarities(description, scheme) == pytest.approx(expected, abs=1e-9)
    assert [pool.df(term) for term in "abcdefghi"] == [sum(term in page for page in pages) for term in "abcdefghi"]


def test_a_term_of_every_page_weighs_nothing_and_an_unknown_one_is_left_out() -> None:
    pool = Pool([{"solar": 2, "roof": 1}, {"solar": 1}])
    assert pool.weights({"solar": 1, "roof": 2, "moon": 4}) == {"solar": 0.0, "roof": 0.75 * math.log(2)}
    assert pool.similarities({"moon": 1, "solar": 1}) == [0.0, 0.0]


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UnknownName, match="no weighting scheme called `act`\nhint: did you mean `atc`"):
        Pool([{"a": 1}]).similarities({"a": 1}, "act")  # type: ignore[arg-type]
