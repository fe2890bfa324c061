"""Changes of structure or speed must not change any trail or score: pinned digests for every strategy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from support import trails

AGAIN = "if that is meant: python tests/support/trails.py --pin"


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder = tmp_path_factory.mktemp("trails")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        yield trails.generated_bed(folder / "bed")


def test_the_bed_is_the_one_that_was_pinned(bed: Bed) -> None:
    assert bed.digest == trails.pinned()["bed"], AGAIN


@pytest.mark.parametrize("strategy", trails.pinned_crawls())
def test_a_replayed_crawl_takes_the_pinned_trail(bed: Bed, strategy: str) -> None:
    assert trails.replayed(bed, strategy) == trails.pinned()["trails"][strategy]["replay"], AGAIN


@pytest.mark.parametrize("strategy", trails.pinned_crawls())
def test_a_live_crawl_takes_the_pinned_trail(bed: Bed, strategy: str, tmp_path: Path) -> None:
    assert trails.crawled_live(bed, strategy, tmp_path) == trails.pinned()["trails"][strategy]["live"], AGAIN
