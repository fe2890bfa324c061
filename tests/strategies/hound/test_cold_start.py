"""hound with little to start from: one seed, seeds that say nothing, seeds that disagree; and a small frontier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.lab.testing import TinyWeb, walk
from scenthound.loop.settings import Settings, read
from scenthound.model import Url
from scenthound.ports import Strategy
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.hound.hound import Hound
from scenthound.topic_list import BedTopic
from scenthound.wiring import begin
from support.resuming import SETTINGS, TOPIC, Recorded, step_through, trail

CHESS = "chess openings gambit endgame knight bishop castling"
GARDEN = "garden tulip compost rake seedling mulch trowel"
EACH = 15
GENERATED = GeneratedWeb(pages=1500, seed=11)


def bed(seeds: dict[str, str]) -> TinyWeb:
    """Seeds with these texts; each links to all pages, half of which are about chess. Anchors are numbers."""
    mixed = [f"{kind}{n}" for n in range(EACH) for kind in ("garden", "chess")]
    rows = "".join(f"<p>{'knight and bishop' if name[0] == 'c' else 'tulip and rake'} <a href='/{name}'>{n}</a></p>"
                   for n, name in enumerate(mixed))  # fmt: skip
    pages = {f"a.test/{name}": f"<p>{CHESS if name[0] == 'c' else GARDEN} {name}</p>" for name in mixed}
    return TinyWeb({**{f"a.test/{name}": f"<p>{words}</p>{rows}" for name, words in seeds.items()}, **pages})


def chess_found(seeds: dict[str, str], keywords: str = "chess knight") -> float:
    """The share of pages about chess among the first 15 that are no seeds. By chance it is a half."""
    walked = walk(bed(seeds), Hound(), keywords, [f"a.test/{name}" for name in seeds])
    first = [url for url in map(str, walked.visited) if not url.startswith("http://a.test/seed")][:EACH]
    return sum("chess" in url for url in first) / EACH


def test_one_seed_is_enough() -> None:
    assert chess_found({"seed": CHESS}) > 0.7


def test_keywords_are_enough_where_the_seed_is_just_a_place_to_start_from() -> None:
    assert chess_found({"seed": "welcome to our portal of many things"}) > 0.7


def test_of_seeds_that_disagree_the_keywords_choose() -> None:
    assert chess_found({"seed1": CHESS, "seed2": GARDEN, "seed3": GARDEN}) > 0.7


@pytest.mark.parametrize("make", [Hound, BreadthFirst])
@pytest.mark.parametrize("bound", [1, 3])
def test_a_small_frontier_drops_no_seed(make: Any, bound: int) -> None:
    seeds = [f"a.test/seed{n}" for n in range(6)]
    links = "".join(f"<a href='/chess{n}'>chess {n}</a>" for n in range(9))
    web = TinyWeb(dict.fromkeys(seeds, f"<p>{CHESS}</p>{links}") | {f"a.test/chess{n}": CHESS for n in range(9)})
    walked = walk(web, make(), "chess", seeds, bound=bound)
    assert {f"http://{seed}" for seed in seeds} <= set(map(str, walked.visited))


@pytest.mark.parametrize("name", ["hound", "breadth-first"])
def test_a_live_crawl_with_a_small_frontier_drops_no_seed(tmp_path: Path, name: str) -> None:
    seeds = list(dict.fromkeys([*TOPIC.seeds, *TOPIC.targets]))[:6]
    settings = read(Settings, {**SETTINGS, "pages": 20, "frontier": 1})
    session = begin(TOPIC.topic, seeds, tmp_path / "crawl", strategy=name, settings=settings, fetcher=Recorded())
    step_through(session, 1000)
    session.close()
    assert set(seeds) <= {url for _, url, *_ in trail(tmp_path / "crawl")}


# ---- on a generated web


@pytest.fixture(scope="module")
def web() -> PreparedBed:
    return prepare(GENERATED, jobs=1)


def recall(bed: PreparedBed, topic: BedTopic, seeds: Sequence[Url], strategy: Strategy) -> float:
    """The share of the targets, seeds left out, among the first 120 pages."""
    visited = run_strategy(bed, topic.topic, strategy, seeds, ReplayLimits(pages=120)).visited
    targets = set(topic.targets).difference(seeds)
    return len(targets.intersection(visited)) / len(targets)


def lead(bed: PreparedBed, seeds_of: Callable[[BedTopic, BedTopic], Sequence[Url]]) -> float:
    """How many times as much as breadth-first hound finds, over four topics; the second topic is another one."""
    pairs = list(pairwise(GENERATED.topics[:5]))
    found, blind = (
        sum(recall(bed, topic, seeds_of(topic, other), make()) for topic, other in pairs)
        for make in (Hound, BreadthFirst)
    )
    return found / blind


def test_on_a_generated_web_one_seed_is_enough(web: PreparedBed) -> None:
    assert lead(web, lambda topic, _: topic.targets[:1]) > 1.8


def test_on_a_generated_web_keywords_lead_away_from_seeds_that_are_off_topic(web: PreparedBed) -> None:
    assert not any(set(topic.seeds) <= set(topic.targets) for topic in GENERATED.topics[:4])
    assert lead(web, lambda topic, _: topic.seeds) > 4


def test_on_a_generated_web_the_keywords_choose_among_seeds_of_two_topics(web: PreparedBed) -> None:
    assert lead(web, lambda topic, other: [*topic.targets[:2], *other.targets[:3]]) > 1.5
