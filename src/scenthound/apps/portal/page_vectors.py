"""Pages as tf-idf vectors of their most telling terms: which pages are alike, and which form a group.

The vector of a page has the 40 terms with the largest (1 + ln tf) * ln(N / df), at length 1. Groups are found by
k-means on the sphere: from five starts, each drawn by k-means++ from fixed random numbers, the one whose pages
are most like the middles of their groups is kept. The same pages give the same groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import stem, tokens

MOST_TERMS = 40
TITLE_WEIGHT = 3
"""A word of the title counts as often."""
STARTS, ROUNDS = 5, 40
_STOP = STOP_LISTS["english"]


def term_counts(title: str, text: str) -> Counter[str]:
    """How often each word occurs; those of the title count three times."""
    counts = Counter(tokens(text))
    for word in tokens(title):
        counts[word] += TITLE_WEIGHT
    return counts


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows in the order of the pages; terms are stems."""

    rows: Sequence[Mapping[str, float]]
    words: Mapping[str, str]
    """The word that stands for a stem: the most frequent one."""


def make_vectors(pages: Sequence[Mapping[str, int]]) -> Vectors:
    stems: list[Counter[str]] = []
    spread: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for counts in pages:
        of_page: Counter[str] = Counter()
        for word, times in counts.items():
            if word in _STOP or word.isdigit() or len(word) < 3:
                continue
            root = stem(word)
            of_page[root] += times
            forms.setdefault(root, Counter())[word] += times
        stems.append(of_page)
        spread.update(of_page.keys())
    rows = [_row(of_page, spread, len(pages)) for of_page in stems]
    words = {root: min(found, key=lambda word: (-found[word], word)) for root, found in forms.items()}
    return Vectors(rows, words)


def _row(counts: Mapping[str, int], spread: Mapping[str, int], pages: int) -> dict[str, float]:
    weights = {
        term: (1 + math.log(times)) * math.log((1 + pages) / spread[term])
        for term, times in counts.items()
        if spread[term] > 1 or pages < 3
    }
    best = sorted(weights, key=lambda term: (-weights[term], term))[:MOST_TERMS]
    length = math.sqrt(sum(weights[term] ** 2 for term in best))
    return {term: weights[term] / length for term in best} if length else {}


def related(rows: Sequence[Mapping[str, float]], most: int = 6, least: float = 0.1) -> list[list[int]]:
    """For each row the places of the rows most like it by cosine, best first."""
    postings = _postings(rows)
    found: list[list[int]] = []
    for place, row in enumerate(rows):
        scores = np.zeros(len(rows))
        for term, weight in row.items():
            places, weights = postings[term]
            scores[places] += weight * weights
        scores[place] = 0.0
        near = np.flatnonzero(scores >= least)
        order = near[np.lexsort((near, -np.round(scores[near], 9)))]
        found.append(order[:most].tolist())
    return found


def _postings(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    places: dict[str, list[int]] = {}
    weights: dict[str, list[float]] = {}
    for place, row in enumerate(rows):
        for term, weight in row.items():
            places.setdefault(term, []).append(place)
            weights.setdefault(term, []).append(weight)
    return {term: (np.array(places[term]), np.array(weights[term])) for term in places}


class Group(NamedTuple):
    """Rows that are alike."""

    middle: Mapping[str, float]
    """As a vector of length 1."""
    members: Sequence[int]
    """The places of its rows."""


def clusters(rows: Sequence[Mapping[str, float]], groups: int) -> list[Group]:
    """Groups of rows, the largest first. Empty rows belong to none."""
    names = sorted({term for row in rows for term in row})
    number = {term: place for place, term in enumerate(names)}
    places = [place for place, row in enumerate(rows) if row]
    if not places:
        return []
    matrix = _Rows([rows[place] for place in places], number)
    best: tuple[float, NDArray[np.float64], NDArray[np.int64]] | None = None
    for start in range(STARTS):
        found = _k_means(matrix, min(groups, len(places)), np.random.default_rng(start))
        if best is None or found[0] > best[0] + 1e-9:
            best = found
    assert best is not None
    _, middles, nearest = best
    sizes = np.bincount(nearest, minlength=len(middles))
    order = sorted((group for group in range(len(middles)) if sizes[group]), key=lambda group: (-sizes[group], group))
    return [
        Group(
            {names[place]: float(middles[group, place]) for place in np.flatnonzero(middles[group])},
            [places[row] for row in np.flatnonzero(nearest == group)],
        )
        for group in order
    ]


class _Rows:
    """Sparse rows, of which none is empty."""

    def __init__(self, rows: Sequence[Mapping[str, float]], number: Mapping[str, int]) -> None:
        self.begins = np.cumsum([0, *(len(row) for row in rows)])[:-1]
        self.columns = np.array([number[term] for row in rows for term in row])
        self.values = np.array([weight for row in rows for weight in row.values()])
        self.owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self.count, self.width = len(rows), len(number)

    def times(self, middle: NDArray[np.float64]) -> NDArray[np.float64]:
        """The dot product of each row with a vector."""
        made: NDArray[np.float64] = np.add.reduceat(self.values * middle[self.columns], self.begins)
        return made

    def dense(self, row: int) -> NDArray[np.float64]:
        vector = np.zeros(self.width)
        own = self.owner == row
        vector[self.columns[own]] = self.values[own]
        return vector

    def middle(self, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        own = wanted[self.owner]
        total = np.zeros(self.width)
        np.add.at(total, self.columns[own], self.values[own])
        length = np.linalg.norm(total)
        made: NDArray[np.float64] = total / length if length else total
        return made


def _k_means(
    rows: _Rows, groups: int, draws: np.random.Generator
) -> tuple[float, NDArray[np.float64], NDArray[np.int64]]:
    middles = [rows.dense(int(draws.integers(rows.count)))]
    nearness = rows.times(middles[0])
    while len(middles) < groups:
        far = np.clip(1.0 - nearness, 0.0, None)
        total = far.sum()
        chosen = int(draws.choice(rows.count, p=far / total)) if total > 1e-9 else int(draws.integers(rows.count))
        middles.append(rows.dense(chosen))
        nearness = np.maximum(nearness, rows.times(middles[-1]))
    table = np.array(middles)
    nearest = np.full(rows.count, -1)
    for _ in range(ROUNDS):
        scores = np.array([rows.times(middle) for middle in table])
        now = np.argmax(np.round(scores, 9), axis=0)
        if (now == nearest).all():
            break
        nearest = now
        table = np.array(
            [rows.middle(nearest == group) if (nearest == group).any() else table[group] for group in range(len(table))]
        )
    return float(scores.max(axis=0).sum()), table, nearest
