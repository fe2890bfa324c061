"""A crawl that is killed again and again loses nothing and stays polite."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.killing import CONCURRENCY, kill_often


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eight_kills_cost_nothing_that_was_recorded(tmp_path: Path) -> None:
    verdict = kill_often(tmp_path, kills=8, seed=7, pages=300)
    assert verdict.kills == 8
    assert verdict.lost == []
    assert max(verdict.duplicates) <= CONCURRENCY
    assert verdict.hasty == []
    assert verdict.invalid == []
    assert verdict.pages > 100
