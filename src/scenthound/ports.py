"""The interfaces between the crawl loop and its parts: Strategy, Frontier, History, Repository, Fetcher.

Each is a Protocol that declares everything the loop, resume, reports and exports call. Optional powers of a strategy
are small Protocols of their own, tested with `isinstance`; what it declares about itself is one `Declaration`. The
contract suites in `scenthound.testing` check the rules that types can't express.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

from scenthound.lessons import Lessons as Lessons
from scenthound.lessons import Taxonomy as Taxonomy
from scenthound.lessons import Trains as Trains
from scenthound.model import NOTHING, Candidate, Event, Lost, Mark, Miss, Response, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts

Eviction = Literal["scored", "literal", "refuse"]
"""What a full frontier does (rule 7): insert and drop the worst; drop the worst, then insert; refuse."""
Training = Literal["none", "optional", "required"]
"""Whether a strategy learns before it crawls."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a strategy declares about itself before a crawl begins."""

    batch: int = 1
    """How many URLs are taken from the frontier at once."""
    shuffle: bool = False
    """Whether the URLs of a batch are fetched in random order."""
    eviction: Eviction = "scored"
    """What its bounded frontier does when full."""
    parts: Parts = EVERYTHING
    """The parts of a page that it reads. Others are not computed; without a tree walk a page is read twice as fast."""
    training: Training = "none"
    """`required`: it can't start without a model; `optional`: it also learns during the crawl."""
    lessons: tuple[str, ...] = ()
    """What training uses: `examples`, `others`, `taxonomy`, `back-links`, `pages`."""
    free: tuple[str, ...] = ()
    """Parameters that may differ from those of the training."""
    oracle: bool = False
    """It reads links of pages that were not fetched: for the laboratory only, and marked there."""
    oracle_modes: tuple[str, ...] = ()
    """Parameters that make it an oracle, for lists of strategies."""
    score_parts: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """The names in `Candidate.parts`, each with a line of explanation."""
    small_state: bool = False
    """Its saved state is small: it is saved with every commit, so that no page is read again on resume."""


@runtime_checkable
class Declares(Protocol):
    """A strategy with a declaration. One without gets every part of a page, one URL at a time."""

    @property
    def declaration(self) -> Declaration: ...


@runtime_checkable
class Strategy(Protocol):
    """Scores links. It receives fetched pages and returns candidates. It never fetches.

    A dataclass whose fields are its parameters. The loop calls `start` once, then `read` or `miss` for every request.
    """

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]: ...
    def read(self, page: Page) -> Iterable[Candidate]: ...
    def miss(self, miss: Miss) -> Iterable[Candidate]: ...


@runtime_checkable
class NeedsRandom(Protocol):
    """A strategy that draws random numbers: it gets the crawl's generator before `start`."""

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
    """A strategy that says in words what the parts of a score mean."""

    def reasons(self, parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str) -> list[tuple[str, float]]:
        """Of a candidate, perhaps read from a file: a phrase for each part that matters, with its value."""


@runtime_checkable
class EmitsEvents(Protocol):
    """A strategy that emits events, which go to watchers and into the history.

    It `Saves` as well, and events not yet returned are part of its state, so a resumed crawl records each one once.
    """

    def take_events(self) -> Iterable[Event]:
        """Return the events since the last call and clear them. Called after every page and miss, and at the end."""


@runtime_checkable
class Peeks(Protocol):
    """A strategy that can be an oracle. The laboratory calls `peek` before `start` if it declares `oracle`."""

    def peek(self, links: Callable[[Url], Iterable[Url]]) -> None: ...


@runtime_checkable
class OwnFrontier(Protocol):
    """A strategy that chooses at pop time and so brings its own frontier."""

    def frontier(self, bound: int | None) -> Frontier: ...


class Popped(NamedTuple):
    """A candidate taken from the frontier."""

    candidate: Candidate
    rank: int = 1
    """Its place among all waiting candidates, those on resting hosts included; 1 is the best."""
    number: int = 0
    """Its insertion number, by which `give_back` restores its place."""


class Frontier(Protocol):
    """URLs to fetch: bounded, in one total order (rules 3 to 8), with hosts that rest.

    A URL is waiting, or in flight from `pop` or `take` until `settle` or `give_back`, or unknown. A frontier that
    survives a restart has what was in flight waiting again, in its old place. Subclasses inherit `matters` and
    `rescore`, which a faster implementation may replace.
    """

    def push(self, candidate: Candidate) -> Candidate | None:
        """Insert a candidate. Returns the one that fell out for it (perhaps itself), or None."""

    def matters(self, candidate: Candidate) -> bool:
        """False if a push would change nothing, as for most links: the URL waits already with as good a score."""
        return True

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        """Push those candidates whose URL is waiting."""
        for candidate in candidates:
            if candidate.url in self:
                self.push(candidate)

    def rest(self, host: str, until: float) -> None:
        """Return nothing of this host before `until`; a later call replaces an earlier one."""

    def pop(self, now: float) -> Popped | None:
        """Take out the best candidate that is due and whose host is awake."""

    def take(self, url: Url) -> Candidate | None:
        """Take out this URL, whether or not its host rests; None if it is not waiting.

        During a crawl the loop takes the target of a redirect: a frontier may count it as in flight even if it was
        not waiting.
        """

    def give_back(self, popped: Popped) -> Candidate | None:
        """Put a popped candidate back in its old place. Returns the one that fell out if others filled the bound."""

    def settle(self, url: Url) -> None:
        """The result for a URL is recorded: forget it, whether in flight or waiting."""

    def in_flight(self) -> Collection[Url]:
        """URLs popped or taken and not yet settled, oldest first."""

    def urls(self) -> Collection[Url]:
        """All waiting URLs, in any order."""

    def ready_at(self) -> float | None:
        """The earliest time at which `pop` can return something; infinity if unknown, None if nothing waits."""

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        """The best candidate that can be popped only later, at a known time, and that time. Hosts in flight do not
        count: they rest without end."""

    def __len__(self) -> int: ...
    def __contains__(self, url: object) -> bool: ...


class Fetcher(Protocol):
    """One request over the network, within all limits. Redirects are reported, not followed."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """The reply to a request for exactly this URL, its body cut at `most` bytes. Network errors are a `Failure`."""


class Failure(NamedTuple):
    """Why no response came: a short reason that can be counted, and details."""

    reason: str
    detail: str = ""
    size: int = 0
    may_retry: bool = False


class Where(NamedTuple):
    """The place of a record in the repository."""

    file: str
    offset: int
    length: int


class History(Protocol):
    """What was fetched and why, in order.

    Pages and misses are events, numbered from 1. Subclasses inherit `lineage`.
    """

    # ---- written by the loop

    def seen(self, url: Url) -> bool:
        """True for a URL that was fetched, is dead, or is an alias of either: it is never requested again."""

    def record(self, step: Step, where: Where | None = None) -> None: ...
    def lost(self, miss: Miss, now: float, dead: bool = True, heard: bool = True, where: Where | None = None) -> None:
        """Record a request that brought no page. `dead`: do not ask again; `heard`: the strategy was informed."""

    def alias(self, url: Url, to: Url) -> None: ...
    def count(self, host: str, reason: str, times: int = 1) -> None: ...  # a link not followed, or anything else
    def link(self, source: Url, targets: Sequence[Url]) -> None:
        """Record all links of a page for the link graph, followed or not (rule 5)."""

    def note(self, event: Event) -> None: ...  # an event of the strategy; old ones of a kind may be dropped
    def revise(self, verdicts: Mapping[Url, tuple[float, bool]]) -> None: ...  # later (relevance, relevant) of pages
    def forget(self, gone: Sequence[Url]) -> list[Step]:
        """Remove pages whose content is gone, so that they can be fetched again. Returns their steps."""

    # ---- read by resume

    def marks(self) -> Iterator[Mark]: ...  # every page as the crawl's counters need it, in order
    def highest(self) -> int: ...  # the largest page number so far
    def last_event(self) -> int: ...  # the number of the latest event; 0 if there is none
    def numbered_after(self, event: int) -> Iterator[tuple[int, Step | Lost, Where | None]]:
        """The events after this one that the strategy has received, with number and place in the repository."""

    # ---- read by reports and exports

    def __len__(self) -> int: ...  # pages
    def trail(self) -> Iterator[Step]: ...  # all pages in the order in which they were fetched
    def events(self) -> Iterator[Step | Lost]: ...  # pages and misses in order
    def misses(self) -> Iterator[Lost]: ...
    def strategy_events(
        self, kind: str | None = None, agent: int | None = None, url: Url | None = None
    ) -> Iterator[Event]:
        """Events of the strategy in order: all, or those of a kind, an agent, a page."""

    def places(self) -> Iterator[tuple[Url, Where]]: ...  # every page in the repository, with its place, in order
    def where(self, url: Url) -> Where | None: ...  # of the response for this URL; redirects are followed
    def step_of(self, url: Url) -> Step | None: ...  # the step that fetched it, or what it was redirected to
    def best(self, n: int) -> list[Step]: ...  # the pages of the highest relevance when they were fetched
    def revised(self) -> dict[Url, tuple[float, bool]]: ...  # the latest that `revise` was given of each page
    def fate(self, url: Url) -> str | None: ...  # `crawled`, `dead: why`, `redirected to where`; None: unknown
    def counts(self) -> dict[str, int]: ...  # how often each reason was counted, most frequent first
    def counts_of(self, host: str) -> dict[str, int]: ...
    def reasons(self) -> dict[str, int]: ...  # how often each kind of final miss happened, most frequent first
    def lineage(self, url: Url) -> list[Step]:
        """The path from a seed to this page; empty if it was not fetched."""
        path: dict[Url, Step] = {}
        step = self.step_of(url)
        while step is not None and step.url not in path:
            path[step.url] = step
            step = self.step_of(step.parent) if step.parent is not None else None
        return list(path.values())[::-1]


class Repository(Protocol):
    """The stored content: raw responses."""

    def put(self, response: Response, now: float) -> Where: ...
    def get(self, where: Where) -> Response: ...  # stored there; raises `FolderBroken` if there is none
    def flush(self) -> None: ...  # what was put survives the death of the process from here on
    def sync(self) -> None: ...  # what was put survives the death of the machine from here on
    def close(self) -> None: ...


def declaration_of(strategy: Strategy) -> Declaration:
    """The declaration of a strategy, or the default. It is read once: `isinstance` would read it too."""
    try:
        return cast(Declares, strategy).declaration
    except AttributeError:
        return Declaration()
