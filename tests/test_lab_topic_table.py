"""The characteristics of topics as the lab computes them: by columns and numbers, and yet what the formulas say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.cli.app import run as command
from scenthound.lab import characteristics as formulas
from scenthound.lab import topic_table
from scenthound.lab.bed import RECORDED, Bed, BedTopic
from scenthound.lab.cells import load_trail
from scenthound.lab.compare import freshen
from scenthound.lab.experiment import Experiment, run
from scenthound.lab.generate import generate
from scenthound.lab.measure import load_characteristics, load_table, measure, topic_correlations, topic_values
from scenthound.lab.metrics.trails import forms
from scenthound.lab.prepared import PreparedBed, prepare
from scenthound.lab.prepared_cache import VARIABLE
from scenthound.lab.report_topics import HEADS, signed
from scenthound.lab.stats import spearman
from scenthound.lab.topic_table import NAMES, links_among, popularities, topic_characteristics
from scenthound.model import Response, Url
from scenthound.text.tokens import Analyser

pytest.importorskip("pyarrow")

ANALYSER = Analyser()
DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bed, Experiment]]:
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        bed = generate(folder / "bed", pages=200, seed=1, topics=4, page_size=1500)
        made = run(bed, "breadth-first,best-first", folder / "run", pages=40, seed_numbers=(0, 1))
        freshen(made, [20, 40])
        yield bed, made


def test_the_table_holds_what_the_formulas_say_of_the_whole_snapshot(measured: tuple[Bed, Experiment]) -> None:
    bed, made = measured
    ready = prepare(bed)
    snapshot = {str(url): ready.counts(url, ANALYSER) or {} for url in ready.pages}

    def final(url: str) -> str:
        return list(forms(url, ready.aliases))[-1]

    found = load_characteristics(made)
    assert list(found) == [topic.id for topic in made.topics]
    for topic in made.topics:
        cells = [cell for cell in made.cells if cell.topic == topic.id and not cell.oracle]
        pool = list(dict.fromkeys(step.url for cell in cells for step in load_trail(made.folder, cell.key)))
        graph = formulas.link_graph_of(pool) if hasattr(formulas, "link_graph_of") else links_among(ready, pool)
        wanted = formulas.characteristics(
            map(final, topic.targets),
            map(final, topic.seeds),
            ANALYSER.terms(topic.keywords),
            ANALYSER.counts(topic.description),
            snapshot,
            {str(url): [final(link) for link in ready.links(url)] for url in ready.pages},
            graph,
            specificity=len(topic.path),
        )
        assert found[topic.id] == wanted
