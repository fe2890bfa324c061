"""The tests of the plug-in package: one for each part's idea, and the contract suites."""

from __future__ import annotations

import io
import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from my_parts.bookmarks import bookmarks
from my_parts.file_frontier import FileFrontier
from my_parts.host_share import host_share
from my_parts.longest_anchor import LongestAnchor
from my_parts.thread_driver import drive

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.model import Candidate, Topic, Url
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import TinyWeb, named, strategy_contract, walk
from scenthound.testing.frontier import FrontierContract


def test_links_with_long_anchors_go_first() -> None:
    web = TinyWeb(
        {
            "a.example/": "<a href='/b'>x</a> <a href='/c'>many words in this one</a>",
            "a.example/b": "b",
            "a.example/c": "c",
        }
    )
    visited = walk(web, LongestAnchor(), "anything", "a.example/").visited
    assert visited == ["http://a.example/", "http://a.example/c", "http://a.example/b"]


@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in strategy_contract(LongestAnchor)])
def test_the_strategy_keeps_the_contract(check: Callable[[], None]) -> None:
    check()


def test_a_crawl_of_one_host_has_a_falling_host_share() -> None:
    one_host = ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
    assert host_share(one_host) == [1.0, 1 / 2, 1 / 3]
    assert host_share(one_host, at=[2, 100]) == [1 / 2, 1 / 3]  # the last value is carried forward
    assert host_share([], at=[1]) == [None]  # undefined is a gap, never 0


def test_bookmarks_hold_every_page_and_no_markup_of_the_web(tmp_path: Path) -> None:
    web = GeneratedWeb(100, seed=3)
    with serving(web) as address:
        folder = scenthound.crawl(
            web.topics[0].keywords, web.topics[0].seeds, pages=5, out=tmp_path / "crawl", proxy=f"http://{address}",
            delay=0,
        )  # fmt: skip
    out = io.BytesIO()
    with folder:
        assert bookmarks(folder, out) == 5
    assert out.getvalue().count(b"<A HREF=") == 5


SCRATCH = tempfile.TemporaryDirectory()
NUMBERS = itertools.count()


def new_frontier(**settings: Any) -> FileFrontier:
    return FileFrontier(Path(SCRATCH.name) / f"{next(NUMBERS)}.jsonl", **settings)


class FileContract(FrontierContract):
    make = staticmethod(new_frontier)


TestFileFrontier = FileContract.TestCase


def test_what_waits_survives_a_restart_in_its_order(tmp_path: Path) -> None:
    first = FileFrontier(tmp_path / "frontier.jsonl")
    for number, score in enumerate([0.5, 0.9, 0.5]):
        first.push(Candidate(Url(f"http://a.test/{number}"), score, {"food": 3}))
    first.save()
    second = FileFrontier(tmp_path / "frontier.jsonl")
    assert sorted(second.entries()) == sorted(first.entries())
    assert [candidate.url[-1] for candidate in second.best(3)] == ["1", "0", "2"]


def test_threads_fetch_every_page_once() -> None:
    web = TinyWeb({"a.example/": "bees -> b.example/ c.example/", "b.example/": "b -> c.example/", "c.example/": "c"})
    history = MemoryHistory()
    seeds = [(named("a.example/"), "http://a.example/")]
    crawl = Crawl(BreadthFirst(), MemoryFrontier(), history, Topic("bees"), seeds, limits=Limits(pages=10))
    crawl.start()
    assert drive(crawl, web.fetch, time.monotonic, time.sleep) == "frontier empty"
    assert sorted(step.url for step in history.trail()) == sorted(web.html)
