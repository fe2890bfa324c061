"""Quality floors of strategies that learn before they crawl: a file of its own, so that it runs beside the others."""

from __future__ import annotations

import pytest

import floors
from scenthound.lab.bed import Bed
from scenthound.lab.prepared import PreparedBed, prepare


@pytest.fixture(scope="module", params=["generated", "schools"])
def bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Bed, PreparedBed]:
    found = floors.found(request.param, tmp_path_factory.mktemp("floors") / "bed")
    if found is None:
        pytest.skip("needs ../shared, which is not here")
    return request.param, found, prepare(found)


@pytest.mark.parametrize("strategy", [name for name in floors.strategies() if floors.is_taught(name)])
def test_no_strategy_that_was_taught_falls_below_its_floor(bed: tuple[str, Bed, PreparedBed], strategy: str) -> None:
    floors.hold(*bed, strategy)
