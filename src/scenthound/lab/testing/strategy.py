"""The contract of a strategy.

for name, check in strategy_contract(MyStrategy):
    check()
"""

from __future__ import annotations

import copy
import json
import math
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from scenthound.errors import PartMissing, StrategyFailed
from scenthound.hosts import HostClock
from scenthound.lab.testing.checked_frontier import CheckedFrontier
from scenthound.lab.testing.tiny_web import TinyLessons, TinyWeb, Walk, frontier_of, named, walk
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Fetch, Limits, Wait
from scenthound.loop.plugin_calls import Judging
from scenthound.loop.replay import replay
from scenthound.loop.resume import Learned, LoopState, Saved, resume
from scenthound.model import Candidate, Response, Step, Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Analysed, Parts, Record
from scenthound.parameters import values_of
from scenthound.ports import (
    Declares,
    Frontier,
    History,
    OwnFrontier,
    Peeks,
    Saves,
    Strategy,
    Trains,
    Where,
    declaration_of,
)
from scenthound.store.database import CrawlDatabase
from scenthound.store.memory import MemoryHistory, MemoryRepository
from scenthound.store.sqlite_frontier import SqliteFrontier
from scenthound.store.sqlite_history import SqliteHistory
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser
from scenthound.typed_data import from_plain

CONTRACT_TOPIC = Topic("bees honey", name="bees", description="Keeping bees and making honey.")
CONTRACT_WEB = {
    "a.example/": "bees honey hive -> b.example/ c.example/ a.example/ missing.example/ a.example/2",
    "a.example/2": "honey jars and honey spoons -> a.example/ d.example/",
    "b.example/": "cars and engines -> d.example/ e.example/",
    "c.example/": "honey cake with bees -> e.example/ f.example/ moved.example/",
    "d.example/": "bees bees bees -> g.example/",
    "e.example/": "",
    "f.example/": "<html><body></body></html>",
    "g.example/": "<title>bees</title><ul><li><a href='/h'>honey <b>map</b></a><li><a href='/h'>again</a></ul>",
    "g.example/h": "honey",
    "moved.example/": "=> c.example/",
}


def ready(strategy: Strategy) -> Strategy:
    """The strategy, trained on the contract's web if training is required."""
    if isinstance(strategy, Trains) and declaration_of(strategy).training == "required":
        strategy.train(contract_lessons(declaration_of(strategy).parts), random.Random(0), lambda _: None)
    return strategy


def contract_lessons(parts: Parts = EVERYTHING) -> TinyLessons:
    """The lessons with which the contract trains strategies; pages have these parts."""
    categories = {"insects/bees": "d.example/ a.example/2", "machines": "b.example/"}
    web, examples, others = TinyWeb(CONTRACT_WEB), "d.example/ g.example/h", "b.example/ e.example/"
    return TinyLessons(web, CONTRACT_TOPIC, examples, others, categories, ["insects"], parts)


def strategy_contract(kind: Callable[[], Strategy]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks for a strategy, each as a name and a function that asserts.

    The same calls give the same trail; parameters are untouched; scores are finite; an empty page does no harm; state
    survives a save and a load; a crawl that is stopped and resumed makes the same decisions as an uninterrupted one;
    only fetched pages are read; another instance can use a model; what is read of pages and topic is declared; the
    declaration and a frontier of its own, if any, keep their contracts.
    """

    def make() -> Strategy:
        return ready(kind())

    def declares_what_it_reads() -> None:
        try:
            _read_strictly(make())
        except StrategyFailed as failed:
            if isinstance(failed.__cause__, PartMissing):
                raise AssertionError(_undeclared(failed.__cause__)) from failed
            raise
        except PartMissing as missing:
            raise AssertionError(_undeclared(missing)) from missing

    def same_trail() -> None:
        first, second = _contract_walk(make()), _contract_walk(make())
        assert first.visited == second.visited
        assert [s.score for s in first.steps] == [s.score for s in second.steps]

    def parameters_untouched() -> None:
        strategy = make()
        if not is_dataclass(strategy) or isinstance(strategy, type):
            raise AssertionError("a strategy is a dataclass: its fields are its parameters")
        before = copy.deepcopy(values_of(strategy))
        _contract_walk(strategy)
        assert values_of(strategy) == before, "names of learned attributes end in `_`, and they are not fields"

    def finite_scores() -> None:
        for step in _contract_walk(make()).steps:
            assert not math.isnan(step.score)
            assert step.score != -math.inf
            assert all(math.isfinite(part) for part in step.parts.values())
            json.dumps(dict(step.carry))

    def only_fetched_pages() -> None:
        web, strategy = TinyWeb(CONTRACT_WEB), make()
        read_urls: list[Url] = []
        inner = strategy.read

        def spy(page: Page) -> Iterable[Candidate]:
            read_urls.append(page.url)
            return inner(page)

        strategy.read = spy  # type: ignore[method-assign]
        walk(web, strategy, CONTRACT_TOPIC, "a.example/ b.example/", pages=50)
        assert set(read_urls) <= set(web.fetched), "a strategy reads only fetched pages"
        assert len(read_urls) == len(set(read_urls)), "a strategy reads each page once"

    def survives_an_empty_web() -> None:
        empty = TinyWeb({"a.example/": ""})
        assert walk(empty, make(), CONTRACT_TOPIC, "a.example/").visited == ["http://a.example/"]
        assert walk(TinyWeb({}), make(), CONTRACT_TOPIC, "a.example/").visited == []
        assert walk(empty, make(), Topic(""), "a.example/").visited == ["http://a.example/"]

    def state_survives() -> None:
        strategy = make()
        if not isinstance(strategy, Saves):
            return
        _contract_walk(strategy)
        state = strategy.save()
        other = make()
        list(other.start(CONTRACT_TOPIC, [named("a.example/")]))
        assert isinstance(other, Saves)
        other.load(state)
        assert _plain(other.save()) == _plain(state)

    def model_travels() -> None:
        first, second = kind(), kind()
        if not isinstance(first, Trains) or not isinstance(second, Trains):
            return
        first.train(contract_lessons(declaration_of(kind()).parts), random.Random(0), lambda _: None)
        has_arrays = any(isinstance(value, np.ndarray) for value in first.model().values())
        second.use(first.model() if has_arrays else json.loads(_plain(first.model())))
        assert _plain(second.model()) == _plain(first.model())
        assert isinstance(first, Strategy)
        assert isinstance(second, Strategy)
        assert _contract_walk(first).visited == _contract_walk(second).visited

    def declares_examples() -> None:
        examples = tuple(map(named, ("d.example/", "g.example/h")))
        topic = replace(CONTRACT_TOPIC, examples=examples)
        with_examples, without = (_contract_walk(make(), asked) for asked in (topic, CONTRACT_TOPIC))
        if not declaration_of(kind()).topic_examples:
            same = [(s.url, s.score) for s in with_examples.steps] == [(s.url, s.score) for s in without.steps]
            assert same, "it uses the topic's examples, which it does not declare (topic_examples=True)"

    def declares_itself() -> None:
        strategy = kind()
        declared = declaration_of(strategy)
        assert declared == declaration_of(kind()), "the declaration depends only on the parameters"
        assert declared.batch >= 1
        assert (declared.training != "none") == isinstance(strategy, Trains), "it needs `train`, `model` and `use`"
        assert isinstance(strategy, Peeks) or not (declared.oracle or declared.oracle_modes), "an oracle needs `peek`"
        if is_dataclass(strategy):
            assert set(declared.free) <= {field.name for field in fields(strategy)}
        for step in _contract_walk(make()).steps:
            assert not declared.score_parts or step.parent is None or set(step.parts) <= set(declared.score_parts)

    def frontier_keeps_its_contract() -> None:
        for in_flight in (1, 3):
            strategy = make()
            frontier = CheckedFrontier(frontier_of(strategy))
            crawl = _crawl(strategy, frontier, MemoryHistory(), HostClock(obey=False))
            crawl.start()
            replay(crawl, TinyWeb(CONTRACT_WEB).fetch, in_flight, pace=0.4)
            assert not crawl.frontier.in_flight(), "a URL with a result is no longer in flight"

    def decides_the_same_after_a_stop() -> None:
        uninterrupted = stop_and_resume(make, ())
        for stops in ((1, 1, 1), (2, 3), (4,), (3, 2, 2)):
            assert stop_and_resume(make, stops) == uninterrupted, f"stopped after {stops} requests"

    yield "it declares the parts of a page that it reads", declares_what_it_reads
    yield "the same calls give the same trail", same_trail
    yield "parameters are left untouched", parameters_untouched
    yield "scores are finite", finite_scores
    yield "it reads only fetched pages, each once", only_fetched_pages
    yield "it survives an empty web", survives_an_empty_web
    yield "its state survives a save and a load", state_survives
    yield "another instance can use its model", model_travels
    yield "it declares that it uses the topic's examples", declares_examples
    yield "its declaration is complete", declares_itself
    yield "its frontier keeps the contract", frontier_keeps_its_contract
    yield "stopped and resumed, it decides the same", decides_the_same_after_a_stop


def _contract_walk(strategy: Strategy, topic: Topic = CONTRACT_TOPIC) -> Walk:
    return walk(TinyWeb(CONTRACT_WEB), strategy, topic, "a.example/ b.example/", pages=50)


def _plain(state: Mapping[str, Any]) -> str:
    return json.dumps(state, default=lambda value: value.tolist(), sort_keys=True)


# ---- stop and resume


def _crawl(
    strategy: Strategy,
    frontier: Frontier,
    history: History,
    host_clock: HostClock,
    repository: MemoryRepository | None = None,
) -> Crawl:
    """A polite crawl of the contract's web."""
    starts = [named(name) for name in ("a.example/", "b.example/")]
    return Crawl(
        strategy,
        frontier,
        history,
        CONTRACT_TOPIC,
        [(url, url) for url in starts],
        limits=Limits(pages=50),
        host_clock=host_clock,
        judging=Judging(similarity=KeywordSimilarity(CONTRACT_TOPIC)),
        repository=repository,
        seed_number=7,
    )


def stop_and_resume(make: Callable[[], Strategy], stops: Sequence[int]) -> list[tuple[Any, ...]]:
    """The trail of a crawl that is stopped and resumed after each of these numbers of requests.

    After each stop it continues with a new strategy and frontier, as in a new process. The strategy's snapshot is two
    requests old, or from the last resume.
    """
    web, repository = TinyWeb(CONTRACT_WEB), MemoryRepository()
    host_clock = HostClock(delay=1.0, obey=False)  # shared: a crawl folder keeps the state of hosts
    saved: Saved | None = None
    now = 0.0

    def read_again(step: Step, where: Where) -> Page | None:
        repository.get(where)
        origin = (step.parent, step.anchor, step.depth)
        page = web.fetch(Candidate(step.url, step.score, step.carry, step.parts, *origin))
        return page if isinstance(page, Page) else None

    with tempfile.TemporaryDirectory() as folder:
        for requests in (*stops, 1000):
            database = CrawlDatabase(Path(folder) / "crawl.db")
            strategy, history = make(), SqliteHistory(database)
            if isinstance(strategy, OwnFrontier):
                frontier = strategy.frontier(None)
            else:
                frontier = SqliteFrontier(database, None, declaration_of(strategy).eviction)
            crawl = _crawl(strategy, frontier, history, host_clock, repository)
            if saved is None:
                crawl.start()
            else:
                resume(crawl, saved, read_again)
            snapshot, event = _snapshot(strategy), history.last_event()
            for number in range(requests):
                if number == requests - 2:
                    snapshot, event = _snapshot(strategy), history.last_event()
                while isinstance(step := crawl.next(now), Wait):
                    now = step.until
                if not isinstance(step, Fetch):
                    break
                now += 5.0
                body = web.html.get(step.candidate.url, "").encode()
                crawl.landed(web.fetch(step.candidate), now, Response(step.spelling, 200, "OK", (), body))
            plain = json.loads(json.dumps(msgspec.to_builtins(LoopState.of(crawl))))
            saved = Saved(from_plain(plain, LoopState), Learned(snapshot, event))
            trail = [(s.n, s.url, s.parent, s.score, s.depth, dict(s.parts)) for s in history.trail()]
            database.commit()
            database.close()
    return trail


def _snapshot(strategy: Strategy) -> Mapping[str, Any] | None:
    return copy.deepcopy(strategy.save()) if isinstance(strategy, Saves) else None


def _read_strictly(strategy: Strategy) -> None:
    """Do the contract walk without the term counts and other parts that the strategy does not declare."""
    if isinstance(strategy, Declares):
        inner, declared = strategy.read, strategy.declaration.parts.counts

        def strict(page: Page) -> Iterable[Candidate]:
            record = _StrictRecord.of(page.record, declared)
            return inner(Page(page.url, page.candidate, record, page.status, page.size))

        strategy.read = strict  # type: ignore[method-assign]
    _contract_walk(strategy)


class _StrictRecord(Record):
    """A record that refuses term counts of undeclared analysers instead of computing them."""

    __slots__ = ("_declared",)
    _declared: Sequence[Analyser]

    @classmethod
    def of(cls, record: Record, declared: Sequence[Analyser]) -> _StrictRecord:
        strict = cls.__new__(cls)
        for name in Record.__slots__:
            object.__setattr__(strict, name, getattr(record, name))
        object.__setattr__(strict, "_declared", declared)
        return strict

    def counts(self, analyser: Analyser) -> TermCounts:
        self._check(analyser)
        return super().counts(analyser)

    def analysed(self, analyser: Analyser) -> Analysed:
        self._check(analyser)
        return super().analysed(analyser)

    def _check(self, analyser: Analyser) -> None:
        if analyser not in self._declared:
            raise PartMissing("counts", f"({analyser!r},)")


def _undeclared(missing: PartMissing) -> str:
    return f"it reads the {missing.part} of a page, which it does not declare ({missing.hint})"
