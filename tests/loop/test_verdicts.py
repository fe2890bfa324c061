"""Verdicts of the judge and labels of users reach strategies that learn, also after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from scenthound.store.database import CrawlDatabase
from scenthound.wiring import resume
from support.desk import WITH_TOKEN, client
from support.resuming import Recorded, born, step_through, trail

LISTENERS: list[tuple[str, dict[str, Any]]] = [
    ("hound", {"relevance": "judge"}),
    ("intelligent", {"predicate": "judge", "breadth": 10, "every": 5}),
    ("apprentice", {"critic": "judge"}),
]
"""Strategies that can learn from the judge, and the parameters that turn it on."""


def crawled(
    folder: Path, name: str, parameters: dict[str, Any], cuts: tuple[int, ...] = (), **settings: Any
) -> list[Any]:
    """Run a crawl that is killed after each of `cuts` requests, and return its trail."""
    session = born(folder, name, parameters, **settings)
    for requests in (*cuts, 1000):
        if step_through(session, requests):
            break
        session.folder.close()  # without a commit: what came after the last one is gone
        session = resume(folder, fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    return trail(folder)


@pytest.mark.parametrize(("name", "parameters"), LISTENERS)
def test_the_judge_of_the_crawl_changes_what_is_fetched(tmp_path: Path, name: str, parameters: dict[str, Any]) -> None:
    by_topic = crawled(tmp_path / "topic", name, parameters)
    by_keywords = crawled(tmp_path / "keywords", name, parameters, judge="keywords:threshold=0.3")
    assert by_topic != by_keywords
    own = {key: value for key, value in parameters.items() if value != "judge"}
    deaf = [crawled(tmp_path / f"own {judge}", name, own, judge=judge) for judge in ("topic", "keywords")]
    assert deaf[0] == deaf[1]


@pytest.mark.parametrize(("name", "parameters"), LISTENERS)
def test_a_killed_and_resumed_crawl_learned_from_the_same_verdicts(
    tmp_path: Path, name: str, parameters: dict[str, Any]
) -> None:
    whole = crawled(tmp_path / "whole", name, parameters)
    assert crawled(tmp_path / "cut", name, parameters, (13, 29, 22), snapshot=20) == whole


def test_hound_takes_the_relevance_of_a_page_from_the_judge(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "hound", {"relevance": "judge"})
    step_through(session, 40)
    topic = session.crawl.strategy.topic_  # type: ignore[attr-defined]
    recorded = [mark.relevance for mark in session.crawl.history.marks()]
    expected = topic.relevance.values
    assert [round(value, 12) for value in expected if value == value] == [
        round(relevance, 12) for relevance, value in zip(recorded, expected, strict=True) if value == value
    ]
    session.close()


def waiting(folder: Path) -> list[str]:
    """The URLs that wait, best first, as of the last commit."""
    database = CrawlDatabase(folder / "crawl.db")
    try:
        return [str(row[0]) for row in database.rows("SELECT url FROM frontier ORDER BY score DESC, number")]
    finally:
        database.close()


def liked(folder: Path) -> str:
    """The page that the judge rated most relevant, not counting seeds."""
    with CrawlFolder.look(folder) as opened:
        return str(max((s for s in opened.history.trail() if s.parent), key=lambda step: step.relevance).url)


def test_a_label_given_at_the_command_line_changes_the_order_of_hound_at_once(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "hound")
    step_through(session, 40)
    session.folder.commit(40.0)
    before, page = waiting(tmp_path / "crawl"), liked(tmp_path / "crawl")
    assert run(["label", str(tmp_path / "crawl"), page, "--off-topic"]) == 0
    session.listen()
    after = waiting(tmp_path / "crawl")
    assert sorted(after) == sorted(before)
    assert after[:20] != before[:20]
    session.close()


def test_a_label_given_at_the_desk_changes_the_order_of_hound_at_once(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "hound")
    step_through(session, 40)
    session.folder.commit(40.0)
    before, page = waiting(tmp_path / "crawl"), liked(tmp_path / "crawl")
    with client(tmp_path / "home", tmp_path / "crawl") as desk:
        sent = desk.post("/api/collections/crawl/labels", json={"url": page, "on_topic": False}, headers=WITH_TOKEN)
        assert sent.status_code == 202
    session.listen()
    assert waiting(tmp_path / "crawl")[:20] != before[:20]
    session.close()


def labelled(folder: Path, cuts: tuple[int, ...]) -> list[Any]:
    """A crawl by hound whose best page is labelled off topic after 30 requests."""
    session, done = born(folder, "hound", snapshot=12), 0
    for requests in (*cuts, 1000):
        first = max(0, min(requests, 30 - done))
        over = step_through(session, first) if first else False
        if done + first == 30 and done < 30:
            session.folder.commit(30.0)
            assert run(["label", str(folder), liked(folder), "--off-topic"]) == 0
            session.listen()
        done += requests
        if over or step_through(session, requests - first):
            break
        session.folder.commit(float(done))
        session.folder.close()
        session = resume(folder, fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    return trail(folder)


def test_a_resumed_hound_remembers_its_labels(tmp_path: Path) -> None:
    assert labelled(tmp_path / "cut", (31, 9, 25)) == labelled(tmp_path / "whole", ())
