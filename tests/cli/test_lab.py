"""The laboratory's commands: import, info, run, measure, report, compare, and what bad input gets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.run.experiment import open_experiment
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.strategies import STRATEGIES


@pytest.fixture(scope="module")
def done(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    words = [
        "--strategies",
        "breadth-first,best-n-first:n=4,random",
        "--pages",
        "40",
        "--at",
        "10,20,40",
        "--jobs",
        "1",
    ]
    assert run(["lab", "run", str(bed.folder), *words, "--out", str(folder), "--json"]) == 0
    return folder


def told(words: Sequence[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


# ---- beds


def test_a_folder_of_html_becomes_a_bed_that_info_describes(
    bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Bees</title><a href=honey.html>honey</a><a href=gone.html>gone</a>")
    (site / "honey.html").write_text("<title>Honey</title>")
    words = ["lab", "import", "html", str(site), str(tmp_path / "bed"), "--set", "base=http://bees.test/"]
    made = told(words, capsys)
    assert (made["pages"], made["topics"], made["kind"]) == (2, 0, "html")
    info = told(["lab", "info", str(tmp_path / "bed")], capsys)
    assert (info["pages"], info["links"], info["dead_links"], info["hosts"]) == (2, 1, 1, 1)


def test_import_says_what_it_can_do_and_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "import", "--help"]) == 0
    help_text = capsys.readouterr().out
    assert all(f"\n  {kind} " in help_text for kind in ("crawl", "html", "odp", "warc"))
    assert "URL of the folder" in help_text, "options of an importer are listed"
    assert run(["lab", "import", "wrc", str(tmp_path), str(tmp_path / "bed")]) == 2
    assert "did you mean `warc`?" in capsys.readouterr().err
    assert run(["lab", "import", "html", str(tmp_path), str(tmp_path / "bed"), "--set", "base"]) == 2
    assert "--set KEY=VALUE" in capsys.readouterr().err


def test_info_for_people(bed: Bed, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "info", str(bed.folder)]) == 0
    out = capsys.readouterr().out
    for word in ("licence", "digest", "reachable", "locality", bed.digest, "links from a seed"):
        assert word in out


# ---- run


def test_a_run_prints_a_table_and_says_what_is_next(
    bed: Bed, done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "run", str(bed.folder), "--strategies", "breadth-first", "--topics", "2", "--pages", "15"]
    assert run([*words, "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    out, err = capsys.readouterr()
    assert "target_recall" in out
    assert "breadth-first" in out
    assert "path-oracle" in out
    assert "15 pages" in out, "a short run is shown at its end unless points are given"
    assert f"scenthound lab report {tmp_path / 'run'}" in err


def test_what_is_asked_arrives_in_the_experiment(bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--strategies", "random", "--topics", bed.topics[1].id, "--pages", "12", "--seeds-per-run", "1"]
    words += ["--seed-numbers", "3,4", "--profile", "exp", "--in-flight", "2", "--set", "frontier=99", "--no-oracles"]
    words += ["--set", "page_bytes=5000", "--jobs", "1", "--out", str(tmp_path / "run")]
    found = told(["lab", "run", str(bed.folder), *words], capsys)
    asked = open_experiment(tmp_path / "run").spec
    assert found["cells"] == 2
    assert asked.topics == (bed.topics[1].id,)
    assert (asked.limits.pages, asked.limits.in_flight, asked.limits.frontier) == (12, 2, 99)
    assert asked.limits.static, "from the profile"
    assert (asked.cut.page_bytes, asked.cut.url_length) == (5000, 256)
    assert (asked.seeds_per_run, asked.seed_numbers, asked.oracles) == (1, (3, 4), False)


def test_points_beyond_the_crawls_are_named_and_left_out(
    bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "run", str(bed.folder), "--strategies", "random", "--topics", "1", "--pages", "12", "--jobs", "1"]
    assert run([*words, "--at", "5,100", "--out", str(tmp_path / "run"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "no value at 100" in err
    assert list(json.loads(out)["summary"]["random"]["target_recall"]) == ["5"]
    assert run([*words, "--at", "100", "--out", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["--strategies", "bredth-first"], 2, "did you mean `breadth-first`?"),
        (["--strategies", "path-oracle"], 2, "is a reference line, not a strategy"),
        (["--strategies", "random", "--topics", "nothing-like-it"], 2, "no topic called"),
        (["--strategies", "random", "--profile", "bizz"], 2, "did you mean `biz`?"),
        (["--strategies", "random", "--set", "fronteer=3"], 2, "did you mean `frontier`?"),
        (["--strategies", "random", "--set", "frontier=0"], 4, "1 or more"),
        (["--strategies", "random", "--seed-numbers", "one"], 2, "--seed-numbers 1,2,3"),
        (["--strategies", "best-n-first:n"], 2, "is not a parameter"),
    ],
)
def test_a_wrong_run_is_refused_before_anything_is_written(
    bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, hint: str
) -> None:
    assert run(["lab", "run", str(bed.folder), *words, "--pages", "5", "--out", str(tmp_path / "run")]) == code
    assert hint in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_other_limits_in_the_same_folder_are_refused(bed: Bed, done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "run", str(bed.folder), "--strategies", "random", "--pages", "41", "--out", str(done)]
    assert run(words) == 4
    assert "can't be compared: `limits`" in capsys.readouterr().err


def test_a_strategy_that_raises_is_named_and_the_rest_goes_on(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @dataclass
    class Stumbles:
        """Falls over its first page."""

        def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
            return [Candidate(url, 1.0) for url in seeds]

        def read(self, page: Page) -> Iterable[Candidate]:
            raise ArithmeticError("\x1b[31mstumbled")

        def miss(self, miss: Miss) -> Iterable[Candidate]:
            return ()

    STRATEGIES.names()
    monkeypatch.setitem(STRATEGIES._plugins, "stumbles", Stumbles)
    words = ["lab", "run", str(bed.folder), "--strategies", "stumbles,random", "--topics", "2", "--pages", "9"]
    assert run([*words, "--jobs", "1", "--out", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "2 crawls failed" in err
    assert "ArithmeticError: stumbled" in err
    assert run(["lab", "report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert ">error<" in page
    assert "\x1b" not in page


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "run", str(bed.folder), "--strategies", "breadth-first,best-first", "--pages", "100", "--jobs", "1"]
    words += ["--seed-numbers", ",".join(map(str, range(20))), "--no-oracles", "--out", str(tmp_path / "run")]
    running = subprocess.Popen(
        [sys.executable, "-m", "scenthound", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")},
        text=True,
    )
    for _ in range(6000):
        if len(list((tmp_path / "run" / "cells").glob("*.json"))) >= 2 or running.poll() is not None:
            break
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 11, err
    assert "Finishing the running crawls" in err
    assert "Run the same command again to continue" in err
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "trails").iterdir()}
    assert 2 <= len(before) < 120
    finished = set(open_experiment(tmp_path / "run").outcomes())
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == 120
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "trails").iterdir()}
    assert {key: after[f"{key}.jsonl"] for key in finished} == {key: before[f"{key}.jsonl"] for key in finished}


# ---- measure


def test_measure_prints_the_contract(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(["lab", "measure", str(done)], capsys)
    assert list(found) == ["breadth-first", "best-n-first:n=4", "random", "path-oracle", "content-oracle"]
    values = found["breadth-first"]["target_recall"]
    assert list(values) == ["10", "20", "40"], "the points of the run, unless others are asked for"
    assert set(values["10"]) == {"mean", "se", "topics", "groups", "ended"}
    assert values["10"]["topics"] == 3
    assert 0.0 <= values["10"]["mean"] <= values["40"]["mean"] <= 1.0
    assert list(told(["lab", "measure", str(done), "--at", "15"], capsys)["random"]["harvest_rate"]) == ["15"]
    assert list(told(["lab", "measure", str(done), "--at", "10,20,40"], capsys)["random"]["precision"])[2] == "40"


def test_measure_for_people_shows_some_metrics_or_those_asked_for(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "measure", str(done)]) == 0
    out = capsys.readouterr().out
    assert "target_recall" in out
    assert "mean_rank" not in out
    assert run(["lab", "measure", str(done), "--metric", "mean_rank"]) == 0
    assert "mean_rank" in capsys.readouterr().out
    assert run(["lab", "measure", str(done), "--metric", "targt_recall"]) == 2
    assert "did you mean `target_recall`?" in capsys.readouterr().err


def test_measure_tells_what_kind_of_topics_they_are(bed: Bed, done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = (done / "measured.json").read_bytes()
    found = told(["lab", "measure", str(done), "--topics"], capsys)
    assert list(found["topics"]) == [topic.id for topic in bed.topics]
    assert found["topics"][bed.topics[0].id]["link_set_size"] == len(bed.topics[0].targets)
    assert set(found["correlations"]["random"]) == {"target_recall", "description_precision"}
    told_of = found["correlations"]["random"]["target_recall"]["40"]
    assert set(told_of["popularity"]) == {"rho", "topics"}
    assert told_of["popularity"]["topics"] == 3
    other = told(["lab", "measure", str(done), "--topics", "--at", "20", "--metric", "coverage"], capsys)
    assert list(other["correlations"]["random"]["coverage"]) == ["20"]
    assert (done / "measured.json").read_bytes() == shown, "what tables show stays as it is"
    assert run(["lab", "measure", str(done), "--topics"]) == 0
    out = capsys.readouterr().out
    assert "rank correlation over topics with target_recall at 40 pages" in out
    assert "cohesiveness" in out
    assert max(map(len, out.splitlines())) <= 120
    assert run(["lab", "measure", "--trail", "x", "--topics"]) == 2
    assert "a trail is only one" in capsys.readouterr().err


def test_a_strangers_trail_is_measured(
    bed: Bed, done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = bed.topics[0]
    trail = tmp_path / "mine.jsonl"
    urls = [*topic.seeds, *topic.targets]
    trail.write_text("".join(json.dumps({"url": url}) + "\n" for url in urls))
    words = ["lab", "measure", "--trail", str(trail), "--bed", str(bed.folder), "--topic", topic.id]
    found = told([*words, "--at", f"1,{len(urls)}"], capsys)
    assert found["mine.jsonl"]["target_recall"][str(len(urls))] == {"mean": 1.0, "se": None, "topics": 1}
    assert found["mine.jsonl"]["target_recall"]["1"]["mean"] == 0.0
    assert run(words) == 0
    assert "target_recall" in capsys.readouterr().out
    assert run(words[:4]) == 2
    assert "--bed BED and --topic ID" in capsys.readouterr().err
    assert run(["lab", "measure"]) == 2
    assert "give the folder RUN, or --trail" in capsys.readouterr().err


def test_a_folder_without_an_experiment_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["measure"], ["report"], ["compare"]):
        assert run(["lab", *command, str(tmp_path)]) == 4
        assert "make one with `scenthound lab run`" in capsys.readouterr().err


# ---- compare


def test_compare_prints_a_sentence_and_data(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "compare", str(done), "best-n-first:n=4", "random", "--metric", "target_recall", "--at", "20"]
    assert run(words) == 0
    sentence = capsys.readouterr().out
    assert sentence.startswith("On target_recall at 20 pages, ")
    assert sentence.count("\n") == 1
    found = told(words, capsys)
    assert found["sentence"] == sentence.strip()
    assert (found["at"], found["topics"], found["df"], found["holm"]) == (20, 3, 2, None)
    assert found["difference"] == pytest.approx(found["means"]["first"] - found["means"]["second"])
    assert set(found["sign_test"]) == {"wins", "losses", "p"}


def test_several_comparisons_are_adjusted(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    several = told(["lab", "compare", str(done), "breadth-first", "random", "best-n-first:n=4"], capsys)
    assert [(one["first"], one["second"]) for one in several] == [
        ("breadth-first", "random"),
        ("breadth-first", "best-n-first:n=4"),
    ]
    assert all(one["holm"] >= one["p"] for one in several)
    every = told(["lab", "compare", str(done)], capsys)
    assert len(every) == 3, "each pair once, the reference lines left out"
    assert all(one["difference"] >= 0 for one in every)


def test_an_oracle_can_be_compared_with_but_points_beyond_are_refused(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(["lab", "compare", str(done), "path-oracle", "random"], capsys)["first"] == "path-oracle"
    assert run(["lab", "compare", str(done), "random", "breadth-first", "--at", "500"]) == 2
    assert "the crawls have 40 pages" in capsys.readouterr().err
    assert run(["lab", "compare", str(done), "random", "breadth-frist"]) == 2
    assert "did you mean `breadth-first`?" in capsys.readouterr().err
    assert run(["lab", "compare", str(done), "random"]) == 2
    assert "name another" in capsys.readouterr().err


def test_two_runs_are_compared_only_if_they_are_alike(
    bed: Bed, done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["lab", "run", str(bed.folder), "--strategies", "best-first", "--jobs", "1", "--no-oracles", "--json"]
    assert run([*base, "--pages", "40", "--out", str(tmp_path / "alike")]) == 0
    assert run([*base, "--pages", "41", "--out", str(tmp_path / "longer")]) == 0
    alike, longer = str(tmp_path / "alike"), str(tmp_path / "longer")
    found = told(["lab", "compare", str(done), "random", alike, "best-first"], capsys)
    assert (found["first"], found["second"], found["topics"]) == ("random", "best-first", 3)
    assert found == told(["lab", "compare", str(done), "random", "best-first", "--against", alike], capsys)
    assert run(["lab", "compare", str(done), "random", longer, "best-first"]) == 4
    assert "can't be compared: `limits` was" in capsys.readouterr().err
    words = ["lab", "compare", str(done), "random", alike, "best-first", "--metric", "precision"]
    assert run(words) == 4
    assert "all crawlers of one run" in capsys.readouterr().err
    assert run(["lab", "compare", str(done), "random", "--against", alike]) == 2


# ---- generated webs


def test_a_realistic_web_on_the_fly_can_be_described_and_crawled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    web = str(tmp_path / "web")
    words = ["lab", "generate", web, "--web", "realistic", "--pages", "600", "--topics", "1", "--set", "focus=0.5"]
    made = told([*words, "--on-the-fly"], capsys)
    assert (made["pages"], made["made"]["habits"]) == (600, {"focus": 0.5})
    crawl = ["--strategies", "breadth-first", "--pages", "20", "--no-oracles", "--jobs", "1"]
    found = told(["lab", "run", web, *crawl, "--out", str(tmp_path / "run")], capsys)
    assert found["failures"] == []
    info = told(["lab", "info", web, "--jobs", "1"], capsys)
    assert info["pages"] == 600
    assert info["measures"]["hubs"]["topics"] == 1
    assert run(["lab", "info", web, "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "same host" in shown
    assert "links away" in shown


def test_habits_are_listed_in_the_help_and_unknown_ones_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "generate", "--help"]) == 0
    assert "near_misses" in capsys.readouterr().out
    assert run(["lab", "generate", str(tmp_path / "web"), "--web", "realistic", "--set", "focsu=0.5"]) != 0
    assert "focus" in capsys.readouterr().err
