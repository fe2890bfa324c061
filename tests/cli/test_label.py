"""Labels given while a crawl runs are heard, change what comes next, and are kept across a crash."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response, Url
from scenthound.ports import Failure
from scenthound.store.label_table import Labels
from scenthound.wiring import Session, resume
from support import pupil  # noqa: F401 - registers the test's strategy
from support.resuming import Recorded, born, step_through, trail
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]
SOURCE = Path(__file__).resolve().parents[2] / "src"


def taken_up(folder: Path) -> Session:
    return resume(folder, fetcher=Recorded(), clock=lambda: 0.0)


def first_pages(folder: Path, number: int) -> list[str]:
    return [row[1] for row in trail(folder)[:number]]


def label(folder: Path, url: str, on_topic: bool) -> None:
    assert run(["label", str(folder), url, "--on-topic" if on_topic else "--off-topic"]) == 0


def crawled(folder: Path, cuts: tuple[int, ...], label_at: int) -> list[tuple[object, ...]]:
    """A crawl of so many steps between restarts, with two labels after some steps."""
    session = born(folder, "test-pupil")
    done = 0
    for steps in (*cuts, 1000):
        while steps:
            now = min(steps, label_at - done) if done < label_at else steps
            ended = step_through(session, now)
            done, steps = done + now, steps - now
            if done == label_at:
                pages = first_pages(folder, 4)
                label(folder, pages[1], False)
                label(folder, pages[3], True)
                session.listen()
            if ended:
                session.folder.finish("pages", 1.0)
                session.close()
                return trail(folder)
        session.folder.close()
        session = taken_up(folder)
    raise AssertionError("it never ended")


def test_a_label_changes_what_comes_next(tmp_path: Path) -> None:
    told = crawled(tmp_path / "told", (), 30)
    whole = born(tmp_path / "whole", "test-pupil")
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    untold = trail(tmp_path / "whole")
    assert told[:25] == untold[:25]
    assert told != untold


@pytest.mark.parametrize("cuts", [(31,), (35, 1, 7), (10, 20, 3, 40), (33, 3)])
def test_a_killed_and_resumed_crawl_heard_its_labels_at_the_same_moment(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    assert crawled(tmp_path / "cut", cuts, 30) == crawled(tmp_path / "whole", (), 30)


def test_a_label_given_while_the_crawl_is_stopped_is_used_on_resume(tmp_path: Path, capsys: Talk) -> None:
    session = born(tmp_path / "crawl", "test-pupil")
    step_through(session, 10, commit_every=1)
    session.close()
    page = first_pages(tmp_path / "crawl", 3)[2]
    label(tmp_path / "crawl", page, True)
    assert "scenthound resume" in capsys.readouterr().err
    before = dict(session.crawl.strategy.words_)  # type: ignore[attr-defined]
    again = taken_up(tmp_path / "crawl")
    assert again.crawl.strategy.words_ != before  # type: ignore[attr-defined]
    assert [(one.url, one.on_topic) for one in Labels(again.folder.database).delivered()] == [(page, True)]
    again.close()
    run(["label", str(tmp_path / "crawl"), "--list", "--json"])
    [row] = json.loads(capsys.readouterr().out)
    assert (row["url"], row["on_topic"], row["heard_after_pages"]) == (page, True, len(trail(tmp_path / "crawl")))


def test_saying_the_same_again_is_not_heard_twice_but_a_change_of_mind_is(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "test-pupil")
    step_through(session, 10, commit_every=1)
    page = first_pages(tmp_path / "crawl", 1)[0]
    heard = Labels(session.folder.database).delivered
    for on_topic, times in ((True, 1), (True, 1), (False, 2), (True, 3)):
        label(tmp_path / "crawl", page, on_topic)
        session.listen()
        assert len(heard()) == times
    session.close()


def test_a_strategy_without_ears_is_named_and_the_label_is_kept(tmp_path: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "crawl")
    label(folder, "http://a.test/", True)
    assert "note: best-first does not learn from labels" in capsys.readouterr().err
    assert run(["label", str(folder), "http://c.test/two", "--off-topic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["heard"] == "never"
    with CrawlFolder.look(folder) as opened:
        assert opened.database.labels() == {Url("http://a.test/"): True, Url("http://c.test/two"): False}
    assert run(["label", str(folder), "--list"]) == 0
    told = capsys.readouterr().out
    assert "on topic" in told
    assert "not yet" in told


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["http://b.test/on.html", "--on-topic"], "not seen in this crawl", "did you mean http://b.test/one.html?"),
        (["http://d.test/gone", "--on-topic"], "brought no page: not found (404)", "scenthound trail"),
        (["no url", "--on-topic"], "not a URL: `no url`", "write the full URL"),
        (["http://a.test/"], "needs a URL", "--on-topic"),
        (["--on-topic"], "needs a URL", "--on-topic"),
        (["--list", "--on-topic"], "--list takes no label", "leave out"),
    ],
)
def test_a_label_that_cannot_be_meant_is_refused(
    words: list[str], said: str, hint: str, tmp_path: Path, capsys: Talk
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    assert run(["label", str(folder), *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert hint in told
    with CrawlFolder.look(folder) as opened:
        assert opened.database.labels() == {}


class Waits(Recorded):
    """A web that stops giving pages after some, so that there is time to say something in."""

    def __init__(self, pages: int) -> None:
        self.left, self.over = pages, asyncio.Event()

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        self.left -= 1
        if self.left < 0:
            await self.over.wait()
        return await super().fetch(url, most)


def test_another_process_can_label_while_a_crawl_runs(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "test-pupil", pages=100_000, concurrency=4)
    session._fetcher = web = Waits(30)
    labelled = False

    async def crawl() -> None:
        nonlocal labelled
        running = asyncio.create_task(session.run())
        while session.crawl.pages < 5:
            await asyncio.sleep(0.01)
        url = first_pages(tmp_path / "crawl", 1)[0]
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); from support import pupil;"
            "from scenthound.cli.root_command import run;"
            "sys.exit(run(['label', sys.argv[2], sys.argv[3], '--on-topic', '--json']))"
        )
        words = [sys.executable, "-c", code, str(Path(__file__).parents[1]), str(tmp_path / "crawl"), url]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        done = await asyncio.to_thread(
            subprocess.run, words, capture_output=True, text=True, timeout=90, env=environment
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["heard"] == "soon"
        for _ in range(6000):
            if Labels(session.folder.database).delivered():
                labelled = True
                break
            await asyncio.sleep(0.01)
        session.interrupt()
        web.over.set()
        await running

    asyncio.run(crawl())
    session.close()
    assert labelled
