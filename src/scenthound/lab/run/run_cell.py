"""Run one crawl on a prepared bed: the same loop and strategy classes as in a live crawl, without network or clock.

A strategy that learns before it crawls is trained first, with the lessons of `topic_lessons`, which `handover` lends
it. A replay burdens no server, so it has no politeness, follows links marked nofollow, and has no scope beyond what a
profile of sheet 60.1 asks for. A replayed crawl is a function of (bed, topic, strategy and parameters, limits, seed
number); only the measured seconds differ from run to run. With `ReplayLimits.polite` hosts rest on a virtual clock: see
`polite_replay`.

`text_cost` is the CPU time of the text processing that a strategy asks for (rule 14): tokens, stems and counts. A
prepared bed stores the terms of every page, so a replay does not spend this time, and a strategy that reads no text
would look no cheaper than one that does. The work is therefore repeated for a sample of the crawl's pages, and timed.
"""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, StrategyFailed
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.run.handover import (
    ORIGINALS,
    Powers,
    SelectsPages,
    UsageRecord,
    WantsOriginalSeeds,
    given_with_topic,
    lent_lessons,
    lent_links,
    read_powers,
    shown_topic,
    uses_examples,
    visible_topic,
)
from scenthound.lab.run.polite_replay import PoliteLimits, polite_replay
from scenthound.lab.run.topic_lessons import lessons_of
from scenthound.lessons import TrainsByJudge
from scenthound.loop.core import Crawl
from scenthound.loop.fetch_order import OrderRule
from scenthound.loop.messages import FOREVER, Dropped, Limits
from scenthound.loop.new_urls import bound_for
from scenthound.loop.replay import replay
from scenthound.loop.scope import Scope
from scenthound.model import NOTHING, Candidate, Event, Miss, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.setups import AS_PUBLISHED, FETCH_ALL
from scenthound.ports import (
    Frontier,
    Lessons,
    OwnFrontier,
    Peeks,
    Strategy,
    Trains,
    declaration_of,
)
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.text.tokens import Analyser, tokens
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy, named_judge, relevance_by, start_judge

SAMPLE = 5  # pages, evenly spaced; about 0.8 ms each, where a crawl of 1,000 pages takes 200 ms


def text_seconds(bed: ReplayBed, urls: Sequence[Url], parts: Parts) -> float:
    """Mean CPU seconds per page for these parts: the counts of every analyser, and the tokens of leaves."""
    if not urls or not (parts.counts or parts.leaves or parts.elements):
        return 0.0
    sample = [urls[index * len(urls) // SAMPLE] for index in range(SAMPLE)] if len(urls) > SAMPLE else urls
    pages = [bed.fetch(Candidate(url, 0.0)) for url in sample]
    texts = [page.text for page in pages if isinstance(page, Page)]
    if not texts:
        return 0.0
    before = time.process_time()
    for text in texts:
        for analyser in parts.counts:
            analyser.counts(text)
        if parts.leaves or parts.elements:
            tokens(text)
    return (time.process_time() - before) / len(texts)


JUDGE = "keywords"  # the default of a replay


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """The limits of a replayed crawl, the same for every strategy of a comparison (sheet 60.7)."""

    pages: int = 1000
    frontier: int = 70_000
    """Maximum number of URLs in the frontier: MAX_BUFFER. 70,000 as in [BIZ], which a bed of a few thousand pages never
    fills."""
    in_flight: int = 1
    """Number of threads to simulate (rule 15): 75 in [BIZ]."""
    spread: int = 1
    """D of rule 11: any D consecutive picks are from D different hosts; 50 in [BIZ], 1 for no such rule."""
    static: bool = False
    """Skip URLs with a query part, as [EXP] did."""
    redirects: int = 10
    judge: str = JUDGE
    """The judge that decides which pages are relevant, for metrics of relevance. It changes no trail and is not the
    ground truth."""
    requests: int = 0
    """Maximum number of requests, including those that return no page; 0: no limit."""
    polite: PoliteLimits | None = None
    """Replay on a virtual clock, with hosts that rest; `in_flight` is then ignored."""

    def __post_init__(self) -> None:
        checked = {"pages": self.pages, "frontier": self.frontier, "in_flight": self.in_flight, "spread": self.spread}
        for name, value in checked.items():
            if value < 1:
                raise BadConfig(f"`{name}` of a replay can't be {value}", "give a whole number, 1 or more")
        if self.requests < 0:
            raise BadConfig(f"`requests` of a replay can't be {self.requests}", "give a whole number; 0: no limit")
        named_judge(self.judge)

    def as_plain(self) -> dict[str, Any]:
        """The limits by name. Newer limits are left out unless set, as in experiments made before they existed."""
        unset = {"polite": None, "requests": 0, "judge": JUDGE}
        return {name: value for name, value in asdict(self).items() if name not in unset or value != unset[name]}


@dataclass(frozen=True, slots=True)
class PaperProfile:
    """The set-up of a paper (sheet 60.1): how much of a page is read, the limits of a crawl, and parameters."""

    cut: Cut = field(default_factory=Cut)
    limits: ReplayLimits = field(default_factory=ReplayLimits)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: NOTHING)
    """By strategy: parameters as published, where our defaults differ. Explicit parameters take precedence."""


PROFILES: Mapping[str, PaperProfile] = {
    "open": PaperProfile(),
    "exp": PaperProfile(Cut(100_000, 256), ReplayLimits(2000, 256, static=True), AS_PUBLISHED),
    "biz": PaperProfile(Cut(10_000, 256), ReplayLimits(10_000, 70_000, in_flight=75, spread=50), AS_PUBLISHED),
    "graph": PaperProfile(Cut(0, 256), ReplayLimits(4000), AS_PUBLISHED),
    "econ": PaperProfile(limits=ReplayLimits(20_000, 1_000_000), parameters=FETCH_ALL),
}
"""`open` is our default; the others are the set-ups of [EXP], [BIZ], [GRAPH] and [ECON]. Live: `wiring.profiles`."""


@dataclass(slots=True)
class CellResult:
    """The result of one crawl. Everything except the seconds is the same in every run."""

    steps: list[Step] = field(default_factory=list)
    rank_seconds: list[float] = field(default_factory=list)
    """CPU seconds spent on scoring and choosing by the time each page was fetched (rule 14)."""
    requests: list[int] = field(default_factory=list)
    """Requests made by the time each page was fetched: pages, misses, redirects, robots.txt."""
    reason: str = ""
    """Why it ended: `pages`, `requests`, `frontier empty`, or `error`."""
    attempts: int = 0
    misses: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    """Number of URLs that were offered but not kept, by reason."""
    links_scored: int = 0
    waiting: int = 0
    """URLs in the frontier at the end."""
    error: str = ""
    """The exception that the strategy raised, and where; the trail ends there."""
    text_seconds: float = 0.0
    """CPU seconds per page for the text processing that the strategy asked for, estimated from a sample; not part of
    `rank_seconds`."""
    train_seconds: float = 0.0
    """CPU seconds of training, including the preparation of lessons; not part of `rank_seconds`."""
    given: tuple[str, ...] = ()
    """What the lab gave beyond keywords and seeds: some of `handover.KINDS`."""
    selected: dict[str, int] = field(default_factory=dict)
    """If the strategy fetches more than it selects: its selected pages, each with the number of pages fetched by
    then."""
    polite: dict[str, float] = field(default_factory=dict)
    """For a polite replay: virtual `seconds`, requests `out_of_order`, seconds `waited` for the hosts of better
    URLs."""

    @property
    def visited(self) -> list[Url]:
        return [step.url for step in self.steps]


@dataclass(frozen=True, slots=True)
class StrategyAccess:
    """What a strategy may get beyond keywords and seeds."""

    lessons: Callable[[], Lessons] | None = None
    powers: Powers | None = None
    """None: read them from the strategy."""
    originals: Sequence[Url] = ()
    """The seeds before hubs were added, for a strategy that declares that it must know them."""


def run_cell(
    bed: ReplayBed,
    topic: BedTopic,
    strategy: str,
    parameters: Mapping[str, Any] | None = None,
    limits: ReplayLimits | None = None,
    seed_number: int = 0,
    topics: Sequence[BedTopic] = (),
) -> CellResult:
    """Crawl the bed for a topic with the strategy of this name.

    A strategy that trains gets the lessons of `topic_lessons`, with the bed's other `topics` as counter-examples.
    Raises for a wrong name or parameter; an exception of the strategy is recorded in the result.
    """
    instance, visible = make_strategy(strategy, parameters), visible_topic(topic, bed.aliases)
    access = StrategyAccess(lambda: lessons_of(bed, topic, topics), originals=topic.originals)
    return run_strategy(bed, visible, instance, topic.seeds, limits, seed_number, access)


def run_strategy(
    bed: ReplayBed,
    topic: Topic,
    strategy: Strategy,
    seeds: Sequence[Url],
    limits: ReplayLimits | None = None,
    seed_number: int = 0,
    access: StrategyAccess | None = None,
) -> CellResult:
    """`run_cell` for a strategy object, with seeds of the caller's choice.

    Strategy and judge get the examples of `topic` only if they declare that they use them.
    """
    limits, access = limits or ReplayLimits(), access or StrategyAccess()
    polite = limits.polite
    powers, given, judge = access.powers or read_powers(strategy), UsageRecord(), named_judge(limits.judge)
    for kind in given_with_topic(topic, powers, judge):
        given.add(kind)
    judges_topic, topic = shown_topic(topic, uses_examples(judge)), shown_topic(topic, powers.topic_examples)
    judging = start_judge(limits.judge, judges_topic, seeds, strategy=strategy)
    bed.read_parts(Parts((Analyser(),)) | declaration_of(strategy).parts)
    result = CellResult()
    crawl: Crawl | None = None

    def watch(event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Step) and crawl is not None:
            result.steps.append(event)
            result.rank_seconds.append(crawl.rank_seconds)
            result.requests.append(crawl.figures.attempts)

    loans = ExitStack()
    try:
        if powers.oracle and isinstance(strategy, Peeks):  # lent_links records it, so that reports mark the strategy
            strategy.peek(loans.enter_context(lent_links(partial(_links, bed), given)))
        if access.lessons is not None and powers.trains and isinstance(strategy, Trains):
            before = time.process_time()
            if isinstance(strategy, TrainsByJudge):
                strategy.use_judge(relevance_by(limits.judge, judges_topic, seeds))
            with lent_lessons(access.lessons(), given, powers.topic_examples) as lessons:
                strategy.train(lessons, random.Random(f"training:{seed_number}"), lambda _: None)
            result.train_seconds = time.process_time() - before
        if access.originals and isinstance(strategy, WantsOriginalSeeds) and strategy.wants_original_seeds:
            given.add(ORIGINALS)
            strategy.use_original_seeds(access.originals)
        crawl = Crawl(
            strategy,
            _frontier(strategy, limits, seeds),
            _History(),
            topic,
            [(url, url) for url in dict.fromkeys(seeds)],
            limits=Limits(
                pages=limits.pages,
                ends_at=polite.ends_at if polite else FOREVER,
                requests=limits.requests,
                redirects=limits.redirects,
                nofollow=False,
            ),
            host_clock=polite.host_clock() if polite else None,
            order=polite.rule if polite else OrderRule(),
            scope=Scope(not_paths=("[?]",)) if limits.static else None,
            judging=judging,
            seed_number=seed_number,
            watch=watch,
            meter=time.process_time,
        )
        crawl.start()
        if polite is None:
            result.reason = replay(crawl, bed.fetch, limits.in_flight)
        else:
            result.reason, seconds = polite_replay(crawl, bed.fetch, polite, seed_number)
            figures = crawl.figures
            result.polite = {
                "seconds": seconds,
                "out_of_order": figures.out_of_order,
                "waited": round(figures.waited, 6),
            }
    except Exception as error:  # the strategy may be a plug-in: its failure is data, and other cells go on
        inner = error.__cause__ if isinstance(error, StrategyFailed) else None
        result.reason, result.error = "error", _one_line(inner if isinstance(inner, Exception) else error)
    finally:
        loans.close()
    if crawl is not None and not result.error and isinstance(strategy, SelectsPages):
        result.selected = dict(strategy.selected_pages())
    result.given = given.kinds
    result.text_seconds = text_seconds(bed, [step.url for step in result.steps], declaration_of(strategy).parts)
    if crawl is not None:
        result.attempts = crawl.figures.attempts
        result.misses = dict(sorted(crawl.figures.misses.items()))
        result.dropped = dict(sorted(crawl.figures.dropped.items()))
        result.links_scored = crawl.calls.links_scored
        result.waiting = len(crawl.frontier)
    crawl = None  # breaks the reference cycle of crawl and `watch`, which would keep the crawl in memory
    return result


def _links(bed: ReplayBed, url: Url) -> list[Url]:
    """The links of the page at this URL, redirects followed."""
    number = bed.number(url)
    return [] if number is None else bed.links(bed.pages[number])


class _History(MemoryHistory):
    """A history without links and events: the bed has the links, and only trails are measured."""

    def link(self, source: Url, targets: Iterable[Url]) -> None:
        return None

    def note(self, event: Event) -> None:
        return None


def _frontier(strategy: Strategy, limits: ReplayLimits, seeds: Sequence[Url]) -> Frontier:
    bound = bound_for(limits.frontier, set(seeds))
    if isinstance(strategy, OwnFrontier):
        return strategy.frontier(bound)
    return MemoryFrontier(bound, declaration_of(strategy).eviction, limits.spread)


def _one_line(error: Exception) -> str:
    """The error in one line, with the file and line where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{where}".split())[:1000]
