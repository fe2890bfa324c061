"""What a crawl loses and saves by stopping when little is left to find (`loop/figures.py`, `crawl --stop-when-done`).

    $ python benchmarks/stopping.py [--quick] [--trails FOLDER] [--topics 15] [--pages 1000]

Crawls a generated web and, if they are available, the recorded webs `schools` and `apache` of ../shared/data in replay,
to the end of the budget, with the judge `topic`. Then rules are tried on these trails. A rule is the window over which
relevance is averaged, and the share of all finds that may be left. Loss is the share of the targets found within the
budget that came after the stop; saved is the share of the budget that was not fetched.

Topics are split as in judge.py: rules are chosen on `tune` and reported on `test`. Of the rules that lose at most 5 %
on average on each web with each strategy, the one that saves most is chosen. The last table shows how good the estimate
is: at a third and two thirds of the budget, the share of all finds expected to be left, and the true share. With
`--trails` the trails are kept in that folder, and existing trails are not crawled again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from judge import half, webs

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.looking_for import is_counted
from scenthound.loop.figures import FORECAST_FROM, Forecast
from scenthound.topic_list import BedTopic

STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "generated": ("hound", "best-first"),
    "schools": ("hound", "best-first"),
    "apache": ("hound", "home-pages"),
}
WINDOWS = (50, 100, 150, 200, 250, 300, 400)
SHARES = (0.02, 0.05, 0.075, 0.1, 0.15, 0.2)
MOST_LOST = 0.05


@dataclass(frozen=True)
class Trail:
    """One crawl, page by page."""

    web: str
    strategy: str
    topic: str
    half: str
    relevance: Sequence[float]
    """The judge's verdict when the page was fetched; nan for seeds."""
    is_target: Sequence[int]


@dataclass(frozen=True)
class Rule:
    window: int
    share: float

    def stop(self, trail: Trail, budget: int) -> int:
        """The number of pages after which the rule stops a crawl."""
        forecast, pages = Forecast(self.window), min(budget, len(trail.relevance))
        for page_number, relevance in enumerate(trail.relevance[:pages]):
            left = forecast.left(budget - page_number)
            if left is not None and left.share <= self.share:
                return page_number
            forecast.page(relevance, is_seed=relevance != relevance)
        return pages


@dataclass(frozen=True)
class Outcome:
    """Loss and savings of one rule on the trails of one web and strategy."""

    loss: float
    loss_90: float
    saved: float
    topics: int

    @classmethod
    def of(cls, rule: Rule, trails: Sequence[Trail], budget: int) -> Outcome:
        losses, saved = [], []
        for trail in trails:
            pages, stop = min(budget, len(trail.relevance)), rule.stop(trail, budget)
            found = sum(trail.is_target[:pages])
            losses.append(1 - sum(trail.is_target[:stop]) / found if found else 0.0)
            saved.append(1 - stop / pages)
        return cls(float(np.mean(losses)), float(np.quantile(losses, 0.9)), float(np.mean(saved)), len(trails))


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        kept = options.trails or Path(folder) / "trails"
        kept.mkdir(parents=True, exist_ok=True)
        trails = [trail for web in webs(Path(folder), options.quick) for trail in recorded(web, kept, options)]
    report(trails, 60 if options.quick else options.pages, quick=options.quick)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small generated web, 2 topics of each half, 60 pages")
    parser.add_argument("--trails", type=Path, help="keep trails in this folder, and reuse those already there")
    parser.add_argument("--topics", type=int, default=15, help="most topics from each half of a web")
    parser.add_argument("--pages", type=int, default=1000, help="page budget of each crawl")
    return parser.parse_args()


def recorded(web: Bed, folder: Path, options: argparse.Namespace) -> Iterator[Trail]:
    """The trails of a web, read from the folder if they are there, else crawled and kept there."""
    name = web.name.split()[0].partition("-")[0]
    prepared: PreparedBed | None = None
    for which in ("tune", "test"):
        topics = half(web, which)
        most = 2 if options.quick else options.topics
        for topic in topics[:: max(1, -(-len(topics) // most))]:
            for strategy in STRATEGIES[name]:
                kept = folder / f"{name}-{strategy}-{topic.id.replace('/', '_')}.json"
                if not kept.exists():
                    prepared = prepared or prepare(web)
                    pages = 60 if options.quick else options.pages
                    trail = crawled(prepared, topic, name, strategy, which, pages)
                    kept.write_text(json.dumps(asdict(trail)), encoding="utf-8")
                yield Trail(**json.loads(kept.read_text(encoding="utf-8")))


def crawled(bed: PreparedBed, topic: BedTopic, web: str, strategy: str, which: str, pages: int) -> Trail:
    steps = run_cell(bed, topic, strategy, limits=ReplayLimits(pages=pages, judge="topic")).steps
    aliases, given_urls = bed.aliases, {*map(str, topic.seeds), *map(str, topic.examples)}
    given_urls |= {aliases[url] for url in given_urls if url in aliases}
    targets = {aliases.get(url, url) for url in topic.targets} | set(topic.targets)
    is_target = [
        int(not given_urls & {step.url, step.requested} and bool(targets & {step.url, step.requested}))
        for step in steps
    ]
    found = (step.relevance * is_counted(step.url, topic.looking_for) for step in steps)
    relevance = [float("nan") if step.depth == 0 else round(value, 5) for step, value in zip(steps, found, strict=True)]
    return Trail(web, strategy, topic.id, which, relevance, is_target)


def report(trails: Sequence[Trail], budget: int, quick: bool) -> None:
    groups: dict[str, dict[tuple[str, str], list[Trail]]] = {"tune": defaultdict(list), "test": defaultdict(list)}
    for trail in trails:
        groups[trail.half][trail.web, trail.strategy].append(trail)
    windows = (10, 20) if quick else WINDOWS
    rules = [Rule(window, share) for window in windows for share in SHARES]
    outcomes = {rule: {key: Outcome.of(rule, group, budget) for key, group in groups["tune"].items()} for rule in rules}
    print(f"all rules on the tuning half, a budget of {budget:,} pages: loss, saved")
    print(f"{'window':>6} {'share':>6} " + " ".join(f"{web} {strategy}".rjust(22) for web, strategy in groups["tune"]))
    for rule, by_group in outcomes.items():
        row = " ".join(f"{outcome.loss:.3f} {outcome.saved:.2f}".rjust(22) for outcome in by_group.values())
        print(f"{rule.window:6} {rule.share:6.3f} {row}")
    keeping = [rule for rule in rules if max(outcome.loss for outcome in outcomes[rule].values()) <= MOST_LOST]
    best = max(keeping, key=lambda rule: np.mean([outcome.saved for outcome in outcomes[rule].values()]), default=None)
    print(f"\nchosen on the tuning half: {best or 'no rule keeps the promise'}")
    shown = dict.fromkeys([*([best] if best else []), Rule(min(FORECAST_FROM, max(windows)), MOST_LOST)])
    for rule in shown:
        print(
            f"\n{rule} on the test half\n{'web':10} {'strategy':12} {'topics':>6} {'loss':>6} {'90 %':>6} {'saved':>6}"
        )
        for (web, strategy), group in groups["test"].items():
            outcome = Outcome.of(rule, group, budget)
            losses = f"{outcome.loss:6.3f} {outcome.loss_90:6.3f}"
            print(f"{web:10} {strategy:12} {outcome.topics:6} {losses} {outcome.saved:6.2f}")
    _report_estimate(groups["test"], budget, min(FORECAST_FROM, max(windows)))


def _report_estimate(groups: Mapping[tuple[str, str], Sequence[Trail]], budget: int, window: int) -> None:
    print(f"\nshare of all finds that was left, expected and true, window {window}, test half")
    for (web, strategy), trails in groups.items():
        columns = []
        for part in (1 / 3, 2 / 3):
            pairs = [pair for trail in trails if (pair := _estimate(trail, budget, int(part * budget), window))]
            expected, true = np.mean(pairs, axis=0) if pairs else (float("nan"), float("nan"))
            columns.append(f"{int(part * budget):5} pages: {expected:.2f} {true:.2f}")
        print(f"{web:10} {strategy:12} {';'.join(columns)}")


def _estimate(trail: Trail, budget: int, pages: int, window: int) -> tuple[float, float] | None:
    """The share of all finds expected to be left after `pages` pages, and the true share."""
    forecast, found = Forecast(window), sum(trail.is_target[:budget])
    for relevance in trail.relevance[:pages]:
        forecast.page(relevance, is_seed=relevance != relevance)
    left = forecast.left(budget - pages)
    return (left.share, 1 - sum(trail.is_target[:pages]) / found) if left is not None and found else None


if __name__ == "__main__":
    main()
