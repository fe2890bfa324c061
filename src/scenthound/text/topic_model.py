"""A topic as a vector of 100 weighted terms, learned from pages that are probably on topic.

    x_t    = (1 + ln tf) idf(t), divided by the length of the vector
    idf(t) = max(0, ln((n + 50) / (df(t) + 50 b(t) + 0.5)))        n pages seen; b: `text.background`
    c      = mean of x over pages, weighted by `on`  -  0.5 mean of x, weighted by `off`  +  s |c| k / sqrt(#k)
    q      = the 100 largest positive weights of c, at length 1;   score = q . x

k is the 0/1 vector of the keywords, s their strength: 0.3 here. The strategy `hound` has the same model, with its own
weights for pages and keywords: `inverse_frequency`, `keyword_vector` and `topic_vector` are used by both.

The 50 virtual pages of English in the idf keep the topic's own words from looking common at the start, when most pages
seen are seeds. The score of a page that is part of c is leave-one-out: c is computed without it. The 100 terms
themselves are not chosen again; a term that only this page has then weighs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.text.background import document_share
from scenthound.text.term_counts import terms_of
from scenthound.text.vocabulary import Vocabulary

Floats = npt.NDArray[np.float64]
VIRTUAL_PAGES = 50
OFF_TOPIC = 0.5
KEYWORDS = 0.3
MOST_TERMS = 200_000
"""The maximum number of distinct terms of a model. When it is full, unknown terms are left out."""
LONGEST = 5_000
"""The maximum number of distinct terms that are read from one page. Few real pages have more."""
FEWEST_OTHERS = 0.3  # leave-one-out divides by the weight of the other pages, but at least by this


class WeightedTerms(NamedTuple):
    """A page as the term ids of a model, and 1 + ln of the count of each."""

    ids: npt.NDArray[np.int64]
    weights: Floats


@dataclass(eq=False)
class TopicModel:
    """A topic vector: `fit` learns it, `score` compares a page with it. Terms get ids when they first occur."""

    keywords: Sequence[str]
    terms: int = 100
    share: Callable[[str], float] = document_share
    vocabulary: Vocabulary = field(init=False, default_factory=lambda: Vocabulary(MOST_TERMS))
    pages: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._df, self._background = np.zeros(1024), np.zeros(1024)
        self.keyword_ids = self._ids(list(dict.fromkeys(self.keywords)))
        self._set_idf(self._idf())
        self.topic_: Floats = np.zeros(len(self.idf_))

    def document(self, counts: Mapping[str, int]) -> WeightedTerms:
        """Convert the term counts of a page for this model."""
        terms, times = terms_of(counts)
        if len(terms) > LONGEST:
            terms, times = terms[:LONGEST], times[:LONGEST]
        ids, weights = self._ids(terms), 1 + np.log(times.astype(np.float64))
        if len(self.vocabulary) < MOST_TERMS:
            return WeightedTerms(ids, weights)
        is_known = ids >= 0
        return WeightedTerms(ids[is_known], weights[is_known])

    def see(self, document: WeightedTerms) -> None:
        """Count a fetched page in the document frequencies."""
        self._df[document.ids] += 1
        self.pages += 1

    def fit(self, documents: Sequence[WeightedTerms]) -> Fit:
        """Fix the idf and turn the documents into vectors; then `Fit.learn` sets the topic vector."""
        self._set_idf(self._idf())
        return Fit(self, documents)

    def score(self, document: WeightedTerms) -> float:
        """q . x of a page that is not part of the topic; 0 before the first `fit`."""
        ids, weights = document
        fitted, unfitted = ids < len(self.topic_), 0.0
        if not fitted.all():  # terms that are newer than the last fit are not in the topic
            outside = math.log((self.pages + VIRTUAL_PAGES) / 1.5) * weights[~fitted]
            ids, weights, unfitted = ids[fitted], weights[fitted], float(outside @ outside)
        inside = weights * self.idf_[ids]
        length = math.sqrt(float(inside @ inside) + unfitted)
        return float(self.topic_[ids] @ inside) / length if length else 0.0

    def top_terms(self, count: int) -> list[str]:
        """The terms with the largest weights, to show to people."""
        names = self.vocabulary.all_words
        return [names[term] for term in np.argsort(-self.topic_, kind="stable")[:count] if self.topic_[term] > 0]

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays."""
        size = len(self.vocabulary)
        chosen = np.flatnonzero(self.topic_)
        return {
            "terms": list(self.vocabulary),
            "df": self._df[:size].astype(np.int64),
            "pages": self.pages,
            "idf": self.idf_,
            "topic_ids": chosen,
            "topic_weights": self.topic_[chosen],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore a state from `save`. Raises ValueError if it is from a model with other keywords."""
        terms, df, idf = state["terms"], state["df"], state["idf"]
        keywords = list(self.vocabulary)
        if list(terms[: len(keywords)]) != keywords or len(terms) != len(df) or len(idf) > len(terms):
            raise ValueError("the saved topic model belongs to other keywords")
        self._ids(list(terms))
        self._df[: len(df)] = df
        self.pages = int(state["pages"])
        self._set_idf(np.asarray(idf, np.float64))
        self.topic_ = np.zeros(len(self.idf_))
        self.topic_[state["topic_ids"]] = state["topic_weights"]

    def _ids(self, terms: Sequence[str]) -> npt.NDArray[np.int64]:
        """The ids of terms; a new term gets the next one, or -1 if there are too many."""
        size = len(self.vocabulary)
        ids = self.vocabulary.add(terms)
        new = self.vocabulary.all_words[size:]
        if new:
            end = size + len(new)
            while end > len(self._df):
                self._df, self._background = (np.pad(row, (0, len(row))) for row in (self._df, self._background))
            self._background[size:end] = list(map(self.share, new))
        return ids.astype(np.int64)

    def _set_idf(self, idf: Floats) -> None:
        self.idf_ = idf
        self.keyword_idf_: Floats = np.maximum(0.05, idf[self.keyword_ids])
        """The idf of each keyword, at least 0.05."""

    def _idf(self) -> Floats:
        size = len(self.vocabulary)
        return inverse_frequency(self.pages, self._df[:size], self._background[:size])


class Fit:
    """The documents of one fit as unit vectors, joined in flat arrays: `rows` says which page an entry belongs to."""

    def __init__(self, model: TopicModel, documents: Sequence[WeightedTerms]) -> None:
        self._model, self._number = model, len(documents)
        self._sizes = np.array([len(document.ids) for document in documents], np.int64)
        self._ids = np.concatenate([np.zeros(0, np.int64), *(document.ids for document in documents)])
        self._rows = np.repeat(np.arange(self._number), self._sizes)
        entries = np.concatenate([np.zeros(0), *(document.weights for document in documents)])
        entries *= model.idf_.take(self._ids)
        lengths = np.sqrt(np.bincount(self._rows, entries * entries, self._number))
        entries /= np.repeat(np.maximum(lengths, 1e-9), self._sizes)
        self._entries = entries

    def learn(self, on: Floats, off: Floats) -> Floats:
        """Set the topic vector from weights of the pages. Returns their scores, leave-one-out."""
        model, total = self._model, float(on.sum())
        mean_on = self._sum(on) / max(total, 1e-9)
        mean_off = OFF_TOPIC * self._sum(off) / max(float(off.sum()), 1e-9)
        keywords = keyword_vector(mean_on - mean_off, model.keyword_ids, KEYWORDS)
        model.topic_, length = topic_vector(mean_on - mean_off + keywords, model.terms)
        inside = np.flatnonzero((model.topic_ > 0).take(self._ids))  # few: the topic has 100 terms
        ids, rows, entries = self._ids[inside], self._rows[inside], self._entries[inside]
        others = np.maximum(total - on, FEWEST_OTHERS)[rows]
        without = (total * mean_on[ids] - on[rows] * entries) / others - mean_off[ids] + keywords[ids]
        scores = np.bincount(rows, np.maximum(without, 0.0) / length * entries, self._number)
        return scores.astype(np.float64)  # without entries they would be integers

    def _sum(self, weights: Floats) -> Floats:
        """The sum of the vectors, each times the weight of its page."""
        ids, entries, sizes = self._ids, self._entries, self._sizes
        weighted = np.flatnonzero(weights)
        if 2 * len(weighted) < len(weights):  # most pages are not on topic
            ends = np.cumsum(sizes)
            spans = zip((ends - sizes)[weighted].tolist(), ends[weighted].tolist(), strict=True)
            indices = np.concatenate([np.zeros(0, np.int64), *(np.arange(begin, end) for begin, end in spans)])
            ids, entries, weights, sizes = ids[indices], entries[indices], weights[weighted], sizes[weighted]
        return np.bincount(ids, entries * np.repeat(weights, sizes), len(self._model.idf_)).astype(np.float64)


def inverse_frequency(pages: int, pages_with: Floats | float, background: Floats) -> Floats:
    """The idf of terms that occur in `pages_with` of the pages, and in a share `background` of English documents."""
    frequency = pages_with + VIRTUAL_PAGES * background + 0.5
    return np.asarray(np.maximum(0.0, np.log((pages + VIRTUAL_PAGES) / frequency)))


def keyword_vector(centre: Floats, keyword_ids: npt.NDArray[np.integer[Any]], strength: float) -> Floats:
    """The vector that the keywords add to a centre: s |c| k / sqrt(#k)."""
    added = np.zeros(len(centre))
    if len(keyword_ids):
        added[keyword_ids] = strength * (_length(centre) or 1.0) / math.sqrt(len(keyword_ids))
    return added


def topic_vector(centre: Floats, terms: int) -> tuple[Floats, float]:
    """The largest positive weights of a centre, scaled to length 1, and their original length.

    >>> vector, length = topic_vector(np.array([3.0, -9.0, 4.0, 1.0]), 2)
    >>> vector.round(6).tolist(), length
    ([0.6, 0.0, 0.8, 0.0], 5.0)
    """
    positive = np.flatnonzero(centre > 0)
    chosen = positive[np.argsort(-centre[positive], kind="stable")[:terms]]  # stable: the same terms on every machine
    topic = np.zeros(len(centre))
    topic[chosen] = centre[chosen]
    length = _length(topic) or 1.0
    return topic / length, length


def _length(vector: Floats) -> float:
    """The Euclidean length, without BLAS, whose threads cost more than they save on a busy machine."""
    return math.sqrt(float(np.sum(vector * vector)))
