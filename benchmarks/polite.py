"""The cost of politeness: target recall by pages and by time, with and without resting hosts.

    python benchmarks/polite.py                  # all strategies, three webs, three topics each: 20 minutes
    python benchmarks/polite.py --quick          # two strategies on a small generated web: half a minute
    python benchmarks/polite.py --live           # also compare one crawl over HTTP with its replay

Every strategy crawls four times: without delays (one request at a time); politely with the default delay, for the same
number of pages; and twice for a tenth of the virtual time of that crawl, with the orders `auto` and `speed` (the old
policy). The first two columns show the loss by pages, the last two the loss by time. Recorded webs are read from
$SCENTHOUND_SHARED/data (../shared/data by default) and skipped if they are missing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.run.polite_replay import PoliteLimits
from scenthound.lab.run.run_cell import CellResult, ReplayLimits, run_cell
from scenthound.loop.settings import Settings
from scenthound.model import Step
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic
from scenthound.wiring import begin

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
QUICK = ("best-first", "breadth-first")
LESS_TRAINING = {
    "hayek-epsilon": {"training": 60},
    "hayek-estimating": {"training": 60},
    "reinforcement": {"pages": 60, "links": 400},
}


def webs(folder: Path, size: int, recorded: bool) -> Iterator[tuple[str, Bed]]:
    generate(folder / "generated", pages=size, seed=3, topics=8, page_size=3_000)
    yield "generated", Bed.open(folder / "generated")
    for name in ("schools", "apache") if recorded else ():
        if (SHARED / "data" / name).exists():
            yield name, Bed.open(SHARED / "data" / name)
        else:
            print(f"{name} is not in {SHARED / 'data'}: skipped")


def recall(steps: Sequence[Step], topic: BedTopic, bed: PreparedBed) -> float:
    curve = target_recall(steps, frozenset(topic.targets), topic.seeds, bed.aliases)
    return (curve[-1] or 0.0) if curve else 0.0


def compare(bed: Bed, prepared: PreparedBed, strategy: str, topics: Sequence[BedTopic], pages: int) -> list[float]:
    """Means over topics: recall without and with delays, virtual seconds; recall by time with auto and with speed."""

    def crawl(topic: BedTopic, polite: PoliteLimits | None = None, most: int = pages) -> CellResult:
        limits = ReplayLimits(most, polite=polite)
        result = run_cell(prepared, topic, strategy, LESS_TRAINING.get(strategy), limits, topics=bed.topics)
        if result.error:
            print(f"{strategy} on {topic.id}: {result.error}")
        return result

    rows = []
    for topic in topics:
        plain, polite = crawl(topic), crawl(topic, PoliteLimits())
        seconds = polite.polite["seconds"]
        timed = [
            crawl(topic, PoliteLimits(seconds=seconds / 10, order=order), 10 * pages) for order in ("auto", "speed")
        ]
        recalls = [recall(result.steps, topic, prepared) for result in (plain, polite, *timed)]
        rows.append([*recalls[:2], seconds, *recalls[2:]])
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def live(bed: Bed, prepared: PreparedBed, topic: BedTopic, pages: int, folder: Path) -> None:
    """Compare a crawl over HTTP with the default delay with its replay on the virtual clock."""
    polite = PoliteLimits(sigma=0.0)
    replayed = run_cell(prepared, topic, "best-first", limits=ReplayLimits(pages, polite=polite))
    options = ServerOptions(latency=polite.latency, robots="allow")
    with serving(BedServer(bed, options)) as address:
        settings = Settings(
            pages=pages, proxy=f"http://{address}", contact="bench@scenthound.invalid", traps=False, host_patience=0
        )
        session = begin(topic.topic, list(topic.seeds), folder / "live", strategy="best-first", settings=settings)
        began = time.monotonic()
        asyncio.run(session.run())
        seconds = time.monotonic() - began
        steps = list(session.folder.history.trail())
        session.close()
    both = len({step.url for step in steps} & {step.url for step in replayed.steps})
    print(
        f"live, best-first, {topic.id}: target recall {recall(steps, topic, prepared):.3f} in {seconds:.0f} s; "
        f"polite replay {recall(replayed.steps, topic, prepared):.3f} in {replayed.polite['seconds']:.0f} virtual s; "
        f"{both:,} of {len(steps):,} pages are the same"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--strategies", help="only these, separated by commas")
    parser.add_argument("--beds", help="only these of generated, schools, apache")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--topics", type=int)
    options = parser.parse_args()
    pages, topics = options.pages or (60 if options.quick else 400), options.topics or (1 if options.quick else 3)
    ours = [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]
    names = options.strategies.split(",") if options.strategies else QUICK if options.quick else ours
    with tempfile.TemporaryDirectory() as folder:
        for name, bed in webs(Path(folder), 500 if options.quick else 4_000, not options.quick):
            if options.beds and name not in options.beds.split(","):
                continue
            prepared = prepare(bed)
            print(f"\n{name}: {pages} pages, {topics} topics, means of target recall")
            print(f"{'':18} no delay  polite  ratio  virtual s  |  a tenth of the time: auto   speed")
            for strategy in names:
                plain, polite, seconds, auto, speed = compare(bed, prepared, strategy, bed.topics[:topics], pages)
                ratio = f"{polite / plain:5.2f}" if plain else "    –"
                print(
                    f"{strategy:18} {plain:8.3f} {polite:7.3f}  {ratio} {seconds:10,.0f}  |  {auto:25.3f} {speed:7.3f}",
                    flush=True,
                )
            if name == "generated" and (options.live or options.quick):
                live(bed, prepared, bed.topics[0], 30 if options.quick else 400, Path(folder))


if __name__ == "__main__":
    main()
