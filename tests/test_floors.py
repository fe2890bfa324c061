"""Quality floors on pinned beds, so that no strategy gets worse unnoticed."""

from __future__ import annotations

import pytest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed
from support import floors


def test_the_bed_is_the_one_that_was_pinned(pinned_bed: tuple[str, Bed, PreparedBed]) -> None:
    name, found, _ = pinned_bed
    assert found.digest == floors.pinned()[name]["digest"]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [name for name in floors.strategies() if not floors.is_taught(name)])
def test_no_strategy_falls_below_its_floor(pinned_bed: tuple[str, Bed, PreparedBed], strategy: str) -> None:
    floors.hold(*pinned_bed, strategy)
