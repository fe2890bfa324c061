"""Whether replayed crawls fetch the same pages in the same order on another CPU, and how far their scores are apart.

    python benchmarks/portability.py                             # every strategy, 3 topics of each web, 400 pages
    python benchmarks/portability.py --strategies hound,bayes --topics 8 --pages 1000

Each crawl runs twice, in two processes: with the numerics of this CPU and with those of a plainer one
(scripts/other_numerics.py). Two generated webs, a simple and a realistic one; and schools, if there is ../shared. The
exit code is 1 if an order differs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.web_kinds import WebOrder, write_web
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from support.suites import SHARED
from support.trails import PARAMETERS, PUBLISHED, pinned_crawls

ROOT = Path(__file__).resolve().parents[1]
WEBS = {"simple": WebOrder("simple", 2000, 7, topics=12), "realistic": WebOrder("realistic", 3000, 7, topics=12)}
SCHOOLS = SHARED / "data" / "schools"


class Crawl(NamedTuple):
    web: str
    strategy: str
    topic: str
    order: list[str]
    scores: list[float]


def crawls(folder: Path, strategies: list[str], topics: int, pages: int) -> Iterator[Crawl]:
    beds = {name: write_web(folder / name, order) for name, order in WEBS.items()}
    if SCHOOLS.is_dir():
        beds["schools"] = Bed.open(SCHOOLS)
    for name, bed in beds.items():
        prepared = prepare(bed)
        for strategy in strategies:
            for topic in bed.topics[:topics]:
                what, how = PUBLISHED.get(strategy, strategy), PARAMETERS.get(strategy)
                result = run_cell(prepared, topic, what, how, ReplayLimits(pages=pages), topics=bed.topics)
                order, scores = [str(step.url) for step in result.steps], [step.score for step in result.steps]
                yield Crawl(name, strategy, topic.id, order, scores)


def verdict(ours: Crawl, theirs: Crawl) -> str:
    """Empty if the order is the same."""
    for n, (first, second) in enumerate(zip(ours.order, theirs.order, strict=False)):
        if first != second:
            return f"differs from page {n + 1} on: score {ours.scores[n]!r} here, {theirs.scores[n]!r} there"
    return "" if len(ours.order) == len(theirs.order) else "differs in length"


def apart(ours: Crawl, theirs: Crawl) -> float:
    pairs = zip(ours.scores, theirs.scores, strict=False)
    return max((abs(first - second) for first, second in pairs if math.isfinite(first - second)), default=0.0)


def both(arguments: list[str], folder: Path) -> list[list[Crawl]]:
    started = []
    for name, prefix in (("ours", []), ("theirs", [sys.executable, str(ROOT / "scripts" / "other_numerics.py")])):
        environment = {**os.environ, VARIABLE: str(folder / name / "cache")}
        command = [*prefix, sys.executable, __file__, *arguments, "--write", str(folder / name)]
        started.append(subprocess.Popen(command, env=environment))
    codes = [process.wait() for process in started]
    if any(codes):
        sys.exit("a process failed")
    lines = [(folder / name / "crawls.jsonl").read_text().splitlines() for name in ("ours", "theirs")]
    return [[Crawl(*json.loads(line)) for line in side] for side in lines]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--strategies", default=",".join(pinned_crawls()))
    options.add_argument("--topics", type=int, default=3)
    options.add_argument("--pages", type=int, default=400)
    options.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.write:
        with (chosen.write / "crawls.jsonl").open("w") as out:
            for crawl in crawls(chosen.write, chosen.strategies.split(","), chosen.topics, chosen.pages):
                out.write(json.dumps(crawl) + "\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ours").mkdir()
        (folder / "theirs").mkdir()
        ours, theirs = both(sys.argv[1:], folder)
    found = [(crawl, verdict(crawl, other), apart(crawl, other)) for crawl, other in zip(ours, theirs, strict=True)]
    for crawl, different, _ in found:
        if different:
            print(f"{crawl.web} {crawl.strategy} {crawl.topic}: {different}")
    equal = [distance for _, different, distance in found if not different]
    print(f"{len(equal)} of {len(found)} crawls in the same order; their scores are at most {max(equal):.1e} apart")
    return int(len(equal) < len(found))


if __name__ == "__main__":
    sys.exit(main())
