"""Numbers of words: what a bed has numbered already is translated, with the same result as looking words up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenthound.text.folded import words_of
from scenthound.text.numbers import NONE, LateNumbers, Numbers
from scenthound.text.terms import NumberedCounts, Terms, numbered

from scenthound.text.bayes import NaiveBayes
from scenthound.text.vectors import Counts

WORDS = ["honey", "bee", "wax", "hive", "été", "comb", "drone", "queen"]
PAGE = st.lists(st.sampled_from(WORDS), unique=True)
PAGES = st.lists(PAGE, max_size=12)


def told(names: list[str], bed: str = "bed") -> Terms:
    """Terms as pages of a bed bring them; another bed has other numbers."""
    shift = len(bed)
    ids = [(WORDS.index(name) + shift) % len(WORDS) * 3 for name in names]
    return Terms(None, words_of(names), np.array(ids, dtype=np.int32), bed)


@given(PAGE)
def test_terms_in_bytes_are_the_terms(names: list[str]) -> None:
    terms = told(names)
    assert terms == Terms(names)
    assert len(terms) == len(names)
    for places in (list(range(len(names))), list(range(len(names)))[:1], []):
        assert terms.at(places) == [names[place] for place in places]
    assert list(terms.first(2).names) == names[:2]
    assert len(terms.first(2)) == min(2, len(names))


def test_bytes_without_numbers_are_no_terms() -> None:
    with pytest.raises(ValueError, match="numbers"):
        Terms(None, words_of(["bee"]))


KINDS = st.sampled_from(["bed", "other", "plain", "words"])


@settings(deadline=None)
@given(st.lists(st.tuples(PAGE, KINDS), max_size=12), st.integers(1, 9), st.integers(1, 3))
def test_words_get_the_numbers_they_would_get_one_by_one(
    pages: list[tuple[list[str], str]], most: int, unread: int
) -> None:
    right, numbers, late = Numbers(most), Numbers(most), LateNumbers(most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scenthound.text.numbers.MOST_UNREAD", unread)
        for names, kind in pages:
            expected = right.of(names)
            if kind == "words":
                assert numbers.of(names) == late.of(names) == expected
            else:
                terms = Terms(names) if kind == "plain" else told(names, kind)
                assert numbers.of_terms(terms).tolist() == late.of_terms(terms).tolist() == expected
            assert len(late) == len(numbers) == len(right)
        assert list(late.names.items()) == list(numbers.items()) == list(right.items())


def test_a_word_without_room_has_no_number() -> None:
    late = LateNumbers(1)
    assert late.of_terms(told(["bee", "wax"])).tolist() == [0, NONE]
    assert late.of_terms(told(["wax", "bee"])).tolist() == [NONE, 0]


DOCUMENT = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3))
LESSON = st.tuples(st.sampled_from("ab"), DOCUMENT, KINDS, st.sampled_from([1.0, 0.5]))


def as_told(counts: dict[str, int], kind: str) -> NumberedCounts | Counts:
    if kind == "words":
        return Counts(counts)
    if kind == "plain":
        return numbered(Counts(counts))
    return NumberedCounts(told(list(counts), kind), np.array(list(counts.values()), dtype=np.int32))


@settings(deadline=None)
@given(st.lists(LESSON, max_size=8), st.integers(0, 3), st.lists(st.tuples(DOCUMENT, KINDS), max_size=5), st.booleans())
def test_a_classifier_learns_and_answers_alike_by_words_and_by_numbers(
    lessons: list[tuple[str, dict[str, int], str, float]],
    taken_back: int,
    asked: list[tuple[dict[str, int], str]],
    settled: bool,
) -> None:
    plain, ours = NaiveBayes("ab"), NaiveBayes("ab")
    for label, counts, kind, weight in lessons:
        plain.add(label, Counts(counts), weight)
        ours.add(label, as_told(counts, kind), weight)
        for document, how in asked:  # what was found of strangers must not outlive their becoming known
            assert ours.posteriors(as_told(document, how)) == plain.posteriors(Counts(document))
    for label, counts, kind, weight in lessons[:taken_back]:
        plain.add(label, Counts(counts), -weight)
        ours.add(label, as_told(counts, kind), -weight)
    if settled:
        ours.settle()
    for document, kind in asked:
        assert ours.posteriors(as_told(document, kind)) == plain.posteriors(Counts(document))
    assert ours.table()[0] == plain.table()[0]
