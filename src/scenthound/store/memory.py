"""The past and the content in memory: for tests, replay and the laboratory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scenthound.errors import FolderBroken
from scenthound.model import NOTHING, Event, Miss, Response, Step, Url
from scenthound.ports import Where
from scenthound.url import host as host_of

HOSTS_COUNTED = 10_000  # hosts whose unfollowed links are counted apart; the rest share one line
ELSEWHERE = "*"


class Lost(NamedTuple):
    """A miss as the history keeps it."""

    event: int
    """Its place among all pages and misses."""
    url: Url
    parent: Url | None
    anchor: str
    score: float
    depth: int
    status: int
    bytes: int
    time: float
    reason: str
    detail: str
    carry: Mapping[str, Any] = NOTHING


class HostTally(NamedTuple):
    """What a crawl had from one host."""

    pages: int = 0
    misses: int = 0
    bytes: int = 0
    similarity: float = 0.0
    """Summed over its pages."""

    @classmethod
    def of(cls, events: Iterable[Step | Lost]) -> dict[str, HostTally]:
        """One tally a host, most pages first."""
        tallies: dict[str, HostTally] = {}
        for event in events:
            host = host_of(event.url)
            had = tallies.get(host) or cls()
            if isinstance(event, Lost):
                tallies[host] = had._replace(misses=had.misses + 1, bytes=had.bytes + event.bytes)
            else:
                tallies[host] = cls(
                    had.pages + 1, had.misses, had.bytes + event.bytes, had.similarity + event.similarity
                )
        return dict(sorted(tallies.items(), key=lambda pair: (-pair[1].pages, pair[0])))


class MemoryHistory:
    """The `History` port as lists and sets."""

    def __init__(self) -> None:
        self._events: list[Step | Lost] = []
        self._pages = 0
        self._seen: set[Url] = set()
        self._steps: dict[Url, Step] = {}
        self._where: dict[Url, Where] = {}
        self._aliases: dict[Url, Url] = {}
        self._dead: dict[Url, str] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self.graph: dict[Url, Sequence[Url]] = {}
        self._told: list[Event] = []

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
        wanted = miss.candidate
        self._events.append(
            Lost(
                len(self._events) + 1,
                wanted.url,
                wanted.parent,
                wanted.anchor,
                wanted.score,
                wanted.depth,
                miss.status,
                miss.size,
                now,
                miss.reason,
                miss.detail,
                wanted.carry,
            )
        )
        if dead:
            self._dead[wanted.url] = miss.reason
            self._seen.add(wanted.url)
        if where is not None:
            self._where[wanted.url] = where

    def alias(self, url: Url, to: Url) -> None:
        self._aliases[url] = to
        self._seen.add(url)

    def count(self, host: str, reason: str, times: int = 1) -> None:
        self._counts[host, reason] = self._counts.get((host, reason), 0) + times

    def link(self, source: Url, targets: Sequence[Url]) -> None:
        self.graph[source] = targets

    def note(self, event: Event) -> None:
        self._told.append(event)

    def told(self, kind: str | None = None, agent: int | None = None, url: Url | None = None) -> Iterator[Event]:
        """What the strategy told of itself, in order: all of it, or what is of a kind, an agent, a page."""
        for event in self._told:
            if kind in (None, event.kind) and agent in (None, event.facts.get("agent")) and url in (None, event.url):
                yield event

    def trail(self) -> Iterator[Step]:
        return (event for event in self._events if isinstance(event, Step))

    def __len__(self) -> int:
        return self._pages

    def events(self) -> Iterator[Step | Lost]:
        """The trail with its misses, in the order things happened."""
        return iter(self._events)

    def misses(self) -> Iterator[Lost]:
        return (event for event in self._events if isinstance(event, Lost))

    def step_of(self, url: Url) -> Step | None:
        """The step that fetched this URL, or the one it was redirected to."""
        met: set[Url] = set()
        while url not in self._steps and url in self._aliases and url not in met:
            met.add(url)
            url = self._aliases[url]
        return self._steps.get(url)

    def where(self, url: Url) -> Where | None:
        step = self.step_of(url)
        return self._where.get(step.url if step else url)

    def counts(self) -> dict[str, int]:
        """How often each reason was counted, most frequent first."""
        return summed((reason, times) for (_, reason), times in self._counts.items())


def summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sum for each name, largest first."""
    total: dict[str, int] = {}
    for name, times in pairs:
        total[name] = total.get(name, 0) + times
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


class MemoryRepository:
    """The `Repository` port as a list; the offset is the place in the list."""

    def __init__(self) -> None:
        self._responses: list[Response] = []

    def put(self, response: Response, now: float) -> Where:
        self._responses.append(response)
        return Where("memory", len(self._responses) - 1, 1)

    def get(self, where: Where) -> Response:
        if where.file != "memory" or not 0 <= where.offset < len(self._responses):
            raise FolderBroken(f"no response is kept at {where.file}:{where.offset}")
        return self._responses[where.offset]

    def __len__(self) -> int:
        return len(self._responses)
