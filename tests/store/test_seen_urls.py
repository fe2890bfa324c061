"""Requested URLs are known exactly, however few of them are in memory."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from scenthound.model import Candidate, Miss, Step, Url
from scenthound.store import sqlite_history, url_index
from scenthound.store.seen_urls import SeenUrls
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteHistory


def url(number: int) -> Url:
    return Url(f"http://h{number % 7}.test/{number}")


def test_a_url_that_left_memory_is_asked_of_the_database_once_and_no_other_is() -> None:
    stored: set[str] = {url(number) for number in range(10)}
    asked: list[str] = []

    def is_stored(name: str) -> bool:
        asked.append(name)
        return name in stored

    seen = SeenUrls(sorted(stored), is_stored, latest=4)
    assert len(seen.latest) <= 4
    assert all(url(number) in seen for number in range(10))
    asked.clear()
    assert url(9) in seen
    assert all(url(number) not in seen for number in range(10, 500))
    assert asked == []


@pytest.mark.parametrize("is_one_hash", [False, True])
def test_a_history_that_keeps_few_urls_in_memory_knows_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_one_hash: bool
) -> None:
    monkeypatch.setattr(sqlite_history, "SeenUrls", partial(SeenUrls, latest=5))
    if is_one_hash:
        monkeypatch.setattr(url_index, "hash", lambda url: 7 << 8, raising=False)
    database, rng = CrawlDatabase(tmp_path / "crawl.db"), random.Random(4)
    history, seen = SqliteHistory(database), set[Url]()
    for turn in range(400):
        name, lot = url(rng.randrange(120)), rng.random()
        if lot < 0.5 and name not in seen:
            history.record(Step(turn, name, None, "", 0.5, {}, 0.5, 1, 200, 10, 1.0, "title"))
            seen.add(name)
        elif lot < 0.6:
            history.lost(Miss(Candidate(name, 0.5), "timeout"), 1.0)
            seen.add(name)
        elif lot < 0.7:
            history.alias(name, url(0))
            seen.add(name)
        elif lot < 0.75 and history.fate(name) == "crawled":
            history.forget([name])
            seen.discard(name)
        elif lot < 0.78:
            database.commit()
            database.close()
            database = CrawlDatabase(tmp_path / "crawl.db")
            history = SqliteHistory(database)
        assert {url(number) for number in range(120) if history.seen(url(number))} == seen
    database.close()
