"""F10, F11, F12 of [ECON], for `findings.py`: economies against the Bayesian crawler, kickbacks, trained populations.

Two goal sets of the generated web, found by rule before anything is crawled: for each topic the four words that say
most about its pages (information gain); a page is a goal if it has all of them, which is the judge's whole knowledge.
Of the sets with 100 to 400 goals the well connected one has the most links from goal to goal, the scattered one the
fewest. A run draws 15 goals and, for each, 2 pages that link to it: all crawlers start from these, and are told no
more. Runs are kept in the work folder and not made again.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from findings_figures import draw
from findings_lab import SEED, Place, finding
from findings_print import Claim, judge_claims, plus_minus, table

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.measure.statistics import compare, mean
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.model import Topic, Url
from scenthound.strategies.hayek.agents import information_gain
from scenthound.strategies.hayek.saved_state import save_model
from scenthound.text.tokens import Analyser
from scenthound.wiring import make_strategy

ANALYSER = Analyser("english", False)
RUNS, KNOWN, BACK = 10, 15, 2
BUDGETS, POINTS = (20_000, 10_000, 5_000), 20
"""The largest at which the Bayesian crawler leaves room."""
SETS = 1  # the well connected one; 2: the scattered one too
WORDS, FEWEST, MOST = 4, 100, 400
ESTIMATING = "hayek-estimating:fetch_all=true,sequences=restarted"
EPSILON = "hayek-epsilon:fetch_all=true,sequences=restarted"
VIRTUAL = "hayek-estimating:sequences=restarted"
BAYES = "bayes:mode=fetch-all,score=probability,rescore_every=50"
"""All scores are computed again after every 50 selections: after each, 20,000 pages would take 20 minutes."""
BERNOULLI = f"{BAYES},events=bernoulli"
BREADTH = "breadth-first"
MIXES = ("", ",p=0.0,q=0.0,s=0.0", ",p=0.0,q=0.3,s=0.0", ",p=0.0,q=0.0,s=0.3")
QUALITIES = (4, 2, 1)  # of the training: a quarter, a half, all
ROOM = 0.3  # share of the goals that the Bayesian crawler may find at most


class Goals(NamedTuple):
    name: str
    words: str
    urls: frozenset[str]
    density: float
    """Links from a goal to another, on average."""


class Track(NamedTuple):
    """Goals fetched and goals recognised after every twentieth of the budget."""

    fetched: list[float]
    recognised: list[float]


@cache
def goal_sets(at: Place) -> tuple[Goals, ...]:
    """The well connected and the scattered set."""
    bed = at.prepared
    terms = bed.terms(ANALYSER)
    rows = np.asarray(bed.page_rows)
    sizes = np.bincount(terms.ids, minlength=len(terms.vocabulary))
    few, most = (5, 10_000) if at.settings.quick else (FEWEST, MOST)
    sets: dict[frozenset[int], str] = {}
    for topic in at.bed.topics:
        inside = {number for url in (*topic.seeds, *topic.targets) if (number := bed.number(url)) is not None}
        of_topic = [terms.ids[terms.starts[row] : terms.starts[row + 1]] for row in rows[sorted(inside)]]
        hits = np.bincount(np.concatenate(of_topic), minlength=len(sizes))
        gains = information_gain(len(inside), len(rows) - len(inside), hits, sizes - hits)
        gains[hits * len(rows) < sizes * len(inside)] = 0.0  # words that are rarer there say what a goal has not
        best = [int(term) for term in np.argsort(-gains, kind="stable")[:WORDS]]
        found = _pages_with(terms, rows, best)
        if few <= len(found) <= most:
            sets.setdefault(found, " ".join(terms.vocabulary[term] for term in best))
    rated = sorted((_density(bed, found), name, found) for found, name in sets.items())

    def named(kind: str, one: tuple[float, str, frozenset[int]]) -> Goals:
        return Goals(kind, one[1], frozenset(bed.pages[number] for number in one[2]), one[0])

    print(f"{len(rated)} topics have {few} to {most} goals\n")
    return (named("well connected", rated[-1]), named("scattered", rated[0]))[:SETS] if rated else ()


def _pages_with(terms: Any, rows: Any, wanted: Sequence[int]) -> frozenset[int]:
    """The numbers of the pages with all of these terms."""
    held = np.zeros(len(terms.starts), dtype=np.int64)
    for term in wanted:
        held[np.searchsorted(terms.starts, np.nonzero(terms.ids == term)[0], side="right") - 1] += 1
    return frozenset(np.nonzero(held[rows] == len(wanted))[0].tolist())


def _density(bed: PreparedBed, goals: frozenset[int]) -> float:
    urls = {bed.pages[number] for number in goals}
    return sum(link in urls for url in urls for link in bed.links(url)) / len(urls)


def starts(at: Place, goals: Goals, run: int) -> list[Url]:
    """What every crawler of a run starts from: known goals, and pages that link to them."""
    rng = random.Random(f"{SEED} {goals.words} {run}")
    known = rng.sample(sorted(goals.urls), min(KNOWN, len(goals.urls)))
    back = []
    for url in known:
        linking = [one for one in at.back_links(url) if one not in goals.urls]
        back += rng.sample(linking, min(BACK, len(linking)))
    return [Url(url) for url in dict.fromkeys([*known, *back])]


def made(crawler: str, more: Mapping[str, Any] | None = None) -> Any:
    name, _, said = crawler.partition(":")
    given = {key: _value(value) for key, _, value in (pair.partition("=") for pair in said.split(",") if pair)}
    return make_strategy(name, {**given, **(more or {})})


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


def crawl(at: Place, goals: Goals, run: int, strategy: Any, pages: int) -> Track:
    """One crawl, as a track."""
    selected: list[tuple[str, int]] = []
    fetched: list[str] = []
    if hasattr(strategy, "on_select_"):
        strategy.on_select_ = lambda url, chance: selected.append((url, len(fetched)))
    inner = strategy.read

    def read(page: Any) -> Any:
        fetched.append(page.url)
        return inner(page)

    strategy.read = read
    topic, seeds = Topic(goals.words), starts(at, goals, run)
    result = run_strategy(at.prepared, topic, strategy, seeds, ReplayLimits(pages, 1_000_000), seed_number=SEED + run)
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


def kept(at: Place, goals: Goals, crawler: str, pages: int, work: Callable[[int], Track]) -> list[Track]:
    """The tracks of a crawler, one a run: from the folder if they are there."""
    runs = 2 if at.settings.quick else min(RUNS, at.settings.topics or RUNS)
    folder = at.settings.work / "economy" / f"{at.folder.name}-{goals.name.replace(' ', '-')}-{pages}"
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


@cache
def budget(at: Place, goals: Goals) -> int:
    """The largest budget at which the Bayesian crawler finds less than 30 % of the goals; 0 if there is none."""
    for pages in map(at.settings.pages, BUDGETS):
        bayes = all_tracks(at, goals, [BAYES], pages)[BAYES]
        share = (mean([last(track) for track in bayes]).mean or 0.0) / len(goals.urls)
        print(f"The Bayesian crawler fetches {share:.1%} of the goals in {pages:,} pages\n")
        if share < ROOM:
            return pages
    return 0


def all_tracks(at: Place, goals: Goals, crawlers: Sequence[str], pages: int) -> dict[str, list[Track]]:
    return {
        one: kept(at, goals, one, pages, lambda run, one=one: crawl(at, goals, run, made(one), pages))  # type: ignore[misc]
        for one in crawlers
    }


def trained_tracks(at: Place, goals: Goals, pages: int) -> dict[str, list[Track]]:
    """The first quarter of a training, and crawls of that length with populations that had learned for longer."""
    short = pages // 4

    @cache
    def population(run: int, part: int) -> Any:
        strategy = made(VIRTUAL)
        crawl(at, goals, run, strategy, pages // part)
        return save_model(strategy.economy_)

    def again(run: int, part: int, more: Mapping[str, Any]) -> Track:
        strategy = made(VIRTUAL, more)
        strategy.use(population(run, part))
        return crawl(at, goals, run, strategy, short)

    found = {"training": kept(at, goals, VIRTUAL, short, lambda run: crawl(at, goals, run, made(VIRTUAL), short))}
    for part in QUALITIES:
        for words, more in ((f"trained 1/{part}", {}), (f"trained 1/{part}, frozen", {"adapt": False})):
            found[words] = kept(at, goals, words, short, lambda run, part=part, more=more: again(run, part, more))  # type: ignore[misc]
    return found


# ---- what is printed


def told(goals: Goals) -> None:
    print(
        f"## {goals.name}: {len(goals.urls)} goals with the words “{goals.words}”, {goals.density:.1f} links from "
        f"goal to goal\n"
    )


def means(tracks: Mapping[str, Sequence[Track]], pages: int) -> str:
    points = [place for place in range(POINTS) if (place + 1) % 5 == 0]
    rows = [
        [name, kind, *(plus_minus(mean([getattr(track, kind)[point] for track in found]), 1) for point in points)]
        for name, found in tracks.items()
        for kind in ("fetched", "recognised")
        if kind == "fetched" or any(track.recognised[-1] for track in found)
    ]
    heads = ["crawler", "goals", *(f"{pages * (point + 1) // POINTS:,} pages" for point in points)]
    return table(heads, rows)


def early(track: Track) -> float:
    """The mean height of the first third of a track."""
    head = track.fetched[: POINTS // 3 + 1]
    return sum(head) / len(head)


def last(track: Track) -> float:
    return track.fetched[-1]


def drawn(at: Place, name: str, goals: Goals, tracks: Mapping[str, Sequence[Track]], pages: int, kind: str) -> None:
    """Mean tracks with their standard errors."""
    if at.settings.quick:
        return
    lines = {}
    for label, found in tracks.items():
        if not any(getattr(track, kind)[-1] for track in found):
            continue  # a crawler that selects nothing recognises nothing
        over = [mean([getattr(track, kind)[place] for track in found]) for place in range(POINTS)]
        points = [(pages * (place + 1) / POINTS, one.mean or 0.0, one.error or 0.0) for place, one in enumerate(over)]
        lines[label] = [(0.0, 0.0, 0.0), *points]
    title = f"Goals {kind}, {goals.name} ({len(goals.urls)} goals, mean of {len(next(iter(tracks.values())))} runs)"
    draw(at, f"{name}-{at.name}-{goals.name.replace(' ', '-')}-{kind}", title, "goals", lines)


def claim(tracks: Mapping[str, Sequence[Track]], one: str, other: str, value: Callable[[Track], float]) -> Claim:
    """Paired by run: both crawlers start from the same pages."""
    by_run = {name: {str(run): value(track) for run, track in enumerate(tracks[name])} for name in (one, other)}
    return Claim(f"{one} above {other}", compare((one, by_run[one]), (other, by_run[other]), "goals", None))


# ---- the findings


@finding(
    "F10",
    "goal pages per fetch: bid-estimating > bid-epsilon > Bayesian; multinomial ≥ binomial; breadth-first about equal "
    "to Bayesian where goals are well connected. Accepted: order of means over ≥ 10 seeded runs, each step p < 0.05.",
    ("generated",),
)
def f10(at: Place) -> str:
    said = []
    for goals in goal_sets(at):
        told(goals)
        room = budget(at, goals)
        pages = room or at.settings.pages(BUDGETS[-1])
        tracks = all_tracks(at, goals, [ESTIMATING, EPSILON, BAYES, BERNOULLI, BREADTH], pages)
        print(means(tracks, pages) + "\n")
        names = {
            "estimating": tracks[ESTIMATING],
            "epsilon": tracks[EPSILON],
            "Bayes": tracks[BAYES],
            "breadth-first": tracks[BREADTH],
        }
        for kind in ("fetched", "recognised"):
            drawn(at, "F10", goals, names, pages, kind)
        print("Not part of the verdict:\n")
        judge_claims([claim(tracks, ESTIMATING, BAYES, last), claim(tracks, BREADTH, BAYES, last)])
        pairs = ((ESTIMATING, EPSILON), (EPSILON, BAYES), (BAYES, BERNOULLI))
        verdict = judge_claims([claim(tracks, *pair, last) for pair in pairs])
        said.append(f"{goals.name}: {verdict if room else 'not testable here, the Bayesian crawler finds too much'}")
    return "; ".join(said) or "not testable here: no goal set"


@finding(
    "F11",
    "with P = Q = S = 0 learning is slower at the start; the exact kickback mix matters little. Accepted: early area "
    "under the curve lower, final values within noise.",
    ("generated",),
)
def f11(at: Place) -> str:
    said = []
    for goals in goal_sets(at):
        told(goals)
        pages = budget(at, goals) or at.settings.pages(BUDGETS[-1])
        usual, none, *others = (VIRTUAL + mix for mix in MIXES)
        tracks = all_tracks(at, goals, [usual, none, *others], pages)
        print(means(tracks, pages) + "\n")
        ends = [claim(tracks, usual, other, last) for other in others]
        judge_claims([claim(tracks, usual, none, last), *ends])
        little = all(0.025 < (one.test.paired.p or 0.5) < 0.975 for one in ends)
        slower = judge_claims([claim(tracks, usual, none, early)])
        said.append(f"{goals.name}: slower at first {slower}; mixes {'do not differ' if little else 'differ'}")
    return "; ".join(said) or "not testable here: no goal set"


@finding(
    "F12",
    "a stored trained population finds most goal pages within a few thousand fetches after reload and should be left "
    "free to adapt. Accepted: restart curve above training curve; frozen bids not better.",
    ("generated",),
)
def f12(at: Place) -> str:
    said = []
    for goals in goal_sets(at):
        told(goals)
        pages = budget(at, goals) or at.settings.pages(BUDGETS[-1])
        tracks, short = trained_tracks(at, goals, pages), pages // 4
        print(means(tracks, short) + "\n")
        drawn(
            at,
            "F12",
            goals,
            {name: found for name, found in tracks.items() if "frozen" not in name},
            short,
            "recognised",
        )
        best = f"trained 1/{QUALITIES[-1]}"

        def recognised(track: Track) -> float:
            return track.recognised[-1]

        above = judge_claims([claim(tracks, best, "training", recognised)])
        free = judge_claims([claim(tracks, best, f"{best}, frozen", recognised)])
        said.append(f"{goals.name}: trained above training {above}; free above frozen {free}")
    return "; ".join(said) or "not testable here: no goal set"
