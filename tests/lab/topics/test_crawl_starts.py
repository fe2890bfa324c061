"""Crawls can start at examples, before them, or at hubs; the original topic stays with the lab."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from scenthound.cli.root_command import run as command
from scenthound.errors import BadConfig, BadUsage
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.compare_crawlers import Question, compare_across, measure_if_stale
from scenthound.lab.measure.measure import judge, load_table, summary
from scenthound.lab.run.cells import load_trail
from scenthound.lab.run.experiment import RunOptions, load_starts, open_experiment, run
from scenthound.lab.topics.crawl_starts import Start, from_distinct_hosts, start_topic
from scenthound.model import Candidate, Topic, Url
from scenthound.strategies import strategy
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.url import host

SEEN: list[tuple[Topic, tuple[Url, ...]]] = []


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        yield generate(folder / "bed", pages=300, seed=1, topics=3, page_size=1500)


@pytest.fixture(scope="module")
def bed(web: Bed) -> PreparedBed:
    return prepare(web)


@pytest.mark.parametrize("text", ["seeds", "examples", "neighbours", "distance=2", "augmented"])
def test_a_start_is_read_and_written(text: str) -> None:
    assert str(Start.parse(text)) == text


@pytest.mark.parametrize("text", ["", "middle", "distance=0", "distance=far", "examples=3"])
def test_an_invalid_start_is_refused(text: str) -> None:
    with pytest.raises(BadUsage, match="can't start"):
        Start.parse(text)


def test_from_examples_the_other_pages_on_topic_are_the_targets(web: Bed, bed: PreparedBed) -> None:
    topic = web.topics[0]
    moved = start_topic(bed, topic, Start("examples"), 1)
    assert len(moved.seeds) == len(topic.seeds)
    urls = [url for url in (*topic.examples, *topic.targets) if url in bed]
    on_topic = {bed.number(url) for url in urls}
    assert {bed.number(url) for url in moved.seeds} | {bed.number(url) for url in moved.targets} == on_topic
    assert not set(moved.seeds) & set(moved.targets)
    hosts = [host(url) for url in moved.seeds]
    available = len(set(map(host, urls)))
    assert len(set(hosts)) == min(len(hosts), available)
    assert moved == start_topic(bed, topic, Start("examples"), 1), "the seed number decides"
    assert moved.seeds != start_topic(bed, topic, Start("examples"), 2).seeds


def test_neighbours_are_two_links_before_pages_on_topic(web: Bed, bed: PreparedBed) -> None:
    moved = start_topic(bed, web.topics[0], Start("neighbours"))
    assert moved.seeds
    assert moved.examples == ()
    for seed in moved.seeds:
        first = [url for url in bed.links(seed) if url in bed]
        second = {bed.number(url) for page in first for url in bed.links(bed.pages[bed.number(page) or 0])}
        assert second & {bed.number(url) for url in (*moved.targets, *web.topics[0].seeds)}


def test_at_a_distance_some_target_is_at_most_that_many_links_away(web: Bed, bed: PreparedBed) -> None:
    moved = start_topic(bed, web.topics[0], Start("distance", 2))
    on_topic = {bed.number(url) for url in (*moved.targets, *moved.seeds)}
    starts, targets = bed.outgoing
    for seed in moved.seeds:
        reached = {bed.number(seed)}
        for _ in range(2):
            reached |= {
                int(to) for page in reached if page is not None for to in targets[starts[page] : starts[page + 1]]
            }
        assert reached & on_topic


def test_augmented_adds_hubs_to_the_seeds(web: Bed, bed: PreparedBed) -> None:
    for topic in web.topics:
        moved = start_topic(bed, topic, Start("augmented"))
        assert moved.seeds[: len(set(topic.seeds))] == tuple(dict.fromkeys(topic.seeds))
        assert moved.targets == topic.targets
        for hub in moved.seeds[len(set(topic.seeds)) :]:
            assert len({bed.number(url) for url in bed.links(hub)} & {bed.number(url) for url in topic.seeds}) >= 2


def test_few_hosts_give_several_pages_each() -> None:
    urls = [Url(f"http://a.test/{page}") for page in range(5)]
    assert len(from_distinct_hosts(urls, random.Random(1), 3)) == 3
    assert len(from_distinct_hosts(urls, random.Random(1), 9)) == 5


@strategy("test-nosy")
@dataclass
class Nosy(BreadthFirst):
    """Records everything that it gets."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        SEEN.append((topic, tuple(seeds)))
        return super().start(topic, seeds)


@pytest.mark.parametrize("where", ["examples", "neighbours", "distance=1"])
def test_no_strategy_sees_the_original_seeds(web: Bed, tmp_path: Path, where: str) -> None:
    SEEN.clear()
    experiment = run(
        web, "test-nosy", tmp_path / "run", RunOptions(pages=20, start=where, oracles=False, seed_numbers=(0, 1))
    )
    starts = load_starts(experiment)
    assert len(SEEN) == 2 * len(web.topics)
    for topic, seeds in SEEN:
        assert topic.examples == ()
        assert not topic.description
        original = next(each for each in experiment.topics if each.keywords == topic.keywords)
        text = " ".join(str(getattr(topic, field.name)) for field in fields(topic))
        assert not [url for url in (*original.seeds, *original.targets) if url in text]
        assert seeds in [starts[original.id, number].seeds for number in (0, 1)]


def test_the_start_is_recorded_measured_and_part_of_the_cells(
    web: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lab", "run", str(web.folder), "--strategies", "breadth-first", "--pages", "30", "--start", "examples"]
    arguments += ["--seed-numbers", "0,1", "--jobs", "1", "--json", "--out"]
    assert command([*arguments, str(tmp_path / "run")]) == 0
    capsys.readouterr()
    experiment = open_experiment(tmp_path / "run")
    assert experiment.spec.start == "examples"
    assert list(experiment.topics) == web.topics, "the original seeds are kept"
    starts = load_starts(experiment)
    assert len(starts) == 2 * len(web.topics)
    for cell in experiment.cells:
        fetched = {step.requested or step.url for step in load_trail(experiment.folder, cell.key)}
        assert set(starts[cell.topic, cell.seed_number].seeds) <= fetched
    table = load_table(experiment, "reach")
    targets = {
        (topic, number): count
        for topic, number, count in zip(table["topic"], table["seed_number"], table["wanted"], strict=True)
    }
    assert {key: len(topic.targets) for key, topic in starts.items()} == targets
    plain = run(web, "breadth-first", tmp_path / "plain", RunOptions(pages=30, oracles=False))
    assert not (tmp_path / "plain" / "starts.jsonl").exists()
    assert not {cell.key for cell in plain.cells} & {cell.key for cell in experiment.cells}
    with pytest.raises(BadConfig, match="`start` was examples and is now seeds"):
        compare_across((experiment, plain), ("breadth-first", "breadth-first"), Question("target_recall", (30,)))
    with pytest.raises(BadConfig, match="can't be compared"):
        run(web, "random", tmp_path / "run", RunOptions(pages=30, start="neighbours"))


def test_examples_that_a_strategy_gets_do_not_count_as_harvest(web: Bed, bed: PreparedBed, tmp_path: Path) -> None:
    topic = web.topics[0]
    example = next(url for url in bed.pages if url not in {*topic.targets, *topic.seeds})
    answers = judge(bed, replace(topic, examples=(example,)), topic.seeds, None, {})
    assert answers.relevant == frozenset(topic.targets)
    assert judge(bed, replace(topic, targets=()), topic.seeds, None, {}).relevant is None
    experiment = run(web, "breadth-first", tmp_path / "run", RunOptions(pages=20, oracles=False))
    measure_if_stale(experiment, [20])
    values = summary(experiment, [20], ["harvest_rate", "url_precision"])["breadth-first"]
    assert values["harvest_rate"] == values["url_precision"]
    json.dumps(values)
