"""Quality floors of strategies that are trained before the crawl; in a separate file, so that it runs in parallel."""

from __future__ import annotations

import pytest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed
from support import floors


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [name for name in floors.strategies() if floors.is_taught(name)])
def test_no_strategy_that_was_taught_falls_below_its_floor(
    pinned_bed: tuple[str, Bed, PreparedBed], strategy: str
) -> None:
    floors.hold(*pinned_bed, strategy)
