"""The characteristics of topics as the lab computes them, by columns, equal those of the formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.compare_crawlers import measure_if_stale
from scenthound.lab.measure.measure import load_characteristics, measure, topic_correlations, topic_values
from scenthound.lab.measure.metrics.trails import forms
from scenthound.lab.measure.quality import pool_graph
from scenthound.lab.measure.statistics import spearman
from scenthound.lab.run.cells import load_trail
from scenthound.lab.run.experiment import Experiment, RunOptions, run
from scenthound.lab.topics import characteristics as topic_table
from scenthound.lab.topics.characteristics import (
    NAMES,
    Characteristics,
    links_among,
    popularities,
    topic_characteristics,
)
from scenthound.model import Response, Url
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from support.plain_characteristics import characteristics

pytest.importorskip("pyarrow")

ANALYSER = Analyser()


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bed, Experiment]:
    folder = tmp_path_factory.mktemp("lab")
    bed = generate(folder / "bed", pages=200, seed=1, topics=4, page_size=1500)
    experiment = run(bed, "breadth-first,best-first", folder / "run", RunOptions(pages=40, seed_numbers=(0, 1)))
    measure_if_stale(experiment, [20, 40])
    return bed, experiment


def answer(url: str, body: str = "", status: int = 200, *headers: tuple[str, str]) -> Response:
    return Response(url, status, "", (("Content-Type", "text/html; charset=utf-8"), *headers), body.encode())


RESPONSES = [
    answer("http://a.test/seed", "bees honey <a href='/old'>old</a>"),
    answer("http://a.test/one", "bees bees honey <a href='/old'>two</a>"),
    answer("http://a.test/one", "bees honey wasps, recorded once more and never shown"),
    answer("http://a.test/old", "", 301, ("Location", "/two")),
    answer("http://a.test/two", "honey <a href='/two'>itself</a>"),
    answer("http://a.test/three", "bee <a href='/gone'>gone</a>"),
    answer("http://a.test/four", "cars"),
]
BEES = BedTopic(
    "bees",
    ("Top", "Insects", "Bees"),
    "bees honey",
    "honey honey bee",
    (Url("http://a.test/seed"),),
    tuple(Url(f"http://a.test/{name}") for name in ("one", "old", "three", "gone")),
)


@pytest.fixture(scope="module")
def hive(tmp_path_factory: pytest.TempPathFactory) -> PreparedBed:
    return prepare(write_bed(tmp_path_factory.mktemp("hive"), "hive", RESPONSES, [BEES]))


def test_a_topic_on_a_web_that_can_be_checked_by_hand(hive: PreparedBed) -> None:
    pool = [f"http://a.test/{name}" for name in ("seed", "one", "two")]
    found = topic_characteristics(hive, BEES, BEES.seeds, pool, 2, ANALYSER)
    assert found.specificity == 3
    assert found.link_set_size == 4
    assert found.link_cohesiveness == 2 / 4, "`one` links to `two` by its old name, `three` to a target that is gone"
    assert found.authority == pytest.approx((0 + 1) / 2 / (1 / 3)), "all links of the pool lead to `two`"
    assert found.text_cohesiveness is not None
    assert found.seed_target_similarity > 0.5


def test_popularity_counts_each_page_with_all_keywords_once(hive: PreparedBed) -> None:
    def popular(*keywords: str) -> list[int | None]:
        return popularities(hive, [replace(BEES, keywords=words) for words in keywords], ANALYSER)

    assert popular("bees honey", "bee", "honey", "cars honey", "wasps", "bees wasps", "the", "") == [
        *(2, 3, 3, 0),
        *(0, 0),
        *(None, None),
    ]
    assert popular() == []


def test_popularity_does_not_depend_on_the_chunk_size(
    measured: tuple[Bed, Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = prepare(measured[0])
    whole = popularities(ready, measured[0].topics, ANALYSER)
    monkeypatch.setattr(topic_table, "CHUNK", 97)
    assert popularities(ready, measured[0].topics, ANALYSER) == whole
    assert any(whole)


def test_an_empty_topic_has_no_values(hive: PreparedBed) -> None:
    empty = BedTopic("empty", (), "", "", (), ())
    found = topic_characteristics(hive, empty, (), (), None, ANALYSER)
    assert found == Characteristics(None, 0, None, None, None, None, 0.0)


def test_links_among_pages_of_the_bed_follow_redirects_and_leave_out_other_urls(hive: PreparedBed) -> None:
    graph = links_among(hive, ["http://a.test/old", "http://a.test/seed", "http://b.test/", "http://a.test/two"])
    assert list(graph.names) == ["http://a.test/two", "http://a.test/seed"]
    assert list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == [(1, 0)]


def test_the_table_has_the_values_of_the_formulas_on_the_whole_snapshot(measured: tuple[Bed, Experiment]) -> None:
    bed, experiment = measured
    ready = prepare(bed)

    def final(url: str) -> str:
        return list(forms(url, ready.aliases))[-1]

    snapshot = {str(url): ready.counts(url, ANALYSER) or {} for url in ready.pages}
    links = {str(url): [final(link) for link in ready.links(url)] for url in ready.pages}
    table = load_characteristics(experiment)
    assert list(table) == [topic.id for topic in experiment.topics]
    for topic in experiment.topics:
        cells = [cell for cell in experiment.cells if cell.topic == topic.id and not cell.oracle]
        pool = dict.fromkeys(step.url for cell in cells for step in load_trail(experiment.folder, cell.key))
        expected = characteristics(
            map(final, topic.targets),
            map(final, topic.seeds),
            ANALYSER.terms(topic.keywords),
            ANALYSER.counts(topic.description),
            snapshot,
            links,
            pool_graph(pool, links),
            len(topic.path),
        )
        assert table[topic.id] == expected


def test_the_table_is_the_same_bytes_when_measured_again_by_more_processes(measured: tuple[Bed, Experiment]) -> None:
    path = measured[1].folder / "topics.parquet"
    before = path.read_bytes()
    measure(measured[1].folder, at=[20, 40], jobs=2)
    assert path.read_bytes() == before


def test_correlations_are_those_of_the_table_with_the_values_at_the_end(measured: tuple[Bed, Experiment]) -> None:
    experiment = measured[1]
    found = topic_correlations(experiment)
    assert list(found) == ["breadth-first", "best-first", "path-oracle", "content-oracle"]
    assert set(found["best-first"]) == {"target_recall", "description_precision"}
    assert set(found["path-oracle"]) == {"target_recall"}, "precision needs the pool, which is the crawlers' alone"
    assert list(found["best-first"]["target_recall"]) == [40]
    by_name = found["best-first"]["target_recall"][40]
    assert tuple(by_name) == NAMES
    values = topic_values(experiment, "target_recall", 40)["best-first"]
    sizes = [values.popularity or 0 for values in load_characteristics(experiment).values()]
    assert by_name["popularity"] == {"rho": spearman(sizes, [value or 0.0 for value in values.values()]), "topics": 4}
    assert list(topic_correlations(experiment, [20], ["harvest_rate"])["best-first"]["harvest_rate"]) == [20]
