"""Training and augmented seeds from sample URLs alone, with a source that knows which pages link to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.lab.run.lesson_sources import Source
from scenthound.lab.run.train_model import train
from scenthound.lab.topics.example_sources import AroundSamples, gather_around
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic
from scenthound.ports import Trains
from scenthound.sources.augment import HubDecision
from scenthound.strategies import STRATEGIES
from scenthound.wiring.find_hubs import augment_live
from support.resuming import SETTINGS, TOPIC
from support.searching import SOURCE, SearchableWeb, known_web

WITH_SOURCE = read(Settings, {**SETTINGS, "sources": [SOURCE]})
SAMPLES = [str(url) for url in TOPIC.seeds]


def test_the_web_around_samples_has_pages_that_really_link_to_them() -> None:
    progress: list[str] = []
    rules = AroundSamples(layers=2, layer_pages=40, background=10)
    source = gather_around(SAMPLES, WITH_SOURCE, rules, SearchableWeb(), progress.append)
    graph, whole = source.bed.graph, known_web().graph
    linking = {link for url in SAMPLES for link in graph.back_links(url)}
    assert linking
    assert linking <= {link for url in SAMPLES for link in whole.back_links(url)}
    farther = {link for url in linking for link in graph.back_links(url)} - set(SAMPLES) - linking
    assert farther, "two steps backwards"
    assert [line.partition(":")[0] for line in progress[:2]] == ["layer 1", "layer 2"]
    again = gather_around(SAMPLES, WITH_SOURCE, rules, SearchableWeb())
    assert again.digest == source.digest, "the same web, the same pages"


@pytest.fixture(scope="module")
def around() -> Source:
    return gather_around(SAMPLES, WITH_SOURCE, AroundSamples(layers=2), SearchableWeb())


TRAINED = [
    name for name, kind in STRATEGIES.items() if issubclass(kind, Trains) and kind.__module__.startswith("scenthound.")
]


@pytest.mark.parametrize("strategy", TRAINED)
def test_a_strategy_trains_from_sample_urls_alone(strategy: str, around: Source, tmp_path: Path) -> None:
    topic = Topic(TOPIC.keywords, examples=tuple(SAMPLES))
    model = train(strategy, topic, around, tmp_path / "model")
    assert model.trained_on.kind == "live"
    assert model.trained_on.counts["examples"] == len(SAMPLES)
    assert model.state


def test_samples_that_cannot_be_fetched_are_an_error() -> None:
    with pytest.raises(BadConfig, match="none of the sample pages"):
        gather_around(["http://gone.test/"], WITH_SOURCE, fetcher=SearchableWeb())


def test_a_source_without_links_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bookmarks.html").write_text('<A HREF="http://a.test/">a</A>', encoding="utf-8")
    progress: list[str] = []
    only = read(Settings, {**SETTINGS, "sources": [f"bookmarks:{tmp_path / 'bookmarks.html'}"]})
    gather_around(SAMPLES[:1], only, AroundSamples(layers=1, background=3), SearchableWeb(), progress.append)
    assert any("this source knows no links" in line for line in progress)


def test_hubs_are_pages_that_link_to_several_seeds() -> None:
    graph = known_web().graph
    seeds = next(
        list(links)[:4]
        for name in graph.names
        if len(links := dict.fromkeys(graph.linked_from(name))) >= 4 and all(link in known_web() for link in links)
    )
    augmented = augment_live(seeds, TOPIC.topic, WITH_SOURCE, fetcher=SearchableWeb())
    assert augmented.seeds == tuple(seeds)
    assert augmented.hubs
    for hub in augmented.hubs:
        assert len(set(graph.linked_from(urls.make(hub))) & set(map(urls.make, seeds))) >= 2
    counts = [candidate.seeds for candidate in augmented.candidates if candidate.decision is HubDecision.KEPT]
    assert counts == sorted(counts, reverse=True)
