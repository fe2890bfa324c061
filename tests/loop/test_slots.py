"""Which requests hold a slot: driven by hand, no clock."""

from __future__ import annotations

import pytest

from scenthound.loop.slots import FEW, FIRST, PATIENCE, PROVEN, Slots


@pytest.mark.parametrize("count", [1, 2, 16, 64])
def test_a_hanging_request_gives_its_slot_back(count: int) -> None:
    slots = Slots[str](count, slow=4)
    slots.begin("hangs", 0.0)
    assert slots.in_use(0.0) == 1
    assert slots.free_in(0.0) == FIRST
    assert slots.in_use(FIRST) == 0
    assert list(slots.slow) == ["hangs"]


def settled(seconds: float) -> Slots[str]:
    """The slots of a crawl whose replies took this long."""
    slots = Slots[str](1, slow=4)
    for _ in range(FEW):
        slots.begin("quick", 0.0)
        slots.end("quick", seconds, is_reply=True)
    return slots


def test_many_hanging_hosts_that_come_first_hold_a_slot_for_seconds_only() -> None:
    slots, idle = Slots[int](1, slow=100), 0.0
    for number in range(40):
        slots.begin(number, idle)
        idle += slots.free_in(idle) + 1e-9
        assert slots.in_use(idle) == 0
    assert idle < 3.0


def test_what_is_slow_is_learned_from_the_replies() -> None:
    slots = settled(0.1)
    assert slots.bound == pytest.approx(0.3)
    slots.begin("fails", 1.0)
    slots.end("fails", 1.0, is_reply=False)
    assert slots.bound == pytest.approx(0.3), "a failure says nothing"


def test_one_slow_host_hardly_raises_the_bound_and_a_slow_connection_does() -> None:
    slots = settled(0.1)
    slots.begin("slow", 0.0)
    slots.end("slow", 60.0, is_reply=True)
    assert slots.bound < 0.4
    for _ in range(20):
        slots.begin("slow", 0.0)
        slots.end("slow", 5.0, is_reply=True)
    assert slots.bound > 5.0


def test_a_request_to_a_silent_host_takes_no_slot_while_there_is_room() -> None:
    slots = Slots[str](1, slow=1)
    slots.begin("first", 0.0, host="silent")
    slots.begin("second", 0.0, host="silent")
    assert (list(slots.slow), slots.in_use(0.0)) == (["first"], 1)


def test_a_full_allowance_gives_up_its_oldest_for_one_that_is_slow_too() -> None:
    slots = Slots[str](1, slow=1)
    slots.begin("first", 0.0)
    assert slots.in_use(FIRST) == 0
    slots.begin("second", FIRST)
    assert slots.in_use(1.0) == 1, "there is no room"
    assert slots.to_cancel(1.0) is None, "the first has its patience"
    assert slots.to_cancel(PATIENCE) == "first"
    slots.end("first", PATIENCE, is_reply=False)
    assert slots.in_use(PATIENCE) == 0
    assert slots.to_cancel(PATIENCE) is None, "nobody presses"


def test_a_host_that_gave_pages_has_a_moment_more() -> None:
    slots = settled(0.001)
    slots.begin("proven", 0.0, host="proven")
    slots.begin("new", 0.0)
    assert slots.in_use(slots.bound) == 1
    assert list(slots.slow) == ["new"]
    assert slots.in_use(PROVEN) == 0
