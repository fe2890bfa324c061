"""Harvest must not fall: every strategy keeps its pinned recall on the pinned beds."""

from __future__ import annotations

from pathlib import Path

import pytest

import floors
from scenthound.lab.bed import Bed
from scenthound.lab.prepared import PreparedBed, prepare

PINNED = floors.pinned()


@pytest.fixture(scope="module", params=["generated", "schools"])
def bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Bed, PreparedBed]:
    folder: Path = tmp_path_factory.mktemp("floors")
    found = floors.generated_bed(folder / "bed") if request.param == "generated" else floors.schools_bed()
    if found is None:
        pytest.skip("needs ../shared, which is not here")
    return request.param, found, prepare(found)


def test_the_bed_is_the_one_that_was_pinned(bed: tuple[str, Bed, PreparedBed]) -> None:
    name, found, _ = bed
    assert found.digest == PINNED[name]["digest"]


@pytest.mark.parametrize("strategy", floors.strategies())
def test_no_strategy_falls_below_its_floor(bed: tuple[str, Bed, PreparedBed], strategy: str) -> None:
    name, found, prepared = bed
    pin = PINNED[name]["recall"].get(strategy)
    assert pin is not None, f"{strategy} has no floor on {name}: python tests/floors.py --pin"
    got, _ = floors.measured(found, prepared, strategy)
    assert got >= floors.floor(pin), f"{strategy} on {name}: {got:.4f}, pinned {pin[0]:.4f} ± {pin[1]:.4f}"
