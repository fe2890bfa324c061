"""Train a strategy, crawl with what it learned, and be told what is wrong before anything is written."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound
from scenthound.cli.root_command import run
from scenthound.errors import BadConfig, FolderBroken
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.topics.example_file import Example, examples_beside, write_examples
from scenthound.loop.settings import Settings, read
from scenthound.model import Url
from scenthound.store.model_folder import load_model
from scenthound.wiring import begin, resume
from support import pupil  # noqa: F401 - registers the test's strategy
from support.resuming import SETTINGS, TOPIC, WEB, Recorded, born, step_through, trail
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train") / "bed"
    write_bed(folder, "demo", WEB.responses(), WEB.topics)
    return folder


@pytest.fixture(scope="module")
def topic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("topic") / "mine.toml"
    listed = ", ".join(f'"{url}"' for url in TOPIC.examples)
    path.write_text(f'[topic]\nkeywords = "{TOPIC.keywords}"\nname = "mine"\nexamples = [{listed}]\n')
    return path


@pytest.fixture(scope="module")
def model(bed: Path, topic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model") / "model"
    assert run(["train", "test-pupil", "--topic", str(topic), "--from", str(bed), "--out", str(out), "--json"]) == 0
    return out


def test_training_makes_a_model_that_says_what_it_learned_from(
    bed: Path, topic: Path, tmp_path: Path, capsys: Talk
) -> None:
    words = ["train", "test-pupil", "--topic", str(topic), "--from", str(bed), "--out", str(tmp_path / "m")]
    assert run([*words, "--set", "weight=2"]) == 0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'm'}\n"
    assert "learning from" in told.err
    assert " words" in told.err, "what the strategy says of its progress"
    made = load_model(tmp_path / "m")
    assert (made.strategy, made.parameters, made.topic.name) == ("test-pupil", {"weight": 2.0}, "mine")
    assert (made.trained_on.kind, made.trained_on.name) == ("bed", "demo")
    assert made.trained_on.counts["examples"] == len(TOPIC.examples)
    assert made.trained_on.counts["others"] == 200
    assert made.when
    assert made.versions["scenthound"]


def test_the_same_lessons_give_the_same_model(bed: Path, topic: Path, model: Path, tmp_path: Path) -> None:
    again = scenthound.train("test-pupil", topic, bed, tmp_path / "again")
    assert again.digest == load_model(model).digest


def test_a_crawl_takes_strategy_and_parameters_from_its_model_and_carries_it_along(model: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(model, moved)
    settings = read(Settings, SETTINGS)
    session = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "crawl", model=moved, settings=settings, fetcher=Recorded())
    shutil.rmtree(moved)
    step_through(session, 20)
    session.close()
    assert session.folder.request.strategy == "test-pupil"
    again = resume(tmp_path / "crawl", fetcher=Recorded())
    assert again.crawl.strategy.words_  # type: ignore[attr-defined]
    again.close()
    assert load_model(tmp_path / "crawl" / "model").digest == session.folder.request.model


def test_a_killed_and_resumed_crawl_with_a_model_decides_as_an_undisturbed_one(tmp_path: Path) -> None:
    whole = born(tmp_path / "whole", "test-pupil")
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut", "test-pupil")
    for steps in (1, 13, 29, 1000):
        if step_through(session, steps):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")


def crawl_words(folder: Path, *more: str) -> list[str]:
    return ["crawl", "bees", "--seed", "http://a.test/", "--out", str(folder), *more]


@pytest.mark.parametrize(
    ("more", "said", "hint"),
    [
        (["--strategy", "test-pupil"], "must be trained before it can crawl", "scenthound train test-pupil --topic"),
        (["--strategy", "best-first", "--model", "MODEL"], "made by test-pupil, and best-first can't use it", "train"),
        (["--model", "MODEL", "--set", "weight=3"], "trained with weight=1.0, not 3.0", "leave `weight` out"),
        (["--model", "nowhere"], "there is no model in nowhere", "scenthound train"),
        (["--model", "BED"], "it is a bed", "scenthound train"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_anything_is_written(
    more: list[str], said: str, hint: str, model: Path, bed: Path, tmp_path: Path, capsys: Talk
) -> None:
    words = [{"MODEL": str(model), "BED": str(bed)}.get(word, word) for word in more]
    assert run(crawl_words(tmp_path / "crawl", *words)) == 4
    told = capsys.readouterr().err
    assert said in told
    assert hint in told
    assert not (tmp_path / "crawl").exists()


def test_python_is_told_the_same(model: Path, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="must be trained"):
        begin("bees", "http://a.test/", tmp_path / "c", strategy="test-pupil")
    with pytest.raises(BadConfig, match="can't use it"):
        scenthound.crawl("bees", "http://a.test/", out=tmp_path / "c", strategy="best-first", model=model)
    assert not (tmp_path / "c").exists()


def test_a_model_that_another_version_of_the_strategy_made_is_refused(model: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from scenthound.store.model_folder import save_model

    save_model(tmp_path / "odd", replace(load_model(model), state={"words": ["a"], "values": "no"}))
    with pytest.raises(FolderBroken, match="can't be used by test-pupil"):
        begin("bees", "http://a.test/", tmp_path / "c", model=tmp_path / "odd")
    assert not (tmp_path / "c").exists()


def gone(folder: Path) -> None:
    shutil.rmtree(folder)


def torn(folder: Path) -> None:
    (folder / "model.json").write_text("{}")


@pytest.mark.parametrize("harm", [gone, torn])
def test_a_crawl_whose_model_was_harmed_says_so(harm: Callable[[Path], None], tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "test-pupil")
    step_through(session, 5)
    session.close()
    harm(tmp_path / "crawl" / "model")
    with pytest.raises(FolderBroken, match="model") as told:
        resume(tmp_path / "crawl")
    assert "put the original back" in told.value.hint


def test_a_birth_that_was_cut_short_can_be_repeated(model: Path, tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    shutil.copytree(model, tmp_path / "crawl" / "model")
    begin(TOPIC.topic, TOPIC.seeds, tmp_path / "crawl", model=model, fetcher=Recorded()).close()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["best-first"], 2, "best-first learns nothing before it crawls"),
        (["no-such"], 2, "no strategy called"),
        (["test-pupil", "--set", "wieght=1"], 2, "no parameter of test-pupil called `wieght`"),
        (["test-pupil", "--from", "nowhere"], 4, "there is no folder nowhere"),
        (["test-pupil", "--topic", "no.toml"], 4, "there is no topic file at no.toml"),
    ],
)
def test_training_that_cannot_be_meant_is_refused(
    words: list[str], code: int, said: str, bed: Path, topic: Path, tmp_path: Path, capsys: Talk
) -> None:
    given = ["--topic", str(topic), "--from", str(bed), "--out", str(tmp_path / "m")]
    assert run(["train", *given, *words]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_topic_without_examples_cannot_be_learned(bed: Path, tmp_path: Path, capsys: Talk) -> None:
    (tmp_path / "t.toml").write_text('keywords = "bees"\nexamples = ["http://nowhere.test/", "some text"]\n')
    words = ["train", "test-pupil", "--topic", str(tmp_path / "t.toml"), "--from", str(bed), "--out"]
    assert run([*words, str(tmp_path / "m"), "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert "no example page" in told["error"]
    assert "scenthound topic new" in told["hint"]


def test_it_learns_from_a_crawl_and_from_what_people_said_of_its_pages(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    from scenthound.store.database import CrawlDatabase

    database = CrawlDatabase(folder / "crawl.db")
    database.save_label(Url("http://a.test/"), True, 1.0)
    database.save_label(Url("http://c.test/two"), False, 2.0)
    database.commit()
    database.close()
    (tmp_path / "t.toml").write_text('keywords = "balloons"\n')
    made = scenthound.train("test-pupil", tmp_path / "t.toml", folder, tmp_path / "m")
    assert (made.trained_on.kind, made.trained_on.counts["examples"]) == ("crawl", 1)
    words = dict(zip(made.state["words"], made.state["values"], strict=True))
    assert words["air"] > 0
    assert words["car"] < 0


def test_it_learns_from_pages_on_disk_and_stored_examples(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    for name in ("one", "two"):
        (tmp_path / "site" / f"{name}.html").write_text(f"<title>{name}</title><p>cars</p>")
    (tmp_path / "t.toml").write_text('keywords = "balloons"\n')
    write_examples(
        examples_beside(tmp_path / "t.toml"), [Example(Url("http://x.test/"), "Up", "hot air", "sport/balloons")]
    )
    made = scenthound.train("test-pupil", tmp_path / "t.toml", tmp_path / "site", tmp_path / "m")
    assert (made.trained_on.kind, made.trained_on.counts["others"]) == ("pages", 2)
    assert dict(zip(made.state["words"], made.state["values"], strict=True))["air"] == 1.0


def test_stored_examples_that_are_none_are_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('keywords = "balloons"\n')
    for wrong in ('{"url": "x y"}', "[]", '{"title": "a"}', '{"url": "http://a.test/", "text": 5}', "{"):
        examples_beside(tmp_path / "t.toml").write_text('{"url": "http://a.test/"}\n' + wrong)
        with pytest.raises(BadConfig, match=r"t\.examples\.jsonl line 2 is not an example"):
            scenthound.train("test-pupil", tmp_path / "t.toml", "generated", tmp_path / "m")


def test_a_whole_crawl_runs_with_a_model(model: Path, tmp_path: Path) -> None:
    settings = read(Settings, {**SETTINGS, "pages": 15})
    session = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "crawl", model=model, settings=settings, fetcher=Recorded())
    assert asyncio.run(session.run()) == "pages"
    session.close()
    assert len(trail(tmp_path / "crawl")) == 15


def test_the_proxy_of_training_is_checked_and_used_like_that_of_a_crawl(
    bed: Path, topic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Talk
) -> None:
    words = ["train", "test-pupil", "--topic", str(topic), "--out", str(tmp_path / "m")]
    live = ["--source", f"collections:{tmp_path}"]
    assert run([*words, *live, "--proxy", "banana"]) == 4
    refused = capsys.readouterr().err
    assert run(["crawl", "bees", "--seed", "http://a.test/", "--out", str(tmp_path / "c"), "--proxy", "banana"]) == 4
    assert capsys.readouterr().err.splitlines()[-2:] == refused.splitlines()[-2:]
    assert run([*words, "--from", str(bed), "--proxy", "http://127.0.0.1:9"]) == 2
    assert "--proxy needs --source" in capsys.readouterr().err

    used: list[str] = []

    def gather(samples: object, settings: Settings, *others: object, **more: object) -> None:
        used.append(settings.proxy)
        raise BadConfig("this test stops here")

    monkeypatch.setattr("scenthound.lab.topics.example_sources.gather_around", gather)
    assert run([*words, *live, "--proxy", "http://127.0.0.1:9"]) == 4
    assert used == ["http://127.0.0.1:9"]
