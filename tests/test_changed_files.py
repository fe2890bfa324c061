"""Damaged files of a crawl, or files changed by a stranger, are made again or refused with a clear message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.desk.apps.companion import Companion
from scenthound.desk.pairing import Pairings
from scenthound.errors import FileDamaged
from scenthound.lab.beds.cache import VARIABLE
from support.mutating_files import USES, findings


def test_nothing_but_clear_errors_comes_of_any_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    found = list(findings(tmp_path, count=3 * len(USES), seed=2))
    assert [
        (finding.strategy, finding.change, finding.detail) for finding in found if finding.outcome == "uncaught"
    ] == []
    assert {finding.outcome for finding in found} == {"fine", "refused"}


@pytest.mark.parametrize(
    "change",
    [{"pages": float("inf")}, {"words": [{"term": "a", "word": "a", "weight": 10**400}]}, {"excluded": "bank.test"}],
    ids=["endless-pages", "endless-weight", "sites-as-one-text"],
)
def test_a_damaged_profile_is_refused_and_not_replaced(tmp_path: Path, change: dict[str, object]) -> None:
    whole = {"version": 1, "pages": 1, "words": [], "removed": {}, "excluded": []}
    (tmp_path / "profile.json").write_text(json.dumps({**whole, **change}))
    with pytest.raises(FileDamaged, match="not a companion profile"):
        Companion(tmp_path)


def test_a_pairing_without_a_key_is_refused(tmp_path: Path) -> None:
    extensions = {"chrome-extension://abc": "ä"}
    (tmp_path / "pairings.json").write_text(json.dumps({"version": 2, "port": 1, "extensions": extensions}))
    with pytest.raises(FileDamaged, match="not a list of pairings"):
        Pairings(tmp_path)
