"""The goal pages that economies and the Bayesian crawler look for, for `findings_econ.py`.

A goal set has four words: those that are most informative about a group of pages (information gain). A page is a goal
if it has all four; the judge knows nothing else. On the web of the economies the groups are communities: small parts of
a subject whose other pages, tens of times as many, share most of its words, as beach volleyball is a small part of
sports in the paper. On other beds the groups are the pages of a topic. Among the sets with 200 to 800 goals, the well
connected one has the most links from goal to goal and the scattered one the fewest. Goals of the second task are pages
whose words have enough points.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from findings_lab import ECONOMY, SEED, BenchWeb

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.generate.realistic_web import RealisticWeb
from scenthound.lab.generate.realistic_words import RealisticHabits
from scenthound.model import Url
from scenthound.papers.hayek.agents import information_gain
from scenthound.text.tokens import Analyser

ANALYSER = Analyser("english", False)
KNOWN, BACK = 15, 2  # known goals of a run, and pages that link to each
WORDS, FEWEST, MOST = 4, 200, 800  # words of a goal set, and the limits of its size


class Goals(NamedTuple):
    name: str
    words: str
    urls: frozenset[str]
    density: float
    """Mean number of links from a goal to other goals."""


@cache
def goal_sets(web: BenchWeb) -> tuple[Goals, ...]:
    """The scattered set, with the fewest links from goal to goal, and the well connected one, with the most."""
    bed = web.prepared
    terms, rows = bed.terms(ANALYSER), np.asarray(bed.page_rows)
    sizes = np.bincount(terms.ids, minlength=len(terms.vocabulary))
    fewest, most = (5, 10_000) if web.settings.quick else (FEWEST, MOST)
    sets: dict[frozenset[int], Goals] = {}
    for inside in _groups(web):
        group_terms = [terms.ids[terms.starts[row] : terms.starts[row + 1]] for row in rows[sorted(inside)]]
        hits = np.bincount(np.concatenate(group_terms), minlength=len(sizes))
        gains = information_gain(len(inside), len(rows) - len(inside), hits, sizes - hits)
        gains[hits * len(rows) < sizes * len(inside)] = (
            0.0  # words that are rarer in the group describe what a goal does not have
        )
        best = [int(term) for term in np.argsort(-gains, kind="stable")[:WORDS]]
        goals = _pages_with(terms, rows, dict.fromkeys(best, 1.0), WORDS)
        if fewest <= len(goals) <= most:
            sets[goals] = _as_goals(bed, "", " ".join(terms.vocabulary[term] for term in best), goals)
    print(f"{len(sets)} sets have {fewest} to {most} goals\n")
    by_density = sorted(sets.values(), key=lambda goals: (goals.density, goals.words))
    return (
        (by_density[0]._replace(name="scattered"), by_density[-1]._replace(name="well connected")) if by_density else ()
    )


def _groups(web: BenchWeb) -> Iterator[set[int]]:
    """Groups of page numbers: communities on the web of the economies, topics on other beds."""
    bed = web.prepared
    if web.name != "economy" or web.settings.quick:
        for topic in web.bed.topics:
            yield {number for url in (*topic.seeds, *topic.targets) if (number := bed.number(url)) is not None}
        return
    realistic = RealisticWeb(ECONOMY.pages, ECONOMY.seed, habits=RealisticHabits(**ECONOMY.habits))
    communities = realistic.plan.on_subject
    for group in range(len(communities.starts) - 1):
        numbers = (bed.number(realistic.url(page)) for page in communities.all(group))
        yield {number for number in numbers if number is not None}


def goals_by_points(web: BenchWeb, name: str, points: Mapping[str, float], needed: float) -> Goals:
    """The pages whose words have at least `needed` points."""
    terms, rows = web.prepared.terms(ANALYSER), np.asarray(web.prepared.page_rows)
    term_ids = {word: term_id for term_id, word in enumerate(terms.vocabulary)}
    pages = _pages_with(
        terms, rows, {term_ids[word]: weight for word, weight in points.items() if word in term_ids}, needed
    )
    return _as_goals(web.prepared, name, " ".join(points), pages)


def _pages_with(terms: Any, rows: Any, points: Mapping[int, float], needed: float) -> frozenset[int]:
    """The numbers of the pages whose terms have at least `needed` points."""
    totals = np.zeros(len(terms.starts))
    for term, weight in points.items():
        totals[np.searchsorted(terms.starts, np.nonzero(terms.ids == term)[0], side="right") - 1] += weight
    return frozenset(np.nonzero(totals[rows] >= needed - 1e-9)[0].tolist())


def _as_goals(bed: PreparedBed, name: str, words: str, numbers: frozenset[int]) -> Goals:
    urls = frozenset(bed.pages[number] for number in numbers)
    links = sum(link in urls for url in urls for link in bed.links(url))
    return Goals(name, words, urls, links / max(len(urls), 1))


def starts(web: BenchWeb, goals: Goals, run: int) -> list[Url]:
    """The seeds of every crawler in a run: known goals, and pages that link to them."""
    rng = random.Random(f"{SEED} {goals.words} {run}")
    known_goals = rng.sample(sorted(goals.urls), min(KNOWN, len(goals.urls)))
    back_links: Sequence[str] = []
    for url in known_goals:
        linking = [source for source in web.back_links(url) if source not in goals.urls]
        back_links = [*back_links, *rng.sample(linking, min(BACK, len(linking)))]
    return [Url(url) for url in dict.fromkeys([*known_goals, *back_links])]
