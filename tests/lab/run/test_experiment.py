"""Experiments write the same bytes every time, resume where they stopped, and report what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.run import experiment
from scenthound.lab.run.cells import read_trail
from scenthound.lab.run.experiment import (
    Experiment,
    RunOptions,
    check_topics,
    open_experiment,
    plugin_digest,
    run,
    run_seeds,
)
from scenthound.lab.run.spec import choose_topics, parse_strategies
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic
from scenthound.url import make
from support import pupil  # noqa: F401 - registers the strategy `test-pupil`

CONTRACT = ["n", "url", "parent", "anchor", "score", "parts", "similarity", "relevance", "relevant"]
CONTRACT += ["depth", "status", "bytes", "time"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of an experiment except those with measured times."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent.name != "times"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def small(bed: Bed, out: Path, **more: object) -> Experiment:
    options: dict[str, object] = {"topics": 2, "pages": 30, **more}
    work = {key: options.pop(key) for key in ("jobs", "progress", "preparing") if key in options}
    strategies = options.pop("strategies", "breadth-first,best-n-first:n=4")
    return run(bed, strategies, out, RunOptions(**options), **work)  # type: ignore[arg-type]


def test_an_experiment_is_a_folder_that_can_be_read_by_other_programs(bed: Bed, tmp_path: Path) -> None:
    done = small(bed, tmp_path / "run")
    assert len(done.cells) == 2 * (2 + 2), "two strategies and two oracles on two topics"
    lines = (tmp_path / "run" / "trails" / f"{done.cells[0].key}.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert list(first)[: len(CONTRACT)] == CONTRACT
    assert (first["n"], first["score"], first["parent"]) == (1, None, None)
    assert done.cells[0].key.startswith(f"breadth-first--{done.cells[0].topic}--0-")
    assert open_experiment(tmp_path / "run") == done


def test_a_second_run_with_other_jobs_writes_the_same_bytes(bed: Bed, tmp_path: Path) -> None:
    small(bed, tmp_path / "one")
    small(bed, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_cells_already_there_are_not_run_again(bed: Bed, tmp_path: Path) -> None:
    done = small(bed, tmp_path)
    before = contents(tmp_path)
    gone = done.cells[3].key
    (tmp_path / "cells" / f"{gone}.json").unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "trails").iterdir() if gone not in path.name}
    small(bed, tmp_path)
    assert contents(tmp_path) == before
    assert kept == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "trails").iterdir() if gone not in p.name}


def test_an_interrupted_experiment_resumes_where_it_stopped(bed: Bed, tmp_path: Path) -> None:
    def interrupt(done: int, total: int, *_: object) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(bed, tmp_path / "run", progress=interrupt)
    assert len(open_experiment(tmp_path / "run").outcomes()) == 3
    progress: list[tuple[int, int]] = []
    small(bed, tmp_path / "run", progress=lambda done, total, *_: progress.append((done, total)))
    assert progress == [(number, 8) for number in range(1, 9)]
    small(bed, tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_new_strategies_join_an_experiment_but_other_limits_are_refused(bed: Bed, tmp_path: Path) -> None:
    small(bed, tmp_path)
    both = small(bed, tmp_path, strategies="best-first", topics=1)
    assert both.spec.strategies == ("breadth-first", "best-n-first:n=4", "best-first")
    assert len(both.cells) == 9
    assert len(both.outcomes()) == 9
    with pytest.raises(BadConfig, match=r"can't be compared: `limits` was .*pages=30"):
        small(bed, tmp_path, pages=20)


@STRATEGIES.add("stumbling")
@dataclass
class Stumbling:
    """Fails on one topic."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        if topic.keywords == FAILS_ON[0]:
            raise RuntimeError("no idea")
        return [Candidate(url, 1.0) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        return ()

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


FAILS_ON = [""]


def test_a_strategy_that_raises_in_one_cell_is_reported_and_the_rest_goes_on(bed: Bed, tmp_path: Path) -> None:
    FAILS_ON[0] = bed.topics[1].keywords
    done = small(bed, tmp_path, strategies="stumbling,breadth-first", oracles=False)
    [(cell, outcome)] = done.failures()
    assert (cell.strategy, cell.topic) == ("stumbling", bed.topics[1].id)
    assert "RuntimeError: no idea" in outcome.error
    assert len(done.outcomes()) == 4
    [note] = map(json.loads, (tmp_path / "failures.jsonl").read_text().splitlines())
    assert note["strategy"] == "stumbling"
    FAILS_ON[0] = ""
    assert not small(bed, tmp_path, strategies="stumbling", oracles=False).failures(), "tried again, since it was fixed"


def test_topics_with_missing_pages_are_reported_and_counted(bed: Bed, tmp_path: Path) -> None:
    home, nowhere = bed.topics[0].seeds[0], make("http://nowhere.test/")
    topics = [
        BedTopic("none", (), "x", "", (home,), ()),
        BedTopic("some", (), "x", "", (home, nowhere), (home, nowhere)),
        BedTopic("lost", (), "x", "", (nowhere,), (home,)),
    ]
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(map(topic_line, topics)))
    done = small(bed, tmp_path / "run", topics_file=file, topics=None, strategies="breadth-first")
    problems = [(problem.topic, problem.what, len(problem.urls), problem.of) for problem in done.problems]
    assert problems == [
        ("none", "no targets", 0, 0),
        ("some", "targets missing", 1, 2),
        ("some", "seeds missing", 1, 2),
        ("lost", "no seeds", 1, 1),
    ]
    assert len(done.outcomes()) == 9
    assert open_experiment(tmp_path / "run").problems == done.problems
    assert not check_topics(prepare(bed), bed.topics)


def test_a_cell_is_run_again_when_the_format_changes(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = small(bed, tmp_path / "one", topics=1, strategies="breadth-first")
    monkeypatch.setattr(experiment, "FORMAT", 999)
    after = small(bed, tmp_path / "two", topics=1, strategies="breadth-first")
    assert not {cell.key for cell in before.cells} & {cell.key for cell in after.cells}


def test_the_source_of_a_plugin_is_part_of_its_cells_and_ours_is_not() -> None:
    assert plugin_digest("best-first") == plugin_digest("breadth-first")
    assert plugin_digest("test-pupil") != plugin_digest("best-first")


def test_robustness_starts_from_two_disjoint_halves_of_the_seeds(bed: Bed, tmp_path: Path) -> None:
    topic = bed.topics[0]
    first_half, second_half = (run_seeds(topic, half=half) for half in (1, 2))
    assert set(first_half) | set(second_half) == set(topic.seeds)
    assert not set(first_half) & set(second_half)
    done = small(bed, tmp_path, topics=1, robustness=True, oracles=False, strategies="breadth-first")
    assert [cell.half for cell in done.cells] == [0, 1, 2]
    starts = [next(read_trail(tmp_path / "trails" / f"{cell.key}.jsonl")).url for cell in done.cells]
    assert starts == [topic.seeds[0], first_half[0], second_half[0]]


def test_only_the_first_seeds_are_used_when_asked(bed: Bed, tmp_path: Path) -> None:
    done = small(bed, tmp_path, topics=1, seeds_per_run=1, strategies="breadth-first", oracles=False)
    steps = list(read_trail(tmp_path / "trails" / f"{done.cells[0].key}.jsonl"))
    assert [step.url for step in steps if step.parent is None] == [bed.topics[0].seeds[0]]


def test_strategies_and_topics_are_read_from_text(bed: Bed) -> None:
    [chosen] = parse_strategies("best-n-first:n=64:stem=no")
    assert (chosen.name, chosen.all_parameters["n"], chosen.all_parameters["stem"]) == ("best-n-first", 64, False)
    assert len(parse_strategies("breadth-first,breadth-first")) == 1
    for wrong, error in (("", UnknownName), ("best-first:n", BadUsage), ("best-first:n=x", BadConfig), ([], BadUsage)):
        with pytest.raises(error):
            parse_strategies(wrong)
    assert choose_topics(bed.topics, "2") == bed.topics[:2]
    assert choose_topics(bed.topics, bed.topics[2].id) == [bed.topics[2]]
    with pytest.raises(UnknownName, match="no topic called"):
        choose_topics(bed.topics, "nothing,such")


def test_a_folder_without_an_experiment_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="no experiment"):
        open_experiment(tmp_path)
    (tmp_path / "experiment.toml").write_text("bed = 3\n")
    with pytest.raises(BadConfig, match="can't be used"):
        open_experiment(tmp_path)
