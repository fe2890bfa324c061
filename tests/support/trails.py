"""Pinned trails: the pages of every strategy on a small generated bed, in order, and all scores to 9 decimals.

    python tests/support/trails.py                # print which strategies differ from what is pinned, and where
    python tests/support/trails.py hound          # that of one strategy only
    python tests/support/trails.py --pin hound    # pin what is computed now: say in the commit why a trail changes
    python tests/support/trails.py --pin --all    # pin all of them, for a change of the bed

A change of structure or speed must not change them, nor may another CPU: its scores differ by 1e-14, so what is
compared are the values, not a digest. Each strategy crawls twice: replayed from the prepared bed, and by the live loop
with a fetcher that answers from the bed, one request at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.run.train_model import train
from scenthound.loop.settings import Settings
from scenthound.model import Response, Step, Topic
from scenthound.ports import declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic
from scenthound.url import make
from scenthound.wiring import begin, make_strategy

PINNED = Path(__file__).resolve().parents[1] / "data" / "trails"
"""A file for each strategy, one line a page, so that a change can be read; `bed.json` has the digest of the bed."""
TOLERANCE = 1e-9
DECIMALS = 10
"""Stored with one more than is compared."""
GENERATED = {"pages": 400, "seed": 11, "topics": 6, "page_size": 3_000}
PAGES = 150
PARAMETERS: dict[str, dict[str, Any]] = {  # less training than by default: it takes most of the time
    "hayek-epsilon": {"training": 60},
    "hayek-estimating": {"training": 60},
    "reinforcement": {"pages": 60, "links": 400},
    "intelligent": {"every": 25},
    "apprentice": {"after": 30},
}


PUBLISHED = {f"{name} as published": name for name in ("bayes", "focused-soft", "focused-hard")}
"""Variants with the score of their paper, by the strategy: the default scores pages per word."""
PARAMETERS |= {label: {"score": "probability"} for label in PUBLISHED}


def generated_bed(folder: Path) -> Bed:
    generate(folder, **GENERATED)
    return Bed.open(folder)


def strategies() -> list[str]:
    return [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]


def pinned_crawls() -> list[str]:
    """The strategies, and their variants as published."""
    return [*strategies(), *PUBLISHED]


Page = dict[str, Any]
"""What is pinned of a step. Its keys are the names that a difference is reported with."""
Trail = list[Page]
WHOLE = ("url", "parent", "anchor", "depth", "status", "bytes", "rank")
"""The keys whose values are compared exactly."""


def trail(steps: Iterable[Step]) -> Trail:
    """All that a trail says, except times."""
    return [
        {
            "url": str(step.url),
            "parent": str(step.parent) if step.parent else "",
            "anchor": step.anchor,
            "depth": step.depth,
            "status": step.status,
            "bytes": step.bytes,
            "rank": step.rank,
            "score": float(step.score),
            "similarity": float(step.similarity),
            "parts": {name: float(value) for name, value in sorted(step.parts.items())},
        }
        for step in steps
    ]


def difference(pinned: Sequence[Page], found: Sequence[Page]) -> str:
    """The first page that differs, else the first value that does; empty if there is none."""
    for n, (before, now) in enumerate(zip(pinned, found, strict=False), 1):
        if before["url"] != now["url"]:
            return f"page {n} is {now['url']}, pinned is {before['url']}"
    if len(pinned) != len(found):
        return f"{len(found)} pages were fetched, pinned are {len(pinned)}"
    for n, (before, now) in enumerate(zip(pinned, found, strict=True), 1):
        first, second = flat(before), flat(now)
        for name in dict.fromkeys([*first, *second]):
            if not is_same(first.get(name), second.get(name)):
                what = f"{name} is {second.get(name)!r}, pinned is {first.get(name)!r}"
                return f"page {n}, {now['url']}: {what}"
    return ""


def flat(page: Page) -> dict[str, Any]:
    parts = {f"part {name}": value for name, value in page["parts"].items()}
    return {**{name: value for name, value in page.items() if name != "parts"}, **parts}


def is_same(pinned: object, found: object) -> bool:
    """Numbers with a fraction to 9 decimals; whole numbers and text exactly."""
    if isinstance(pinned, float) and isinstance(found, float):
        return pinned == found or abs(pinned - found) <= TOLERANCE or (math.isnan(pinned) and math.isnan(found))
    return pinned == found


def replayed(bed: Bed, strategy: str) -> Trail:
    topic, limits = bed.topics[0], ReplayLimits(pages=PAGES)
    name = PUBLISHED.get(strategy, strategy)
    result = run_cell(prepare(bed), topic, name, PARAMETERS.get(strategy), limits, topics=bed.topics)
    assert not result.error, result.error
    assert len(result.steps) == PAGES
    return trail(result.steps)


class BedFetcher:
    """Answers from a bed; what it lacks is a 404."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed

    async def fetch(self, url: str, most: int | None = None) -> Response:
        found = self._bed.get(make(url))
        if found is None:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"no")
        return replace_url(found, url)


def replace_url(response: Response, url: str) -> Response:
    return Response(url, response.status, response.reason, response.headers, response.body)


def crawled_live(bed: Bed, strategy: str, folder: Path) -> Trail:
    topic, name = bed.topics[0], PUBLISHED.get(strategy, strategy)
    how = dict[str, Any](strategy=name, parameters=PARAMETERS.get(strategy))
    if declaration_of(make_strategy(name)).training == "required":
        how = {"model": taught(bed, topic, strategy, folder / "model")}
    settings = Settings(
        delay=0.0, robots=False, retries=0, concurrency=1, pages=PAGES, workers=0, traps=False, host_patience=0
    )
    session = begin(topic.topic, list(topic.seeds), folder / "crawl", settings=settings, fetcher=BedFetcher(bed), **how)
    try:
        asyncio.run(session.run())
        steps = list(session.folder.history.trail())
    finally:
        session.close()
    assert len(steps) == PAGES
    return trail(steps)


def taught(bed: Bed, topic: BedTopic, strategy: str, folder: Path) -> Path:
    """A model, trained on the bed with some of the topic's targets as examples."""
    told: Topic = replace(topic.topic, examples=tuple(topic.targets[:6]))
    taxonomy = None
    if strategy.startswith("focused"):
        told, taxonomy = replace(told, good=("/".join(topic.path),)), bed.folder
    name = PUBLISHED.get(strategy, strategy)
    train(name, told, bed.folder, folder, parameters=PARAMETERS.get(strategy), taxonomy=taxonomy)
    return folder


def computed(bed: Bed, strategy: str, folder: Path) -> dict[str, Trail]:
    """The trails of a strategy, by how it crawled."""
    return {"replay": replayed(bed, strategy), "live": crawled_live(bed, strategy, folder)}


def pinned_bed() -> str:
    """The digest of the bed that all pinned trails were made on."""
    found: str = json.loads((PINNED / "bed.json").read_text(encoding="utf-8"))["digest"]
    return found


def pinned_trail(strategy: str, how: str) -> Trail:
    """`how`: "replay" or "live"."""
    path = pin_of(strategy)
    if not path.exists():
        return []
    pages = [unpacked(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return [page for kind, page in pages if kind in (how, "both")]


def pin(strategy: str, trails: Mapping[str, Trail]) -> None:
    """One line a page, the replayed trail before the live one; where both are the same there is only one."""
    same = trails["replay"] == trails["live"]
    kinds = {"both": trails["replay"]} if same else trails
    lines = [json.dumps(packed(kind, page)) for kind, pages in kinds.items() for page in pages]
    PINNED.mkdir(exist_ok=True)
    pin_of(strategy).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def pin_of(strategy: str) -> Path:
    return PINNED / f"{strategy.replace(' ', '-')}.jsonl"


def packed(kind: str, page: Page) -> list[Any]:
    numbers = {name: rounded(value) for name, value in page["parts"].items()}
    whole = [page[name] for name in WHOLE]
    return [kind, *whole, rounded(page["score"]), rounded(page["similarity"]), numbers]


def unpacked(line: list[Any]) -> tuple[str, Page]:
    kind, *whole, score, similarity, parts = line
    page = dict(zip(WHOLE, whole, strict=True))
    numbers = {name: float(value) for name, value in parts.items()}
    return kind, {**page, "score": float(score), "similarity": float(similarity), "parts": numbers}


def rounded(value: float) -> float | str:
    """JSON has no infinite numbers, and a zero needs no sign."""
    return round(value, DECIMALS) + 0.0 if math.isfinite(value) else str(value)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pin", action="store_true", help="write what is computed now to tests/data/trails")
    arguments.add_argument("--all", action="store_true", help="all strategies; --pin needs this or names")
    arguments.add_argument("names", nargs="*", metavar="name", help="a strategy")
    chosen = arguments.parse_args()
    if chosen.all and chosen.names:
        arguments.error("--all and names exclude each other")
    if chosen.pin and not (chosen.all or chosen.names):
        arguments.error(
            "--pin needs the names of strategies\nhint: name those whose trail is meant to change, or --all"
        )
    if unknown := set(chosen.names) - set(pinned_crawls()):
        arguments.error(f"unknown: {', '.join(sorted(unknown))}\nhint: one of {', '.join(pinned_crawls())}")
    with tempfile.TemporaryDirectory() as folder:
        return compare(Path(folder), chosen.names or pinned_crawls(), pins=chosen.pin, everything=chosen.all)


def compare(folder: Path, names: Sequence[str], *, pins: bool, everything: bool) -> int:
    """Print where trails differ from what is pinned, and pin them if asked to; 1 if some differ and stay so."""
    bed, differs = generated_bed(folder / "bed"), False
    if pins and everything:
        PINNED.mkdir(exist_ok=True)
        for path in set(PINNED.glob("*.jsonl")) - {pin_of(name) for name in names}:
            path.unlink()  # of a strategy that is no more
        (PINNED / "bed.json").write_text(json.dumps({"digest": bed.digest}) + "\n", encoding="utf-8")
    elif bed.digest != pinned_bed():
        print("the generated bed is not the one that was pinned\nhint: --pin --all if that is meant", file=sys.stderr)
        return 1
    for name in names:
        trails = computed(bed, name, folder / name)
        for how, found in trails.items():
            different = difference(pinned_trail(name, how), found)
            differs = differs or bool(different)
            print(f"{name}, {how}: {different or 'same'}", flush=True)
        if pins:
            pin(name, trails)
    return int(differs and not pins)


if __name__ == "__main__":
    sys.exit(main())
