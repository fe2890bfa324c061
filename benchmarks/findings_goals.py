"""What economies and the Bayesian crawler look for, for `findings_econ.py`: pages that a judge of words calls goals.

A goal set has four words, those that say most about some pages (information gain); a page is a goal if it has all of
them, which is the judge's whole knowledge. On the web of the economies these are the pages of a community: a small part
of a subject whose other pages, tens of times as many, share most of its words, as beach volleyball is a small part of
sports in the paper. On other beds they are the pages of a topic. Of the sets with 200 to 800 goals the well connected
one has the most links from goal to goal, the scattered one the fewest. Goals of the second task are pages whose words
have enough points.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from findings_lab import ECONOMY, SEED, Place

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.generate.realistic.habits import RealisticHabits
from scenthound.lab.generate.realistic.realistic_web import RealisticWeb
from scenthound.model import Url
from scenthound.strategies.hayek.agents import information_gain
from scenthound.text.tokens import Analyser

ANALYSER = Analyser("english", False)
KNOWN, BACK = 15, 2
WORDS, FEWEST, MOST = 4, 200, 800


class Goals(NamedTuple):
    name: str
    words: str
    urls: frozenset[str]
    density: float
    """Links from a goal to another, on average."""


@cache
def goal_sets(at: Place) -> tuple[Goals, ...]:
    """The scattered set, with the fewest links from goal to goal, and the well connected one, with the most."""
    bed = at.prepared
    terms, rows = bed.terms(ANALYSER), np.asarray(bed.page_rows)
    sizes = np.bincount(terms.ids, minlength=len(terms.vocabulary))
    few, most = (5, 10_000) if at.settings.quick else (FEWEST, MOST)
    sets: dict[frozenset[int], Goals] = {}
    for inside in _groups(at):
        of_group = [terms.ids[terms.starts[row] : terms.starts[row + 1]] for row in rows[sorted(inside)]]
        hits = np.bincount(np.concatenate(of_group), minlength=len(sizes))
        gains = information_gain(len(inside), len(rows) - len(inside), hits, sizes - hits)
        gains[hits * len(rows) < sizes * len(inside)] = 0.0  # words that are rarer there say what a goal has not
        best = [int(term) for term in np.argsort(-gains, kind="stable")[:WORDS]]
        goals = _pages_with(terms, rows, dict.fromkeys(best, 1.0), WORDS)
        if few <= len(goals) <= most:
            sets[goals] = _as_goals(bed, "", " ".join(terms.vocabulary[term] for term in best), goals)
    print(f"{len(sets)} sets have {few} to {most} goals\n")
    rated = sorted(sets.values(), key=lambda goals: (goals.density, goals.words))
    return (rated[0]._replace(name="scattered"), rated[-1]._replace(name="well connected")) if rated else ()


def _groups(at: Place) -> Iterator[set[int]]:
    """Pages that belong together, by number: communities on the web of the economies, topics on other beds."""
    bed = at.prepared
    if at.name != "economy" or at.settings.quick:
        for topic in at.bed.topics:
            yield {number for url in (*topic.seeds, *topic.targets) if (number := bed.number(url)) is not None}
        return
    web = RealisticWeb(ECONOMY.pages, ECONOMY.seed, habits=RealisticHabits(**ECONOMY.habits))
    communities = web.plan.on_subject
    for group in range(len(communities.starts) - 1):
        numbers = (bed.number(web.url(page)) for page in communities.all(group))
        yield {number for number in numbers if number is not None}


def goals_by_points(at: Place, name: str, points: Mapping[str, float], needed: float) -> Goals:
    """The pages whose words have so many points."""
    terms, rows = at.prepared.terms(ANALYSER), np.asarray(at.prepared.page_rows)
    numbers = {word: number for number, word in enumerate(terms.vocabulary)}
    found = _pages_with(
        terms, rows, {numbers[word]: worth for word, worth in points.items() if word in numbers}, needed
    )
    return _as_goals(at.prepared, name, " ".join(points), found)


def _pages_with(terms: Any, rows: Any, points: Mapping[int, float], needed: float) -> frozenset[int]:
    """The numbers of the pages whose terms have so many points."""
    held = np.zeros(len(terms.starts))
    for term, worth in points.items():
        held[np.searchsorted(terms.starts, np.nonzero(terms.ids == term)[0], side="right") - 1] += worth
    return frozenset(np.nonzero(held[rows] >= needed - 1e-9)[0].tolist())


def _as_goals(bed: PreparedBed, name: str, words: str, numbers: frozenset[int]) -> Goals:
    urls = frozenset(bed.pages[number] for number in numbers)
    links = sum(link in urls for url in urls for link in bed.links(url))
    return Goals(name, words, urls, links / max(len(urls), 1))


def starts(at: Place, goals: Goals, run: int) -> list[Url]:
    """What every crawler of a run starts from: known goals, and pages that link to them."""
    rng = random.Random(f"{SEED} {goals.words} {run}")
    known = rng.sample(sorted(goals.urls), min(KNOWN, len(goals.urls)))
    back: Sequence[str] = []
    for url in known:
        linking = [one for one in at.back_links(url) if one not in goals.urls]
        back = [*back, *rng.sample(linking, min(BACK, len(linking)))]
    return [Url(url) for url in dict.fromkeys([*known, *back])]
