"""Fixtures shared by several test files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from support import floors
from support.long_form import long_form
from support.suites import OTHERS, OWN, SHARED, Suites, with_shared

settings.register_profile("ours", max_examples=long_form(35, 100))
settings.load_profile("ours")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let every worker begin with the slow tests of its share, so that nobody waits for one at the end."""
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    share = max(len(items) // workers, 1)
    for start in range(0, len(items), share):
        items[start : start + share] = sorted(
            items[start : start + share], key=lambda item: item.get_closest_marker("slow") is None
        )


@pytest.fixture(params=with_shared([OWN], [OTHERS]), ids=lambda suites: suites.name)
def suites(request: pytest.FixtureRequest) -> Suites:
    """Cases of our own, and those of other projects where ../shared is here."""
    found: Suites = request.param
    return found


@pytest.fixture(scope="session", params=with_shared(["generated"], ["schools", "apache"]))
def any_bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bed:
    """A bed with topics and categories: a small generated one, and the recorded ones where ../shared is here."""
    if request.param == "generated":
        return generate(tmp_path_factory.mktemp("beds") / "generated", pages=600, seed=5, topics=6, page_size=3000)
    return Bed.open(SHARED / "data" / request.param)


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A small generated bed with a cache of its own. Modules that need another one define their own `bed`."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        yield generate(folder / "bed", pages=150, seed=1, topics=3, page_size=1500)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that nothing may be written to (`support.planted_links`)."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def golden_public() -> Path:
    """The worked examples of the sheets (docs/spec): inputs, and under `expected` what they should give."""
    return Path(__file__).resolve().parent / "data" / "golden_public.json"


@pytest.fixture(scope="module", params=with_shared(["generated"], ["schools"]))
def pinned_bed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Bed, PreparedBed]:
    """A bed that quality floors are pinned on: its name, itself, and itself made ready."""
    found = floors.found(request.param, tmp_path_factory.mktemp("floors") / "bed")
    assert found is not None
    return request.param, found, prepare(found)
