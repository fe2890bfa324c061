"""History and repository in memory, for tests, replay and the lab."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scenthound.errors import FolderBroken
from scenthound.model import Event, Lost, Mark, Miss, Response, Step, Url
from scenthound.ports import History, Repository, Where

HOSTS_COUNTED = 10_000  # hosts whose unfollowed links are counted separately; all others share one counter
ELSEWHERE = "*"


class MemoryHistory(History):
    """The `History` port as lists and sets."""

    def __init__(self) -> None:
        self._events: list[Step | Lost | None] = []  # an event's number is its index + 1; None: forgotten
        self._not_delivered: set[int] = set()  # events that the strategy did not receive
        self._retried: set[int] = set()  # misses that were not final
        self._pages = 0
        self._seen: set[Url] = set()
        self._steps: dict[Url, Step] = {}
        self._where: dict[Url, Where] = {}
        self._aliases: dict[Url, Url] = {}
        self._dead: dict[Url, str] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self.graph: dict[Url, Sequence[Url]] = {}
        self._strategy_events: list[Event] = []
        self._revised: dict[Url, tuple[float, bool]] = {}

    # ---- used by the loop

    def seen(self, url: Url) -> bool:
        return url in self._seen

    def record(self, step: Step, where: Where | None = None) -> None:
        self._events.append(step)
        self._pages += 1
        self._steps[step.url] = step
        self._seen.add(step.url)
        if where is not None:
            self._where[step.url] = where

    def lost(self, miss: Miss, now: float, dead: bool = True, heard: bool = True, where: Where | None = None) -> None:
        candidate = miss.candidate
        number = len(self._events) + 1
        origin = (candidate.url, candidate.parent, candidate.anchor, candidate.score, candidate.depth)
        reply = (miss.status, miss.size, now, miss.reason, miss.detail)
        self._events.append(Lost(number, *origin, *reply, candidate.carry))
        if dead:
            self._dead[candidate.url] = miss.reason
            self._seen.add(candidate.url)
        else:
            self._retried.add(number)
        if not (dead and heard):
            self._not_delivered.add(number)
        if where is not None:
            self._where[candidate.url] = where

    def alias(self, url: Url, to: Url) -> None:
        self._aliases[url] = to
        self._seen.add(url)

    def count(self, host: str, reason: str, times: int = 1) -> None:
        self._counts[host, reason] = self._counts.get((host, reason), 0) + times

    def link(self, source: Url, targets: Iterable[Url]) -> None:
        self.graph[source] = list(targets)

    def note(self, event: Event) -> None:
        self._strategy_events.append(event)

    def forget(self, gone: Sequence[Url]) -> list[Step]:
        steps = [step for step in (self._steps.pop(url, None) for url in gone) if step is not None]
        urls = {step.url for step in steps}
        self._events = [None if isinstance(event, Step) and event.url in urls else event for event in self._events]
        self._seen -= set(gone)
        self._pages -= len(steps)
        for url in gone:
            self._where.pop(url, None)
            self.graph.pop(url, None)
        return steps

    # ---- used by resume

    def marks(self) -> Iterator[Mark]:
        for step in self.trail():
            yield Mark(
                step.n,
                step.url,
                step.similarity,
                step.bytes,
                step.time,
                step.title,
                step.depth,
                step.requested,
                step.relevance,
                step.relevant,
            )

    def highest(self) -> int:
        return max((step.n for step in self.trail()), default=0)

    def last_event(self) -> int:
        return len(self._events)

    def numbered_after(self, event: int) -> Iterator[tuple[int, Step | Lost, Where | None]]:
        for number, recorded in enumerate(self._events[event:], event + 1):
            if recorded is not None and number not in self._not_delivered:
                yield number, recorded, self._where.get(recorded.url)

    # ---- used by reports and exports

    def __len__(self) -> int:
        return self._pages

    def trail(self) -> Iterator[Step]:
        return (event for event in self._events if isinstance(event, Step))

    def events(self) -> Iterator[Step | Lost]:
        return (event for event in self._events if event is not None)

    def misses(self) -> Iterator[Lost]:
        return (event for event in self._events if isinstance(event, Lost))

    def strategy_events(
        self, kind: str | None = None, agent: int | None = None, url: Url | None = None
    ) -> Iterator[Event]:
        for event in self._strategy_events:
            if kind in (None, event.kind) and agent in (None, event.facts.get("agent")) and url in (None, event.url):
                yield event

    def places(self) -> Iterator[tuple[Url, Where]]:
        return ((step.url, self._where[step.url]) for step in self.trail() if step.url in self._where)

    def where(self, url: Url) -> Where | None:
        step = self.step_of(url)
        return self._where.get(step.url if step else url)

    def step_of(self, url: Url) -> Step | None:
        visited: set[Url] = set()
        while url not in self._steps and url in self._aliases and url not in visited:
            visited.add(url)
            url = self._aliases[url]
        return self._steps.get(url)

    def best(self, n: int) -> list[Step]:
        return sorted(self.trail(), key=lambda step: -step.relevance)[:n]

    def revise(self, verdicts: Mapping[Url, tuple[float, bool]]) -> None:
        self._revised.update(verdicts)

    def revised(self) -> dict[Url, tuple[float, bool]]:
        return dict(self._revised)

    def fate(self, url: Url) -> str | None:
        if url in self._dead:
            return f"dead: {self._dead[url]}"
        if url in self._aliases:
            return f"redirected to {self._aliases[url]}"
        return "crawled" if url in self._seen else None

    def counts(self) -> dict[str, int]:
        return summed((reason, times) for (_, reason), times in self._counts.items())

    def counts_of(self, host: str) -> dict[str, int]:
        return summed((reason, times) for (name, reason), times in self._counts.items() if name == host)

    def reasons(self) -> dict[str, int]:
        return summed((miss.reason, 1) for miss in self.misses() if miss.event not in self._retried)


def summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sum for each name, largest first; equal sums are ordered by name."""
    total: dict[str, int] = {}
    for name, times in pairs:
        total[name] = total.get(name, 0) + times
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


class MemoryRepository(Repository):
    """The `Repository` port as a list; the offset of a record is its index."""

    def __init__(self) -> None:
        self._responses: list[Response] = []

    def put(self, response: Response, now: float) -> Where:
        self._responses.append(response)
        return Where("memory", len(self._responses) - 1, 1)

    def get(self, where: Where) -> Response:
        if where.file != "memory" or not 0 <= where.offset < len(self._responses):
            raise FolderBroken(where.file, f"has no response at {where.offset}")
        return self._responses[where.offset]

    def flush(self) -> None:
        return None

    def sync(self) -> None:
        return None

    def close(self) -> None:
        return None

    def __len__(self) -> int:
        return len(self._responses)
