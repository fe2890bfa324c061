"""Interest ratios: how much an observed event raises the probability of a goal page (sheet 30.6), and their sums.

Source: Aggarwal, Al-Garawi and Yu 2001. For every event, we count the pages that showed it and the goals among them.
The interest ratio is P(goal | event) / P(goal). It is used only if it is significant, that is, if the share of goals is
at least a given number of standard errors away from the base rate.

The words of several pages are summed over the union of their sets:

    sum(G) = Σ values[e]  over all e in the union of the sets of the group G

A crawler that re-ranks its frontier has about ten thousand groups of a few sets, each with a few hundred elements, of
which few have a value. So elements without a value are removed first, and groups are processed by the thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import NONE, Ids, Vocabulary

FLOOR = 0.01
"""The lower bound of a ratio before its logarithm is taken."""
MOST_EVENTS = 500_000  # events of one kind that are counted; new events beyond that are ignored

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
EventIds = Ids | IntArray | list[int]


class Totals(NamedTuple):
    """The number of pages seen, and how many of them were goals."""

    pages: int = 0
    goals: int = 0

    @property
    def can_compare(self) -> bool:
        """Whether ratios are defined: some pages were goals, and some were not."""
        return 0 < self.goals < self.pages


def interest(goals: Ids | IntArray, pages: Ids | IntArray, totals: Totals) -> tuple[FloatArray, FloatArray]:
    """The interest ratio of each event, and how many standard errors its share of goals is from the base rate.

    >>> ratio, errors = interest(np.array([12]), np.array([30]), Totals(200, 20))
    >>> ratio.tolist(), errors.round(6).tolist()
    ([4.0], [5.477226])
    """
    base, page_counts = totals.goals / totals.pages, np.maximum(pages, 1)
    share = goals / page_counts
    return share / base, np.abs(share - base) / np.sqrt(base * (1.0 - base) / page_counts)


def log_ratios(goals: Ids | IntArray, pages: Ids | IntArray, totals: Totals, min_errors: float) -> FloatArray:
    """ln of the interest ratio of each event, at least ln `FLOOR`.

    0 for events whose share of goals is less than `min_errors` standard errors from the base rate, and for all events
    if there is nothing to compare.
    """
    if not totals.can_compare:
        return np.zeros(len(pages))
    ratio, errors_away = interest(goals, pages, totals)
    is_significant = (pages > 0) & (errors_away.round(12) >= min_errors)
    return np.where(is_significant, np.log(np.maximum(ratio, FLOOR)), 0.0)


class EventCounts:
    """Counts of the events of one kind, each with an id."""

    def __init__(self) -> None:
        self.names = Vocabulary(MOST_EVENTS)
        self.pages: Ids = np.zeros(256, dtype=np.int32)
        self.goals: Ids = np.zeros(256, dtype=np.int32)
        self._shown = np.zeros(0, dtype=np.int8)

    def ids(self, names: Iterable[str]) -> Ids:
        """The ids of events. Once `MOST_EVENTS` is reached, new events are skipped."""
        ids = self.names.add(names)
        self._make_room()
        return np.asarray(ids[ids != NONE])

    def ids_of_each(self, sets: Sequence[Collection[str]]) -> list[list[int]]:
        """`ids` for many small sets of events in one step."""
        ids = self.names.add([name for names in sets for name in names]).tolist()
        self._make_room()
        ends = list(accumulate(map(len, sets), initial=0))
        return [[event_id for event_id in ids[begin:end] if event_id != NONE] for begin, end in pairwise(ends)]

    def _make_room(self) -> None:
        while len(self.names) >= len(self.pages):
            self.pages, self.goals = (
                np.concatenate([column, np.zeros_like(column)]) for column in (self.pages, self.goals)
            )

    def count(self, event_ids: EventIds, is_goal: bool) -> None:
        """Count a page that showed these distinct events."""
        self.pages[event_ids] += 1
        if is_goal:
            self.goals[event_ids] += 1

    def count_union(self, sets: Sequence[Ids], is_goal: bool) -> None:
        """Count a page that showed the union of these sets; each event counts once."""
        if len(sets) == 1:
            self.count(sets[0], is_goal)
            return
        size = len(self.names)
        if len(self._shown) < size:
            self._shown = np.zeros(len(self.pages), dtype=np.int8)
        shown = self._shown[:size]
        for event_ids in sets:
            shown[event_ids] = 1
        self.pages[:size] += shown
        if is_goal:
            self.goals[:size] += shown
        shown[:] = 0

    def log_ratios(self, totals: Totals, min_errors: float, event_ids: EventIds | slice = slice(None)) -> FloatArray:
        """ln of the interest ratio of these events, at least ln `FLOOR`; 0 if it is not significant."""
        pages = self.pages[event_ids]
        return (
            log_ratios(self.goals[event_ids], pages, totals, min_errors) if totals.can_compare else np.zeros(len(pages))
        )

    def summed_log_ratios(self, sets: Sequence[bytes], totals: Totals, min_errors: float) -> FloatArray:
        """The sum of the `log_ratios` of each set of events, given as the bytes of int32 ids."""
        if not totals.can_compare:
            return np.zeros(len(sets))
        ids = np.frombuffer(b"".join(sets), np.intc)
        set_of_event = np.arange(len(sets)).repeat([len(packed_ids) // ids.itemsize for packed_ids in sets])
        compute_all = len(ids) > len(self.pages)  # which is then cheaper
        event_logs = (
            self.log_ratios(totals, min_errors)[ids] if compute_all else self.log_ratios(totals, min_errors, ids)
        )
        return np.bincount(set_of_event, event_logs, len(sets)).astype(np.float64, copy=False)

    def positive_log_ratios(self, totals: Totals, min_errors: float, event_ids: Ids | None = None) -> FloatArray:
        """`log_ratios` of these events (by default all), with 0 for negative values.

        Only events seen on a goal page can be positive, and these are few.
        """
        shown = self.goals if event_ids is None else self.goals.take(event_ids)
        positive = np.zeros(len(shown))
        with_goal = shown.nonzero()[0]
        if len(with_goal):
            logs = self.log_ratios(totals, min_errors, with_goal if event_ids is None else event_ids.take(with_goal))
            positive[with_goal] = np.maximum(logs, 0.0)
        return positive

    def save(self) -> dict[str, Any]:
        size = len(self.names)
        return {"names": list(self.names), "pages": self.pages[:size].copy(), "goals": self.goals[:size].copy()}

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> EventCounts:
        events = cls()
        events.ids(state["names"])
        size = len(events.names)
        events.pages[:size], events.goals[:size] = state["pages"], state["goals"]
        return events


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
