"""The inputs of a spider's neural net, the net itself, and the probabilities of the draw (sheet 40.1).

input k of a link = proximity(u) of keyword k to its anchor u = Σ 1 / distance(u, o), over its occurrences o on the page
net(x)            = tanh(w2 · tanh(W1 x + b1) + b2)
P(link)           = e^(greed · score) / Σ e^(greed · score)

The distance of an occurrence is 1 in the anchor u itself; elsewhere it is 2, plus 1 for each whole anchor in between.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.page.views.anchors import term_positions
from scenthound.text.row_products import row_products
from scenthound.text.tokens import Analyser

Numbers = npt.NDArray[np.float64]
SPAN = 0.5  # initial weights are drawn from ±0.5 [sheet 40.1]


class Sighting(NamedTuple):
    """An occurrence of a word: in anchor b (`where` is 2b + 1), or outside with g anchors before it (2g)."""

    where: int
    term: str


def sightings(page: Page, words: Collection[str], analyser: Analyser) -> list[Sighting]:
    """The occurrences of these terms on the page, located by anchors. The words of an image link are its `alt` text."""
    counts = page.record.counts(analyser)
    if not any(word in counts for word in words) and page.view(anchor_terms, analyser).isdisjoint(words):
        return []  # saves locating all terms of the page
    positions = page.view(term_positions, analyser)
    return [Sighting(where, word) for word in words for where in positions.of(word)]


def anchor_terms(record: Record, analyser: Analyser) -> Set[str]:
    """The terms of all anchors, including `alt` texts."""
    return {term for text in {link.anchor for link in record.links} for term in analyser.terms(text)}


def link_inputs(seen: Sequence[Sighting], anchors: int, columns: Mapping[str, int], reach: int) -> Numbers:
    """The proximity of each keyword to each anchor: one row per anchor, one column per keyword."""
    occurrences: dict[str, list[int]] = {}
    for where, term in seen:
        occurrences.setdefault(term, []).append(where)
    inputs = np.zeros((anchors, len(columns)))
    for term, positions in occurrences.items():
        inputs[:, columns[term]] = proximities(positions, anchors, reach)
    return inputs


class Net:
    """A layer of tanh units and a tanh output; without hidden units, the output is computed from the inputs."""

    __slots__ = ("b1", "b2", "w1", "w2")

    def __init__(self, w1: Numbers, b1: Numbers, w2: Numbers, b2: float) -> None:
        self.w1, self.b1, self.w2, self.b2 = w1, b1, w2, b2

    @classmethod
    def untrained(cls, inputs: int, hidden: int, rng: random.Random) -> Net:
        """An untrained net with small random weights."""

        def random_weights(*shape: int) -> Numbers:
            weights = [rng.uniform(-SPAN, SPAN) for _ in range(int(np.prod(shape)))]
            return np.array(weights, dtype=np.float64).reshape(shape)

        w1, b1 = random_weights(hidden, inputs), random_weights(hidden)
        return cls(w1, b1, random_weights(hidden or inputs), rng.uniform(-SPAN, SPAN))

    def outputs(self, inputs: Numbers) -> Numbers:
        """The output for each row of inputs."""
        hidden = inputs
        if len(self.b1):
            hidden = np.tanh(np.stack([row_products(inputs, unit) for unit in self.w1], axis=1) + self.b1)
        return np.asarray(np.tanh(row_products(hidden, self.w2) + self.b2))

    def learn(self, inputs: Numbers, target: float, rate: float) -> float:
        """Do one step of back-propagation on half the squared error. Returns the output before the step."""
        hidden = np.tanh(self.w1 @ inputs + self.b1) if len(self.b1) else inputs
        output = float(np.tanh(hidden @ self.w2 + self.b2))
        delta = (target - output) * (1 - output * output)
        if len(self.b1):
            back = delta * self.w2 * (1 - hidden * hidden)  # through the old weights
            self.w1 = self.w1 + rate * np.outer(back, inputs)
            self.b1 = self.b1 + rate * back
        self.w2 = self.w2 + rate * delta * hidden
        self.b2 += rate * delta
        return output

    def child(self, more: int) -> Net:
        """A copy with `more` additional inputs, whose weights are 0."""
        if len(self.b1):
            w1 = np.hstack([self.w1, np.zeros((len(self.b1), more))])
            return Net(w1, self.b1.copy(), self.w2.copy(), self.b2)
        return Net(self.w1.copy(), self.b1.copy(), np.append(self.w2, np.zeros(more)), self.b2)


def softmax_weights(scores: Numbers, greed: float) -> Numbers:
    """e^(greed · score) for each score, times a common factor that keeps the weights finite."""
    return np.asarray(np.exp(greed * (scores - scores.max())))


def softmax(scores: Sequence[float], greed: float) -> list[float]:
    """The probability of drawing each item, from its score.

    >>> [round(probability, 6) for probability in softmax([0.484933, 0.459001], 5)]
    [0.53237, 0.46763]
    """
    weights = softmax_weights(np.array(scores, dtype=np.float64), greed)
    return list((weights / weights.sum()).tolist())


def proximities(positions: Iterable[int], anchors: int, reach: int) -> Numbers:
    """The proximity of a word to every anchor. Occurrences with more than `reach` anchors in between are ignored.

    A position is 2b + 1 for an occurrence in anchor b, and 2g for one outside anchors with g anchors before it.

    >>> proximities([1, 4], 3, 5).tolist()
    [1.3333333333333333, 1.0, 0.8333333333333333]
    """
    proximity = np.zeros(anchors)
    inside, outside = _inverse_distances(reach)
    for position, times in Counter(positions).items():
        kernel = inside if position % 2 else outside  # both reach as far to the left as to the right
        first = position // 2 - reach - 1
        begin, end = max(0, first), min(anchors, first + len(kernel))
        if begin < end:
            proximity[begin:end] += times * kernel[begin - first : end - first]
    return proximity


@lru_cache(maxsize=64)
def _inverse_distances(reach: int) -> tuple[Numbers, Numbers]:
    """The inverse distances of the anchors around an occurrence: inside an anchor, and between two anchors."""
    inside = 1.0 / (1 + np.abs(np.arange(-reach - 1, reach + 2)))
    outside = 1.0 / (2 + np.arange(reach + 1))
    return inside, np.concatenate([outside[::-1], outside])
