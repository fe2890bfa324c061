"""What several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from support import floors

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the project with beds and suites; the test is skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared, which is not here")
    return SHARED


@pytest.fixture(scope="session")
def golden_public() -> Path:
    """The worked examples of the sheets (docs/spec): inputs, and under `expected` what they should give."""
    return Path(__file__).resolve().parent / "data" / "golden_public.json"


@pytest.fixture(scope="module", params=["generated", "schools"])
def pinned_bed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Bed, PreparedBed]:
    """A bed that quality floors are pinned on: its name, itself, and itself made ready."""
    found = floors.found(request.param, tmp_path_factory.mktemp("floors") / "bed")
    if found is None:
        pytest.skip("needs ../shared, which is not here")
    return request.param, found, prepare(found)
