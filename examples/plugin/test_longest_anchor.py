"""Longest anchor first: its idea on a small web, and the contract of a strategy."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from my_parts.longest_anchor import LongestAnchor

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
