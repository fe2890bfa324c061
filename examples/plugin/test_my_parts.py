"""The tests of the plug-in package: one for each part's idea, and the contract suites."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from my_parts.bookmarks import bookmarks
from my_parts.host_share import host_share
from my_parts.longest_anchor import LongestAnchor

import scenthound
from scenthound.lab.beds.serve import serving
from scenthound.lab.generate.web import GeneratedWeb
from scenthound.testing import TinyWeb, strategy_contract, walk


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
