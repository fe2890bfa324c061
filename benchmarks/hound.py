"""How good hound is, one table at a time: `python benchmarks/hound.py TABLE [--bed NAME] [--into docs/results.md]`.

    recall      target recall of hound and of every other strategy, on five webs, paired differences
    taught      oracles and strategies that are given more than topic and seeds
    ablations   hound with one part switched off
    seeds       hound from 1, 3 and all seeds, and from two halves of them
    cues        hound with one kind of cue alone, and with all others; the DOM crawler's contexts
    overlap     what crawlers led by text and crawlers led by links find of the same targets
    greed       how far to depart from the ranking: hound's exploration, and N of best-N-first
    transfer    weights fitted on one web, tested on another
    live        crawls over HTTP with the default delay, beside their replay

Crawls are kept in `--work` (runs/hound); an interrupted table goes on where it stopped. `--into` puts the table into a
document, between two comments with its name. Recorded webs are read from $SCENTHOUND_SHARED/data (../shared/data by
default); a table skips those that are missing. `--quick` runs any table on a small generated web: its figures mean
nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from findings_lab import probability, table
from hound_lab import (
    OURS,
    POINTS,
    WEBS,
    Ask,
    Curves,
    Place,
    Settings,
    crawl,
    difference_with_error,
    is_below,
    number,
    place,
    put,
    with_error,
)
from hound_live import LiveCrawl, live_crawls

from scenthound.lab.measure.statistics import Comparison, mean

CONTROLS = ("random", "breadth-first", "home-pages", "backlink-count", "pagerank")
"""Strategies that know no topic."""
TOPICAL = (
    "best-first",
    "best-n-first",
    "dom",
    "hub-seeking",
    "hub-seeking:entity=url",
    "shark-search",
    "fish-search",
    "infospiders",
    "intelligent",
    "alliance",
    "cc-bfs",
)
"""Strategies that are given topic and seeds, and nothing else."""
TAUGHT = ("bayes", "focused-soft", "focused-hard", "context-graph", "reinforcement", "apprentice")
TEXT_LED = ("best-first", "dom", "shark-search")
LINK_LED = ("backlink-count", "pagerank", "alliance")
TESTED = (100, 250)
"""Pages at which hound has to be better than the best of the others."""
LIVE = (OURS, "best-first", "best-n-first", "breadth-first", "infospiders")
LIVE_PAGES, LIVE_TOPICS = 400, 4
LIVE_RECALLS = ("plain_recall", "polite_recall", "recall")
TAUGHT_TOPICS = {"schools": 20, "apache": 10}


def recall(at: Place, settings: Settings) -> str:
    """Means of every strategy, and hound less it, paired by topic."""
    topics = at.spaced(settings.topics)
    others = [*CONTROLS, *TOPICAL]
    curves = crawl(at, Ask([OURS, *others], topics), settings)
    return f"{_size(at, curves)}\n\n{_against(curves, others)}\n\n{_verdict(curves, others)}"


def taught(at: Place, settings: Settings) -> str:
    """Oracles, and strategies that are trained before the crawl."""
    topics = at.spaced(settings.topics or TAUGHT_TOPICS.get(at.name, 10))
    curves = crawl(at, Ask([OURS, *TAUGHT], topics, oracles=True), settings)
    others = [name for name in curves.found if name != OURS]
    given = [f"{name}: {', '.join(curves.given[name])}" for name in others if name in curves.given]
    return f"{_size(at, curves)}\n\n{_against(curves, others)}\n\nGiven beyond topic and seeds: {'; '.join(given)}."


def _size(at: Place, curves: Curves) -> str:
    topics = list(curves.found[OURS])
    categories = len({curves.groups[topic] for topic in topics})
    told = f" in {categories} categories" if categories < len(topics) else ""
    return f"**{at.name}**, {len(topics)} topics{told}."


def _against(curves: Curves, others: Sequence[str]) -> str:
    """A row of means for each strategy, with hound less it."""
    rows = [[f"**{OURS}**", *(with_error(curves.mean(OURS, point)) for point in curves.at), f"{curves.cost(OURS):.2f}"]]
    order = sorted(others, key=lambda name: -(curves.mean(name, curves.at[len(curves.at) // 2]).mean or 0.0))
    for name in order:
        cells = []
        for point in curves.at:
            one = curves.difference(OURS, name, point)
            cells.append(f"{number(one.means[1].mean)} ({difference_with_error(one)})")
        rows.append([name, *cells, f"{curves.cost(name):.2f}" if curves.seconds.get(name) else ""])
    return table(["strategy", *(f"{point:,}" for point in curves.at), "ms a page"], rows)


def _verdict(curves: Curves, others: Sequence[str]) -> str:
    """Whether hound is never below any by more than one standard error, and the tests against the best."""
    below = [
        f"{name} at {point:,}"
        for point in curves.at
        for name in others
        if is_below(curves.difference(OURS, name, point))
    ]
    lines = [f"Below by more than one standard error: {', '.join(below) or 'none'}."]
    points = [point for point in TESTED if point in curves.at]
    tests = curves.tested([(OURS, name) for name in others], points)
    for point in points:
        best = max(others, key=lambda name: curves.mean(name, point).mean or 0.0)
        one = next(test for test in tests if test.second == best and test.at == point)
        lines.append(f"At {point} pages the best other is {_tested(one)}.")
    ended = [f"{name} {count}" for name, count in curves.ended.items() if count]
    lines.append(f"Crawls that ran out of URLs: {', '.join(ended) or 'none'}.")
    return " ".join(lines)


def _tested(one: Comparison) -> str:
    """The second, the difference and its test."""
    won = f"{one.signs.wins} : {one.signs.losses}"
    return (
        f"{one.second}: {number(one.paired.mean, True)} ± {number(one.paired.error)}, "
        f"Holm p {probability(one.adjusted)}, won : lost {won}"
    )


def live(at: Place, settings: Settings) -> str:
    """Live crawls of 400 pages, beside their replays."""
    settings = replace(settings, pages=min(settings.pages, LIVE_PAGES))
    topics = at.spaced(settings.topics or LIVE_TOPICS)
    crawls = live_crawls(at, LIVE, topics, settings)
    rows = []
    for name in LIVE:
        own = [crawl for crawl in crawls if crawl.strategy == name]
        gaps = mean([crawl.recall - crawl.polite_recall for crawl in own])
        rows.append(
            [
                name,
                *(with_error(mean([crawl[LiveCrawl._fields.index(field)] for crawl in own])) for field in LIVE_RECALLS),
                f"{number(gaps.mean, True)} ± {number(gaps.error)}",
                f"{100 * (mean([crawl.same for crawl in own]).mean or 0.0):.0f} %",
                *(f"{sum(times) / len(times):,.0f} s" for times in _times(own)),
            ]
        )
    heads = ["strategy", "no delay", "polite replay", "live", "live less replay", "same pages", "virtual", "wall clock"]
    return f"**{at.name}**, {len(topics)} topics, {settings.pages} pages.\n\n{table(heads, rows)}"


def _times(crawls: Sequence[LiveCrawl]) -> tuple[list[float], list[float]]:
    return [crawl.polite_seconds for crawl in crawls], [crawl.seconds for crawl in crawls]


Table = Callable[[Place, Settings], str]
TABLES: dict[str, tuple[Table, tuple[str, ...]]] = {
    "recall": (recall, WEBS),
    "taught": (taught, ("schools", "apache")),
    "live": (live, ("generated-7", "apache")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--bed", action="append", choices=WEBS, help="only this web; may be said again")
    parser.add_argument("--topics", type=int, default=0, help="only so many topics, evenly spaced")
    parser.add_argument("--pages", type=int, default=POINTS[-1], help="pages of each crawl")
    parser.add_argument("--jobs", type=int, default=2, help="crawls at a time")
    parser.add_argument("--work", type=Path, default=Path("runs/hound"), help="where webs and crawls are kept")
    parser.add_argument("--into", type=Path, help="also put the table into this document")
    parser.add_argument("--quick", action="store_true", help="a small generated web; the figures mean nothing")
    said = parser.parse_args()
    if said.quick:
        with tempfile.TemporaryDirectory() as aside:
            settings = Settings(Path(aside), topics=2, pages=60)
            show(said.table, ["generated-1-small"], settings, None)
    else:
        settings = Settings(said.work, said.jobs, said.topics, said.pages)
        show(said.table, said.bed or TABLES[said.table][1], settings, said.into)


def show(name: str, beds: Sequence[str], settings: Settings, document: Path | None) -> None:
    make = TABLES[name][0]
    for bed in beds:
        at = place(bed, settings.work)
        if at is None:
            print(f"{bed}: skipped, ../shared is not here\n")
            continue
        text = make(at, settings)
        print(text + "\n", flush=True)
        if document is not None:
            put(document, f"{name} {bed}", text)


if __name__ == "__main__":
    main()
