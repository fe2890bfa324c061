"""Terms at their signed distance from an anchor, in leaves, and naive Bayes over them (sheet 30.7).

For an anchor that spans the leaves from `begin` up to, not including, `end`, the offset of leaf i is

    i - begin      before the anchor
    0              inside it
    i - end + 1    after it

A feature is a pair (term, offset) with an offset from -reach to reach, encoded as the number

    term · (2 reach + 1) + offset + reach

An anchor without text, such as that of an image, has an empty span of leaves; its `alt` text is at offset 0.

The classifier has two classes and fractional counts. Its results equal those of `papers.parts.naive_bayes` on the same
features: multinomial, add-one smoothing, prior from counts, counts as integers in units of 1/`UNIT`. It uses arrays
because a link has some fifty features and shares most terms with its neighbours: the weights of a term are looked up
once for all links of a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.papers.parts.naive_bayes import UNIT
from scenthound.text.vocabulary import NONE, Ids, Vocabulary

SHORT = 7  # anchors of at most this many leaves are summed for all links at once
Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class LeafTerms(NamedTuple):
    """The terms of a page's leaves."""

    terms: Ids
    """The ids of the distinct terms."""
    flat: Ids
    """Every term of the page, leaf after leaf, as an index into `terms`."""
    starts: Ids
    """Where each leaf begins in `flat`, and where the last one ends."""


class LinkSpans(NamedTuple):
    """The leaves that each link of a page spans."""

    begins: Ids
    ends: Ids
    alt_terms: Mapping[int, Sequence[int]] = {}
    """Term ids of the `alt` text of links without text, by link position."""

    def of(self, position: int, leaves: LeafTerms) -> LinkSpan:
        """The span of one link."""
        begin, end = int(self.begins[position]), int(self.ends[position])
        return LinkSpan(leaves, begin, end, self.alt_terms.get(position, ()))


class LinkSpan(NamedTuple):
    """The leaves of a page that one link spans."""

    leaves: LeafTerms
    begin: int
    end: int
    alt_terms: Sequence[int] = ()


def features(spans: Iterable[LinkSpan], reach: int) -> Whole:
    """The features of links, one link after the other, each in document order. Terms without an id are skipped.

    >>> leaves = LeafTerms(np.array([5, 6, 7]), np.array([0, 1, 2, 0]), np.array([0, 1, 3, 4]))
    >>> [divmod(feature, 3) for feature in features([LinkSpan(leaves, 1, 2)], 1).tolist()]
    [(5, 0), (6, 1), (7, 1), (5, 2)]
    """
    nothing: Whole = np.zeros(0, np.int64)
    terms: list[Ids | Whole] = [nothing]
    offsets, sizes = [nothing], [nothing]
    for leaves, begin, end, alt_terms in spans:
        first, last = max(begin - reach, 0), min(end + reach, len(leaves.starts) - 1)
        bounds = leaves.starts[first : last + 1]
        leaf_offsets = _offsets_around(begin - first, end - begin, last - end, reach)
        leaf_sizes = bounds[1:] - bounds[:-1]
        nearby: Ids | Whole = leaves.terms.take(leaves.flat[int(bounds[0]) : int(bounds[-1])])
        if alt_terms:
            middle = int(leaves.starts[begin]) - int(bounds[0])
            nearby = np.concatenate([nearby[:middle], np.array(alt_terms), nearby[middle:]])
            leaf_offsets = np.insert(leaf_offsets, begin - first, reach)
            leaf_sizes = np.insert(leaf_sizes, begin - first, len(alt_terms))
        terms.append(nearby)
        offsets.append(leaf_offsets)
        sizes.append(leaf_sizes)
    term_ids = np.concatenate(terms)
    feature_ids = term_ids * (2 * reach + 1) + np.repeat(np.concatenate(offsets), np.concatenate(sizes))
    return np.asarray(feature_ids[term_ids != NONE] if (term_ids == NONE).any() else feature_ids)


def _offsets_around(before: int, inside: int, after: int, reach: int) -> Whole:
    # long anchors are not cached: they would fill the memory
    return (_offsets if inside <= reach else _offsets.__wrapped__)(before, inside, after, reach)


@lru_cache(maxsize=1 << 10)
def _offsets(before: int, inside: int, after: int, reach: int) -> Whole:
    """Offset + `reach` of each leaf, given the number of leaves before, inside and after an anchor."""
    offsets = [*range(reach - before, reach), *[reach] * inside, *range(reach + 1, reach + 1 + after)]
    return np.array(offsets, dtype=np.int64)


def sums_around(leaves: LeafTerms, spans: LinkSpans, weights: Callable[[Ids | Whole], Reals], reach: int) -> Reals:
    """For each link, Σ weight(term, offset) over its features.

    `weights` returns a row for each term and a column for each offset from -reach to reach. The links of a page share
    its leaves, so the weights of a leaf are summed once for all links.
    """
    sums = _sums_of_leaves(leaves, weights(leaves.terms))
    begins, ends = spans.begins.astype(np.int64), spans.ends.astype(np.int64)
    total = _sums_beside(sums, begins, ends, reach)
    total += _sums_of_spans(sums[:, reach], begins, ends)
    if spans.alt_terms:
        terms = np.array(list(chain.from_iterable(spans.alt_terms.values())), dtype=np.int64)
        starts = list(accumulate(map(len, spans.alt_terms.values()), initial=0))[:-1]
        total[list(spans.alt_terms)] += np.add.reduceat(weights(terms)[:, reach], starts)
    return total


def _sums_of_leaves(leaves: LeafTerms, weights: Reals) -> Reals:
    """The sum of the weights of each leaf's terms, at each offset."""
    sums = np.zeros((len(leaves.starts) - 1, weights.shape[1]))
    filled = np.flatnonzero(leaves.starts[1:] > leaves.starts[:-1])
    if len(filled):
        sums[filled] = np.add.reduceat(weights.take(leaves.flat, axis=0), leaves.starts[filled], axis=0)
    return sums


def _sums_beside(sums: Reals, begins: Whole, ends: Whole, reach: int) -> Reals:
    """The sum over the leaves before and after each anchor, each leaf at its own offset, within the page."""
    width = 2 * reach + 1
    padded = np.zeros((len(sums) + width, width))
    padded[reach : reach + len(sums)] = sums
    away = np.arange(1, reach + 1)[:, np.newaxis]
    before = (begins + reach - away) * width + (reach - away)
    after = (ends + reach - 1 + away) * width + reach + away
    return np.asarray((padded.take(before) + padded.take(after)).sum(axis=0))


def _sums_of_spans(values: Reals, begins: Whole, ends: Whole) -> Reals:
    """The sum over the leaves inside each anchor."""
    sizes = ends - begins
    sums, longest = np.zeros(len(sizes)), int(sizes.max(initial=0))
    column = np.append(values, 0.0)  # an empty span may begin after the last leaf
    for step in range(min(longest, SHORT)):  # in the order in which `sum` adds this few
        sums += np.where(step < sizes, column.take(begins + step, mode="clip"), 0.0)
    if longest > SHORT:
        for link in np.flatnonzero(sizes > SHORT).tolist():
            sums[link] = column[begins[link] : ends[link]].sum()
    return sums


MOST_TERMS = 100_000  # later terms are ignored: bounds the counts to some 18 MB

SURE = 1e9  # log-odds if one class was never seen


class OffsetBayes:
    """P(relevant | features). The id of a feature is term id * `width` + offset + `reach` (see `text.offsets`)."""

    def __init__(self, reach: int) -> None:
        self.reach, self.width = reach, 2 * reach + 1
        self.vocabulary = Vocabulary(MOST_TERMS)
        size = (MOST_TERMS + 1) * self.width  # the last row stays empty; untouched rows take no memory
        self._counts: Whole = np.zeros((2, size), dtype=np.int64)  # irrelevant, relevant
        self._cached: Reals = np.zeros((2, size))  # ln(1 + relevant) - ln(1 + irrelevant); 1 if counted
        self._documents = [0, 0]
        self._words = [0, 0]
        self._known = 0  # number of distinct features counted: |V|

    def add(self, features: Whole, relevance: float, instances: int = 1) -> None:
        """Add the features of one or more instances: relevant with weight `relevance`, irrelevant with the rest.

        A negative number of instances removes them again.
        """
        ordered = np.sort(features)
        is_first = np.ones(len(ordered), dtype=np.bool_)
        is_first[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(is_first)
        distinct, times = ordered[starts], np.append(starts[1:], len(ordered)) - starts
        for label, weight in enumerate((1.0 - relevance, relevance)):
            units = round(weight * UNIT) if instances > 0 else -round(weight * UNIT)
            self._counts[label][distinct] += units * times
            self._words[label] += units * len(features)
            self._documents[label] += units * abs(instances)
        if instances < 0:  # a tampered saved state may remove instances that were never added
            self._counts[:, distinct] = np.maximum(self._counts[:, distinct], 0)
            self._words = [max(words, 0) for words in self._words]
            self._documents = [max(documents, 0) for documents in self._documents]
        self._refresh(distinct)

    def _refresh(self, features: Whole) -> None:
        """Update the cached logarithms of features whose counts have changed."""
        weight, ever = self._cached
        irrelevant, relevant = self._counts[0].take(features), self._counts[1].take(features)
        counted = (irrelevant != 0) | (relevant != 0)
        self._known += int(np.count_nonzero(counted)) - int(ever.take(features).sum())
        weight[features] = np.log1p(relevant / UNIT) - np.log1p(irrelevant / UNIT)
        ever[features] = counted

    def weights(self, terms: Whole | Ids) -> Reals:
        """ln P(feature | relevant) - ln P(feature | irrelevant): a row per term, a column per offset."""
        weight, ever = self._cached.reshape(2, -1, self.width)
        irrelevant, relevant = (math.log(self._known + words / UNIT) if self._known else 0.0 for words in self._words)
        norms = ever.take(terms, axis=0)
        norms *= relevant - irrelevant
        return np.subtract(weight.take(terms, axis=0), norms, out=norms)

    def odds(self, sums: Reals) -> Reals:
        """ln P(relevant) - ln P(irrelevant) for documents, from the sums of their features' weights."""
        irrelevant, relevant = self._documents
        if not irrelevant or not relevant:
            return np.full(sums.shape, SURE if relevant else -SURE)
        return sums + (math.log(relevant) - math.log(irrelevant))

    def probability(self, features: Whole) -> float:
        """P(relevant) for one document."""
        terms, offsets = np.divmod(features, self.width)
        weights = self.weights(terms)[np.arange(len(terms)), offsets]
        return float(as_probabilities(self.odds(weights.sum(keepdims=True)))[0])

    # ---- saved state

    def save(self) -> dict[str, Any]:
        counts = self._counts[:, : len(self.vocabulary) * self.width].copy()
        return {"terms": list(self.vocabulary), "counts": counts, "documents": list(self._documents)}

    @classmethod
    def load(cls, state: Mapping[str, Any], reach: int) -> OffsetBayes:
        loaded = cls(reach)
        loaded.vocabulary.add(state["terms"])
        counts = state["counts"]
        if counts.min(initial=0) < 0 or min(state["documents"]) < 0:
            raise ValueError("counts below zero")
        loaded._counts[:, : counts.shape[1]] = counts
        loaded._documents = list(map(int, state["documents"]))
        loaded._words = list(map(int, counts.sum(axis=1)))
        loaded._refresh(np.arange(counts.shape[1]))
        return loaded


def as_probabilities(odds: Reals) -> Reals:
    """P(relevant) from log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.minimum(np.maximum(odds, -700.0), 700.0))))
