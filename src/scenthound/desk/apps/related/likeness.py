"""Compare the texts of sites with those of the seeds, against the background of all sites in the crawl.

    x_i  = (1 + ln tf) idf(t) of the home page, at length 1, plus the same of the site's other pages; at length 1
    idf  = ln((n + 1) / (df + 0.5))                 n sites with text, df of them with the term; terms of one site: 0
    q    = mean of x over the seeds - mean of x over all sites + KEYWORDS k - REJECTED (mean of x over rejected sites)
    likeness = (q . x_i - mean) / deviation         over the sites that are not seeds

k is the vector of the keywords, at length 1. What most sites of the crawl have in common weighs nothing: the sites of
one crawl often share a trade at large, such as software, and their words say nothing about the field. The likeness of a
seed is leave-one-out. Menus repeat on all pages of a site, so a page's words enter with ln tf, and home page and other
pages count the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import Vocabulary

KEYWORDS = 0.4
REJECTED = 0.5
LONGEST = 5_000
"""The maximum number of distinct terms that are read from one site."""

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SiteText:
    """The term counts of a site's home page and of its other pages; either may be empty."""

    home: Mapping[str, int]
    others: Mapping[str, int]


class SiteVectors:
    """The texts of sites as vectors over the terms that at least two of them have."""

    def __init__(self, sites: Mapping[str, SiteText]) -> None:
        self.keys = [key for key, site in sites.items() if site.home or site.others]
        self.terms = Vocabulary()
        parts = [[self._counts(part) for part in (sites[key].home, sites[key].others)] for key in self.keys]
        size, count = len(self.terms), len(self.keys)
        df = np.zeros(size)
        for home, others in parts:
            df[np.union1d(home[0], others[0])] += 1
        self.idf: Floats = np.where(df > 1, np.log((count + 1) / (df + 0.5)), 0.0)
        self.vectors = [self._vector(pair) for pair in parts]
        self.mean = self._mean(range(count))

    def _counts(self, counts: Mapping[str, int]) -> tuple[Whole, Floats]:
        terms = sorted(counts, key=lambda term: -counts[term])[:LONGEST] if len(counts) > LONGEST else list(counts)
        ids = self.terms.add(terms).astype(np.int64)
        weights = 1 + np.log(np.array([counts[term] for term in terms], np.float64))
        return ids[ids >= 0], weights[ids >= 0]

    def _vector(self, parts: Sequence[tuple[Whole, Floats]]) -> tuple[Whole, Floats]:
        ids = np.concatenate([ids for ids, _ in parts])
        terms, where = np.unique(ids, return_inverse=True)
        units = [_unit(weights * self.idf[part]) for part, weights in parts]
        return terms, _unit(np.bincount(where, np.concatenate(units), len(terms)).astype(np.float64))

    def _mean(self, which: Collection[int]) -> Floats:
        total = np.zeros(len(self.idf))
        for index in which:
            ids, weights = self.vectors[index]
            total[ids] += weights
        return total / max(len(which), 1)

    def query(self, seeds: Collection[int], rejected: Collection[int], keywords: Sequence[str]) -> Floats:
        """q, for the seeds and rejected sites with these numbers."""
        wanted = np.zeros(len(self.idf))
        ids = self.terms.ids(list(dict.fromkeys(keywords)))
        ids = ids[ids >= 0]
        wanted[ids] = np.maximum(self.idf[ids], 0.05)
        centre = self._mean(seeds) - self.mean if seeds else np.zeros(len(self.idf))
        return np.asarray(centre + KEYWORDS * _unit(wanted) - REJECTED * self._mean(rejected))

    def scores(self, query: Floats) -> Floats:
        """q . x of every site."""
        return np.array([float(query[ids] @ weights) for ids, weights in self.vectors])

    def contributions(self, index: int, query: Floats) -> list[tuple[str, float]]:
        """The terms of a site with their part of its score, largest first."""
        ids, weights = self.vectors[index]
        parts, names = query[ids] * weights, self.terms.all_words
        return [(names[ids[at]], float(parts[at])) for at in np.argsort(-parts, kind="stable") if parts[at] > 0]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike each site is to the seeds, in deviations from the other sites; and what its score is made of."""

    values: Mapping[str, float]
    vectors: SiteVectors
    query: Floats

    def top_terms(self, key: str, most: int) -> list[str]:
        """The terms that contribute most to the likeness of a site."""
        if key not in self.values:
            return []
        return [term for term, _ in self.vectors.contributions(self.vectors.keys.index(key), self.query)[:most]]


def likeness(
    sites: Mapping[str, SiteText], seeds: Collection[str], rejected: Collection[str], keywords: Sequence[str]
) -> Likeness:
    """Compare every site that has text with the seeds."""
    vectors = SiteVectors(sites)
    numbers = {key: index for index, key in enumerate(vectors.keys)}
    seed_numbers, rejected_numbers = (
        [numbers[key] for key in numbers if key in chosen] for chosen in (seeds, rejected)
    )
    query = vectors.query(seed_numbers, rejected_numbers, keywords)
    scores = vectors.scores(query)
    others = np.ones(len(scores), np.bool_)
    others[seed_numbers] = False
    for seed in seed_numbers:
        rest = [other for other in seed_numbers if other != seed]
        ids, weights = vectors.vectors[seed]
        scores[seed] = float(vectors.query(rest, rejected_numbers, keywords)[ids] @ weights)
    background = scores[others]
    middle, scale = (float(background.mean()), float(background.std())) if background.size else (0.0, 0.0)
    values = (scores - middle) / scale if scale > 0 else np.zeros(len(scores))
    return Likeness(dict(zip(vectors.keys, np.round(values, 6).tolist(), strict=True)), vectors, query)


def _unit(vector: Floats) -> Floats:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
