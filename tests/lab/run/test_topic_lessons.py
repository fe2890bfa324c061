"""In the lab, a strategy learns from examples and other pages, never from the answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.run.experiment import RunOptions, open_experiment, run
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.run.topic_lessons import REST, category_name, lessons_of, syllabus_of, tree
from scenthound.model import Response, Url
from scenthound.ports import Lessons
from scenthound.topic_list import BedTopic
from support import pupil  # noqa: F401 - registers the test's strategy

PAGES = {
    "http://a.test/": "bees -> http://b.test/ http://c.test/",
    "http://b.test/": "honey -> http://c.test/",
    "http://c.test/": "hives",
    "http://d.test/": "cars -> http://c.test/ http://b.test/",
    "http://e.test/": "trains -> http://d.test/",
    "http://f.test/": "planes",
}


def responses() -> list[Response]:
    replies = []
    for url, text in PAGES.items():
        words, _, links = text.partition("->")
        anchors = "".join(f'<a href="{link}">x</a>' for link in links.split())
        body = f"<p>{words}</p>{anchors}".encode()
        replies.append(Response(url, 200, "OK", (("Content-Type", "text/html"),), body))
    return replies


def topic(name: str, path: str, seeds: str, targets: str = "", examples: str = "") -> BedTopic:
    urls = [tuple(Url(f"http://{letter}.test/") for letter in letters) for letters in (seeds, targets, examples)]
    return BedTopic(name, tuple(path.split("/")) if path else (), name, "", *urls)


BEES = topic("bees-1", "nature/bees", "a", "bc")
AGAIN = topic("bees-2", "nature/bees", "b", "ac")
INSIDE = topic("queens", "nature/bees/queens", "c", "f")
CARS = topic("cars", "machines/cars", "da", "e")
RAIL = topic("rail", "machines/rail", "e", "f")


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> PreparedBed:
    folder = tmp_path_factory.mktemp("lessons") / "bed"
    return prepare(write_bed(folder, "tiny", responses(), [BEES, AGAIN, INSIDE, CARS, RAIL]))


def shown(lessons: Lessons) -> tuple[str, str]:
    return tuple("".join(page.url[7] for page in pages) for pages in (lessons.examples, lessons.others))  # type: ignore[return-value]


def test_examples_are_the_seeds_and_others_the_seeds_of_other_topics(bed: PreparedBed) -> None:
    lessons = lessons_of(bed, BEES, [BEES, CARS, RAIL])
    assert shown(lessons) == ("a", "de"), "a is a seed of both, and this topic's own"
    assert lessons.topic.keywords == "bees-1"


def test_other_draws_of_the_category_and_topics_below_it_are_left_out(bed: PreparedBed) -> None:
    lessons = lessons_of(bed, BEES, [BEES, AGAIN, INSIDE, CARS])
    assert shown(lessons) == ("a", "d"), "b and c are seeds there and targets here"
    assert lessons.taxonomy is not None
    placed = {name: [page.url for page in pages] for name, pages in lessons.taxonomy.examples.items()}
    assert placed == {"nature/bees": ["http://a.test/"], "machines/cars": ["http://d.test/"]}


def test_the_taxonomy_is_the_tree_of_paths_with_the_topic_as_the_good_one(bed: PreparedBed) -> None:
    taxonomy = lessons_of(bed, BEES, [BEES, CARS, RAIL]).taxonomy
    assert taxonomy is not None
    assert taxonomy.children == {
        "root": ["nature", "machines"],
        "nature": ["nature/bees"],
        "machines": ["machines/cars", "machines/rail"],
    }
    assert taxonomy.good == ("nature/bees",)


def test_a_single_topic_is_contrasted_with_a_sample_that_is_always_the_same(bed: PreparedBed) -> None:
    first, second = (lessons_of(bed, BEES, [BEES, AGAIN]) for _ in range(2))
    assert shown(first) == shown(second)
    assert sorted(shown(first)[1]) == list("bcdef")
    assert first.taxonomy is not None
    assert set(first.taxonomy.examples) == {"nature/bees", REST}


def test_pages_set_apart_as_examples_are_used_instead_of_seeds_but_never_targets(bed: PreparedBed) -> None:
    learner = topic("told", "nature/told", "d", "bc", examples="ab")
    assert shown(lessons_of(bed, learner, [learner, RAIL]))[0] == "a"
    all_targets = topic("told", "nature/told", "d", "ab", examples="ab")
    assert shown(lessons_of(bed, all_targets, [all_targets, RAIL]))[0] == "d"


def test_a_crawl_that_starts_elsewhere_learns_from_where_it_starts(bed: PreparedBed) -> None:
    lessons = lessons_of(bed, CARS, [CARS, RAIL], [Url("http://d.test/")])
    assert shown(lessons)[0] == "d"


def test_back_links_come_in_a_fixed_order_up_to_a_limit(bed: PreparedBed) -> None:
    lessons = lessons_of(bed, BEES, [BEES, CARS])
    back_links = lessons.back_links(Url("http://c.test/"))
    assert back_links == ["http://b.test/", "http://d.test/", "http://a.test/"], "in-degrees 2, 1, 0"
    assert lessons.back_links(Url("http://c.test/"), 1) == ["http://b.test/"]
    assert lessons.back_links(Url("http://nowhere.test/")) == []
    page = lessons.page(Url("http://a.test/"))
    assert page is not None
    assert [link.url for link in page.outlinks] == ["http://b.test/", "http://c.test/"]
    assert lessons.page(Url("http://nowhere.test/")) is None


def test_generated_topics_are_learned_from_their_examples() -> None:
    web = GeneratedWeb(pages=300, seed=3)
    bed, first_topic = prepare(web), web.topics[0]
    syllabus = syllabus_of(bed, first_topic, web.topics)
    assert set(syllabus.examples) == set(first_topic.examples)
    assert not set(syllabus.examples) & set(first_topic.targets)
    assert syllabus.digest == syllabus_of(bed, first_topic, web.topics).digest
    assert syllabus.digest != syllabus_of(bed, first_topic, web.topics[:3]).digest


def test_labels_that_hold_a_slash_or_are_called_root_stay_apart() -> None:
    assert category_name(["a/b"]) != category_name(["a", "b"])
    taxonomy = tree({("root",): [], ("x", "root"): []}, ["root"])
    assert taxonomy is not None
    assert taxonomy.root == "root_"
    assert taxonomy.good == ("root",)


# ---- in experiments


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Bed:
    web = GeneratedWeb(pages=300, seed=3)
    return write_bed(tmp_path_factory.mktemp("taught") / "bed", "taught", web.responses(), web.topics[:4])


def test_a_strategy_that_trains_is_taught_and_repeats_itself(generated: Bed) -> None:
    bed, topics = prepare(generated), generated.topics
    first, second = (
        run_cell(bed, topics[0], "test-pupil", limits=ReplayLimits(pages=40), topics=topics) for _ in range(2)
    )
    assert not first.error
    assert len(first.steps) == 40
    assert first.visited == second.visited
    assert first.train_seconds > 0
    assert run_cell(bed, topics[0], "best-first", limits=ReplayLimits(pages=5), topics=topics).train_seconds == 0


def test_insufficient_lessons_fail_the_cell(bed: PreparedBed) -> None:
    no_seeds = topic("none", "x/y", "", "a")
    result = run_cell(bed, no_seeds, "test-pupil", topics=[no_seeds, CARS])
    assert result.reason in ("error", "frontier empty")


def test_an_experiment_says_what_each_strategy_was_given(generated: Bed, tmp_path: Path) -> None:
    experiment = run(
        generated, "breadth-first,test-pupil:weight=2", tmp_path / "run", RunOptions(topics=2, pages=20, oracles=False)
    )
    assert not experiment.failures()
    assert open_experiment(tmp_path / "run").spec.given == {"test-pupil:weight=2": ("examples", "others")}
    times = {path.name: json.loads(path.read_text()) for path in (tmp_path / "run" / "times").iterdir()}
    assert {name.partition("--")[0] for name, seconds in times.items() if seconds["train_seconds"] > 0} == {
        "test-pupil_weight=2"
    }
    from scenthound.cli.root_command import run as command

    assert command(["lab", "report", str(tmp_path / "run"), "--jobs", "1"]) == 0
    report = (tmp_path / "run" / "report.html").read_text()
    assert "given beyond that" in report
    assert "<code>test-pupil:weight=2</code>: examples, others<br>All others: nothing." in report
    assert "training, CPU s per crawl" in report


def test_measure_prints_what_was_given_but_not_in_its_json(
    generated: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from scenthound.cli.root_command import run as command

    run(generated, "breadth-first,test-pupil", tmp_path / "run", RunOptions(topics=2, pages=20, oracles=False))
    assert command(["lab", "measure", str(tmp_path / "run"), "--jobs", "1"]) == 0
    output = capsys.readouterr().out
    assert "input besides keywords and seeds" in output
    assert "examples, others" in output
    assert command(["lab", "measure", str(tmp_path / "run"), "--jobs", "1", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"breadth-first", "test-pupil"}


def test_other_lessons_make_another_cell_and_the_same_lessons_the_same(generated: Bed, tmp_path: Path) -> None:
    def keys(folder: str, **more: object) -> set[str]:
        experiment = run(
            generated, "breadth-first,test-pupil", tmp_path / folder, RunOptions(pages=5, oracles=False, **more)
        )  # type: ignore[arg-type]
        return {cell.key for cell in experiment.cells if cell.topic == generated.topics[0].id}

    few = tmp_path / "few.jsonl"
    few.write_text("".join((generated.folder / "topics.jsonl").read_text().splitlines(keepends=True)[:2]))
    all_topics = keys("one", topics=1)
    assert keys("two", topics=2) == all_topics, "all topics of the bed teach, however many are run"
    few_topics = keys("three", topics=1, topics_file=few)
    assert len(all_topics & few_topics) == 1, "breadth-first learns nothing"
    assert not {key for key in all_topics & few_topics if "pupil" in key}
