"""Speed and memory of replay before and after a change: two checkouts, run alternately on the same machine.

    python benchmarks/replay_pairs.py BEFORE [--strategies best-first,dom] [--pairs 5] [--caches FOLDER]

    git worktree add /tmp/old COMMIT
    python benchmarks/replay_pairs.py /tmp/old

Each side runs its own `benchmarks/replay.py --quick --bed schools` (4 topics of 1,000 pages on the prepared bed), one
strategy per process, with its own source and its own cache; with `--bed generated`, on a generated web. It compares
visits per CPU second, without training. A pair is one run of each side; every other pair begins with the other side.
The ratio is after / before: the geometric mean over all pairs, with its 95 % interval (Student). A first run of each
side is discarded, since a new cache is slower; not with `--caches`, so run that twice. CPU seconds depend on what else
the machine does: compare ratios, not visits.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SCENTHOUND_SHARED", ROOT.parent / "shared"))
STRATEGIES = (
    "breadth-first,random,best-first,best-n-first,fish-search,shark-search,dom,hub-seeking,backlink-count,pagerank,"
    "cc-bfs,alliance,intelligent,context-graph,bayes,apprentice,focused-soft,focused-hard,reinforcement,infospiders,"
    "hayek-epsilon,hayek-estimating"
)
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # 95 %, for 1 to 9 degrees of freedom


class Run(NamedTuple):
    """The figures that one process printed."""

    visits: float
    """Per CPU second."""
    memory: float
    """Peak, in MB."""


class Checkout(NamedTuple):
    """One side of the comparison: a checkout with its own cache."""

    folder: Path
    cache: Path
    bed: str
    more: tuple[str, ...]

    def run(self, strategy: str) -> Run:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "SCENTHOUND_CACHE": str(self.cache),
            "SCENTHOUND_SHARED": str(SHARED),
        }
        command = [sys.executable, str(self.folder / "benchmarks" / "replay.py"), "--quick", "--bed", self.bed]
        done = subprocess.run(
            [*command, *self.more, "--strategies", strategy],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        line = re.search(
            rf"^{self.bed}.*? {re.escape(strategy)} +[\d,]+ +([\d,]+) .*?([\d,]+) MB", done.stdout, re.MULTILINE
        )
        if line is None:
            raise SystemExit(f"{self.folder}: no figures for {strategy}\n{done.stdout}{done.stderr}")
        visits, memory = (float(figure.replace(",", "")) for figure in line.groups())
        return Run(visits, memory)


def ratio(pairs: list[tuple[Run, Run]]) -> tuple[float, float]:
    """The geometric mean of after / before, and the factor to either end of its interval.

    >>> ratio([(Run(100, 1), Run(90, 1)), (Run(200, 1), Run(180, 1))])
    (0.9, 1.0)
    """
    logs = [math.log(after.visits / before.visits) for before, after in pairs]
    spread = statistics.stdev(logs) * STUDENT[min(len(logs) - 1, len(STUDENT)) - 1] / math.sqrt(len(logs))
    return round(math.exp(statistics.mean(logs)), 3), round(math.exp(spread), 3)


def compare(before: Checkout, after: Checkout, strategy: str, count: int) -> str:
    """A row of the table."""
    pairs = []
    for number in range(count):
        if number % 2:
            second, first = after.run(strategy), before.run(strategy)
        else:
            first, second = before.run(strategy), after.run(strategy)
        pairs.append((first, second))
    mean, factor = ratio(pairs)
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    visits = (statistics.median(run.visits for run in old), statistics.median(run.visits for run in new))
    memory = (max(run.memory for run in old), max(run.memory for run in new))
    return (
        f"| {strategy} | {visits[0]:,.0f} | {visits[1]:,.0f} | {mean:.2f} | {mean / factor:.2f} to {mean * factor:.2f} "
        f"| {memory[0]:,.0f} | {memory[1]:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the code to compare with")
    parser.add_argument("--bed", default="schools", choices=["schools", "generated"], help="bed to crawl")
    parser.add_argument("--strategies", default=STRATEGIES, help="names, separated by commas")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs for each strategy, 2 or more")
    parser.add_argument("--web-pages", type=int, metavar="N", help="size of the generated web; default: 5,000 pages")
    parser.add_argument(
        "--caches", type=Path, help="folder for the two caches, to reuse them; default: a temporary one"
    )
    options = parser.parse_args()
    if not (options.before / "benchmarks" / "replay.py").is_file():
        parser.error(f"{options.before} is not a checkout: it has no benchmarks/replay.py")
    if options.pairs < 2:
        parser.error("an interval needs at least 2 pairs")
    with tempfile.TemporaryDirectory() as temporary:
        caches = options.caches or Path(temporary)
        arguments = ("--web-pages", str(options.web_pages)) if options.web_pages else ()
        old = Checkout(options.before.resolve(), caches / "before", options.bed, arguments)
        sides = (old, Checkout(ROOT, caches / "after", options.bed, arguments))
        print("| strategy | visits/s before | after | ratio | 95 % | MB before | after |")
        print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
        for strategy in options.strategies.split(","):
            for side in () if options.caches else sides:
                side.run(strategy)
            print(compare(*sides, strategy, options.pairs), flush=True)


if __name__ == "__main__":
    main()
