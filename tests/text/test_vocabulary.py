"""Ids for words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scenthound.text.term_counts import NumberedTerms, TermNumbers, pack_terms
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


def test_a_word_beyond_the_bound_has_no_id() -> None:
    vocabulary = Vocabulary(1)
    assert vocabulary.add(["bee", "wax"]).tolist() == [0, NONE]
    assert vocabulary.add(["wax", "bee"]).tolist() == [NONE, 0]


def test_looking_up_ids_adds_nothing() -> None:
    vocabulary = Vocabulary(words=["to", "be"])
    assert vocabulary.ids(["be", "not", "to"]).tolist() == [1, NONE, 0]
    assert list(vocabulary) == ["to", "be"]


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), unique=True), st.sampled_from("anp"), st.sampled_from([0, 0, 0, 1, 2])),
        max_size=12,
    ),
    st.integers(0, 9),
    st.integers(5, 10),
)
def test_numbered_terms_get_the_ids_that_their_names_would_get(
    pages: list[tuple[list[int], str, int]], most: int, most_numbered: int
) -> None:
    """Whichever processes they come from, and also if a process has run out of numbers."""
    words = [f"été{number}" for number in range(10)]
    numbered, by_name = Vocabulary(most), Vocabulary(most)
    processes = [TermNumbers(f"process {number}", most_numbered) for number in range(3)]
    for places, kind, process in pages:
        names = [words[place] for place in places]
        terms = NumberedTerms(pack_terms(names), processes[process].of(names))
        match kind:
            case "a":
                assert numbered.add(terms).tolist() == by_name.add(names).tolist()
            case "n":  # words that are added by name are known by number too
                assert numbered.add(names).tolist() == by_name.add(names).tolist()
            case _:
                assert numbered.ids(terms).tolist() == by_name.ids(names).tolist()
        assert list(numbered) == list(by_name)
