"""Replay on a prepared bed: the same loop as live, dead links, redirects, limits, and strategies that raise."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.run.run_cell import PROFILES, ReplayLimits, run_cell, run_strategy
from scenthound.lab.testing import CONTRACT_TOPIC, CONTRACT_WEB, TinyWeb, named, walk
from scenthound.model import Candidate, Miss, Response, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.strategies.best_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy

SEEDS = (named("a.example/"), named("b.example/"))
TOPIC = BedTopic("bees", ("bees",), "bees honey", "", SEEDS, (named("d.example/"),))


def prepared_web(folder: Path, pages: dict[str, str]) -> PreparedBed:
    web = TinyWeb(pages)
    kind = ("Content-Type", "text/html; charset=utf-8")
    answers = [Response(url, 200, "OK", (kind,), html.encode()) for url, html in web.html.items()]
    answers += [Response(url, 301, "Moved", (("Location", to),), b"") for url, to in web.moved.items()]
    return prepare(write_bed(folder / "bed", "tiny", answers, [TOPIC]))


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PreparedBed:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return prepared_web(tmp_path, CONTRACT_WEB)


@pytest.mark.parametrize("make", [BreadthFirst, BestFirst, lambda: BestFirst(n=3)])
@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_replayed_crawl_goes_where_a_crawl_of_the_same_web_goes(bed: PreparedBed, make, in_flight: int) -> None:
    walked = walk(TinyWeb(CONTRACT_WEB), make(), CONTRACT_TOPIC, "a.example/ b.example/", in_flight=in_flight)
    replayed = run_strategy(bed, CONTRACT_TOPIC, make(), SEEDS, ReplayLimits(in_flight=in_flight))
    assert replayed.visited == walked.visited
    assert [step.similarity for step in replayed.steps] == [step.similarity for step in walked.steps]
    assert replayed.reason == walked.reason == "frontier empty"


def test_dead_links_are_counted_but_not_as_pages(bed: PreparedBed) -> None:
    result = run_cell(bed, TOPIC, "breadth-first")
    assert result.misses == {"http-404": 1}
    assert len(result.steps) == 9
    assert result.attempts == 11, "nine pages, a dead link and a redirect to a page already fetched"


def test_a_seed_behind_a_redirect_is_recorded_under_both_urls(bed: PreparedBed) -> None:
    result = run_cell(bed, replace(TOPIC, seeds=(named("moved.example/"),)), "breadth-first")
    assert (result.steps[0].url, result.steps[0].requested) == ("http://c.example/", "http://moved.example/")


def test_the_budget_counts_pages(bed: PreparedBed) -> None:
    result = run_cell(bed, TOPIC, "best-first", limits=ReplayLimits(pages=3))
    assert (len(result.steps), result.reason) == (3, "pages")


def test_ranking_seconds_are_recorded_for_every_page_and_never_shrink(bed: PreparedBed) -> None:
    result = run_cell(bed, TOPIC, "best-first")
    assert len(result.rank_seconds) == len(result.steps)
    assert result.rank_seconds == sorted(result.rank_seconds)


def test_the_same_cell_gives_the_same_result(bed: PreparedBed) -> None:
    first, second = (run_cell(bed, TOPIC, "best-n-first", {"n": 4}, seed_number=7) for _ in range(2))
    assert first.steps == second.steps


def test_chance_comes_from_the_seed_number(bed: PreparedBed) -> None:
    orders = {tuple(run_cell(bed, TOPIC, "best-n-first", seed_number=number).visited) for number in range(8)}
    assert len(orders) > 1


def test_a_small_frontier_drops_and_says_so(bed: PreparedBed) -> None:
    result = run_cell(bed, TOPIC, "breadth-first", limits=ReplayLimits(frontier=2))
    assert result.dropped["frontier-full"] > 0


def test_a_static_profile_skips_urls_with_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    pages = {"a.example/": "bees -> a.example/x?y=1 a.example/z", "a.example/x?y=1": "bees", "a.example/z": "bees"}
    bed = prepared_web(tmp_path, pages)
    assert len(run_cell(bed, TOPIC, "breadth-first").steps) == 3
    assert len(run_cell(bed, TOPIC, "breadth-first", limits=ReplayLimits(static=True)).steps) == 2


@dataclass
class Stumbling:
    """Raises on its second page."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.pages_ = 0
        return [Candidate(url, 1.0) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.pages_ += 1
        if self.pages_ > 1:
            raise ZeroDivisionError("oh\nno")
        return []

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


def test_the_error_of_a_strategy_is_recorded_and_its_trail_kept(bed: PreparedBed) -> None:
    result = run_strategy(bed, CONTRACT_TOPIC, Stumbling(), SEEDS)
    assert result.reason == "error"
    assert result.error.startswith("ZeroDivisionError: oh no (test_run_cell.py, line ")
    assert [step.url for step in result.steps] == list(SEEDS[:-1]), "the page it failed on is not recorded"


def test_the_page_a_strategy_reads_is_not_a_way_to_the_bed(bed: PreparedBed) -> None:
    seen: list[Page] = []

    @dataclass
    class Keeping(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            seen.append(page)
            return super().read(page)

    run_strategy(bed, CONTRACT_TOPIC, Keeping(), SEEDS)
    for page in seen:
        for thing in (page, page.record):
            slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
            assert not any(isinstance(getattr(thing, name, None), PreparedBed) for name in slots)
            assert not hasattr(thing, "__dict__")


@pytest.mark.parametrize("name", ["best-first", "infospiders", "hayek-epsilon", "hayek-estimating"])
def test_a_crawl_that_has_ended_is_freed_without_garbage_collection(bed: PreparedBed, name: str) -> None:
    """A process runs crawl after crawl, and seldom looks for reference cycles."""
    strategy = make_strategy(name)
    kept = weakref.ref(strategy)
    gc.collect()
    gc.disable()
    try:
        assert run_strategy(bed, CONTRACT_TOPIC, strategy, SEEDS, ReplayLimits(pages=5)).steps
        economy = getattr(strategy, "economy_", None)
        webs = [weakref.ref(economy.web), weakref.ref(economy.market)] if economy is not None else []
        del strategy, economy
        assert [reference() for reference in (kept, *webs) if reference() is not None] == []
    finally:
        gc.enable()


def test_what_is_derived_on_the_way_is_not_counted_twice() -> None:
    page = TinyWeb({"a.example/": "bees"}).fetch(Candidate(named("a.example/"), 0.0))
    assert isinstance(page, Page)

    def inner(record: Record) -> int:
        return sum(range(100_000))

    page.clock = time.process_time
    before = time.process_time()
    assert page.view(lambda record: page.view(inner)) == page.view(inner)
    assert 0.0 < page.reading_seconds <= time.process_time() - before


def test_wrong_names_and_numbers_are_refused_at_once(bed: PreparedBed) -> None:
    with pytest.raises(UnknownName, match="did you mean `best-first`"):
        run_cell(bed, TOPIC, "best-frist")
    with pytest.raises(BadConfig):
        run_cell(bed, TOPIC, "best-first", {"n": "many"})
    with pytest.raises(BadConfig, match="pages"):
        ReplayLimits(pages=0)


def test_the_profiles_are_the_papers() -> None:
    assert (PROFILES["exp"].limits.frontier, PROFILES["exp"].cut.page_bytes) == (256, 100_000)
    assert (PROFILES["econ"].limits.pages, PROFILES["econ"].parameters["bayes"]["mode"]) == (20_000, "fetch-all")
    assert (PROFILES["biz"].limits.in_flight, PROFILES["biz"].cut.page_bytes) == (75, 10_000)
    assert PROFILES["biz"].cut.url_length == 256
