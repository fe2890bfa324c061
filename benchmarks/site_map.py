"""Site maps on the schools bed: what share of a site's pages on a topic is on the map?

    $ python benchmarks/site_map.py [--quick] [--keep FOLDER]

The bed is one site of 5,232 pages with 60 topics. Its front page is not recorded; the page with the most links is used
instead, for all topics. Each strategy starts there and knows only the topic's keywords. Relevant pages are the seeds
and targets of the topic. `on the map` is the share of them that was fetched, `marked` the share that the judge marked
as well. Tests against breadth-first are paired over topics; topics with the same first category count as a group.

Needs ../shared/data/schools; `--quick` uses two topics of a small generated web.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.statistics import holm, paired_t
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.model import Topic, Url
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
BLIND = "breadth-first"
STRATEGIES = ("shark-search", "best-first", "hound", BLIND)
POINTS = (100, 200, 500)
Floats = npt.NDArray[np.float64]


class Seen(NamedTuple):
    """A fetched page, and whether the judge marked it."""

    url: Url
    marked: bool


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        if options.quick:
            _measure(generate(Path(folder) / "web", pages=600, seed=7, topics=4), options)
        elif (SHARED / "data" / "schools").exists():
            _measure(Bed.open(SHARED / "data" / "schools"), options)
        else:
            print("../shared/data/schools is missing: nothing to measure", file=sys.stderr)


def _measure(bed: Bed, options: argparse.Namespace) -> None:
    prepared = prepare(bed)
    front = front_page(prepared)
    topics, points = (bed.topics[:2], (30, 60)) if options.quick else (bed.topics, POINTS)
    print(f"{len(topics)} topics, from {front}\n")
    trails = {
        (topic.id, strategy): _trail(prepared, topic, strategy, front, max(points), options.keep)
        for topic in topics
        for strategy in STRATEGIES
    }
    _print(trails, topics, points)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2 topics of a generated web, 60 pages each")
    parser.add_argument("--keep", type=Path, help="keep trails in this folder, and reuse those already there")
    return parser.parse_args()


def front_page(bed: PreparedBed) -> Url:
    """The page with the most links to other pages of the bed."""
    pages = set(bed.pages)
    return max(bed.pages, key=lambda url: len(pages.intersection(bed.links(url))))


def _trail(bed: PreparedBed, topic: BedTopic, strategy: str, front: Url, pages: int, keep: Path | None) -> list[Seen]:
    file = None if keep is None else keep / f"{topic.id}-{strategy}-{pages}.json"
    if file is not None and file.exists():
        return [Seen(Url(url), marked) for url, marked in json.loads(file.read_text())]
    result = run_strategy(bed, Topic(topic.keywords), make_strategy(strategy), [front], ReplayLimits(pages=pages))
    seen = [Seen(step.url, step.relevant) for step in result.steps]
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(seen))
    return seen


def shares(trail: Sequence[Seen], topic: BedTopic, pages: int) -> tuple[float, float]:
    """The share of the topic's pages that was fetched, and the share that was marked."""
    relevant = {*topic.seeds, *topic.targets}
    hits = [seen for seen in trail[:pages] if seen.url in relevant]
    return len(hits) / len(relevant), sum(seen.marked for seen in hits) / len(relevant)


def _p(ours: Floats, theirs: Floats, groups: Sequence[str]) -> float | None:
    return paired_t(ours.tolist(), theirs.tolist(), groups).p


def _print(trails: dict[tuple[str, str], list[Seen]], topics: Sequence[BedTopic], points: Sequence[int]) -> None:
    groups = [topic.path[0] for topic in topics]
    values = {
        (strategy, pages): np.array([shares(trails[topic.id, strategy], topic, pages) for topic in topics])
        for strategy in STRATEGIES
        for pages in points
    }
    tests = [
        (pages, strategy, _p(values[strategy, pages][:, 0], values[BLIND, pages][:, 0], groups))
        for pages in points
        for strategy in STRATEGIES[:-1]
    ]
    adjusted = dict(zip([test[:2] for test in tests], holm([p for _, _, p in tests]), strict=True))
    print("| pages | strategy | on the map | marked | p against breadth-first (Holm) |\n|---|---|---|---|---|")
    for pages in points:
        for strategy in STRATEGIES:
            fetched, marked = values[strategy, pages].mean(axis=0)
            p = adjusted.get((pages, strategy))
            p_value = "" if strategy == BLIND else "-" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"
            print(f"| {pages} | {strategy} | {fetched:.3f} | {marked:.3f} | {p_value} |")


if __name__ == "__main__":
    main()
