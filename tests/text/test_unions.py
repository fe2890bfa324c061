"""Sums over unions of sets, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.papers.parts import interest
from scenthound.papers.parts.interest import is_last_of_its_kind, sums_over_unions

SETS = st.dictionaries(st.sampled_from("abcde"), st.lists(st.integers(0, 9), unique=True, max_size=6), max_size=5)
VALUES = st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.5]), min_size=10, max_size=10)


def plain_sums(sets: dict[str, list[int]], groups: list[list[str]], values: list[float]) -> list[float]:
    """The definition."""
    return [sum(values[one] for one in set().union(*(sets[name] for name in group))) for group in groups]


@pytest.mark.parametrize(("cells", "batch"), [(interest.CELLS, interest.BATCH), (1, 1), (12, 5)])
@settings(deadline=None)
@given(st.data(), SETS, VALUES)
def test_the_sum_of_a_group_counts_each_element_once(
    cells: int, batch: int, data: st.DataObject, sets: dict[str, list[int]], values: list[float]
) -> None:
    names = st.lists(st.sampled_from(sorted(sets)), max_size=4) if sets else st.just([])
    groups = data.draw(st.lists(names, max_size=8))
    arrays = {name: np.array(elements, dtype=np.int32) for name, elements in sets.items()}
    with pytest.MonkeyPatch.context() as patch:  # a few groups and sets at a time
        patch.setattr(interest, "CELLS", cells)
        patch.setattr(interest, "BATCH", batch)
        found = sums_over_unions(arrays, groups, np.array(values))
    assert found.tolist() == plain_sums(sets, groups, values)


@given(st.lists(st.integers(0, 9)))
def test_the_last_occurrence_of_each_number_is_marked(numbers: list[int]) -> None:
    found = is_last_of_its_kind(np.array(numbers, dtype=np.int64), np.full(10, 3, dtype=np.int64))
    assert found.tolist() == [number not in numbers[place + 1 :] for place, number in enumerate(numbers)]
