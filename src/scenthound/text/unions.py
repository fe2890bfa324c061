"""Sums over unions of sets, such as the total weight of all words on any of several pages.

    sum(G) = Σ values[e]  over all e in the union of the sets of the group G

A crawler that re-ranks its frontier has about ten thousand groups of a few sets, each with a few hundred elements, of
which few have a value. So elements without a value are removed first, and groups are processed by the thousand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import Ids

CELLS = 1 << 18  # groups times elements per step: stays in the processor's cache
BATCH = 1 << 20  # elements of sets per step

Name = TypeVar("Name", bound=Hashable)
Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def sums_over_unions(sets: Mapping[Name, Ids], groups: Sequence[Sequence[Name]], values: Reals) -> Reals:
    """For each group, the sum of the values of all elements in the union of its sets.

    A set contains each element once; a group is the names of its sets. `values` are by element, and not negative.

    >>> sets = {"a": np.array([0, 1], dtype=np.int32), "b": np.array([1, 2], dtype=np.int32)}
    >>> sums_over_unions(sets, ["a", "b", "ab", ""], np.array([0.5, 2.0, 1.0])).tolist()
    [2.5, 3.0, 3.5, 0.0]
    """
    sums = np.zeros(len(groups))
    elements, starts = _elements_with_value(list(sets.values()), values > 0.0)
    if not len(elements):
        return sums
    set_indices = {name: index for index, name in enumerate(sets)}
    valued = np.flatnonzero(values)
    column = np.zeros(len(values), dtype=np.int64)
    column[valued] = np.arange(len(valued))
    step = max(1, CELLS // len(valued))
    scratch = np.empty(step * len(valued), dtype=np.int64)
    for first in range(0, len(groups), step):
        batch = groups[first : first + step]
        members = np.array([set_indices[name] for group in batch for name in group], dtype=np.int64)
        owners = np.repeat(np.arange(len(batch)), [len(group) for group in batch])
        group_elements, owners = _elements_of(members, owners, elements, starts)
        is_last = is_last_of_its_kind(owners * len(valued) + column[group_elements], scratch)
        for index, total in _sums_of_runs(values[group_elements[is_last]], owners[is_last], len(batch)):
            sums[first + index] = total
    return sums


def _elements_with_value(sets: Sequence[Ids], has_value: npt.NDArray[np.bool_]) -> tuple[Ids, Whole]:
    """The elements of each set that have a value, one set after the other, and where each set begins."""
    kept, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    lengths = np.array([len(ids) for ids in sets], dtype=np.int64)
    batches = (np.cumsum(lengths) // BATCH).tolist()
    for _, batch in groupby(range(len(sets)), batches.__getitem__):
        indices = list(batch)
        batch_elements = np.concatenate([sets[index] for index in indices])
        chosen = np.flatnonzero(has_value.take(batch_elements))
        kept.append(batch_elements[chosen])
        sizes.append(np.diff(np.searchsorted(chosen, np.cumsum([0, *lengths[indices]]))))
    return np.concatenate(kept), np.cumsum(np.concatenate(sizes))


def _elements_of(members: Whole, owners: Whole, elements: Ids, starts: Whole) -> tuple[Ids, Whole]:
    """The elements of these sets, one set after the other, and the owner of each."""
    begins, sizes = starts[members], starts[members + 1] - starts[members]
    ends = np.cumsum(sizes)
    size = int(ends[-1]) if len(ends) else 0
    return elements[np.arange(size) + np.repeat(begins - ends + sizes, sizes)], np.repeat(owners, sizes)


def is_last_of_its_kind(numbers: Ids | Whole, scratch: Ids | Whole) -> npt.NDArray[np.bool_]:
    """Whether each number is the last of its value. `scratch` is overwritten; it is longer than the largest number.

    >>> is_last_of_its_kind(np.array([3, 1, 3]), np.empty(4, dtype=np.int64)).tolist()
    [False, True, True]
    """
    indices = np.arange(len(numbers), dtype=scratch.dtype)
    scratch[numbers] = indices
    return np.asarray(scratch.take(numbers) == indices)


def _sums_of_runs(values: Reals, owners: Whole, size: int) -> Iterator[tuple[int, float]]:
    """The sum of the values of each owner that has any. Owners are in ascending order."""
    bounds = np.searchsorted(owners, np.arange(size + 1)).tolist()
    for owner, (begin, end) in enumerate(pairwise(bounds)):
        if begin < end:
            yield owner, np.add.reduce(values[begin:end])
