"""Kinds of generated webs by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.generate.web_kinds import WebOrder, write_web


def test_a_simple_web_is_what_it_was(tmp_path: Path) -> None:
    first = write_web(tmp_path / "named", WebOrder("simple", 60, 1, topics=2, page_size=1500))
    assert first.digest == generate(tmp_path / "plain", 60, 1, topics=2, page_size=1500).digest


def test_habits_of_either_kind_can_be_set(tmp_path: Path) -> None:
    plain = write_web(tmp_path / "plain", WebOrder("simple", 60, 1, topics=2))
    dead = write_web(tmp_path / "dead", WebOrder("simple", 60, 1, topics=2, habits={"dead": "100"}))
    assert plain.digest != dead.digest
    realistic = write_web(tmp_path / "fly", WebOrder("realistic", 600, 1, habits={"hubs": "0.2"}), on_the_fly=True)
    assert realistic.about["made"]["habits"] == {"hubs": 0.2}


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        (WebOrder("odd"), UnknownName, "odd"),
        (WebOrder("realistic", habits={"hub": "0.2"}), UnknownName, "hub"),
        (WebOrder("realistic", habits={"hubs": "2"}), BadConfig, "hubs"),
        (WebOrder("realistic", page_size=4000), BadUsage, "page size"),
    ],
)
def test_what_does_not_exist_is_named(order: WebOrder, error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        write_web(tmp_path / "bed", order)


def test_a_simple_web_is_not_made_on_the_fly(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="on the fly"):
        write_web(tmp_path / "bed", WebOrder(), on_the_fly=True)
