"""Interest ratios: how much an observed event raises the probability of a goal page (sheet 30.6).

Aggarwal, Al-Garawi and Yu 2001. For every event, the pages that showed it are counted, and how many of them were goals.
The interest ratio is P(goal | event) / P(goal). It is used only if it is significant: if the share of goals is
enough standard errors away from the base rate, given the number of pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import NONE, Ids, Vocabulary

FLOOR = 0.01
"""The lower bound of a ratio before its logarithm is taken."""
MOST_EVENTS = 500_000  # events of one kind that are counted; later ones are ignored

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
EventIds = Ids | Whole | list[int]


class Totals(NamedTuple):
    """The number of pages seen, and how many of them were goals."""

    pages: int = 0
    goals: int = 0

    @property
    def can_compare(self) -> bool:
        """Whether ratios are defined: some pages were goals, and some were not."""
        return 0 < self.goals < self.pages


def interest(goals: Ids | Whole, pages: Ids | Whole, totals: Totals) -> tuple[Reals, Reals]:
    """The interest ratio of each event, and how many standard errors its share of goals is from the base rate.

    >>> ratio, errors = interest(np.array([12]), np.array([30]), Totals(200, 20))
    >>> ratio.tolist(), errors.round(6).tolist()
    ([4.0], [5.477226])
    """
    base, page_counts = totals.goals / totals.pages, np.maximum(pages, 1)
    share = goals / page_counts
    return share / base, np.abs(share - base) / np.sqrt(base * (1.0 - base) / page_counts)


def logs(goals: Ids | Whole, pages: Ids | Whole, totals: Totals, errors: float) -> Reals:
    """ln of the interest ratio of each event, at least ln `FLOOR`; 0 if it is less than `errors` standard errors from
    1, or if there is nothing to compare."""
    if not totals.can_compare:
        return np.zeros(len(pages))
    ratio, errors_away = interest(goals, pages, totals)
    is_significant = (pages > 0) & (errors_away.round(12) >= errors)
    return np.where(is_significant, np.log(np.maximum(ratio, FLOOR)), 0.0)


class Events:
    """Counts of the events of one kind, each with an id."""

    def __init__(self) -> None:
        self.names = Vocabulary(MOST_EVENTS)
        self.pages: Ids = np.zeros(256, dtype=np.int32)
        self.goals: Ids = np.zeros(256, dtype=np.int32)
        self._shown = np.zeros(0, dtype=np.int8)

    def ids(self, names: Iterable[str]) -> Ids:
        """The ids of events. New events get an id while there is room; the others are left out."""
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

    def count_any(self, sets: Sequence[Ids], is_goal: bool) -> None:
        """Count a page that showed all events in any of these sets."""
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

    def logs(self, totals: Totals, errors: float, event_ids: EventIds | slice = slice(None)) -> Reals:
        """ln of the interest ratio of these events, at least ln `FLOOR`; 0 if it is not significant."""
        pages = self.pages[event_ids]
        return logs(self.goals[event_ids], pages, totals, errors) if totals.can_compare else np.zeros(len(pages))

    def sums(self, sets: Sequence[bytes], totals: Totals, errors: float) -> Reals:
        """For each set of events, given as the bytes of int32 ids, the sum of their `logs`."""
        if not totals.can_compare:
            return np.zeros(len(sets))
        ids = np.frombuffer(b"".join(sets), np.intc)
        set_of_event = np.arange(len(sets)).repeat([len(packed_ids) // ids.itemsize for packed_ids in sets])
        is_cheaper = len(ids) > len(self.pages)  # then it is cheaper to compute all
        event_logs = self.logs(totals, errors)[ids] if is_cheaper else self.logs(totals, errors, ids)
        return np.bincount(set_of_event, event_logs, len(sets)).astype(np.float64, copy=False)

    def rises(self, totals: Totals, errors: float, event_ids: Ids | None = None) -> Reals:
        """`logs` of these events (by default all), with 0 for negative values. Only the few events that a goal page
        showed can be positive."""
        shown = self.goals if event_ids is None else self.goals.take(event_ids)
        rises = np.zeros(len(shown))
        with_goal = shown.nonzero()[0]
        if len(with_goal):
            logs = self.logs(totals, errors, with_goal if event_ids is None else event_ids.take(with_goal))
            rises[with_goal] = np.maximum(logs, 0.0)
        return rises

    def save(self) -> dict[str, Any]:
        size = len(self.names)
        return {"names": list(self.names), "pages": self.pages[:size].copy(), "goals": self.goals[:size].copy()}

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> Events:
        events = cls()
        events.ids(state["names"])
        size = len(events.names)
        events.pages[:size], events.goals[:size] = state["pages"], state["goals"]
        return events
