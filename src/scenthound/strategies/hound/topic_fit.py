"""A topic model learned during the crawl, and how well each fetched page fits it (sheet 80.2).

The vectors are those of `text.topic_model`, which the judge `topic` also uses; the confidence in the examples differs:

    x_u(t) = (1 + ln tf) * idf(t), scaled to length 1      idf(t) = max(0, ln((n + 50) / (df(t) + 50 b(t) + 0.5)))
    c = e * mean of the examples + (1 - e) * mean of the 10 pages that fit the keywords best
    c = c - 0.5 * mean of the other pages, each weighted by 1 - r
    c = c + s |c| / sqrt(number of keywords) for each keyword; s = 1 / e, at most 4
    q = the 100 largest weights of c, scaled to length 1
    r(u) = min(1.5, q.x_u / m), m = e * mean of q.x over the examples + (1 - e) * mean of the 10 largest, if larger

n is the number of fetched pages, df(t) of which contain the term t. The 50 virtual pages stand for general English,
where a share b(t) contains t: without them the examples' own words would have no weight while there are few other
pages.

e is the confidence in the examples. Seeds may be examples of the topic, or just places to start from. If they contain
few of the keywords, or if other pages fit the keywords much better, the keywords define the topic:

    e = min(1, share of the keywords that an example contains / 0.15, k(examples) / (0.2 k(best 10 pages)))

k is the mean of the keywords' weights in x. Without keywords, or once a person has labelled a page as on topic, e = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.strategies.hound.link_table import Column, sums
from scenthound.text.background import document_share
from scenthound.text.topic_model import inverse_frequency, keyword_vector, topic_vector
from scenthound.text.vocabulary import Ids, Vocabulary

Reals = npt.NDArray[np.float64]
TOPIC_TERMS = 100
OTHERS = 0.5
"""Weight of the off-topic pages."""
MOST_KEYWORDS = 4.0
"""Largest s: the weight of the keywords, as a multiple of the length of c, if e is small. With e = 1 it is 1."""
MENTIONED = 0.15
"""Share of the keywords that a page meant as an example contains, on average."""
AS_GOOD = 0.2
"""Examples that fit the keywords at least this well, relative to the best pages, get full confidence."""
BEST_PAGES = 10
OTHERS_FROM = 10
"""How many pages that are not examples are needed before they count."""
MOST_RELEVANT = 1.5
GROWTH = 1.15
"""The topic is learned again when the number of pages has grown by this factor."""
RECENT_PAGES = 1000
"""How many pages have their words remembered, besides the examples."""


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
        self.verdicts = Column(np.float64)  # relevance by the judge of the crawl, nan: not used
        self.forgotten = 0
        """Number of pages whose words were dropped. They keep their relevance."""
        self.learned_at = 0
        self.weights: Reals = np.zeros(0)
        """q: the weight of each term."""
        self.idf = Column(np.float64)
        """idf of each term. Terms found since the topic was learned count as if no page contained them."""
        self.scale = 1.0
        """m: the value of q.x at which r is 1."""
        self.belief = 1.0
        """e: the confidence in the examples."""
        self._add_new_terms()

    def _add_new_terms(self) -> None:
        """Add the terms that are new in the vocabulary."""
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
        """Add a fetched page with its term frequencies, and return its number.

        Its relevance comes from the label, else from the verdict, else from this model.
        """
        self._add_new_terms()
        is_known = terms >= 0
        terms, counts = terms[is_known], counts[is_known]
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
        """Take a person's label for a page."""
        self.labels.values[page] = float(on_topic)
        self.is_example.values[page] = on_topic
        self.learned_at = 0

    @property
    def is_stale(self) -> bool:
        """Whether the number of pages has grown by 15 % since the topic was learned."""
        return self.learned_at == 0 or len(self.sizes) >= self.learned_at * GROWTH

    def update(self) -> bool:
        """Learn the topic again if that is due, and judge the pages that have no relevance yet.

        Returns whether the topic was learned again.
        """
        self._add_new_terms()
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
        """x of the pages from number `first` on: terms, weights and number of terms. Each page has length 1."""
        sizes = self.sizes.values[max(first, 0) :]
        offset = int(self.sizes.values[: max(first, 0)].sum())
        terms = self.terms.values[offset:]
        weights = self.log_counts.values[offset:] * self.idf.values[terms]
        lengths = np.sqrt(sums(weights * weights, sizes))
        return terms, weights / np.repeat(np.where(lengths > 0, lengths, 1), sizes), sizes

    def _by_term(self, values: Reals) -> Reals:
        """Extend values of the terms that were known when the topic was learned, with 0 for later terms."""
        return np.concatenate((values, np.zeros(len(self.pages_with) - len(values))))

    def word_weights(self) -> Reals:
        """idf(t) q(t) of each term."""
        return np.asarray(self._by_term(self.weights) * self.idf.values)

    def keyword_marks(self) -> Reals:
        """For each term, 1 if it is a keyword, else 0."""
        marks = np.zeros(len(self.pages_with))
        marks[self.keywords] = 1
        return marks

    def _learn(self) -> None:
        self.idf.values[:] = inverse_frequency(len(self.sizes), self.pages_with.values, self.background.values)
        terms, weights, sizes = self._vectors(0)
        is_example = self.is_example.values
        fit_to_keywords = self._set_belief(terms, weights, sizes)
        c = self.belief * self._mean(terms, weights, sizes, is_example.astype(np.float64))
        if self.belief < 1:
            c += (1 - self.belief) * self._mean(terms, weights, sizes, fit_to_keywords)
        others = np.where(is_example, 0, np.maximum(0, 1 - np.nan_to_num(self.relevance.values)))
        if np.count_nonzero(~is_example) >= OTHERS_FROM:
            c = c - OTHERS * self._mean(terms, weights, sizes, others)
        s = min(1 / max(self.belief, 1e-9), MOST_KEYWORDS)
        c = c + keyword_vector(c, self.keywords, s)
        self.weights, _ = topic_vector(c, TOPIC_TERMS)
        self.learned_at = len(self.sizes)

    def _set_belief(self, terms: Ids, weights: Reals, sizes: npt.NDArray[np.int64]) -> Reals:
        """Set e, and return how well each page fits the keywords; 0 for all but the best 10."""
        fits = np.zeros(len(sizes))
        self.belief = 1.0
        if not len(self.keywords):
            return fits
        marks = self.keyword_marks()[terms]
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
        k_best = float(all_fits[best].mean()) if len(sizes) > 2 * BEST_PAGES else 0.0
        k_examples = float(all_fits[is_example].mean())
        self.belief = min(1.0, share / MENTIONED, k_examples / max(AS_GOOD * k_best, 1e-9))
        return fits

    def _mean(self, terms: Ids, weights: Reals, sizes: npt.NDArray[np.int64], page_weights: Reals) -> Reals:
        """The mean vector of the remembered pages, each with its weight."""
        total = page_weights[self.sizes.values > 0].sum()
        added = np.bincount(terms, weights=weights * np.repeat(page_weights, sizes), minlength=len(self.pages_with))
        return np.asarray(added / total if total > 0 else added, dtype=np.float64)

    def _judge(self, first: int) -> None:
        """Set r of the pages from number `first` on."""
        first = max(first, 0)
        terms, weights, sizes = self._vectors(first)
        fits = sums(self._by_term(self.weights)[terms] * weights, sizes)
        is_example, labels = self.is_example.values[first:], self.labels.values[first:]
        if first == 0:
            examples = fits[is_example & (sizes > 0)]
            best = float(np.sort(fits)[-BEST_PAGES:].mean()) if len(fits) else 0.0
            mean = float(examples.mean()) if len(examples) else best
            self.scale = mean + (1 - self.belief) * max(best - mean, 0)
        relevance = np.minimum(MOST_RELEVANT, fits / max(self.scale, 1e-9))
        is_remembered = sizes > 0
        old = self.relevance.values[first:]
        relevance = np.where(is_remembered | np.isnan(old), relevance, old)
        relevance[is_example] = self.belief + (1 - self.belief) * relevance[is_example]
        verdicts = self.verdicts.values[first:]
        relevance = np.where(np.isnan(verdicts), relevance, verdicts)
        self.relevance.values[first:] = np.where(np.isnan(labels), relevance, labels)

    def _forget(self) -> None:
        """Drop the words of all but the last `RECENT_PAGES` pages, except examples."""
        sizes = self.sizes.values
        last = len(sizes) - RECENT_PAGES
        drop = (np.arange(len(sizes)) < last) & ~self.is_example.values & (sizes > 0)
        keep = np.repeat(~drop, sizes)
        self.terms.keep(keep)
        self.log_counts.keep(keep)
        sizes[drop] = 0
        self.forgotten += int(drop.sum())

    # ---- saving

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
            column.add(np.asarray(state[name]))
        self.forgotten, self.learned_at = int(state["forgotten"]), int(state["learned_at"])
        self.weights = np.asarray(state["weights"], float)
        self.scale, self.belief = float(state["scale"]), float(state["belief"])
