"""A strategy is charged for the text processing that it asked for, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.run.cells import load_cpu_seconds, load_seconds
from scenthound.lab.run.run_cell import ReplayLimits, run_cell, text_seconds
from scenthound.model import Response, Url
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic

HTML = (("Content-Type", "text/html"),)
SEED = Url("http://a.test/")


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> PreparedBed:
    folder = tmp_path_factory.mktemp("cost") / "bed"
    body = ("<p>" + "bees gather honey in hives. " * 2_000 + "<a href='/b'>b</a>").encode()
    pages = [Response(f"http://a.test/{name}", 200, "OK", HTML, body) for name in ("", "b")]
    topic = BedTopic("bees", (), "bees", "", (SEED,), (Url("http://a.test/b"),))
    return prepare(write_bed(folder, "bees", pages, [topic]))


def test_only_text_processing_that_was_asked_for_costs_anything(bed: PreparedBed) -> None:
    urls = list(bed.pages)
    plain, stemmed = Analyser(), Analyser("english", False)
    assert text_seconds(bed, urls, Parts()) == 0.0
    assert text_seconds(bed, [], Parts((plain,))) == 0.0
    counts = min(text_seconds(bed, urls, Parts((plain,))) for _ in range(3))
    counts_and_leaves = min(text_seconds(bed, urls, Parts((plain, stemmed), leaves=True)) for _ in range(3))
    assert 0.0 < counts < counts_and_leaves


def test_a_strategy_that_reads_no_text_pays_nothing(bed: PreparedBed) -> None:
    topic = BedTopic("bees", (), "bees", "", (SEED,), ())
    limits = ReplayLimits(pages=2)
    assert run_cell(bed, topic, "breadth-first", limits=limits).text_seconds == 0.0
    assert run_cell(bed, topic, "best-first", limits=limits).text_seconds > 0.0


def test_the_charge_is_added_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "times").mkdir()
    for name, more in (("new", {"text_seconds": 0.25}), ("old", {})):
        (tmp_path / "times" / f"{name}.json").write_text(json.dumps({"rank_seconds": [0.5, 1.0, 1.5], **more}))
    assert load_cpu_seconds(tmp_path, "new") == [0.75, 1.5, 2.25]
    assert load_cpu_seconds(tmp_path, "old") == load_seconds(tmp_path, "new") == [0.5, 1.0, 1.5]
    assert load_cpu_seconds(tmp_path, "none") is None
