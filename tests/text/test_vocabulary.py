"""Ids for words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.text.term_counts import NumberedTerms, Numbering, SharedIds, pack_terms
from scenthound.text.vocabulary import NONE, Vocabulary

WORDS = st.lists(st.sampled_from(["honey", "bee", "wax", "hive", "été", "comb", "drone", "queen", "\ud800", ""]))


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=12), st.integers(0, 9))
def test_many_words_at_once_get_the_ids_that_they_would_get_one_by_one(
    pages: list[tuple[list[str], bool]], most: int
) -> None:
    vocabulary, plain = Vocabulary(most), dict[str, int]()
    for words, are_added in pages:
        for word in words if are_added else ():
            if word not in plain and len(plain) < most:
                plain[word] = len(plain)
        found = vocabulary.add(iter(words)) if are_added else vocabulary.ids(iter(words))
        assert found.tolist() == [plain.get(word, NONE) for word in words]
        assert list(vocabulary) == list(vocabulary.all_words) == list(plain)
        assert len(vocabulary) == len(plain)
        assert all((word in vocabulary) == (word in plain) for word in words)


def test_a_word_without_room_has_no_id_and_never_takes_that_of_another() -> None:
    vocabulary = Vocabulary(1)
    assert vocabulary.add(["bee", "wax"]).tolist() == [0, NONE]
    assert vocabulary.add(["wax", "bee"]).tolist() == [NONE, 0]


def test_asking_for_ids_adds_nothing() -> None:
    vocabulary = Vocabulary(words=["to", "be"])
    assert vocabulary.ids(["be", "not", "to"]).tolist() == [1, NONE, 0]
    assert list(vocabulary) == ["to", "be"]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 9), unique=True), st.sampled_from("anp")), max_size=12),
    st.integers(0, 9),
)
def test_numbered_terms_get_the_ids_that_their_names_would_get(pages: list[tuple[list[int], str]], most: int) -> None:
    words = [f"été{number}" for number in range(10)]
    numbered, by_name = Vocabulary(most), Vocabulary(most)
    for page, (numbers, kind) in enumerate(pages):
        names = [words[number] for number in numbers]
        ids = np.array(numbers, dtype="<i4").tobytes()
        terms = NumberedTerms(pack_terms(names), SharedIds(ids, Numbering("one" if page < 9 else "other", 10), 0))
        match kind:
            case "a":
                assert numbered.add(terms).tolist() == by_name.add(names).tolist()
            case "n":  # words that are added by name are known by number too
                assert numbered.add(names).tolist() == by_name.add(names).tolist()
            case _:
                assert numbered.ids(terms).tolist() == by_name.ids(names).tolist()
        assert list(numbered) == list(by_name)
