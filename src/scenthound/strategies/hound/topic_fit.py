"""What the topic is, in words, and how well each fetched page fits it (sheet 80.2).

The model is that of `text.topic_model`, which the judge `topic` uses; whom it believes differs:

    x_u(t) = (1 + ln tf) * idf(t), scaled to length 1      idf(t) = max(0, ln((n + 50) / (df(t) + 50 b(t) + 0.5)))
    c = e * mean of the examples + (1 - e) * mean of the 10 pages that fit the keywords best
    c = c - 0.5 * mean of the other pages, each weighted by 1 - r
    c = c + s |c| / sqrt(number of keywords) for each keyword; s = 1 / e, at most 4
    q = the 100 largest weights of c, scaled to length 1
    r(u) = min(1.5, q.x_u / m), m = e * mean of q.x over the examples + (1 - e) * mean of the 10 largest, if larger

n pages are fetched, df of them hold the term t. The 50 virtual pages hold the words of general English, b(t) of them
each: without these the examples' own words would be worth nothing while there are few other pages.

e is how far the examples are believed. Seeds may be examples of the topic, or just places to start from. If they hold
few of the keywords, or if other pages fit the keywords much better than they do, the keywords say what the topic is:

    e = min(1, share of the keywords that an example holds / 0.15, k(examples) / (0.2 k(best 10 pages)))

k is the mean of the keywords' weights in x. Without keywords e = 1. A label of a person is always believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.strategies.hound.columns import Column, sums
from scenthound.text.background import document_share
from scenthound.text.topic_model import inverse_frequency, keyword_vector, topic_vector
from scenthound.text.vocabulary import Ids, Vocabulary

Reals = npt.NDArray[np.float64]
TOPIC_TERMS = 100
OTHERS = 0.5
"""Weight of the pages off topic."""
MOST_KEYWORDS = 4.0
"""Weight of the keywords, as a share of the length of c, if the examples are not believed. If they are, it is 1."""
MENTIONED = 0.15
"""Share of the keywords that a page which was meant as an example holds, on average."""
AS_GOOD = 0.2
"""Examples that fit the keywords this well, compared with the best pages, are believed."""
BEST_PAGES = 10
OTHERS_FROM = 10
"""So many pages that are no examples are needed before they count."""
MOST_RELEVANT = 1.5
GROWTH = 1.15
"""The topic is learned again when the pages have grown by this factor."""
RECENT_PAGES = 1000
"""Pages whose words are remembered, beside the examples."""


class LearnedTopic:
    """The topic as a vector of terms, learned from keywords, examples and the pages fetched so far."""

    def __init__(
        self, vocabulary: Vocabulary, keywords: Sequence[str], share: Callable[[str], float] = document_share
    ) -> None:
        self.vocabulary, self._share = vocabulary, share
        self.keywords = np.unique(vocabulary.add(keywords)) if keywords else np.zeros(0, dtype=np.int32)
        self.pages_with = Column(np.float64)  # document frequency, by term
        self.background = Column(np.float64)  # b(t), by term
        self.terms, self.log_counts, self.sizes = Column(np.int32), Column(np.float64), Column(np.int64)
        self.relevance = Column(np.float64)
        self.is_example = Column(np.bool_)
        self.labels = Column(np.float64)  # 1 on topic, 0 off topic, nan: not labelled
        self.verdicts = Column(np.float64)  # relevance by the judge of the crawl, nan: not asked for
        self.forgotten = 0
        """Pages whose words were dropped. They keep their relevance."""
        self.learned_at = 0
        self.weights: Reals = np.zeros(0)
        """q, by term."""
        self.idf = Column(np.float64)
        """By term. Of terms met since the topic was learned, as if no page held them."""
        self.scale = 1.0
        self.belief = 1.0
        """e: how far the examples are believed."""
        self._grow()

    def _grow(self) -> None:
        size = len(self.pages_with)
        new = self.vocabulary.all_words[size:]
        if new:
            self.pages_with.add(np.zeros(len(new)))
            background = np.array([self._share(word) for word in new])
            self.background.add(background)
            self.idf.add(inverse_frequency(len(self.sizes), 0.0, background))

    def add(
        self,
        terms: Ids,
        counts: npt.NDArray[np.int32],
        is_example: bool,
        label: float = math.nan,
        verdict: float = math.nan,
    ) -> int:
        """Add a fetched page, by its term frequencies. Returns its number.

        Its relevance is that of the label, else of the verdict, else of this model.
        """
        self._grow()
        known = terms >= 0
        terms, counts = terms[known], counts[known]
        self.pages_with.values[terms] += 1
        self.terms.add(terms)
        self.log_counts.add(1 + np.log(np.maximum(counts, 1)))
        self.sizes.append(len(terms))
        self.is_example.append(is_example or label == 1)
        self.labels.append(label)
        self.verdicts.append(verdict)
        self.relevance.append(math.nan)
        return len(self.sizes) - 1

    def label(self, page: int, on_topic: bool) -> None:
        """A person says whether this page is on topic."""
        self.labels.values[page] = float(on_topic)
        self.is_example.values[page] = on_topic
        self.learned_at = 0

    @property
    def is_stale(self) -> bool:
        """Whether the pages have grown by 15 % since the topic was learned."""
        return self.learned_at == 0 or len(self.sizes) >= self.learned_at * GROWTH

    def update(self) -> bool:
        """Learn the topic again if that is due, and judge the pages that have no relevance yet.

        True if the topic was learned again.
        """
        self._grow()
        is_stale = self.is_stale
        if is_stale:
            self._learn()
            first = 0
        else:
            first = int(np.argmax(np.isnan(self.relevance.values))) if np.isnan(self.relevance.values).any() else -1
        if first >= 0:
            self._judge(first)
        if len(self.sizes) - self.forgotten > 2 * RECENT_PAGES:
            self._forget()
        return is_stale

    def _vectors(self, first: int) -> tuple[Ids, Reals, npt.NDArray[np.int64]]:
        """Terms, weights and sizes of the remembered pages from this number on; each page has length 1."""
        sizes = self.sizes.values[max(first, 0) :]
        begin = int(self.sizes.values[: max(first, 0)].sum())
        terms = self.terms.values[begin:]
        weights = self.log_counts.values[begin:] * self.idf.values[terms]
        lengths = np.sqrt(sums(weights * weights, sizes))
        return terms, weights / np.repeat(np.where(lengths > 0, lengths, 1), sizes), sizes

    def _by_term(self, values: Reals) -> Reals:
        """Values of the terms that were known when the topic was learned, with 0 for the later ones."""
        return np.concatenate((values, np.zeros(len(self.pages_with) - len(values))))

    def word_weights(self) -> Reals:
        """idf(t) q(t), by term."""
        return np.asarray(self._by_term(self.weights) * self.idf.values)

    def is_keyword(self) -> Reals:
        """1 for the keywords, by term."""
        marks = np.zeros(len(self.pages_with))
        marks[self.keywords] = 1
        return marks

    def _learn(self) -> None:
        self.idf.values[:] = inverse_frequency(len(self.sizes), self.pages_with.values, self.background.values)
        terms, weights, sizes = self._vectors(0)
        is_example = self.is_example.values
        fit_to_keywords = self._believe(terms, weights, sizes)
        centre = self.belief * self._mean(terms, weights, sizes, is_example.astype(np.float64))
        if self.belief < 1:
            centre += (1 - self.belief) * self._mean(terms, weights, sizes, fit_to_keywords)
        others = np.where(is_example, 0, np.maximum(0, 1 - np.nan_to_num(self.relevance.values)))
        if np.count_nonzero(~is_example) >= OTHERS_FROM:
            centre = centre - OTHERS * self._mean(terms, weights, sizes, others)
        strength = min(1 / max(self.belief, 1e-9), MOST_KEYWORDS)
        centre = centre + keyword_vector(centre, self.keywords, strength)
        self.weights, _ = topic_vector(centre, TOPIC_TERMS)
        self.learned_at = len(self.sizes)

    def _believe(self, terms: Ids, weights: Reals, sizes: npt.NDArray[np.int64]) -> Reals:
        """Decide how far the examples are believed. Returns how well the pages fit the keywords; 0 but for the best."""
        fits = np.zeros(len(sizes))
        self.belief = 1.0
        if not len(self.keywords):
            return fits
        marks = self.is_keyword()[terms]
        all_fits = sums(marks * weights, sizes)
        best = np.argsort(-all_fits, kind="stable")[:BEST_PAGES]
        fits[best] = all_fits[best]
        is_example = self.is_example.values & (sizes > 0)
        if np.any(self.labels.values == 1):
            return fits
        if not is_example.any():
            self.belief = 0.0
            return fits
        share = float(sums(marks, sizes)[is_example].mean()) / len(self.keywords)
        others = float(all_fits[best].mean()) if len(sizes) > 2 * BEST_PAGES else 0.0
        as_good = float(all_fits[is_example].mean()) / max(AS_GOOD * others, 1e-9)
        self.belief = min(1.0, share / MENTIONED, as_good)
        return fits

    def _mean(self, terms: Ids, weights: Reals, sizes: npt.NDArray[np.int64], by: Reals) -> Reals:
        total = by[self.sizes.values > 0].sum()
        added = np.bincount(terms, weights=weights * np.repeat(by, sizes), minlength=len(self.pages_with))
        return np.asarray(added / total if total > 0 else added, dtype=np.float64)

    def _judge(self, first: int) -> None:
        first = max(first, 0)
        terms, weights, sizes = self._vectors(first)
        fits = sums(self._by_term(self.weights)[terms] * weights, sizes)
        is_example, labels = self.is_example.values[first:], self.labels.values[first:]
        if first == 0:
            examples = fits[is_example & (sizes > 0)]
            best = float(np.sort(fits)[-BEST_PAGES:].mean()) if len(fits) else 0.0
            held = float(examples.mean()) if len(examples) else best
            self.scale = held + (1 - self.belief) * max(best - held, 0)
        relevance = np.minimum(MOST_RELEVANT, fits / max(self.scale, 1e-9))
        is_remembered = sizes > 0
        old = self.relevance.values[first:]
        relevance = np.where(is_remembered | np.isnan(old), relevance, old)
        relevance[is_example] = self.belief + (1 - self.belief) * relevance[is_example]
        verdicts = self.verdicts.values[first:]
        relevance = np.where(np.isnan(verdicts), relevance, verdicts)
        self.relevance.values[first:] = np.where(np.isnan(labels), relevance, labels)

    def _forget(self) -> None:
        """Drop the words of the older half of the pages that are no examples."""
        sizes = self.sizes.values
        last = len(sizes) - RECENT_PAGES
        drop = (np.arange(len(sizes)) < last) & ~self.is_example.values & (sizes > 0)
        keep = np.repeat(~drop, sizes)
        self.terms.keep(keep)
        self.log_counts.keep(keep)
        sizes[drop] = 0
        self.forgotten += int(drop.sum())

    # ---- state

    COLUMNS = (
        "pages_with", "background", "terms", "log_counts", "sizes", "relevance", "is_example", "labels", "verdicts",
        "idf",
    )  # fmt: skip

    def save(self) -> Mapping[str, Any]:
        columns = {name: self.__dict__[name].values.copy() for name in self.COLUMNS}
        return {
            **columns,
            "forgotten": self.forgotten,
            "learned_at": self.learned_at,
            "weights": self.weights,
            "scale": self.scale,
            "belief": self.belief,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        for name in self.COLUMNS:
            column = self.__dict__[name]
            column.keep(np.zeros(len(column), dtype=np.bool_))
            column.add(np.asarray(state[name]) if name in state else np.full(len(state["labels"]), math.nan))
        self.forgotten, self.learned_at = int(state["forgotten"]), int(state["learned_at"])
        self.weights = np.asarray(state["weights"], float)
        self.scale, self.belief = float(state["scale"]), float(state["belief"])
