"""The weights of the features: shipped weights, corrected by the results of this crawl (sheet 80.4).

    score(v) = sum over features f of b_f * z_f(v)      z_f = (f - mean of f) / deviation of f, within -4 and 4

Mean and deviation are taken over the current frontier. The weights b start from the shipped weights w. Every page that
was fetched because of its score is a lesson: its z when it was ranked, and its relevance r. With y = (r - mean) /
deviation of r,

    b = argmin  sum over lessons of (y - b.z + mean of b.z)^2 + STRENGTH / (1 - e) * |b - w(e)|^2
    w_f(e) = w_f (1 + 3 (1 - e)) for the words of links and addresses, w_f for all others

e is the confidence in the seeds as examples (`topic_fit`). The shipped weights were fitted on crawls whose
seeds were good examples. If e is small, the crawl's own results count more; and until there are some, words are a
better guide than links shared with seeds that are off topic. In the first formula 1 - e is at least 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenthound.strategies.hound.columns import Column
from scenthound.strategies.hound.features import FrontierFeatures
from scenthound.strategies.hound.link_table import Reals, Whole
from scenthound.text.vectors import row_products

WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "pages that link to it": {"citing": 0.412, "sum": -0.254},
    "words of the link": {"anchor": 0.217, "beside": 0.202, "heading": 0.21, "text": 0.075, "relevant": -0.108},
    "words of the address": {"address": 0.13, "keyword": 0.1},
    "form of the address": {"shape": 0.3, "addresses": 0.2},
    "words that paid off": {"anchors": 0.242, "besides": 0.343},
    "links beside it": {"near": 0.193, "page": 0.102, "path": 0.099},
    "cited with good pages": {"cocited": 0.26, "examples": 0.178},
}
"""The weights of the features, grouped by the part of the score that reports them."""
FEATURES = tuple(feature for weights in WEIGHTS.values() for feature in weights)
PART_OF = np.array([part for part, weights in enumerate(WEIGHTS.values()) for _ in weights])
SHIPPED = np.array([weight for weights in WEIGHTS.values() for weight in weights.values()])
WORDS = ("anchor", "beside", "heading", "text", "address", "keyword")
"""Features that compare the words of a link or of its address with the topic."""
DOUBT = 3.0 * np.array([feature in WORDS for feature in FEATURES])
"""The increase of each weight if e = 0, as a multiple of the weight."""
MOST_DEVIATIONS = 4.0
STRENGTH = 200.0
"""The shipped weights count as much as this many lessons if e = 0."""
LEAST_DOUBT = 0.1
FEWEST = 20
"""How many lessons are needed before the weights change."""


class Scoring:
    """Weights of the features, learned from the pages that were fetched because of their score."""

    def __init__(self, shipped: Reals = SHIPPED) -> None:
        self._shipped, self.weights = shipped, shipped.copy()
        self.waiting: dict[int, Reals] = {}
        """z of the URLs with a score, by the number of the URL."""
        self.unexplained = 1.0
        """The share of the variance in past pages' relevance that their scores do not explain."""
        self.lessons, self.pages = Column(np.float64), Column(np.int64)

    def rank(self, deviations: Reals) -> Reals:
        """The scores of all waiting URLs."""
        return row_products(deviations, self.weights)

    def set_ranked(self, urls: list[int], deviations: Reals) -> None:
        """Replace the URLs that have a score, with their z."""
        self.waiting = dict(zip(urls, deviations, strict=True))

    def renumber(self, numbers: Whole) -> None:
        """Apply new URL numbers; -1: forgotten."""
        self.waiting = {int(numbers[url]): z for url, z in self.waiting.items() if numbers[url] >= 0}

    def fetched(self, url: int, page: int) -> None:
        """Record that a URL was fetched, as a lesson if it had a score."""
        deviations = self.waiting.pop(url, None)
        if deviations is not None:
            self.lessons.add(deviations)
            self.pages.add([page])

    def learn(self, relevance: Reals, belief: float) -> None:
        """Fit the weights to all lessons. `belief` is e, the confidence in the seeds."""
        shipped = self._shipped * (1 + DOUBT * (1 - belief))
        self.weights = shipped
        pages = self.pages.values
        is_judged = ~np.isnan(relevance[pages])
        if is_judged.sum() < FEWEST:
            return
        z, y = self.lessons.values.reshape(-1, len(FEATURES))[is_judged], relevance[pages[is_judged]]
        if y.std() == 0:
            return
        y = (y - y.mean()) / y.std()
        z = z - z.mean(axis=0)
        strength = STRENGTH / max(1 - belief, LEAST_DOUBT)
        gram = z.T @ z + strength * np.eye(len(FEATURES))
        self.weights = np.linalg.solve(gram, z.T @ y + strength * shipped)
        scores = z @ self.weights
        explained = float(scores @ y) ** 2 / max(float(scores @ scores) * len(y), 1e-9)
        self.unexplained = 1 - min(1.0, explained)

    def parts(self, deviations: Reals) -> dict[str, float]:
        """The parts of the score of one URL."""
        values = np.bincount(PART_OF, weights=deviations * self.weights)
        return dict(zip(WEIGHTS, values.tolist(), strict=True))

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        return {
            "weights": self.weights,
            "unexplained": self.unexplained,
            "lessons": self.lessons.values.copy(),
            "pages": self.pages.values.copy(),
            "urls": list(self.waiting),
            "deviations": np.array(list(self.waiting.values())),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.weights = np.asarray(state["weights"], float)
        self.unexplained = float(state.get("unexplained", 1.0))
        self.lessons.add(np.asarray(state["lessons"]))
        self.pages.add(np.asarray(state["pages"]))
        self.set_ranked(list(state["urls"]), np.asarray(state["deviations"]))


def deviations(frontier: FrontierFeatures) -> Reals:
    """z of all waiting URLs, one row per URL."""
    columns = []
    for feature in FEATURES:
        values = frontier.features[feature]
        columns.append((values - values.mean()) / (values.std() + 1e-6))
    return np.asarray(np.clip(np.stack(columns, axis=1), -MOST_DEVIATIONS, MOST_DEVIATIONS))
