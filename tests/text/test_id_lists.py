"""Lists of ids: the array operations equal plain Python."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.papers.hayek.page_features import known_ids, pack_lists, sorted_counts, unpack_lists

IDS = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(st.dictionaries(st.integers(0, 30), st.integers(1, 9)), st.integers(0, 3))
def test_ids_are_sorted_with_their_counts_and_words_without_an_id_left_out(counts: dict[int, int], more: int) -> None:
    ids, times = [*counts, *[-1] * more], [*counts.values(), *[5] * more]
    found = sorted_counts(np.array(ids, dtype=np.int32), np.array(times, dtype=np.int32))
    assert [list(column) for column in found] == [sorted(counts), [counts[one] for one in sorted(counts)]]


@given(IDS, IDS)
def test_wanted_ids_are_found_in_their_own_order(held: list[int], wanted: list[int]) -> None:
    assert known_ids(array("i", sorted(held)), array("i", wanted)) == [one for one in wanted if one in held]


@given(st.lists(st.lists(st.integers(-9, 9))))
def test_packed_lists_are_unpacked_as_they_were(lists: list[list[int]]) -> None:
    assert [list(one) for one in unpack_lists(pack_lists(lists))] == lists


def test_lists_that_do_not_fill_their_array_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fill"):
        unpack_lists(np.array([1, 2, 5, 6, 7]))
