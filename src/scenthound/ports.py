"""The interfaces between the crawl loop and its parts: Strategy, Frontier, History, Repository, Fetcher.

Each is a Protocol that declares everything the loop, resume, reports and exports call. Optional features of a strategy
are small Protocols of their own, tested with `isinstance`; a strategy describes itself in a `Declaration`.
`scenthound.testing` checks the rules that types can't express. `scenthound.judging` and `seeding` are further ports.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

from scenthound.hosts import HostClock
from scenthound.lessons import Lessons as Lessons
from scenthound.lessons import Trains as Trains
from scenthound.looking_for import TakesLookingFor as TakesLookingFor
from scenthound.model import NOTHING, Candidate, Event, Lost, Mark, Miss, Response, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts

Eviction = Literal["scored", "literal", "refuse"]
"""A full frontier (rule 7) inserts, then drops the worst; drops the worst, then inserts; or refuses the new URL."""
Training = Literal["none", "optional", "required"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The properties of a strategy that are needed before a crawl begins."""

    batch: int = 1
    """The number of URLs taken from the frontier at once."""
    shuffle: bool = False
    """Fetch the URLs of a batch in random order."""
    eviction: Eviction = "scored"
    """What its bounded frontier does when it is full."""
    parts: Parts = EVERYTHING
    """The parts of a page that it uses. Others are not computed; without a tree walk, a page is read twice as fast."""
    training: Training = "none"
    """`required`: it can't start without a trained model; `optional`: without one, it learns during the crawl."""
    lessons: tuple[str, ...] = ()
    """The lessons that training uses: `examples`, `others`, `taxonomy`, `back-links`, `pages`."""
    topic_examples: bool = False
    """Whether it uses `Topic.examples` while it crawls. In the laboratory no other gets them, and reports mark it."""
    free: tuple[str, ...] = ()
    """Parameters that may differ between training and crawl."""
    oracle: bool = False
    """Whether it sees links of pages that were not fetched. Only the laboratory runs it, and marks its results."""
    oracle_modes: tuple[str, ...] = ()
    """Parameters that make it an oracle; shown in lists of strategies."""
    score_parts: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """The names in `Candidate.parts`, each with a one-line explanation."""
    small_state: bool = False
    """Whether its state is small enough to save with every commit, so that a resumed crawl reads no page again."""


@runtime_checkable
class Declares(Protocol):
    """A strategy with a declaration. A strategy without one gets the defaults of `Declaration`."""

    @property
    def declaration(self) -> Declaration: ...


@runtime_checkable
class Strategy(Protocol):
    """Scores links. It receives fetched pages and returns candidates. It never fetches.

    It is a dataclass whose fields are parameters. The loop calls `start` once, then `read` or `miss` for every request.
    """

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]: ...  # usually the seeds
    def read(self, page: Page) -> Iterable[Candidate]: ...  # its links with scores, and new scores of waiting URLs
    def miss(self, miss: Miss) -> Iterable[Candidate]: ...  # replacements for a page that could not be fetched


@runtime_checkable
class NeedsRandom(Protocol):
    """A strategy that draws random numbers. It gets the crawl's generator before `start`."""

    def use_random(self, rng: random.Random) -> None: ...


@runtime_checkable
class Saves(Protocol):
    """A strategy whose state survives a restart, as JSON values and numpy arrays; never pickle."""

    def save(self) -> Mapping[str, Any]: ...
    def load(self, state: Mapping[str, Any]) -> None: ...


@runtime_checkable
class TakesLabels(Protocol):
    """A strategy that learns from labels given while the crawl runs."""

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]: ...


@runtime_checkable
class Explains(Protocol):
    """A strategy that explains its scores in words."""

    def reasons(self, parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str) -> list[tuple[str, float]]:
        """Explain a score, perhaps of a stored crawl, as (phrase, value) pairs, one for each part that matters."""


@runtime_checkable
class EmitsEvents(Protocol):
    """A strategy that emits events, which go to watchers and into the history.

    It must also implement `Saves`. Its state includes events not yet returned, so a resumed crawl records each once.
    """

    def take_events(self) -> Iterable[Event]:
        """Return the events since the last call and clear them. Called after every page and miss, and at the end."""


@runtime_checkable
class Peeks(Protocol):
    """A strategy that can be an oracle. If it declares `oracle`, the laboratory calls `peek` before `start`."""

    def peek(self, links: Callable[[Url], Iterable[Url]]) -> None: ...


@runtime_checkable
class OwnFrontier(Protocol):
    """A strategy with its own frontier, because it decides which URL is next only when `pop` is called."""

    def frontier(self, bound: int | None) -> Frontier: ...


class Popped(NamedTuple):
    """A candidate taken from the frontier."""

    candidate: Candidate
    rank: int = 1
    """Its rank among all waiting candidates, including those on resting hosts; 1 is the best."""
    number: int = 0
    """Its insertion number, from which `give_back` restores its position."""
    overtakes: bool = False
    """For a frontier without ranks: whether a better candidate can be popped at a known later time."""


class Frontier(Protocol):
    """The URLs to fetch, bounded and in one total order (rules 3 to 8). It asks the host clock which hosts rest.

    A URL is unknown, waiting, or in flight: from `pop` or `take` until `settle` or `give_back`. In a frontier that
    survives a restart, URLs that were in flight wait again, in their old position. Subclasses inherit `matters` and
    `rescore`, and may override them with something faster.
    """

    host_clock: HostClock  # set by the crawl before the first `pop`

    def push(self, candidate: Candidate) -> Candidate | None:
        """Insert a candidate. Returns the candidate dropped to make room (perhaps the same one), or None."""

    def matters(self, candidate: Candidate) -> bool:
        """Whether a push may change anything. Usually not: the URL is already waiting with at least this score."""
        return True

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        """Push the candidates whose URL is waiting; ignore the others."""
        for candidate in candidates:
            if candidate.url in self:
                self.push(candidate)

    def pop(self, now: float) -> Popped | None:
        """Take out the best candidate that is due and whose host is ready; None if there is none.

        It moves the host clock to `now`, and asks it for each host with a better candidate. So after None,
        `HostClock.next_wake` is the time of the next candidate.
        """

    def take(self, url: Url) -> Candidate | None:
        """Take out this URL, even if its host is resting; None if it is not waiting.

        The loop takes the targets of redirects. A frontier may count a target as in flight even if it was not waiting.
        """

    def give_back(self, popped: Popped) -> Candidate | None:
        """Put a popped candidate back in its old position. Returns the candidate dropped if the frontier is full."""

    def settle(self, url: Url) -> None:
        """Forget a URL, whether in flight or waiting: its result is recorded."""

    def in_flight(self) -> Collection[Url]:
        """URLs popped or taken and not yet settled, oldest first."""

    def urls(self) -> Collection[Url]:
        """All waiting URLs, in any order."""

    def __len__(self) -> int: ...
    def __contains__(self, url: object) -> bool: ...


class Fetcher(Protocol):
    """Sends one request over the network, within all limits. Redirects are reported, not followed."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """Request exactly this URL and cut the body at `most` bytes. Network errors are returned as a `Failure`."""


class Failure(NamedTuple):
    """A request without a response: a short reason that can be counted, and details."""

    reason: str
    detail: str = ""
    size: int = 0
    may_retry: bool = False


class Where(NamedTuple):
    """The location of a record in the repository."""

    file: str
    offset: int
    length: int


class History(Protocol):
    """The record of all pages and misses, in order.

    Pages and misses are events, numbered from 1. Subclasses inherit `lineage`.
    """

    # ---- written by the loop

    def seen(self, url: Url) -> bool:
        """True if a URL must not be requested again: it was fetched, is dead, or is an alias of such a URL."""

    def record(self, step: Step, where: Where | None = None) -> None: ...
    def lost(self, miss: Miss, now: float, dead: bool = True, heard: bool = True, where: Where | None = None) -> None:
        """Record a miss. `dead`: the URL is never requested again; `heard`: the strategy was informed."""

    def alias(self, url: Url, to: Url) -> None: ...
    def count(self, host: str, reason: str, times: int = 1) -> None: ...  # links not followed, and the like
    def link(self, source: Url, targets: Iterable[Url]) -> None:
        """Record all links of a page for the link graph, followed or not (rule 5). `targets` is iterated once."""

    def note(self, event: Event) -> None: ...  # an event of the strategy; the oldest of each kind may be dropped
    def revise(self, verdicts: Mapping[Url, tuple[float, bool]]) -> None: ...  # later (relevance, relevant) of pages
    def forget(self, gone: Sequence[Url]) -> list[Step]:
        """Remove pages whose content is gone, so that they can be fetched again. Returns their steps."""

    # ---- read by resume

    def marks(self) -> Iterator[Mark]: ...  # every page in order, for the crawl's figures
    def highest(self) -> int: ...  # the largest page number so far
    def last_event(self) -> int: ...  # the number of the latest event; 0 if there is none
    def numbered_after(self, event: int) -> Iterator[tuple[int, Step | Lost, Where | None]]:
        """The events after this one that the strategy was informed of, with number and location of the response."""

    # ---- read by reports and exports

    def __len__(self) -> int: ...  # the number of pages
    def trail(self) -> Iterator[Step]: ...  # all pages in the order in which they were fetched
    def events(self) -> Iterator[Step | Lost]: ...  # pages and misses in order
    def misses(self) -> Iterator[Lost]: ...
    def strategy_events(
        self, kind: str | None = None, agent: int | None = None, url: Url | None = None
    ) -> Iterator[Event]:
        """The events of the strategy in order: all, or those of one kind, agent or page."""

    def places(self) -> Iterator[tuple[Url, Where]]: ...  # the pages in the repository, in order
    def where(self, url: Url) -> Where | None: ...  # the response for this URL, after redirects
    def step_of(self, url: Url) -> Step | None: ...  # the page at this URL, after redirects
    def best(self, n: int) -> list[Step]: ...  # the pages with the highest relevance at fetch time
    def revised(self) -> dict[Url, tuple[float, bool]]: ...  # the latest verdicts passed to `revise`
    def fate(self, url: Url) -> str | None: ...  # `crawled`, `dead: why`, `redirected to where`; None: unknown
    def counts(self) -> dict[str, int]: ...  # the sums of `count` per reason, most frequent first
    def counts_of(self, host: str) -> dict[str, int]: ...
    def reasons(self) -> dict[str, int]: ...  # final misses per reason, most frequent first
    def lineage(self, url: Url) -> list[Step]:
        """The path from a seed to this page; empty if it was not fetched."""
        path: dict[Url, Step] = {}
        step = self.step_of(url)
        while step is not None and step.url not in path:
            path[step.url] = step
            step = self.step_of(step.parent) if step.parent is not None else None
        return list(path.values())[::-1]


class Repository(Protocol):
    """Stores the content of pages: raw responses."""

    def put(self, response: Response, now: float) -> Where: ...
    def get(self, where: Where) -> Response: ...  # raises `FolderBroken` if there is no response
    def flush(self) -> None: ...  # then all stored responses survive a crash of the process
    def sync(self) -> None: ...  # then all stored responses survive a power cut
    def close(self) -> None: ...


def declaration_of(strategy: Strategy) -> Declaration:
    """The declaration of a strategy, or the default. (`isinstance` would evaluate the property a second time.)"""
    try:
        return cast(Declares, strategy).declaration
    except AttributeError:
        return Declaration()
