"""Running tf-idf in lexical strategies: by hand, and across an interruption."""

from __future__ import annotations

from typing import Any

import pytest

from scenthound.lab.testing import TinyWeb, named
from scenthound.model import Candidate, Topic
from scenthound.page.page import Page
from scenthound.papers.dom import Dom
from scenthound.papers.fish_search import FishSearch
from scenthound.papers.shark_search import SharkSearch
from scenthound.ports import Saves
from scenthound.strategies.best_first import BestFirst

WEB = TinyWeb(
    {
        "a.example/": '<p>bees honey</p><a href="http://a.example/1"></a>',
        "b.example/": '<p>bees</p><a href="http://b.example/1"></a>',
        "c.example/": '<p>cars bees</p><a href="http://c.example/1"></a>',
        "d.example/": '<p>bees</p><a href="http://d.example/1"></a>',
    }
)
KINDS = pytest.mark.parametrize("kind", [BestFirst, Dom, SharkSearch, FishSearch])


def read(made: Any, name: str) -> Candidate:
    page = WEB.fetch(Candidate(named(name), 0.0))
    assert isinstance(page, Page)
    (offer,) = made.read(page)
    return offer  # type: ignore[no-any-return]


def test_words_that_few_pages_have_weigh_more() -> None:
    """After a, b and c: idf(bees) = 1 + ln(4/4), idf(cars) = 1 + ln(4/2). After d: 1 + ln(5/5), 1 + ln(5/2)."""
    plain, running = BestFirst(), BestFirst(idf="running")
    for made in (plain, running):
        made.start(Topic("bees cars"), [])
        for name in ("a.example/", "b.example/"):
            read(made, name)
        assert round(read(made, "c.example/").score, 6) == 1.0
    assert round(read(plain, "d.example/").score, 6) == 0.707107
    assert round(read(running, "d.example/").score, 6) == 0.462637  # 1 / √(1 + 1.916291²)


@KINDS
def test_only_running_weights_are_saved_and_they_come_back(kind: Any) -> None:
    assert not isinstance(kind(), Saves)
    first, second = kind(idf="running"), kind(idf="running")
    assert isinstance(first, Saves)
    for made in (first, second):
        made.start(Topic("bees cars"), [])
    for name in ("a.example/", "b.example/", "c.example/"):
        read(first, name)
    second.load(first.save())
    assert read(second, "d.example/") == read(first, "d.example/")
    assert second.save()["pages"] == 4
