"""Crawls of [ECON]'s tasks as tracks (goals fetched and recognised as pages are fetched), for `findings_econ.py`.

A run draws 15 goals and, for each, 2 pages that link to it. All crawlers start from these pages and are given nothing
else. Finished runs are kept in the work folder and not repeated.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from findings_figures import draw
from findings_goals import Goals, starts
from findings_lab import SEED, BenchWeb
from findings_print import Claim, plus_minus, table

from scenthound.lab.measure.statistics import compare, mean
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.model import Topic
from scenthound.wiring import make_strategy

RUNS, POINTS = 10, 20


class Track(NamedTuple):
    """Goals fetched and goals recognised after every twentieth of the budget."""

    fetched: list[float]
    recognised: list[float]


def build_strategy(crawler: str, changes: Mapping[str, Any] | None = None) -> Any:
    name, _, settings = crawler.partition(":")
    parameters = {key: _value(value) for key, _, value in (pair.partition("=") for pair in settings.split(",") if pair)}
    return make_strategy(name, {**parameters, **(changes or {})})


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


def crawl(
    web: BenchWeb,
    goals: Goals,
    run: int,
    strategy: Any,
    pages: int,
    on_page: Callable[[int], None] = lambda fetched: None,
) -> Track:
    """Run one crawl and return its track. `on_page` is called after every page with the number of pages so far."""
    selected: list[tuple[str, int]] = []
    fetched: list[str] = []
    if hasattr(strategy, "on_select_"):
        strategy.on_select_ = lambda url, chance: selected.append((url, len(fetched)))
    inner = strategy.read

    def read(page: Any) -> Any:
        fetched.append(page.url)
        offers = inner(page)
        on_page(len(fetched))
        return offers

    strategy.read = read
    topic, seeds = Topic(goals.words), starts(web, goals, run)
    result = run_strategy(web.prepared, topic, strategy, seeds, ReplayLimits(pages, 1_000_000), seed_number=SEED + run)
    if result.error:
        raise RuntimeError(result.error)
    if hasattr(strategy, "economy_"):
        economy = strategy.economy_
        selected = [(economy.web.pages[page].url, when) for page, when in economy.counts.recognised.items()]
    points = [pages * part // POINTS for part in range(1, POINTS + 1)]
    return Track(
        [float(sum(url in goals.urls for url in fetched[:point])) for point in points],
        [float(sum(url in goals.urls and when <= point for url, when in selected)) for point in points],
    )


def cached_tracks(web: BenchWeb, goals: Goals, crawler: str, pages: int, work: Callable[[int], Track]) -> list[Track]:
    """The tracks of a crawler, one per run; read from the work folder if they are there, else made by `work`."""
    runs = 2 if web.settings.quick else min(RUNS, web.settings.topics or RUNS)
    folder = web.settings.work / "economy" / f"{web.folder.name}-{goals.name.replace(' ', '-')}-{pages}"
    folder.mkdir(parents=True, exist_ok=True)
    tracks = []
    for run in range(runs):
        name = hashlib.sha256(f"{crawler}:{goals.words}:{run}".encode()).hexdigest()[:16]
        file = folder / f"{name}.json"
        if not file.exists():
            began = time.process_time()
            file.write_text(json.dumps(work(run)), encoding="utf-8")
            note = f"{goals.name} {crawler} {run}: {time.process_time() - began:.0f} s\n"
            with (folder / "seconds.txt").open("a", encoding="utf-8") as seconds:
                seconds.write(note)
        tracks.append(Track(*json.loads(file.read_text(encoding="utf-8"))))
    return tracks


def all_tracks(web: BenchWeb, goals: Goals, crawlers: Sequence[str], pages: int) -> dict[str, list[Track]]:
    def run_crawler(crawler: str, run: int) -> Track:
        return crawl(web, goals, run, build_strategy(crawler), pages)

    return {crawler: cached_tracks(web, goals, crawler, pages, partial(run_crawler, crawler)) for crawler in crawlers}


# ---- output


def print_goals(goals: Goals) -> None:
    print(
        f"## {goals.name}: {len(goals.urls)} goals with the words “{goals.words}”, {goals.density:.1f} links from "
        f"goal to goal\n"
    )


def means(tracks: Mapping[str, Sequence[Track]], pages: int) -> str:
    points = [index for index in range(POINTS) if (index + 1) % 5 == 0]
    rows = [
        [name, kind, *(plus_minus(mean([getattr(track, kind)[point] for track in runs]), 1) for point in points)]
        for name, runs in tracks.items()
        for kind in ("fetched", "recognised")
        if kind == "fetched" or any(track.recognised[-1] for track in runs)
    ]
    heads = ["crawler", "goals", *(f"{pages * (point + 1) // POINTS:,} pages" for point in points)]
    return table(heads, rows)


def early(track: Track) -> float:
    """The mean number of goals fetched over the first third of a track."""
    head = track.fetched[: POINTS // 3 + 1]
    return sum(head) / len(head)


def last(track: Track) -> float:
    return track.fetched[-1]


def recognised(track: Track) -> float:
    return track.recognised[-1]


def draw_tracks(
    web: BenchWeb, name: str, goals: Goals, tracks: Mapping[str, Sequence[Track]], pages: int, kind: str
) -> None:
    """Draw mean tracks with their standard errors."""
    if web.settings.quick:
        return
    lines = {}
    for label, runs in tracks.items():
        if not any(getattr(track, kind)[-1] for track in runs):
            continue  # a crawler that selects nothing recognises nothing
        means = [mean([getattr(track, kind)[index] for track in runs]) for index in range(POINTS)]
        points = [
            (pages * (index + 1) / POINTS, value.mean or 0.0, value.error or 0.0) for index, value in enumerate(means)
        ]
        lines[label] = [(0.0, 0.0, 0.0), *points]
    title = f"Goals {kind}, {goals.name} ({len(goals.urls)} goals, mean of {len(next(iter(tracks.values())))} runs)"
    draw(web, f"{name}-{web.name}-{goals.name.replace(' ', '-')}-{kind}", title, "goals", lines)


def claim(tracks: Mapping[str, Sequence[Track]], one: str, other: str, value: Callable[[Track], float]) -> Claim:
    """Paired by run: both crawlers start from the same pages."""
    by_run = {name: {str(run): value(track) for run, track in enumerate(tracks[name])} for name in (one, other)}
    return Claim(f"{one} above {other}", compare((one, by_run[one]), (other, by_run[other]), "goals", None))
