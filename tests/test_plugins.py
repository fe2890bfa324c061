"""Our plug-ins and those of other packages are found in the same way."""

from __future__ import annotations

import subprocess
import sys
import types
from importlib.metadata import EntryPoint

import pytest

from scenthound import plugins
from scenthound.errors import UnknownName
from scenthound.lab.testing import strategy_contract
from scenthound.plugins import Registry
from scenthound.strategies import STRATEGIES


def test_our_own_strategies_come_through_the_door() -> None:
    assert {"breadth-first", "random", "best-first", "best-n-first"} <= set(STRATEGIES.names())


def test_one_of_ours_is_found_without_reading_the_others() -> None:
    code = """
import sys
from scenthound.strategies import STRATEGIES
STRATEGIES.get("best-first"), STRATEGIES.get("hub-seeking")
assert "scenthound.papers.hayek.hayek_crawler" not in sys.modules
assert STRATEGIES.get("best-n-first").__name__ == "BestNFirst"
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_brings_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean `best-first`"):
        STRATEGIES.get("best-frist")


def test_two_things_may_not_share_a_name() -> None:
    shelf: Registry[object] = Registry("thing", "scenthound.things", "scenthound.graph")
    shelf.add("one")(types.SimpleNamespace(a=1))
    with pytest.raises(ValueError, match="called one"):
        shelf.add("one")(types.SimpleNamespace(a=2))


def test_an_external_plug_in_is_found_and_a_broken_one_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = types.ModuleType("stranger")
    stranger.thing = "a thing"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stranger", stranger)
    points = [EntryPoint("theirs", "stranger:thing", "g"), EntryPoint("broken", "no_such_module_at_all", "g")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    shelf: Registry[str] = Registry("thing", "g", "scenthound.graph")
    assert shelf.get("theirs") == "a thing"
    assert "no_such_module_at_all" in shelf.broken["broken"]


OURS = [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]


@pytest.mark.parametrize("name", OURS)
def test_every_strategy_keeps_the_contract(name: str) -> None:
    for says, check in strategy_contract(STRATEGIES.get(name)):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{name}: {says}: {error}") from error
