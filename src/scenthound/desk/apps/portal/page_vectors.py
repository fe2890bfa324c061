"""Represent pages as tf-idf vectors, find similar pages, and cluster pages.

The vector of a page has the 40 terms with the largest (1 + ln tf) * ln((1 + N) / df), normalised to length 1. Stop
words, numbers, words of one or two letters and (given three pages or more) terms on only one page are ignored. Clusters
are computed by spherical k-means, run five times with k-means++ and fixed random seeds; the run with the largest total
similarity of pages to their centroids is used. The same pages always give the same clusters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.text.tokens import STOP_LISTS, stem, tokens

MOST_TERMS = 40
TITLE_WEIGHT = 3
"""How many occurrences in the text an occurrence in the title counts as."""
STARTS, ROUNDS = 5, 40
_STOP = STOP_LISTS["english"]


def term_counts(title: str, text: str) -> Counter[str]:
    """Count the words of a page; each occurrence in the title adds `TITLE_WEIGHT`."""
    counts = Counter(tokens(text))
    for word in tokens(title):
        counts[word] += TITLE_WEIGHT
    return counts


@dataclass(frozen=True, slots=True)
class Vectors:
    """One sparse row (stem -> weight) per page, in the order of the pages."""

    rows: Sequence[Mapping[str, float]]
    words: Mapping[str, str]
    """Stem -> its most frequent spelling."""


def make_vectors(pages: Sequence[Mapping[str, int]]) -> Vectors:
    stems: list[Counter[str]] = []
    document_counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for counts in pages:
        page_stems: Counter[str] = Counter()
        for word, times in counts.items():
            if word in _STOP or word.isdigit() or len(word) < 3:
                continue
            root = stem(word)
            page_stems[root] += times
            forms.setdefault(root, Counter())[word] += times
        stems.append(page_stems)
        document_counts.update(page_stems.keys())
    rows = [_row(page_stems, document_counts, len(pages)) for page_stems in stems]
    words = {root: min(counts, key=lambda word: (-counts[word], word)) for root, counts in forms.items()}
    return Vectors(rows, words)


def _row(counts: Mapping[str, int], document_counts: Mapping[str, int], pages: int) -> dict[str, float]:
    weights = {
        term: (1 + math.log(times)) * math.log((1 + pages) / document_counts[term])
        for term, times in counts.items()
        if document_counts[term] > 1 or pages < 3
    }
    best = sorted(weights, key=lambda term: (-weights[term], term))[:MOST_TERMS]
    length = math.sqrt(sum(weights[term] ** 2 for term in best))
    return {term: weights[term] / length for term in best} if length else {}


def most_similar(rows: Sequence[Mapping[str, float]], most: int = 6, least: float = 0.1) -> list[list[int]]:
    """For each row, the indices of up to `most` rows with a cosine of at least `least`, best first."""
    postings = _postings(rows)
    similar: list[list[int]] = []
    for index, row in enumerate(rows):
        scores = np.zeros(len(rows))
        for term, weight in row.items():
            indices, weights = postings[term]
            scores[indices] += weight * weights
        scores[index] = 0.0
        near = np.flatnonzero(scores >= least)
        order = near[np.lexsort((near, -np.round(scores[near], 9)))]
        similar.append(order[:most].tolist())
    return similar


def _postings(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    indices: dict[str, list[int]] = {}
    weights: dict[str, list[float]] = {}
    for index, row in enumerate(rows):
        for term, weight in row.items():
            indices.setdefault(term, []).append(index)
            weights.setdefault(term, []).append(weight)
    return {term: (np.array(indices[term]), np.array(weights[term])) for term in indices}


class Cluster(NamedTuple):
    """A cluster of similar rows."""

    centroid: Mapping[str, float]
    """A vector of length 1."""
    members: Sequence[int]
    """Indices of its rows."""


def clusters(rows: Sequence[Mapping[str, float]], groups: int) -> list[Cluster]:
    """Cluster the rows, largest cluster first. Empty rows are not assigned to any."""
    terms = sorted({term for row in rows for term in row})
    columns = {term: column for column, term in enumerate(terms)}
    non_empty = [index for index, row in enumerate(rows) if row]
    if not non_empty:
        return []
    matrix = _SparseMatrix([rows[index] for index in non_empty], columns)
    best: tuple[float, NDArray[np.float64], NDArray[np.int64]] | None = None
    for start in range(STARTS):
        result = _k_means(matrix, min(groups, len(non_empty)), np.random.default_rng(start))
        if best is None or result[0] > best[0] + 1e-9:
            best = result
    assert best is not None
    _, centroids, nearest = best
    sizes = np.bincount(nearest, minlength=len(centroids))
    order = sorted((group for group in range(len(centroids)) if sizes[group]), key=lambda group: (-sizes[group], group))
    return [
        Cluster(
            {terms[column]: float(centroids[group, column]) for column in np.flatnonzero(centroids[group])},
            [non_empty[row] for row in np.flatnonzero(nearest == group)],
        )
        for group in order
    ]


class _SparseMatrix:
    """A sparse matrix without empty rows."""

    def __init__(self, rows: Sequence[Mapping[str, float]], columns: Mapping[str, int]) -> None:
        self.row_starts = np.cumsum([0, *(len(row) for row in rows)])[:-1]
        self.columns = np.array([columns[term] for row in rows for term in row])
        self.values = np.array([weight for row in rows for weight in row.values()])
        self.owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self.count, self.width = len(rows), len(columns)

    def dot(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The dot product of each row with a vector."""
        products: NDArray[np.float64] = np.add.reduceat(self.values * vector[self.columns], self.row_starts)
        return products

    def dense(self, row: int) -> NDArray[np.float64]:
        vector = np.zeros(self.width)
        own = self.owner == row
        vector[self.columns[own]] = self.values[own]
        return vector

    def centroid(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The normalised sum of the rows in a boolean mask."""
        own = members[self.owner]
        total = np.zeros(self.width)
        np.add.at(total, self.columns[own], self.values[own])
        length = np.linalg.norm(total)
        return total / length if length else total


def _k_means(
    rows: _SparseMatrix, groups: int, random: np.random.Generator
) -> tuple[float, NDArray[np.float64], NDArray[np.int64]]:
    centroids = [rows.dense(int(random.integers(rows.count)))]
    similarity = rows.dot(centroids[0])
    while len(centroids) < groups:
        distance = np.clip(1.0 - similarity, 0.0, None)
        total = distance.sum()
        chosen = (
            int(random.choice(rows.count, p=distance / total)) if total > 1e-9 else int(random.integers(rows.count))
        )
        centroids.append(rows.dense(chosen))
        similarity = np.maximum(similarity, rows.dot(centroids[-1]))
    table = np.array(centroids)
    nearest = np.full(rows.count, -1)
    for _ in range(ROUNDS):
        scores = np.array([rows.dot(centroid) for centroid in table])
        assigned = np.argmax(np.round(scores, 9), axis=0)
        if (assigned == nearest).all():
            break
        nearest = assigned
        table = np.array(
            [
                rows.centroid(nearest == group) if (nearest == group).any() else table[group]
                for group in range(len(table))
            ]
        )
    return float(scores.max(axis=0).sum()), table, nearest
