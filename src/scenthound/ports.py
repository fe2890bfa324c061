"""The sockets that parts plug into: Strategy, Frontier, Fetcher, History, Repository.

Each is a Protocol of a few methods; optional powers are tiny Protocols of their own, asked for
with `isinstance`. The contract suites in `scenthound.testing` say the rest in code.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from scenthound.model import Candidate, Event, Miss, Response, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts

Eviction = Literal["scored", "literal", "refuse"]
"""What a full frontier does (rule 7): insert and drop the worst; drop the worst, then insert; refuse."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a strategy says about itself before a crawl begins."""

    batch: int = 1
    """How many URLs are taken from the frontier at once."""
    shuffle: bool = False
    """Whether the URLs of a batch are fetched in random order."""
    eviction: Eviction = "scored"
    """What its bounded frontier does when full."""
    parts: Parts = EVERYTHING
    """What of a page it reads. What is not declared is not there: a page without a tree walk is read twice as fast."""


@runtime_checkable
class Declares(Protocol):
    """A strategy that declares something. One that does not gets every part of a page, one URL at a time."""

    @property
    def declaration(self) -> Declaration: ...


@runtime_checkable
class Strategy(Protocol):
    """Scores links. It receives fetched pages and returns candidates. It never fetches.

    A dataclass whose fields are its parameters.
    """

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]: ...
    def read(self, page: Page) -> Iterable[Candidate]: ...
    def miss(self, miss: Miss) -> Iterable[Candidate]: ...


@runtime_checkable
class NeedsLuck(Protocol):
    """A strategy that draws lots: handed the crawl's own generator before `start`."""

    def lucky(self, rng: random.Random) -> None: ...


@runtime_checkable
class Saves(Protocol):
    """A strategy whose state survives a restart, as plain JSON and numpy arrays; never pickle."""

    def save(self) -> Mapping[str, Any]: ...
    def load(self, state: Mapping[str, Any]) -> None: ...


@runtime_checkable
class Hears(Protocol):
    """A strategy that learns from labels given while the crawl runs."""

    def hear(self, url: Url, on_topic: bool) -> Iterable[Candidate]: ...


@runtime_checkable
class Tells(Protocol):
    """A strategy that tells of what goes on inside it: its events go to whoever watches and into the history.

    It `Saves` as well, and what it has not told yet is part of its state. So every event is recorded once, however
    often a crawl is cut off.
    """

    def told(self) -> Iterable[Event]:
        """What happened since it was asked last, in order: asked after every page and miss it heard of, and at the
        end of the crawl."""
        ...


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A tree of categories with example pages. Names are unique; `text.taxonomy` checks that it is a tree."""

    children: Mapping[str, Sequence[str]]
    """Inner categories, the root among them, and what lies right below each."""
    examples: Mapping[str, Sequence[Page]]
    """Pages that lie in a category itself, not below it."""
    good: tuple[str, ...] = ()
    """Categories that count as on topic; none above another."""
    root: str = "root"


class Lessons(Protocol):
    """What a strategy may learn from before it crawls: pages with answers, and a web that is known already.

    They are lent for as long as `train` runs. Keep what was learned, not the lessons.
    """

    @property
    def topic(self) -> Topic: ...
    @property
    def examples(self) -> Sequence[Page]:
        """Pages on topic. Never those that a crawl will be graded by."""
        ...

    @property
    def others(self) -> Sequence[Page]:
        """Pages of the background: not known to be on topic."""
        ...

    @property
    def taxonomy(self) -> Taxonomy | None:
        """A tree of categories with examples, the good ones marked; None where there is none."""
        ...

    def page(self, url: Url) -> Page | None:
        """The page at a URL of the known web; None if it lacks it."""
        ...

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        """Pages of the known web that link to a URL, in a fixed order, at most so many."""
        ...


@runtime_checkable
class Trains(Protocol):
    """A strategy that can learn before it crawls. What it learned is a model: plain JSON and numpy arrays.

    `train` or `use` comes before `start`. A class with `trained = True` can't start without; others begin
    knowing nothing and learn on the way.
    """

    @property
    def needs(self) -> tuple[str, ...]:
        """What of the lessons it uses: `examples`, `others`, `taxonomy`, `back-links`, `pages`. For readers: the
        lab records what it was given (sheet 60.7) as it hands it over."""
        ...

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        """Learn; `progress` hears a short sentence now and then. `BadConfig` if the lessons do not suffice."""
        ...

    def model(self) -> Mapping[str, Any]: ...
    def use(self, model: Mapping[str, Any]) -> None:
        """Take over what `model` gave. Raises ValueError, KeyError or TypeError if it is not of its making."""
        ...


@runtime_checkable
class OwnFrontier(Protocol):
    """A strategy that chooses at pop time and so brings its own frontier."""

    def frontier(self, bound: int | None) -> Frontier: ...


class Frontier(Protocol):
    """The future: bounded, one total order (rules 3 to 8), hosts that rest."""

    def push(self, candidate: Candidate) -> Candidate | None:
        """Take a candidate in. Returns the one that fell out for it (perhaps itself), or None."""
        ...

    def rest(self, host: str, until: float) -> None:
        """Give nothing of this host before `until`; a later call replaces an earlier one."""
        ...

    def pop(self, now: float) -> Candidate | None:
        """Take out the best candidate that is due on a host that is awake, or None."""
        ...

    def ready_at(self) -> float | None:
        """The earliest time at which `pop` can give something; None when nothing waits."""
        ...

    def __len__(self) -> int: ...
    def __contains__(self, url: object) -> bool: ...


class Fetcher(Protocol):
    """One hop over the wire, within every cap. Redirects are reported, not followed."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """The reply to a request for exactly this URL, its body cut at `most` bytes. The web makes it raise nothing."""
        ...


class Failure(NamedTuple):
    """Why no response came: a word that can be counted, and the rest of the story."""

    reason: str
    detail: str = ""
    size: int = 0
    may_retry: bool = False


class History(Protocol):
    """The past: what was seen, in order, and why."""

    def seen(self, url: Url) -> bool:
        """Crawled, dead, or an alias of either: never to be requested again."""
        ...

    def record(self, step: Step, where: Where | None = None) -> None: ...
    def lost(self, miss: Miss, now: float, dead: bool = True, heard: bool = True) -> None:
        """A request that brought no page. `dead`: not to be asked again; `heard`: the strategy was told."""
        ...

    def alias(self, url: Url, to: Url) -> None: ...
    def count(self, host: str, reason: str, times: int = 1) -> None:
        """A link not followed, or anything else worth counting."""
        ...

    def link(self, source: Url, targets: Sequence[Url]) -> None:
        """A page's links, for the link graph: every one of them, followed or not (rule 5)."""
        ...

    def note(self, event: Event) -> None:
        """Something the strategy told of itself. Of each kind only the latest may be kept."""
        ...

    def trail(self) -> Iterator[Step]: ...
    def __len__(self) -> int:
        """Pages recorded."""
        ...


class Where(NamedTuple):
    """The place of a record in the repository."""

    file: str
    offset: int
    length: int


class Repository(Protocol):
    """The content: raw responses, by URL."""

    def put(self, response: Response, now: float) -> Where: ...
    def get(self, where: Where) -> Response: ...


def declaration_of(strategy: Strategy) -> Declaration:
    """What a strategy declares, or the default."""
    return strategy.declaration if isinstance(strategy, Declares) else Declaration()
