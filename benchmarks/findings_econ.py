"""F10, F11, F12 of [ECON], for `findings.py`: economies against the Bayesian crawler, kickbacks, trained populations.

Two goal sets a bed, found by rule before anything is crawled: for each topic of the bed the two words that say most
about its pages (information gain); a page is a goal if it has both, which is the judge's whole knowledge. Of the sets
with 60 to 250 goals the well connected one has the most links from goal to goal, the scattered one the fewest. A run
draws 15 goals and, for each, 2 pages that link to it: all crawlers start from these, and are told no more. Every
finding is ten such runs a goal set; runs are kept in the work folder and not made again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from findings_lab import Place, finding, is_order, plus_minus, table, tests_table

from scenthound.lab.measure.statistics import adjust, compare, mean
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.model import Topic, Url
from scenthound.strategies.hayek.agents import information_gain
from scenthound.text.tokens import Analyser
from scenthound.wiring import make_strategy

ANALYSER = Analyser("english", False)
RUNS, KNOWN, BACK = 10, 15, 2
PAGES, POINTS = 600, 10
FEWEST, MOST = 60, 250
ESTIMATING = "hayek-estimating:fetch_all=true,sequences=restarted"
EPSILON = "hayek-epsilon:fetch_all=true,sequences=restarted"
VIRTUAL = "hayek-estimating:sequences=restarted"
ENDLESS = ("hayek-estimating", "hayek-epsilon")
BAYES = "bayes:mode=fetch-all"
BERNOULLI = "bayes:mode=fetch-all,events=bernoulli"
BREADTH = "breadth-first"
MIXES = ("", ",p=0.0,q=0.0,s=0.0", ",p=0.0,q=0.3,s=0.0", ",p=0.0,q=0.0,s=0.3")
TRAINED, FROZEN, LOOSE = "trained", "trained, frozen", "trained, endless"


class Goals(NamedTuple):
    name: str
    words: str
    urls: frozenset[str]
    density: float
    """Links from a goal to another, on average."""


class Track(NamedTuple):
    """Goals fetched and goals recognised after every tenth of the budget."""

    fetched: list[float]
    recognised: list[float]


@cache
def goal_sets(at: Place) -> tuple[Goals, Goals]:
    """The well connected and the scattered set."""
    bed = at.prepared
    places: dict[str, list[int]] = {}
    for number, url in enumerate(bed.pages):
        for word in bed.counts(url, ANALYSER) or ():
            places.setdefault(word, []).append(number)
    common = {word: found for word, found in places.items() if len(found) >= FEWEST and word.isalpha()}
    words, every = list(common), len(bed.pages)
    sets: dict[frozenset[int], str] = {}
    for topic in at.bed.topics:
        inside = {number for url in (*topic.seeds, *topic.targets) if (number := bed.number(url)) is not None}
        hits = np.array([sum(number in inside for number in common[word]) for word in words])
        sizes = np.array([len(common[word]) for word in words])
        gains = information_gain(len(inside), every - len(inside), hits, sizes - hits)
        gains[hits * every < sizes * len(inside)] = 0.0  # words that are rarer there say what a goal has not
        best = [words[place] for place in np.argsort(-gains, kind="stable")[:2]]
        found = frozenset(common[best[0]]) & frozenset(common[best[1]])
        if FEWEST <= len(found) <= MOST:
            sets.setdefault(found, " ".join(best))
    rated = sorted((_density(bed, found), name, found) for found, name in sets.items())

    def named(kind: str, one: tuple[float, str, frozenset[int]]) -> Goals:
        return Goals(kind, one[1], frozenset(bed.pages[number] for number in one[2]), one[0])

    return named("well connected", rated[-1]), named("scattered", rated[0])


def _density(bed: Any, goals: frozenset[int]) -> float:
    urls = {bed.pages[number] for number in goals}
    return sum(link in urls for url in urls for link in bed.links(url)) / len(urls)


def starts(at: Place, goals: Goals, run: int) -> list[Url]:
    """What every crawler of a run starts from: known goals, and pages that link to them."""
    rng = random.Random(f"{goals.words}:{run}")
    known = rng.sample(sorted(goals.urls), KNOWN)
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
        return float(text)
    except ValueError:
        return text


def crawl(at: Place, goals: Goals, run: int, strategy: Any) -> Track:
    """One crawl, as a track."""
    pages = at.settings.pages(PAGES)
    selected: list[tuple[str, int]] = []
    fetched: list[str] = []
    if hasattr(strategy, "on_select_"):
        strategy.on_select_ = lambda url, chance: selected.append((url, len(fetched)))
    inner = strategy.read

    def read(page: Any) -> Any:
        fetched.append(page.url)
        return inner(page)

    strategy.read = read
    result = run_strategy(
        at.prepared, Topic(goals.words), strategy, starts(at, goals, run), ReplayLimits(pages), seed_number=run
    )
    if result.error:
        raise RuntimeError(result.error)
    if hasattr(strategy, "economy_"):
        economy = strategy.economy_
        selected = [(economy.web.pages[page].url, when) for page, when in economy.counts.recognised.items()]
    points = [pages * tenth // POINTS for tenth in range(1, POINTS + 1)]
    return Track(
        [float(sum(url in goals.urls for url in fetched[:point])) for point in points],
        [float(sum(url in goals.urls and when <= point for url, when in selected)) for point in points],
    )


def kept(at: Place, goals: Goals, crawler: str, work: Callable[[int], Track]) -> list[Track]:
    """The tracks of a crawler, one a run: from the folder if they are there."""
    runs = 2 if at.settings.quick else RUNS
    asked = hashlib.sha256(f"{at.prepared.folder.name}{goals.words}{PAGES}{KNOWN}{BACK}".encode()).hexdigest()[:8]
    folder = at.settings.work / "economy" / f"{at.name}-{asked}"
    folder.mkdir(parents=True, exist_ok=True)
    tracks = []
    for run in range(runs):
        name = hashlib.sha256(f"{crawler}:{run}".encode()).hexdigest()[:16]
        file = folder / f"{name}.json"
        if not file.exists():
            file.write_text(json.dumps(work(run)), encoding="utf-8")
        tracks.append(Track(*json.loads(file.read_text(encoding="utf-8"))))
    return tracks


def all_tracks(at: Place, goals: Goals, crawlers: Sequence[str]) -> dict[str, list[Track]]:
    return {one: kept(at, goals, one, lambda run, one=one: crawl(at, goals, run, made(one))) for one in crawlers}  # type: ignore[misc]


def trained_tracks(at: Place, goals: Goals) -> dict[str, list[Track]]:
    """A crawl that learns, and crawls with the population it left: free, frozen, and in one endless sequence."""
    from scenthound.strategies.hayek.saved_state import save_model

    @cache
    def population(run: int) -> Any:
        strategy = made(VIRTUAL)
        crawl(at, goals, run, strategy)
        return save_model(strategy.economy_)

    def again(run: int, more: Mapping[str, Any]) -> Track:
        strategy = made(VIRTUAL, more)
        strategy.use(population(run))
        return crawl(at, goals, run, strategy)

    ways: dict[str, Mapping[str, Any]] = {
        TRAINED: {},
        FROZEN: {"adapt": False},
        LOOSE: {"sequences": "endless"},
    }
    found = all_tracks(at, goals, [VIRTUAL])
    for name, more in ways.items():
        found[name] = kept(at, goals, name, lambda run, more=more: again(run, more))  # type: ignore[misc]
    return found


# ---- what is printed


def printed(at: Place) -> Iterator[Goals]:
    for goals in goal_sets(at):
        print(
            f"\n### {at.name}, {goals.name}: {len(goals.urls)} goals with the words “{goals.words}”, "
            f"{goals.density:.1f} links from goal to goal\n"
        )
        yield goals


def means(tracks: Mapping[str, Sequence[Track]], pages: int) -> str:
    points = [point for point in range(POINTS) if point % 2]
    rows = [
        [
            name,
            kind,
            *(plus_minus(mean([getattr(track, kind)[point] for track in found]), 1) for point in points),
            plus_minus(mean([early(track, kind) for track in found]), 1),
        ]
        for name, found in tracks.items()
        for kind in ("fetched", "recognised")
        if kind == "fetched" or any(track.recognised[-1] for track in found)
    ]
    heads = ["crawler", "goals", *(f"{pages * (point + 1) // POINTS:,} pages" for point in points), "first third"]
    return table(heads, rows)


def early(track: Track, kind: str = "fetched") -> float:
    """The area under the first third of a track, as a mean height."""
    head = getattr(track, kind)[: POINTS // 3 + 1]
    return float(sum(head)) / len(head)


def single(tracks: Mapping[str, Sequence[Track]], pages: int, kind: str = "fetched") -> str:
    """Tracks of single runs, one a line, as the paper draws them."""
    heads = [f"{kind}, run", *(f"{pages * point // POINTS:,}" for point in range(1, POINTS + 1))]
    rows = [
        [f"{name} {number}", *(f"{value:.0f}" for value in getattr(track, kind))]
        for name, found in tracks.items()
        for number, track in enumerate(found[:3])
    ]
    return table(heads, rows)


def drawn(tracks: Mapping[str, Sequence[Track]], pages: int, title: str) -> str:
    """The first three runs of each crawler as an SVG: goals fetched as solid lines, goals recognised as dashed ones."""
    width, height, left, bottom = 720, 400, 48, 40
    top = max([1.0, *(max(track.fetched) for found in tracks.values() for track in found[:3])])
    right, high = width - 190, height - bottom - 30

    def points(values: Sequence[float]) -> str:
        places = [(0.0, 0.0), *((number / POINTS, value / top) for number, value in enumerate(values, 1))]
        return " ".join(f"{left + x * (right - left):.1f},{30 + (1 - y) * high:.1f}" for x, y in places)

    style = 'role="img" font-family="sans-serif" font-size="12"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {style}><title>{title}</title>']
    parts.append('<rect width="100%" height="100%" fill="#fff"/>')
    parts.append(f'<text x="{left}" y="18" font-size="14">{title}</text>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y, x = 30 + (1 - share) * high, left + share * (right - left)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{share * top:.0f}</text>')
        parts.append(f'<text x="{x:.1f}" y="{height - 22}" text-anchor="middle" fill="#555">{share * pages:.0f}</text>')
    parts.append(f'<text x="{right}" y="{height - 6}" text-anchor="end" fill="#555">pages fetched</text>')
    for number, (name, found) in enumerate(tracks.items()):
        colour = ("#1b6ca8", "#c8553d", "#3a7d44", "#7a5195")[number % 4]
        for track in found[:3]:
            for values, dash in ((track.fetched, ""), (track.recognised, ' stroke-dasharray="5 4"')):
                parts.append(f'<polyline points="{points(values)}" fill="none" stroke="{colour}"{dash}/>')
        label = name.split(":")[0]
        for line, (words, dash) in enumerate((("fetched", ""), ("recognised", ' stroke-dasharray="5 4"'))):
            y = 44 + 44 * number + 18 * line
            parts.append(f'<line x1="{right + 12}" x2="{right + 40}" y1="{y}" y2="{y}" stroke="{colour}"{dash}/>')
            parts.append(f'<text x="{right + 46}" y="{y + 4}">{label if not line else words}</text>')
    return "".join([*parts, "</svg>\n"])


def draw(at: Place, name: str, tracks: Mapping[str, Sequence[Track]], pages: int, title: str) -> None:
    """Write the picture of single runs into the work folder, and say where."""
    file = at.settings.work / "figures" / f"{name}.svg".replace(" ", "-")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(drawn(tracks, pages, title), encoding="utf-8")
    print(f"drawn: {file}\n")


def tested(
    tracks: Mapping[str, Sequence[Track]],
    pairs: Sequence[tuple[str, str]],
    value: Callable[[Track], float],
    what: str,
    pages: int,
) -> list[Any]:
    by_run = {name: {str(run): value(track) for run, track in enumerate(found)} for name, found in tracks.items()}
    found = adjust([compare((one, by_run[one]), (other, by_run[other]), what, pages) for one, other in pairs])
    print(tests_table(found, what) + "\n")
    return list(found)


def two_sided(comparisons: Sequence[Any]) -> list[float]:
    """Holm-adjusted p that two crawlers differ, in whichever direction."""
    found = sorted(2.0 * min(one.paired.p, 1.0 - one.paired.p) for one in comparisons if one.paired.p is not None)
    return [min(1.0, p * (len(found) - place)) for place, p in enumerate(found)]


def last(track: Track) -> float:
    return track.fetched[-1]


def average(found: Sequence[Track], value: Callable[[Track], float] = last) -> float:
    return sum(map(value, found)) / len(found)


# ---- the findings


@finding(
    "F10",
    "goal pages per fetch: bid-estimating > bid-epsilon > Bayesian; multinomial ≥ binomial; breadth-first about equal "
    "to Bayesian where goals are well connected. Accepted: order of means over ≥ 10 seeded runs.",
    ("schools", "two-goals"),
)
def f10(at: Place) -> bool:
    pages, met = at.settings.pages(PAGES), True
    for goals in printed(at):
        tracks = all_tracks(at, goals, [ESTIMATING, EPSILON, BAYES, BERNOULLI, BREADTH, VIRTUAL, *ENDLESS])
        print(means(tracks, pages) + "\n")
        shown = {one: tracks[one] for one in (ESTIMATING, EPSILON, BAYES)}
        for kind in ("fetched", "recognised"):
            print(single(shown, pages, kind) + "\n")
        draw(at, f"F10-{at.name}-{goals.name}", shown, pages, f"{at.name}, {goals.name}: goals of three runs")
        pairs = [(ESTIMATING, EPSILON), (EPSILON, BAYES), (ESTIMATING, BAYES), (BAYES, BERNOULLI), (BREADTH, BAYES)]
        pairs += [(ENDLESS[0], ENDLESS[1]), (ENDLESS[0], BAYES), (ENDLESS[0], ESTIMATING)]
        tested(tracks, pairs, last, "goals fetched at the end", pages)
        order = is_order([average(tracks[one]) for one in (ESTIMATING, EPSILON, BAYES)])
        events = average(tracks[BAYES]) >= average(tracks[BERNOULLI])
        print(f"order of means: {'yes' if order else 'no'}; multinomial ≥ Bernoulli: {'yes' if events else 'no'}")
        met = met and order and events
    return met


@finding(
    "F11",
    "with P = Q = S = 0 learning is slower at the start; the exact kickback mix matters little. Accepted: early area "
    "under the curve lower, final values within noise.",
    ("schools", "two-goals"),
)
def f11(at: Place) -> bool:
    pages, met = at.settings.pages(PAGES), True
    for goals in printed(at):
        tracks = all_tracks(at, goals, [VIRTUAL + mix for mix in MIXES])
        print(means(tracks, pages) + "\n")
        usual, none, *others = tracks
        pairs = [(usual, none), *((usual, other) for other in others)]
        for kind in ("fetched", "recognised"):
            tested(tracks, pairs, lambda track, kind=kind: early(track, kind), f"first third, {kind}", pages)  # type: ignore[misc]
        ends = tested(tracks, pairs, last, "goals fetched at the end", pages)
        slower = average(tracks[none], early) < average(tracks[usual], early)
        noise = all(p > 0.05 for p in two_sided(ends))
        print(
            f"slower without kickbacks: {'yes' if slower else 'no'}; ends within noise: {'yes' if noise else 'no'} "
            f"(smallest two-sided Holm p {min(two_sided(ends), default=1.0):.3f})"
        )
        met = met and slower and noise
    return met


@finding(
    "F12",
    "a stored trained population finds most goal pages within a few thousand fetches after reload and should be left "
    "free to adapt. Accepted: restart curve above training curve; frozen bids not better.",
    ("schools", "two-goals"),
)
def f12(at: Place) -> bool:
    pages, met = at.settings.pages(PAGES), True
    for goals in printed(at):
        tracks = trained_tracks(at, goals)
        print(means(tracks, pages) + "\n")
        print(single(tracks, pages, "recognised") + "\n")
        pairs = [(TRAINED, VIRTUAL), (TRAINED, FROZEN), (LOOSE, VIRTUAL)]
        tested(tracks, pairs, lambda track: sum(track.fetched) / POINTS, "goals fetched, mean over the curve", pages)
        tested(tracks, pairs, lambda track: track.recognised[-1], "goals recognised at the end", pages)
        area = {name: average(found, lambda track: sum(track.fetched)) for name, found in tracks.items()}
        above, free = area[TRAINED] > area[VIRTUAL], area[FROZEN] <= area[TRAINED]
        found = average(tracks[TRAINED]) / len(goals.urls)
        print(
            f"restart above training: {'yes' if above else 'no'}; frozen not better: {'yes' if free else 'no'}; "
            f"{found:.0%} of all goals were fetched within {pages:,} pages"
        )
        met = met and above and free
    return met
