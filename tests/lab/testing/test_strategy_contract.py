"""The contract reports clearly how a strategy misuses the pages it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from scenthound.errors import StrategyFailed
from scenthound.lab.testing import TinyWeb, strategy_contract, walk
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts, Record
from scenthound.page.views.anchors import window_counts
from scenthound.page.views.elements import element_counts
from scenthound.ports import Declaration, Strategy
from scenthound.strategies import STRATEGIES
from scenthound.text.tokens import Analyser

SMALL = Analyser("small")
Look = Callable[[Record], object]


@dataclass
class Looks:
    """Looks at its pages; what it says about them is nothing."""

    look: Look = field(default=lambda record: None)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.look(page.record)
        return [page.offer(link, 0.0) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


@dataclass
class Declared(Looks):
    """As `Looks`, and declares what it looks at."""

    parts: Parts = EVERYTHING

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=self.parts)


def windows(record: Record) -> object:
    return [window_counts(record, link, 2, SMALL) for link in record.links]


def elements(record: Record) -> object:
    return [element_counts(record, link, 1, SMALL) for link in record.links]


def failures(make: Callable[[], Strategy]) -> dict[str, str]:
    """What the contract says of a strategy, by the name of the check."""
    found = {}
    for name, check in strategy_contract(make):
        try:
            check()
        except (AssertionError, StrategyFailed) as error:
            found[name] = str(error)
    return found


@pytest.mark.parametrize(
    ("look", "parts", "part", "hint"),
    [
        (windows, Parts((SMALL,)), "leaves", "Parts(leaves=True)"),
        (elements, Parts((SMALL,), leaves=True), "elements", "Parts(elements=True)"),
        (windows, Parts(leaves=True), "counts", "Parts(counts=(Analyser(stop_words='small', stem=True),))"),
        (lambda record: record.counts(SMALL), Parts((Analyser(),)), "counts", "Parts(counts=(Analyser("),
    ],
)
def test_a_strategy_that_declares_too_little_gets_an_error_that_says_what_to_declare(
    look: Look, parts: Parts, part: str, hint: str
) -> None:
    said = failures(lambda: Declared(look, parts))["it declares the parts of a page that it reads"]
    assert said.startswith(f"it reads the {part} of a page, which it does not declare (declare it: {hint}")


@pytest.mark.parametrize(
    ("look", "parts"),
    [
        (lambda record: record.title, Parts()),
        (lambda record: record.counts(SMALL), Parts((SMALL,))),
        (windows, Parts((SMALL,), leaves=True)),
        (elements, Parts((SMALL,), elements=True)),
    ],
)
def test_a_strategy_that_declares_what_it_reads_keeps_the_contract(look: Look, parts: Parts) -> None:
    assert failures(lambda: Declared(look, parts)) == {}


def test_a_strategy_that_declares_nothing_gets_everything() -> None:
    assert failures(lambda: Looks(elements)) == {}


def test_in_a_walk_pages_have_only_what_is_declared() -> None:
    web = TinyWeb({"a.example/": "bees -> b.example/", "b.example/": "honey"})
    with pytest.raises(StrategyFailed, match="this page was read without its leaves\nhint: declare it"):
        walk(web, Declared(windows, Parts((SMALL,))), "bees", "a.example/")
    assert len(walk(web, Declared(windows), "bees", "a.example/").visited) == 2


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("dom", {"up": 0}),
        ("dom", {"up": 3}),
        ("dom", {"up": 0, "min_words": 3}),
        ("dom", {"alpha": 1.0, "stop_words": "small", "stem": False}),
        ("hub-seeking", {"up": 0}),
        ("shark-search", {"window": 0, "stop_words": "small"}),
        ("apprentice", {"reach": 0, "stop_words": "none", "stem": False, "after": 3}),
        ("infospiders", {"reach": 0, "stop_words": "small", "memory": 0, "theta": 0.5}),
        ("intelligent", {"breadth": 3, "every": 2, "predicate": "words", "stem": False}),
        ("reinforcement", {"bins": 2, "stop_words": "small"}),
        ("cc-bfs", {"lookahead": "fetch", "k": 2}),
        ("random", {"seed": 7}),
    ],
)
def test_other_parameters_change_what_is_read_and_the_declaration_with_it(
    name: str, parameters: dict[str, Any]
) -> None:
    assert failures(lambda: STRATEGIES.get(name)(**parameters)) == {}
