"""How much an observable event raises the chance of success: interest ratios on counts (sheet 30.6).

Aggarwal, Al-Garawi and Yu 2001. Of every event it is counted how many pages showed it, and how many of those were
goals. Its interest ratio is P(goal | event) / P(goal); it counts only where it is far enough from 1, in standard
errors of a share among so many pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import NONE, Ids, Vocabulary

FLOOR = 0.01
"""What a ratio is at least, before its logarithm is taken."""
MOST_EVENTS = 500_000  # events of one kind that are counted separately; newer ones are ignored

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Places = Ids | Whole | list[int]


class Totals(NamedTuple):
    """Pages seen, and how many of them were goals."""

    pages: int = 0
    goals: int = 0

    @property
    def is_telling(self) -> bool:
        """Whether there is anything to compare: some pages were goals, and some were not."""
        return 0 < self.goals < self.pages


def interest(goals: Ids | Whole, pages: Ids | Whole, totals: Totals) -> tuple[Reals, Reals]:
    """The interest ratio of each event, and how many standard errors its share of goals is from the base rate.

    >>> ratio, errors = interest(np.array([12]), np.array([30]), Totals(200, 20))
    >>> ratio.tolist(), errors.round(6).tolist()
    ([4.0], [5.477226])
    """
    base, some = totals.goals / totals.pages, np.maximum(pages, 1)
    share = goals / some
    return share / base, np.abs(share - base) / np.sqrt(base * (1.0 - base) / some)


def logs(goals: Ids | Whole, pages: Ids | Whole, totals: Totals, errors: float) -> Reals:
    """ln of the interest ratio of each event, at least that of `FLOOR`; 0 where it is not significant, so many standard
    errors from 1, or where there is nothing to compare."""
    if not totals.is_telling:
        return np.zeros(len(pages))
    ratio, away = interest(goals, pages, totals)
    significant = (pages > 0) & (away.round(12) >= errors)
    return np.where(significant, np.log(np.maximum(ratio, FLOOR)), 0.0)


class Events:
    """Counts of one kind of events, each with a number."""

    def __init__(self) -> None:
        self.names = Vocabulary(MOST_EVENTS)
        self.pages: Ids = np.zeros(256, dtype=np.int32)
        self.goals: Ids = np.zeros(256, dtype=np.int32)
        self._shown = np.zeros(0, dtype=np.int8)

    def ids(self, names: Iterable[str]) -> Ids:
        """The ids of some events; new ones get theirs now, as long as there is room, and the rest is left out."""
        ids = self.names.add(names)
        self._make_room()
        return np.asarray(ids[ids != NONE])

    def ids_of_each(self, sets: Sequence[Collection[str]]) -> list[list[int]]:
        """`ids` for many small sets of events in one step."""
        ids = self.names.add([name for names in sets for name in names]).tolist()
        self._make_room()
        ends = list(accumulate(map(len, sets), initial=0))
        return [[number for number in ids[begin:end] if number != NONE] for begin, end in pairwise(ends)]

    def _make_room(self) -> None:
        while len(self.names) >= len(self.pages):
            self.pages, self.goals = (np.concatenate([one, np.zeros_like(one)]) for one in (self.pages, self.goals))

    def count(self, numbers: Places, is_goal: bool) -> None:
        """A page showed these events, each named once."""
        self.pages[numbers] += 1
        if is_goal:
            self.goals[numbers] += 1

    def count_any(self, sets: Sequence[Ids], is_goal: bool) -> None:
        """A page showed all events that are in one of these sets."""
        if len(sets) == 1:
            self.count(sets[0], is_goal)
            return
        size = len(self.names)
        if len(self._shown) < size:
            self._shown = np.zeros(len(self.pages), dtype=np.int8)
        shown = self._shown[:size]
        for numbers in sets:
            shown[numbers] = 1
        self.pages[:size] += shown
        if is_goal:
            self.goals[:size] += shown
        shown[:] = 0

    def logs(self, totals: Totals, errors: float, numbers: Places | slice = slice(None)) -> Reals:
        """ln of the interest ratio of these events, at least that of `FLOOR`; 0 where it is not significant."""
        pages = self.pages[numbers]
        return logs(self.goals[numbers], pages, totals, errors) if totals.is_telling else np.zeros(len(pages))

    def sums(self, sets: Sequence[bytes], totals: Totals, errors: float) -> Reals:
        """For each set of events, whose ids are given as the bytes of int32, the sum of their `logs`."""
        if not totals.is_telling:
            return np.zeros(len(sets))
        ids = np.frombuffer(b"".join(sets), np.intc)
        owners = np.arange(len(sets)).repeat([len(one) // ids.itemsize for one in sets])
        is_most = len(ids) > len(self.pages)  # then it costs less to work out all of them
        said = self.logs(totals, errors)[ids] if is_most else self.logs(totals, errors, ids)
        return np.bincount(owners, said, len(sets)).astype(np.float64, copy=False)

    def rises(self, totals: Totals, errors: float, numbers: Ids | None = None) -> Reals:
        """`logs` of these events, of all if none are named, where they are above 0, and 0 elsewhere. Only what a goal
        has shown can be, and that is little."""
        shown = self.goals if numbers is None else self.goals.take(numbers)
        found = np.zeros(len(shown))
        some = shown.nonzero()[0]
        if len(some):
            logs = self.logs(totals, errors, some if numbers is None else numbers.take(some))
            found[some] = np.maximum(logs, 0.0)
        return found

    def save(self) -> dict[str, Any]:
        size = len(self.names)
        return {"names": list(self.names), "pages": self.pages[:size].copy(), "goals": self.goals[:size].copy()}

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> Events:
        made = cls()
        made.ids(state["names"])
        size = len(made.names)
        made.pages[:size], made.goals[:size] = state["pages"], state["goals"]
        return made
