"""A spider's private frontier: links with what was seen of them, drawn at random; and which hosts rest.

Links are rows in the order in which they came. A link that leaves is only marked and its row removed later, so that a
draw costs a few numpy calls, whatever else has left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Candidate, Url
from scenthound.strategies.spiders.net import Numbers, softmax_weights

SMALLEST = 32  # rows below which removed ones are kept


class Hosts:
    """Numbers for the hosts of waiting links, and until when each rests."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._uses: list[int] = []
        self._free: list[int] = []
        self._until = np.zeros(64)
        self._resting: dict[str, float] = {}
        self._latest = 0.0
        self._crowd = 1000

    def enter(self, host: str) -> int:
        """The host's number; called once for each waiting link."""
        number = self._numbers.get(host)
        if number is None:
            number = self._free.pop() if self._free else len(self._names)
            if number == len(self._names):
                self._names.append(host)
                self._uses.append(0)
                if number >= len(self._until):
                    self._until = np.concatenate([self._until, np.zeros(len(self._until))])
            self._names[number] = host
            self._numbers[host] = number
            self._until[number] = self._resting.get(host, 0.0)
        self._uses[number] += 1
        return number

    def leave(self, number: int) -> None:
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._numbers[self._names[number]]
            self._free.append(number)

    def rest(self, host: str, until: float, now: float) -> None:
        if until > now:
            self._resting[host] = until
            self._latest = max(self._latest, until)
        else:
            self._resting.pop(host, None)
        if host in self._numbers:
            self._until[self._numbers[host]] = until
        if len(self._resting) > self._crowd:  # forget hosts that are awake from time to time
            self._resting = {name: late for name, late in self._resting.items() if late > now}
            self._crowd = 2 * len(self._resting) + 1000

    def until(self, host: str) -> float:
        return self._resting.get(host, 0.0)

    def wakes(self, numbers: npt.NDArray[np.int32], now: float) -> Numbers | None:
        """When each of these hosts wakes; None: all are awake."""
        return self._until[numbers] if self._latest > now else None


class Drawn(NamedTuple):
    """A drawn link: its row, and its probability."""

    row: int
    probability: float


class PrivateFrontier:
    """The waiting links of one agent. A removed row has score -inf and no candidate."""

    def __init__(self, width: int) -> None:
        self.rows: dict[Url, int] = {}
        self.about: list[Candidate | None] = []
        self.score, self.net, self.page = np.empty(SMALLEST), np.empty(SMALLEST), np.empty(SMALLEST)
        self.number = np.empty(SMALLEST, dtype=np.int64)
        self.host = np.empty(SMALLEST, dtype=np.int32)
        self.inputs = np.empty((SMALLEST, width), dtype=np.float32)
        self._last: Url | None = None  # the lowest score, if known

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, url: object) -> bool:
        return url in self.rows

    def __iter__(self) -> Iterator[Url]:
        return iter(self.rows)

    def put(self, about: Candidate, host: int, number: int, net: float, page: float, inputs: Any = 0.0) -> None:
        """Add a new link at the end."""
        row = len(self.about)
        if self._last is not None and about.score <= self.score[self.rows[self._last]]:
            self._last = None
        if row == len(self.score):
            self._enlarge()
        self.about.append(about)
        self.rows[about.url] = row
        self.number[row], self.host[row] = number, host
        self._see(row, about.score, net, page, inputs)

    def raise_to(self, about: Candidate, net: float, page: float, inputs: Any) -> None:
        """A link found again keeps its row, and the larger score with what was seen then."""
        row = self.rows[about.url]
        if about.score > self.score[row]:
            self._last = None if self._last == about.url else self._last
            self.about[row] = about
            self._see(row, about.score, net, page, inputs)

    def cross_out(self, url: Url) -> int:
        """Remove a link. Returns the number of its host."""
        row = self.rows.pop(url)
        self._last = None if self._last == url else self._last
        self.about[row], self.score[row] = None, -math.inf
        host = int(self.host[row])
        if len(self.about) > 2 * len(self.rows) + SMALLEST:
            self.keep(np.array(list(self.rows.values()), dtype=np.int64))
        return host

    def keep(self, rows: npt.NDArray[np.int64]) -> None:
        """Remove all rows but these, which stay in order."""
        rows, self._last = np.sort(rows), None
        self.about = [self.about[row] for row in rows.tolist()]
        self.rows = {about.url: row for row, about in enumerate(self.about) if about is not None}
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[rows])
        self._enlarge()

    def last(self) -> Candidate:
        """The link with the lowest score; of equals the newest."""
        if self._last is not None:
            candidate = self.about[self.rows[self._last]]
            assert candidate is not None
            return candidate
        scores = np.where(np.isneginf(self.score[: len(self.about)]), math.inf, self.score[: len(self.about)])
        about = self.about[len(scores) - 1 - int(np.argmin(scores[::-1]))]
        assert about is not None
        self._last = about.url
        return about

    def draw(self, luck: float, greed: float, wakes: Numbers | None, now: float) -> Drawn | None:
        """Draw a link on a host that is awake; `luck` is from 0 to 1. A waiting seed comes first."""
        scores = self.score[: len(self.about)]
        if wakes is not None:
            scores = np.where(wakes <= now, scores, -math.inf)
        top = scores.max() if len(scores) else -math.inf
        if math.isinf(top):
            return Drawn(int(np.argmax(scores)), 1.0) if top > 0 else None
        weights = softmax_weights(scores, greed) if greed else (scores > -math.inf).astype(np.float64)
        sums = np.cumsum(weights)
        row = int(np.searchsorted(sums, luck * sums[-1], side="right"))
        if row == len(sums):  # `luck` so near to 1 that rounding made it 1
            row = int(np.flatnonzero(weights)[-1])
        return Drawn(row, float(weights[row] / sums[-1]))

    def halves(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows at odd and at even ranks by score; of equals the oldest first."""
        rows = np.array(list(self.rows.values()), dtype=np.int64)
        rows.sort()
        order = rows[np.argsort(-self.score[rows], kind="stable")]
        return order[::2], order[1::2]

    def part(self, rows: npt.NDArray[np.int64], width: int) -> PrivateFrontier:
        """A copy of some rows with inputs for `width` keywords; the input of a new keyword is 0."""
        made = PrivateFrontier(width)
        made.about = [self.about[row] for row in np.sort(rows).tolist()]
        made.rows = {about.url: row for row, about in enumerate(made.about) if about is not None}
        for name in _COLUMNS[:-1]:
            setattr(made, name, getattr(self, name)[np.sort(rows)])
        made.inputs = np.zeros((len(rows), width), dtype=np.float32)
        made.inputs[:, : self.inputs.shape[1]] = self.inputs[np.sort(rows)]
        made._enlarge()
        return made

    def find(self, number: int) -> Url | None:
        """The link with this number."""
        (rows,) = np.nonzero(self.number[: len(self.about)] == number)
        about = self.about[rows[0]] if len(rows) else None
        return None if about is None else about.url

    def _see(self, row: int, score: float, net: float, page: float, inputs: Any) -> None:
        self.score[row], self.net[row], self.page[row], self.inputs[row] = score, net, page, inputs

    def _enlarge(self) -> None:
        """Double the room for rows."""
        for name in _COLUMNS:
            column = getattr(self, name)
            more = np.empty((max(SMALLEST, len(column)), *column.shape[1:]), dtype=column.dtype)
            setattr(self, name, np.concatenate([column, more]))

    # ---- what survives a restart

    def save(self) -> dict[str, Any]:
        self.keep(np.array(list(self.rows.values()), dtype=np.int64))
        size = len(self.about)
        columns = {name: getattr(self, name)[:size].copy() for name in _COLUMNS if name != "host"}
        return {"about": [plain(about) for about in self.about if about is not None], **columns}

    @classmethod
    def load(cls, state: Mapping[str, Any], width: int) -> PrivateFrontier:
        """Load what `save` returned. Raises ValueError if it is inconsistent."""
        made = cls(width)
        made.about = [candidate(fields) for fields in state["about"]]
        size = len(made.about)
        made.rows = {about.url: row for row, about in enumerate(made.about) if about is not None}
        made.host = np.zeros(size, dtype=np.int32)
        for name in ("score", "net", "page", "number", "inputs"):
            column = state[name]
            if column.shape != ((size, width) if name == "inputs" else (size,)):
                raise ValueError(f"`{name}` of a spider's links has shape {column.shape}")
            setattr(made, name, column)
        made._enlarge()
        return made


_COLUMNS = ("score", "net", "page", "number", "host", "inputs")


def plain(about: Candidate) -> list[Any]:
    """A candidate as JSON values."""
    score = None if about.score == math.inf else about.score
    return [about.url, score, dict(about.carry), dict(about.parts), *about[4:8]]


def candidate(fields: Sequence[Any]) -> Candidate:
    url, score, *rest = fields
    return Candidate(Url(url), math.inf if score is None else float(score), *rest)
