"""A spider's private frontier: links with their scores and inputs, drawn at random.

Links are rows in the order in which they were added. A link that leaves is only marked, and its row is removed later,
so that a draw costs only a few numpy calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Candidate, Url
from scenthound.papers.parts.strategy_frontier import from_plain, plain
from scenthound.papers.spiders.net import softmax_weights

Marks = npt.NDArray[np.bool_]
SMALLEST = 32  # with fewer rows than this, marked rows are not removed


class Hosts:
    """Numbers for the hosts of waiting links."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._uses: list[int] = []
        self._free: list[int] = []

    def enter(self, host: str) -> int:
        """Count a waiting link of a host, and return the host's number."""
        number = self._numbers.get(host)
        if number is None:
            number = self._free.pop() if self._free else len(self._names)
            if number == len(self._names):
                self._names.append(host)
                self._uses.append(0)
            self._names[number] = host
            self._numbers[host] = number
        self._uses[number] += 1
        return number

    def leave(self, number: int) -> None:
        """Uncount a waiting link of a host."""
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._numbers[self._names[number]]
            self._free.append(number)

    def name(self, number: int) -> str:
        return self._names[number]

    def marked(self, hosts: Iterable[str]) -> Marks | None:
        """For each host number, whether it is one of these hosts; None if none has a link."""
        numbers = [number for host in hosts if (number := self._numbers.get(host)) is not None]
        if not numbers:
            return None
        marks = np.zeros(len(self._names), dtype=np.bool_)
        marks[numbers] = True
        return marks


class DrawnLink(NamedTuple):
    """The row of a drawn link, and the probability of drawing it."""

    row: int
    probability: float


class PrivateFrontier:
    """The waiting links of one agent. A removed row has score -inf and no candidate."""

    def __init__(self, width: int) -> None:
        self.rows: dict[Url, int] = {}
        self.candidates: list[Candidate | None] = []
        self.score, self.net, self.page = np.empty(SMALLEST), np.empty(SMALLEST), np.empty(SMALLEST)
        self.number = np.empty(SMALLEST, dtype=np.int64)
        self.host = np.empty(SMALLEST, dtype=np.int32)
        self.inputs = np.empty((SMALLEST, width), dtype=np.float32)
        self._worst: Url | None = None  # the link with the lowest score, if known

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, url: object) -> bool:
        return url in self.rows

    def __iter__(self) -> Iterator[Url]:
        return iter(self.rows)

    def put(self, candidate: Candidate, host: int, number: int, net: float, page: float, inputs: Any = 0.0) -> None:
        """Add a new link at the end."""
        row = len(self.candidates)
        if self._worst is not None and candidate.score <= self.score[self.rows[self._worst]]:
            self._worst = None
        if row == len(self.score):
            self._enlarge()
        self.candidates.append(candidate)
        self.rows[candidate.url] = row
        self.number[row], self.host[row] = number, host
        self._set(row, candidate.score, net, page, inputs)

    def update(self, candidate: Candidate, net: float, page: float, inputs: Any) -> None:
        """Update a link found again: it keeps its row, and the larger score with its inputs."""
        row = self.rows[candidate.url]
        if candidate.score > self.score[row]:
            self._worst = None if self._worst == candidate.url else self._worst
            self.candidates[row] = candidate
            self._set(row, candidate.score, net, page, inputs)

    def remove(self, url: Url) -> int:
        """Remove a link, and return the number of its host."""
        row = self.rows.pop(url)
        self._worst = None if self._worst == url else self._worst
        self.candidates[row], self.score[row] = None, -math.inf
        host = int(self.host[row])
        if len(self.candidates) > 2 * len(self.rows) + SMALLEST:
            self.keep(np.array(list(self.rows.values()), dtype=np.int64))
        return host

    def keep(self, rows: npt.NDArray[np.int64]) -> None:
        """Remove all rows except these, which stay in order."""
        rows, self._worst = np.sort(rows), None
        self.candidates = [self.candidates[row] for row in rows.tolist()]
        self.rows = {candidate.url: row for row, candidate in enumerate(self.candidates) if candidate is not None}
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[rows])
        self._enlarge()

    def worst(self) -> Candidate:
        """The link with the lowest score; among ties, the newest."""
        if self._worst is not None:
            candidate = self.candidates[self.rows[self._worst]]
            assert candidate is not None
            return candidate
        scores = np.where(np.isneginf(self.score[: len(self.candidates)]), math.inf, self.score[: len(self.candidates)])
        candidate = self.candidates[len(scores) - 1 - int(np.argmin(scores[::-1]))]
        assert candidate is not None
        self._worst = candidate.url
        return candidate

    def scores_on(self, hosts: Marks | None) -> npt.NDArray[np.float64]:
        """The scores of all rows, but -inf on other hosts than these. None: all hosts."""
        size = len(self.candidates)
        return self.score[:size] if hosts is None else np.where(hosts[self.host[:size]], self.score[:size], -math.inf)

    def draw(self, random_number: float, greed: float, ready: Marks | None) -> DrawnLink | None:
        """Draw a link on a host that is ready, using a random number from 0 to 1. Waiting seeds come first."""
        scores = self.scores_on(ready)
        top = scores.max() if len(scores) else -math.inf
        if math.isinf(top):
            return DrawnLink(int(np.argmax(scores)), 1.0) if top > 0 else None
        weights = softmax_weights(scores, greed) if greed else (scores > -math.inf).astype(np.float64)
        sums = np.cumsum(weights)
        row = int(np.searchsorted(sums, random_number * sums[-1], side="right"))
        if row == len(sums):  # `random_number` is so close to 1 that the product was rounded up
            row = int(np.flatnonzero(weights)[-1])
        return DrawnLink(row, float(weights[row] / sums[-1]))

    def halves(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows at odd and at even ranks by score; ties in order of age, oldest first."""
        rows = np.array(list(self.rows.values()), dtype=np.int64)
        rows.sort()
        order = rows[np.argsort(-self.score[rows], kind="stable")]
        return order[::2], order[1::2]

    def copy_rows(self, rows: npt.NDArray[np.int64], width: int) -> PrivateFrontier:
        """A copy of these rows, with inputs for `width` keywords; the inputs of new keywords are 0."""
        rows, copy = np.sort(rows), PrivateFrontier(width)
        copy.candidates = [self.candidates[row] for row in rows.tolist()]
        copy.rows = {candidate.url: row for row, candidate in enumerate(copy.candidates) if candidate is not None}
        for name in _COLUMNS[:-1]:
            setattr(copy, name, getattr(self, name)[rows])
        copy.inputs = np.zeros((len(rows), width), dtype=np.float32)
        copy.inputs[:, : self.inputs.shape[1]] = self.inputs[rows]
        copy._enlarge()
        return copy

    def find(self, number: int) -> Url | None:
        """The URL of the link with this number, if it is here."""
        (rows,) = np.nonzero(self.number[: len(self.candidates)] == number)
        candidate = self.candidates[rows[0]] if len(rows) else None
        return None if candidate is None else candidate.url

    def _set(self, row: int, score: float, net: float, page: float, inputs: Any) -> None:
        self.score[row], self.net[row], self.page[row], self.inputs[row] = score, net, page, inputs

    def _enlarge(self) -> None:
        """Double the room for rows."""
        for name in _COLUMNS:
            column = getattr(self, name)
            room = np.empty((max(SMALLEST, len(column)), *column.shape[1:]), dtype=column.dtype)
            setattr(self, name, np.concatenate([column, room]))

    # ---- saving

    def save(self) -> dict[str, Any]:
        self.keep(np.array(list(self.rows.values()), dtype=np.int64))
        size = len(self.candidates)
        columns = {name: getattr(self, name)[:size].copy() for name in _COLUMNS if name != "host"}
        return {"about": [plain(candidate)[:8] for candidate in self.candidates if candidate is not None], **columns}

    @classmethod
    def load(cls, state: Mapping[str, Any], width: int) -> PrivateFrontier:
        """Load the result of `save`. Raises `ValueError` if it is inconsistent."""
        links = cls(width)
        links.candidates = [from_plain(fields) for fields in state["about"]]
        size = len(links.candidates)
        links.rows = {candidate.url: row for row, candidate in enumerate(links.candidates) if candidate is not None}
        links.host = np.zeros(size, dtype=np.int32)
        for name in ("score", "net", "page", "number", "inputs"):
            column = state[name]
            if column.shape != ((size, width) if name == "inputs" else (size,)):
                raise ValueError(f"`{name}` of a spider's links has shape {column.shape}")
            setattr(links, name, column)
        links._enlarge()
        return links


_COLUMNS = ("score", "net", "page", "number", "host", "inputs")
