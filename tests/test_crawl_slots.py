"""Which requests hold a slot: driven by hand, no clock."""

from __future__ import annotations

import pytest

from scenthound.crawl.slots import FIRST, PATIENCE, Slots


@pytest.mark.parametrize("count", [1, 2, 16, 64])
def test_a_hanging_request_gives_its_slot_back(count: int) -> None:
    slots = Slots[str](count, slow=4)
    slots.begin("hangs", 0.0)
    assert slots.held(0.0) == 1
    assert slots.held_for(0.0) == FIRST
    assert slots.held(FIRST) == 0
    assert list(slots.slow) == ["hangs"]


def test_what_is_slow_is_learned_from_the_replies() -> None:
    slots = Slots[str](1, slow=4)
    slots.begin("a", 0.0)
    slots.end("a", 0.1, is_reply=True)
    assert slots.bound == pytest.approx(0.3)
    slots.begin("fails", 1.0)
    slots.end("fails", 1.0, is_reply=False)
    assert slots.bound == pytest.approx(0.3), "a failure says nothing"


def test_one_slow_host_hardly_raises_the_bound_and_a_slow_connection_does() -> None:
    slots = Slots[str](1, slow=4)
    slots.begin("a", 0.0)
    slots.end("a", 0.1, is_reply=True)
    slots.begin("slow", 0.0)
    slots.end("slow", 60.0, is_reply=True)
    assert slots.bound < 0.4
    for _ in range(20):
        slots.begin("slow", 0.0)
        slots.end("slow", 5.0, is_reply=True)
    assert slots.bound > 5.0


def test_a_doubtful_request_takes_no_slot_while_there_is_room() -> None:
    slots = Slots[str](1, slow=1)
    slots.begin("first", 0.0, doubtful=True)
    slots.begin("second", 0.0, doubtful=True)
    assert (list(slots.slow), slots.held(0.0)) == (["first"], 1)


def test_a_full_allowance_gives_up_its_oldest_for_one_that_is_slow_too() -> None:
    slots = Slots[str](1, slow=1)
    slots.begin("first", 0.0)
    assert slots.held(FIRST) == 0
    slots.begin("second", FIRST)
    assert slots.held(1.0) == 1, "there is no room"
    assert slots.give_way(1.0) is None, "the first has its patience"
    assert slots.give_way(PATIENCE) == "first"
    slots.end("first", PATIENCE, is_reply=False)
    assert slots.held(PATIENCE) == 0
    assert slots.give_way(PATIENCE) is None, "nobody presses"
