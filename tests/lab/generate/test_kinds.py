"""Kinds of generated webs by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.lab.generate.kinds import Order, write_web
from scenthound.lab.generate.web import generate


def test_a_simple_web_is_what_it_was(tmp_path: Path) -> None:
    first = write_web(tmp_path / "named", Order("simple", 60, 1, topics=2, page_size=1500))
    assert first.digest == generate(tmp_path / "plain", 60, 1, topics=2, page_size=1500).digest


def test_habits_of_either_kind_can_be_set(tmp_path: Path) -> None:
    plain = write_web(tmp_path / "plain", Order("simple", 60, 1, topics=2))
    dead = write_web(tmp_path / "dead", Order("simple", 60, 1, topics=2, habits={"dead": "100"}))
    assert plain.digest != dead.digest
    realistic = write_web(tmp_path / "fly", Order("realistic", 600, 1, habits={"hubs": "0.2"}), on_the_fly=True)
    assert realistic.about["made"]["habits"] == {"hubs": 0.2}


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        (Order("odd"), UnknownName, "odd"),
        (Order("realistic", habits={"hub": "0.2"}), UnknownName, "hub"),
        (Order("realistic", habits={"hubs": "2"}), BadConfig, "hubs"),
        (Order("realistic", page_size=4000), BadUsage, "page size"),
    ],
)
def test_what_does_not_exist_is_named(order: Order, error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        write_web(tmp_path / "bed", order)


def test_a_simple_web_is_not_made_on_the_fly(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="on the fly"):
        write_web(tmp_path / "bed", Order(), on_the_fly=True)
