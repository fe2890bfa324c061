"""Running figures of a crawl, for progress bars, `status` and stopping rules."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from scenthound.model import Miss

WINDOW = 100
BEST = 10


class Counted(Protocol):
    """What is counted of a page: a `Step` or a `Mark`."""

    @property
    def n(self) -> int: ...
    @property
    def url(self) -> str: ...
    @property
    def similarity(self) -> float: ...
    @property
    def bytes(self) -> int: ...
    @property
    def title(self) -> str: ...


@dataclass(slots=True)
class Counters:
    """Counts pages, harvest and failures; of bounded size whatever the length of the crawl.

    With `dry_window` set it also applies the stopping rule of sheet 70.2: `dry` turns true when the
    moving harvest rate has stayed below max(floor, best rate / 5) for `dry_patience` pages in a row.
    """

    relevant_from: float = 0.1
    dry_window: int = 0
    dry_floor: float = 0.02
    dry_patience: int = 200
    pages: int = 0
    attempts: int = 0
    bytes: int = 0
    relevant: int = 0
    similarity: float = 0.0
    misses: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    best: list[tuple[float, int, str, str]] = field(default_factory=list)
    dry: bool = False
    _flags: deque[bool] = field(default_factory=deque)
    _good: int = 0
    _best_rate: float = 0.0
    _below: int = 0

    def page(self, step: Counted) -> bool:
        """Count a page; True if it is relevant."""
        good = step.similarity >= self.relevant_from
        self.pages += 1
        self.bytes += step.bytes
        self.relevant += good
        self.similarity += step.similarity
        self.recent.append(good)
        entry = (step.similarity, -step.n, str(step.url), step.title)
        if len(self.best) < BEST:
            heapq.heappush(self.best, entry)
        elif entry > self.best[0]:
            heapq.heapreplace(self.best, entry)
        if self.dry_window:
            self._watch_harvest(good)
        return good

    def miss(self, miss: Miss) -> None:
        self.misses[miss.reason] += 1

    def retry(self, miss: Miss) -> None:
        self.retries[miss.reason] += 1

    def count(self, reason: str) -> None:
        self.dropped[reason] += 1

    @property
    def harvest(self) -> float:
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def harvest_recent(self) -> float:
        return sum(self.recent) / len(self.recent) if self.recent else 0.0

    def _watch_harvest(self, good: bool) -> None:
        self._flags.append(good)
        self._good += good
        if len(self._flags) > self.dry_window:
            self._good -= self._flags.popleft()
        rate = self._good / len(self._flags)
        self._best_rate = max(self._best_rate, rate)
        floor = max(self.dry_floor, self._best_rate / 5)
        self._below = self._below + 1 if rate < floor else 0
        self.dry = self._below >= self.dry_patience

    def save(self) -> Mapping[str, Any]:
        return {
            "attempts": self.attempts,
            "retries": dict(self.retries),
            "dry": [[int(flag) for flag in self._flags], self._best_rate, self._below],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Load what `save` returned; pages, misses and dropped links are counted again from the history."""
        self.attempts = state.get("attempts", 0)
        self.retries = Counter(state.get("retries", {}))
        flags, self._best_rate, self._below = state.get("dry", [[], 0.0, 0])
        self._flags = deque(bool(flag) for flag in flags)
        self._good = sum(self._flags)
