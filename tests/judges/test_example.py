"""The judge of examples/custom_judge.py keeps the contract, and a real crawl counts by it."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from scenthound.lab.testing import judge_contract
from scenthound.loop.folder import CrawlFolder

EXAMPLE = runpy.run_path(str(Path(__file__).resolve().parents[2] / "examples" / "custom_judge.py"))
Mentions = EXAMPLE["Mentions"]


@pytest.mark.parametrize(("says", "check"), list(judge_contract(Mentions)))
def test_the_example_keeps_the_contract(says: str, check: Callable[[], None]) -> None:
    check()


def test_a_crawl_counts_by_the_judge_of_the_example(tmp_path: Path) -> None:
    relevant, pages = EXAMPLE["main"](tmp_path / "crawl")
    assert 0 < relevant < pages
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        assert folder.request.settings.judge == "mentions:times=3"
        steps = list(folder.history.trail())
    assert sum(step.relevant for step in steps) == relevant
    assert all(step.relevant == (step.relevance >= 1 - 0.5**3) for step in steps)
