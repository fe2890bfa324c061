"""The measures of a web, on five pages whose values can be computed by hand."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.beds.web_measures import STEPS, WebMeasures, degrees, measure_web
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic


def page(url: str, text: str, *links: str) -> Response:
    anchors = "".join(f'<a href="http://{link}"></a>' for link in links)
    return Response(f"http://{url}", 200, "OK", (("Content-Type", "text/html"),), f"<p>{text}</p>{anchors}".encode())


def topic(name: str, seeds: list[str], targets: list[str]) -> BedTopic:
    urls = [tuple(Url(f"http://{url}") for url in listed) for listed in (seeds, targets)]
    return BedTopic(name, (), "bees", "", *urls)


TOPICS = [topic("spread", ["a.test/"], ["a.test/1", "b.test/y"]), topic("dense", ["a.test/"], ["a.test/1", "a.test/2"])]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> PreparedBed:
    """a links to 1, 2 and (another host) b; 1 to 2, 2 to a, b to y."""
    folder = tmp_path_factory.mktemp("measures")
    pages = [
        page("a.test/", "bees honey", "a.test/1", "a.test/2", "b.test/"),
        page("a.test/1", "bees honey", "a.test/2"),
        page("a.test/2", "bees cars", "a.test/"),
        page("b.test/", "cars wheels", "b.test/y"),
        page("b.test/y", "cars wheels"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCENTHOUND_CACHE", str(folder / "cache"))
        return prepare(write_bed(folder / "bed", "five", pages, TOPICS), jobs=1)


@pytest.fixture(scope="module")
def measured(bed: PreparedBed) -> WebMeasures:
    return measure_web(bed, TOPICS, random.Random(1))


def test_linked_pages_and_pages_at_a_distance_are_compared(measured: WebMeasures) -> None:
    similarity = measured.similarity
    assert similarity.linked == pytest.approx((1 + 0.5 + 0 + 0.5 + 0.5 + 1) / 6)
    assert similarity.linked_hosts == 0.0, "a and b share no word"
    assert similarity.siblings == pytest.approx((0.5 + 0 + 0.5) / 3, abs=0.03), "pairs of 1, 2 and b, drawn at random"
    assert similarity.random == pytest.approx((1 + 3 * 0.5 + 0.5 + 1) / 10, abs=0.03)
    by_hand = {"1": 3.5 / 6, "2": (0 + 1 + 0.5 + 0.5) / 4, "3": (0 + 0.5) / 2, "4": 0.0}
    assert similarity.by_distance == pytest.approx(by_hand)


def test_pages_on_topic_are_counted_by_distance_from_the_seeds(measured: WebMeasures) -> None:
    assert measured.on_topic == pytest.approx({"1": (1 / 3 + 2 / 3) / 2, "2": (1 + 0) / 2})
    assert measured.on_topic_chance == pytest.approx(3 / 5)


def test_links_within_hosts_and_degrees_are_counted(measured: WebMeasures) -> None:
    assert measured.within_host == pytest.approx(5 / 6)
    assert (measured.in_degree.median, measured.in_degree.most) == (1.0, 2)
    assert (measured.out_degree.median, measured.out_degree.most, measured.out_degree.exponent) == (1.0, 3, None)


def test_triangles_follow_the_topic_or_not(measured: WebMeasures) -> None:
    assert measured.clustering.pages == pytest.approx((1 / 3 + 1 + 1 + 0) / 4, abs=0.03)
    assert measured.clustering.on_topic == 1.0, "a, 1 and 2 of the second topic; the first has no pair of neighbours"
    assert measured.clustering.mixed is not None
    assert 0 < measured.clustering.mixed < 1, "a-1-2 is closed, a-1-b is not"


def test_hubs_link_to_several_answers_and_are_not_answers_themselves(bed: PreparedBed) -> None:
    others = [topic("home", ["b.test/y"], ["a.test/1", "a.test/2"]), topic("own", ["a.test/"], ["a.test/2", "b.test/"])]
    hubs = measure_web(bed, others, random.Random(1)).hubs
    assert (hubs.topics, hubs.of_seeds) == (2, 0)
    assert hubs.of_answers == {"2": 1, "3": 0, "5": 0, "10": 0}, "a links to 1 and 2; for the second it is an answer"
    seeds = measure_web(bed, [topic("seeds", ["a.test/1", "a.test/2"], ["b.test/y"])], random.Random(1)).hubs
    assert seeds.of_seeds == 1


def test_the_same_random_seed_gives_the_same_measures_and_progress_is_reported(bed: PreparedBed) -> None:
    steps: list[tuple[int, int]] = []
    first = measure_web(bed, TOPICS, random.Random(3), lambda done, total: steps.append((done, total)))
    assert first == measure_web(bed, TOPICS, random.Random(3))
    assert steps[-1] == (STEPS, STEPS)


def test_a_bed_without_links_or_topics_has_no_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENTHOUND_CACHE", str(tmp_path / "cache"))
    bare = prepare(write_bed(tmp_path / "bed", "bare", [page("a.test/", "bees")], []), jobs=1)
    measures = measure_web(bare, [], random.Random(1))
    assert (measures.similarity.random, measures.within_host, measures.clustering.pages) == (None, None, None)
    assert (measures.contexts.keywords, measures.hubs.topics) == (None, 0)


def test_the_exponent_of_a_power_law_is_found() -> None:
    generator = np.random.default_rng(1)
    values = np.floor(10 * generator.random(20_000) ** (-1 / 1.5)).astype(np.int64)  # P(x) ~ x^-2.5
    assert degrees(values).exponent == pytest.approx(2.5, abs=0.15)
