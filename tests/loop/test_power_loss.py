"""A power cut at any moment loses what was not synced yet, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.power_loss import Recording, build_shim, cut_power, record


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Path]:
    folder = tmp_path_factory.mktemp("power")
    shim = build_shim(folder)
    if shim is None:
        pytest.skip("there is no C compiler")
    return record(folder / "run", shim, sync_time=0.05), folder / "run"


def test_what_was_synced_survives_and_the_crawl_goes_on(recorded: tuple[Recording, Path]) -> None:
    recording, folder = recorded
    outcomes = list(cut_power(recording, folder, count=60, seed=1, finish_every=20))
    assert [(outcome.point, outcome.problems) for outcome in outcomes if outcome.problems] == []
    assert max(outcome.safe for outcome in outcomes) > 100


def test_pages_are_synced_while_the_crawl_runs_and_not_only_at_its_end(recorded: tuple[Recording, Path]) -> None:
    recording, _ = recorded
    middle = recording.commits[len(recording.commits) // 2][0]
    committed = next(pages for index, pages in recording.commits if index == middle)
    assert len(recording.safe_pages(middle)) > committed / 2
