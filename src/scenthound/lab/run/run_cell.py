"""One crawl on a prepared bed: the same loop and the same strategy object as live, without network or clock.

A strategy that learns before it crawls is taught first, from what `lessons` allows; `handover` lends it what it gets.
In replay there are no manners (nobody is bothered) and no scope beyond what a profile of sheet 60.1 asks for.
Links marked nofollow are followed: the mark is a manner too. A replayed crawl is a function of (bed, topic,
strategy and parameters, limits, seed number); only the measured seconds differ from run to run.
"""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, StrategyFailed
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepare_pages import Cut
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.run.handover import Given, Powers, lent_lessons, lent_links, read_powers, told_topic
from scenthound.lab.run.lessons import lessons_of
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Dropped, Limits
from scenthound.loop.replay import Landing, replay
from scenthound.loop.scope import Scope
from scenthound.model import Candidate, Event, Miss, Step, Topic, Url
from scenthound.page.judge import Judge
from scenthound.page.record import Parts
from scenthound.ports import Frontier, Lessons, OwnFrontier, Peeks, Strategy, declaration_of
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import make_strategy


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """What bounds a replayed crawl. Every strategy of a comparison gets the same (sheet 60.7)."""

    pages: int = 1000
    frontier: int = 70_000
    """Most URLs that wait: MAX_BUFFER. 70,000 as in [BIZ], which no bed of a few thousand pages fills."""
    in_flight: int = 1
    """Imitates so many threads (rule 15): 75 in [BIZ]."""
    spread: int = 1
    """D of rule 11: so many different hosts in so many picks; 50 in [BIZ], 1 for none."""
    static: bool = False
    """Skip URLs with a query part, as [EXP] did."""
    redirects: int = 10

    def __post_init__(self) -> None:
        for name in ("pages", "frontier", "in_flight", "spread"):
            if getattr(self, name) < 1:
                raise BadConfig(
                    f"`{name}` of a replay can't be {getattr(self, name)}", "give a whole number, 1 or more"
                )


@dataclass(frozen=True, slots=True)
class Profile:
    """The circumstances of a paper (sheet 60.1): what of a page is read, and how far a crawl may go."""

    cut: Cut = field(default_factory=Cut)
    limits: ReplayLimits = field(default_factory=ReplayLimits)


PROFILES: Mapping[str, Profile] = {
    "open": Profile(),
    "exp": Profile(Cut(100_000, 256), ReplayLimits(2000, 256, static=True)),
    "biz": Profile(Cut(10_000, 256), ReplayLimits(10_000, 70_000, in_flight=75, spread=50)),
    "graph": Profile(Cut(0, 256), ReplayLimits(4000)),
}
"""`open` is our default; `exp`, `biz` and `graph` are the set-ups of [EXP], [BIZ] and [GRAPH]."""


@dataclass(slots=True)
class CellResult:
    """What one crawl did. All but the seconds is the same whenever it is run again."""

    steps: list[Step] = field(default_factory=list)
    rank_seconds: list[float] = field(default_factory=list)
    """CPU seconds spent in scoring and choosing by the time each page had been fetched (rule 14)."""
    reason: str = ""
    """Why it ended: `pages`, `frontier empty`, or `error`."""
    attempts: int = 0
    misses: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    """URLs that were offered and not kept, by reason."""
    links_scored: int = 0
    waiting: int = 0
    """URLs in the frontier at the end."""
    error: str = ""
    """What the strategy raised and where, if it did; the trail ends there."""
    train_seconds: float = 0.0
    """CPU seconds spent in learning before the crawl, the gathering of lessons included: no part of `rank_seconds`."""
    given: tuple[str, ...] = ()
    """What the lab handed over beyond the topic and seeds, of `handover.KINDS`."""

    @property
    def visited(self) -> list[Url]:
        return [step.url for step in self.steps]


def run_cell(
    bed: PreparedBed,
    topic: BedTopic,
    strategy: str,
    parameters: Mapping[str, Any] | None = None,
    limits: ReplayLimits | None = None,
    seed_number: int = 0,
    seeds: Sequence[Url] | None = None,
    topics: Sequence[BedTopic] = (),
    powers: Powers | None = None,
) -> CellResult:
    """Crawl the bed for a topic with a strategy by name. `seeds` replaces the topic's own.

    A strategy that can learn before it crawls is taught what `lessons` allows, with the bed's other `topics` as
    counter-examples. Its `powers` are read now unless somebody has read them. Raises what a wrong name or parameter
    raises; what a strategy raises is in the result.
    """
    made = make_strategy(strategy, parameters)
    starts = topic.seeds if seeds is None else seeds
    told = told_topic(topic, bed.aliases)

    def lessons() -> Lessons:
        return lessons_of(bed, topic, topics, seeds)

    return run_strategy(bed, told, made, starts, limits, seed_number, lessons=lessons, powers=powers)


def run_strategy(
    bed: PreparedBed,
    topic: Topic,
    strategy: Strategy,
    seeds: Sequence[Url],
    limits: ReplayLimits | None = None,
    seed_number: int = 0,
    fetch: Callable[[Candidate], Landing] | None = None,
    lessons: Callable[[], Lessons] | None = None,
    powers: Powers | None = None,
) -> CellResult:
    """`run_cell` for a strategy object. `fetch` stands in for the bed's own, for tests."""
    limits = limits or ReplayLimits()
    powers, given = powers or read_powers(strategy), Given()
    judge = Judge(topic)
    bed.read_parts(Parts((judge.analyser,)) | declaration_of(strategy).parts)
    result = CellResult()
    crawl: Crawl | None = None

    def watch(event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Step) and crawl is not None:
            result.steps.append(event)
            result.rank_seconds.append(crawl.rank_seconds)

    loans = ExitStack()
    try:
        if powers.oracle and isinstance(strategy, Peeks):  # it may read links it has not paid for, and is marked for it
            strategy.peek(loans.enter_context(lent_links(partial(_links, bed), given)))
        if lessons is not None and powers.trains:
            before = time.process_time()
            with lent_lessons(lessons(), given) as lent:
                strategy.train(lent, random.Random(f"training:{seed_number}"), lambda _: None)  # type: ignore[attr-defined]
            result.train_seconds = time.process_time() - before
        crawl = Crawl(
            strategy,
            _frontier(strategy, limits),
            _History(),
            topic,
            [(url, url) for url in dict.fromkeys(seeds)],
            limits=Limits(pages=limits.pages, redirects=limits.redirects, nofollow=False),
            scope=Scope(not_paths=("[?]",), traps=False) if limits.static else None,
            judge=judge,
            seed_number=seed_number,
            watch=watch,
            meter=time.process_time,
        )
        crawl.start()
        result.reason = replay(crawl, fetch or bed.fetch, limits.in_flight)
    except Exception as error:  # a strategy may be anybody's: its failure is data, and other cells go on
        cause = (
            error.__cause__ if isinstance(error, StrategyFailed) and isinstance(error.__cause__, Exception) else error
        )
        result.reason, result.error = "error", _told(cause)
    finally:
        loans.close()
    result.given = given.kinds
    if crawl is not None:
        result.attempts = crawl.counters.attempts
        result.misses = dict(sorted(crawl.counters.misses.items()))
        result.dropped = dict(sorted(crawl.counters.dropped.items()))
        result.links_scored = crawl.calls.links_scored
        result.waiting = len(crawl.frontier)
    crawl = None  # who watches it has it, and it has who watches it: else the crawl would stay in memory for long
    return result


def _links(bed: PreparedBed, url: Url) -> list[Url]:
    """The links of the page that a request for this URL ends at."""
    number = bed.number(url)
    return [] if number is None else bed.links(bed.pages[number])


class _History(MemoryHistory):
    """The bed knows every link already, and trails are all that is measured: the rest would only cost memory."""

    def link(self, source: Url, targets: Sequence[Url]) -> None:
        return None

    def note(self, event: Event) -> None:  # nobody will ask
        return None


def _frontier(strategy: Strategy, limits: ReplayLimits) -> Frontier:
    if isinstance(strategy, OwnFrontier):
        return strategy.frontier(limits.frontier)
    return MemoryFrontier(limits.frontier, declaration_of(strategy).eviction, limits.spread)


def _told(error: Exception) -> str:
    """The error in one line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())[:1000]
