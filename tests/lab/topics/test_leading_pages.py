"""Training on pages around samples: pages that lead to the samples are not counter-examples."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from scenthound.lab.run.lesson_sources import Source
from scenthound.lab.run.train_model import train
from scenthound.lab.topics.example_sources import gather_around
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Topic, Url
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import source
from scenthound.wiring import begin
from support.corridor_web import CorridorWeb

HOME, AWAY = CorridorWeb(range(3)), CorridorWeb(range(10, 20), seed=2)
TOPIC = Topic("coral reef", "marine", examples=tuple(sorted(HOME.targets)[::2]))
BUDGET = 240


@source("test-corridor")
@dataclass
class WhoLinks(Parameterised):
    """Knows all links of the corridor web."""

    address: str = parameter("", "is ignored")

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        return []

    async def back_links(self, url: Url, most: int, asker: Asker) -> Sequence[FoundUrl]:
        return [FoundUrl(other) for other in HOME.back_links(url)[:most]]


@pytest.fixture(scope="module")
def gathered() -> Source:
    settings = Settings(delay=0.0, robots=False, sources=["test-corridor:x"])
    return gather_around(TOPIC.examples, settings, fetcher=HOME)


def targets_found(strategy: str, lessons: Source, folder: Path) -> int:
    """How many of the 120 papers elsewhere a crawl finds with what the strategy has learned at home."""
    train(strategy, TOPIC, lessons, folder / "model")
    settings = Settings(delay=0.0, robots=False, pages=BUDGET, concurrency=1, traps=False)
    out, model = folder / "crawl", folder / "model"
    session = begin("coral reef", ["http://list.test/"], out, model=model, settings=settings, fetcher=AWAY)
    asyncio.run(session.run())
    session.close()
    with CrawlFolder.look(out) as opened:
        return sum(step.url in AWAY.targets for step in opened.history.trail())


def test_the_pages_that_lead_to_the_samples_are_known(gathered: Source) -> None:
    portals = {Url(f"http://u{n}.test/") for n in range(3)}
    assert portals <= gathered.leading
    assert not any("/shop" in url or "/news" in url for url in gathered.leading)
    assert gathered.leading.isdisjoint(TOPIC.examples)


@pytest.mark.parametrize(("strategy", "before", "after"), [("focused-soft", 5, 60), ("bayes", 15, 18)])
def test_a_strategy_that_learned_from_a_corridor_finds_its_way_through_others(
    tmp_path: Path, gathered: Source, strategy: str, before: int, after: int
) -> None:
    assert len(AWAY.targets) == 120
    as_counter_examples = replace(gathered, leading=frozenset())
    assert targets_found(strategy, as_counter_examples, tmp_path / "before") <= before
    assert targets_found(strategy, gathered, tmp_path / "after") >= after
