"""Changes of structure or speed, or another CPU, must not change a trail or score: pins for every strategy."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from support import trails


def again(strategy: str) -> str:
    return f"if that is meant: python tests/support/trails.py --pin {strategy!r}"


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder = tmp_path_factory.mktemp("trails")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        yield trails.generated_bed(folder / "bed")


def test_the_bed_is_the_one_that_was_pinned(bed: Bed) -> None:
    assert bed.digest == trails.pinned_bed(), "if that is meant: python tests/support/trails.py --pin --all"


@pytest.mark.parametrize("strategy", trails.pinned_crawls())
def test_a_replayed_crawl_takes_the_pinned_trail(bed: Bed, strategy: str) -> None:
    different = trails.difference(trails.pinned_trail(strategy, "replay"), trails.replayed(bed, strategy))
    assert not different, f"{different}\n{again(strategy)}"


@pytest.mark.parametrize("strategy", trails.pinned_crawls())
def test_a_live_crawl_takes_the_pinned_trail(bed: Bed, strategy: str, tmp_path: Path) -> None:
    different = trails.difference(trails.pinned_trail(strategy, "live"), trails.crawled_live(bed, strategy, tmp_path))
    assert not different, f"{different}\n{again(strategy)}"


def test_nothing_is_pinned_for_a_strategy_that_is_no_more() -> None:
    assert {path.name for path in trails.PINNED.glob("*.jsonl")} == {
        trails.pin_of(strategy).name for strategy in trails.pinned_crawls()
    }


def page(**changes: object) -> trails.Page:
    whole = {"url": "http://a.example/", "parent": "", "anchor": "", "depth": 0, "status": 200, "bytes": 10, "rank": 1}
    return {**whole, "score": 0.5, "similarity": 0.25, "parts": {"hub": math.inf, "text": 0.1}, **changes}


def test_the_rounding_errors_of_another_cpu_are_no_difference() -> None:
    other = page(score=0.5 + 8e-15, similarity=0.25 - 8e-15, parts={"hub": math.inf, "text": 0.1 + 9e-10})
    assert trails.difference([page()], [other]) == ""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"score": 0.5 + 2e-9}, "score is 0.500000002, pinned is 0.5"),
        ({"similarity": 0.26}, "similarity is 0.26, pinned is 0.25"),
        ({"parts": {"hub": 1.0, "text": 0.1}}, "part hub is 1.0, pinned is inf"),
        ({"parts": {"hub": math.inf}}, "part text is None, pinned is 0.1"),
        ({"rank": 2}, "rank is 2, pinned is 1"),
        ({"anchor": "b"}, "anchor is 'b', pinned is ''"),
    ],
)
def test_the_first_value_that_differs_is_named(change: dict[str, object], named: str) -> None:
    second = page(url="http://b.example/")
    pinned, found = [page(), second], [page(), {**second, **change}]
    assert trails.difference(pinned, found) == f"page 2, http://b.example/: {named}"


def test_the_first_page_that_differs_is_named_before_any_value() -> None:
    first, second, third = (page(url=f"http://{name}.example/") for name in "abc")
    found = [{**first, "score": 9.0}, third, second]
    expected = "page 2 is http://c.example/, pinned is http://b.example/"
    assert trails.difference([first, second, third], found) == expected
    assert trails.difference([first, second], [first]) == "1 pages were fetched, pinned are 2"


def test_a_trail_is_read_as_it_was_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "PINNED", tmp_path)
    replayed, live = [page(score=math.inf)], [page(score=-1 / 3, anchor="läuft\u2028weiter")]
    trails.pin("one as published", {"replay": replayed, "live": live})
    trails.pin("two", {"replay": live, "live": live})
    for strategy, how, expected in [
        ("one as published", "replay", replayed),
        ("one as published", "live", live),
        ("two", "replay", live),
        ("two", "live", live),
    ]:
        assert trails.difference(expected, trails.pinned_trail(strategy, how)) == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pin"], "--pin needs the names of strategies\nhint: "),
        (["--pin", "--all", "hound"], "--all and names exclude each other"),
        (["--pin", "hund"], "unknown: hund\nhint: one of "),
    ],
)
def test_pins_are_written_only_for_what_is_named(arguments: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, trails.__file__, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
