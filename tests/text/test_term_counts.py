"""Term frequencies as bytes: a normal mapping, and bytes that do not encode one are refused."""

from __future__ import annotations

import copy
import pickle
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.text.term_counts import TermCounts, pack_terms, terms_of, unpack_terms

TERMS = st.text(st.characters(exclude_characters="\n"), max_size=4)
COUNTS = st.dictionaries(TERMS, st.integers(1, 1 << 20), max_size=8)


@given(COUNTS, st.text(max_size=4))
def test_packed_counts_are_the_counts(counts: dict[str, int], stranger: str) -> None:
    packed = TermCounts.of(counts)
    assert packed == counts
    assert list(packed.items()) == list(counts.items())
    assert list(packed.values()) == list(counts.values())
    assert (list(packed), packed.terms, len(packed)) == (list(counts), tuple(counts), len(counts))
    assert packed.square == sum(times * times for times in counts.values())
    for term in (*counts, stranger):
        assert packed.get(term, 0) == counts.get(term, 0)
        assert (term in packed) == (term in counts)
        assert packed.index(term) == (list(counts).index(term) if term in counts else -1)
    assert terms_of(packed).times.tolist() == terms_of(counts).times.tolist()


@given(COUNTS)
def test_they_survive_bytes_and_copies(counts: dict[str, int]) -> None:
    packed = TermCounts.of(counts)
    assert TermCounts.from_bytes(*packed.to_bytes()) == packed
    assert copy.deepcopy(packed) == pickle.loads(pickle.dumps(packed)) == packed


@given(st.lists(TERMS, min_size=1))
def test_terms_survive_packing(terms: list[str]) -> None:
    assert unpack_terms(pack_terms(terms)) == terms


def test_two_terms_are_not_one_term_with_a_line_break() -> None:
    packed = TermCounts.of({"chess": 2, "club": 1})
    assert "chess\nclub" not in packed
    with pytest.raises(KeyError):
        packed["chess\nclub"]


def test_they_can_not_be_changed() -> None:
    packed = TermCounts.of({"chess": 2})
    for name in ("square", "terms", "other"):
        with pytest.raises(AttributeError):
            setattr(packed, name, 0)
    with pytest.raises(AttributeError):
        del packed.square
    with pytest.raises(ValueError, match="read-only"):
        packed.times[0] = 5
    with pytest.raises(ValueError, match="WRITEABLE"):
        packed.times.setflags(write=True)


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        *((b"\nbee\n", [1, 1]), (b"bee", [1]), (b"", []), (b"bee\n\n", [1]), (b"\n\nbee", [1])),
        *((b"\n\xff\n", [1]), (b"\nbee\n", [-1]), (b"\nbee\n", [0]), (b"\na\nb\n", [(1 << 31) - 1] * 2)),
    ],
)
def test_bytes_that_do_not_fit_together_are_refused(lines: bytes, times: list[int]) -> None:
    with pytest.raises(ValueError, match=r"match|count|utf-8"):
        TermCounts.from_bytes(lines, array("i", times).tobytes())


def test_counts_that_are_cut_are_refused() -> None:
    with pytest.raises(ValueError, match="match"):
        TermCounts.from_bytes(b"\nbee\n", b"\x01\0\0")
