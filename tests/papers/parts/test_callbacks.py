"""Strategies that are called back by their own frontier."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from scenthound.model import Topic, Url
from scenthound.papers.hayek.hayek_crawler import HayekEpsilon, HayekEstimating
from scenthound.papers.parts.callbacks import weak_method
from scenthound.papers.spiders.infospiders import InfoSpiders

HOME = Url("http://a.example/")


class Owner:
    def __init__(self, name: str) -> None:
        self.name, self.call = name, weak_method(self.greet)

    def greet(self, whom: str) -> str:
        return f"{self.name} greets {whom}"


def test_a_callback_calls_its_owner_and_does_not_keep_it_alive() -> None:
    owner = Owner("bee")
    call, watched = owner.call, weakref.ref(owner)
    assert call("you") == "bee greets you"
    gc.disable()
    try:
        del owner
        assert watched() is None
    finally:
        gc.enable()
    with pytest.raises(ReferenceError, match="greet"):
        call("you")
    with pytest.raises(ReferenceError, match="greet"):
        copy.copy(call)


def test_only_methods_can_be_called_back() -> None:
    with pytest.raises(TypeError, match="not a bound method"):
        weak_method(lambda: None)


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_calls_itself(how: str) -> None:
    owner = Owner("bee")
    other = COPIES[how](owner)
    other.name = "wasp"
    assert (owner.call("you"), other.call("you")) == ("bee greets you", "wasp greets you")


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("made", [HayekEstimating, HayekEpsilon])
def test_the_desk_of_a_copied_economy_asks_the_copy(made: type[HayekEstimating], how: str) -> None:
    strategy = COPIES[how](made())
    strategy.use_random(random.Random(1))
    for candidate in strategy.start(Topic("honey bees"), [HOME]):
        assert strategy.auctions_.push(candidate) is None
    first = strategy.auctions_.pop(0.0)
    assert first.candidate.url == HOME
    asked = []
    strategy.economy_.decide = lambda: asked.append("the copy")
    strategy.auctions_.settle(HOME)
    assert strategy.auctions_.pop(0.0) is None
    assert asked


@pytest.mark.parametrize("how", COPIES)
def test_the_pack_of_a_copied_infospiders_tells_the_copy(how: str) -> None:
    original = InfoSpiders()
    strategy = COPIES[how](original)
    strategy.use_random(random.Random(1))
    list(strategy.start(Topic("honey bees"), [HOME, Url("http://b.example/")]))
    agent, _ = strategy.population_.agents.values()
    strategy.population_.retire(agent)
    assert [event.facts["why"] for event in strategy.events_ if event.kind == "died"] == ["nothing left"]
    assert strategy.population_ is not original.population_
