"""Pinned trails: the trail and all scores of every strategy on a small generated bed, to the last bit.

    python tests/support/trails.py              # print which strategies differ from what is pinned
    python tests/support/trails.py --pin        # pin what is computed now: say in the commit why a trail changes
    python tests/support/trails.py --pin hound  # that of one strategy only

A change of structure or speed must not change them. Each strategy crawls twice: replayed from the prepared bed, and by
the live loop with a fetcher that answers from the bed, one request at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenthound.lab.beds.bed import Bed, BedTopic
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.run.train_model import train
from scenthound.loop.settings import Settings
from scenthound.model import Response, Step, Topic
from scenthound.ports import declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.url import make
from scenthound.wiring import begin, make_strategy

PINNED = Path(__file__).resolve().parents[1] / "data" / "trails.json"
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


def digest(steps: Iterable[Step]) -> str:
    """A digest of all that a trail says; floats to the last bit."""
    whole = hashlib.sha256()
    for step in steps:
        parts = sorted((name, float(value).hex()) for name, value in step.parts.items())
        where = (step.n, str(step.url), str(step.parent), step.anchor, float(step.score).hex(), parts)
        what = (float(step.similarity).hex(), step.depth, step.status, step.bytes, step.rank)
        whole.update(repr((*where, *what)).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def replayed(bed: Bed, strategy: str) -> str:
    topic, limits = bed.topics[0], ReplayLimits(pages=PAGES)
    name = PUBLISHED.get(strategy, strategy)
    result = run_cell(prepare(bed), topic, name, PARAMETERS.get(strategy), limits, topics=bed.topics)
    assert not result.error, result.error
    assert len(result.steps) == PAGES
    return digest(result.steps)


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


def crawled_live(bed: Bed, strategy: str, folder: Path) -> str:
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
    return digest(steps)


def taught(bed: Bed, topic: BedTopic, strategy: str, folder: Path) -> Path:
    """A model, trained on the bed with some of the topic's targets as examples."""
    told: Topic = replace(topic.topic, examples=tuple(topic.targets[:6]))
    taxonomy = None
    if strategy.startswith("focused"):
        told, taxonomy = replace(told, good=("/".join(topic.path),)), bed.folder
    name = PUBLISHED.get(strategy, strategy)
    train(name, told, bed.folder, folder, parameters=PARAMETERS.get(strategy), taxonomy=taxonomy)
    return folder


def pinned() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PINNED.read_text(encoding="utf-8")) if PINNED.exists() else {}
    return found


def computed(bed: Bed, strategy: str, folder: Path) -> Mapping[str, str]:
    """The digests of a strategy, by how it crawled."""
    return {"replay": replayed(bed, strategy), "live": crawled_live(bed, strategy, folder)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pin", action="store_true", help="write tests/data/trails.json")
    arguments.add_argument("names", nargs="*", help="strategies; all if none is named")
    chosen = arguments.parse_args()
    before = pinned().get("trails", {})
    with tempfile.TemporaryDirectory() as folder:
        bed = generated_bed(Path(folder) / "bed")
        trails = {name: dict(computed(bed, name, Path(folder) / name)) for name in chosen.names or pinned_crawls()}
        found = {"bed": bed.digest, "trails": {**(before if chosen.names else {}), **trails}}
    if chosen.pin:
        PINNED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for name, digests in trails.items():
        print(f"{name}  {'same' if before.get(name) == digests else 'differs'}")


if __name__ == "__main__":
    main()
