"""The arithmetic of the judge `topic` (a probability from six numbers and a prior), and the pages that it remembers.

    log-odds = BIAS + sum of WEIGHTS * evidence + prior

`probability` is for a page that was just fetched, `probabilities` for all remembered pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.model import Url
from scenthound.page.page import numbers_of
from scenthound.text.row_products import row_products
from scenthound.text.topic_model import Floats, WeightedTerms

BIAS = -1.4
WEIGHTS = {"likeness": 1.8, "separation": 0.2, "keywords": 0.35, "title": 1.5, "links": 0.5, "parent": 0.5}
LEAST = (-3.0, -5.0, -3.0, -math.inf, -math.inf, -math.inf)
"""Lower bounds of the evidence, in the order of WEIGHTS."""
MOST = (1.5, 8.0, 4.0, math.inf, math.inf, math.inf)
OF_MODEL = 2  # the first two pieces of evidence come from the model, and are scaled by the reliance on it
CERTAIN = {"": (0.0, 1.0), "seed": (0.0, 1.0), "given": (0.95, 1.0), "off": (0.0, 0.05)}
"""Bounds of the probability for each kind of page: the user's own verdict is not overruled."""
_WEIGHTS, _LEAST, _MOST = np.array(list(WEIGHTS.values())), np.array(LEAST), np.array(MOST)


def probability(evidence: Sequence[float], reliance: float, prior: float, kind: str) -> float:
    """The probability of one page, with its evidence in the order of WEIGHTS.

    >>> round(probability([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.5, 0.0, ""), 3)
    0.731
    """
    odds = BIAS + prior
    for index, (value, weight) in enumerate(zip(evidence, WEIGHTS.values(), strict=True)):
        bounded = min(max(value, LEAST[index]), MOST[index])
        odds += weight * (reliance * bounded if index < OF_MODEL else bounded)
    least, most = CERTAIN[kind]
    return min(max(1 / (1 + math.exp(-min(max(odds, -30.0), 30.0))), least), most)


def probabilities(evidence: Floats, reliance: float, priors: Floats, kinds: Sequence[str]) -> Floats:
    """Like `probability`, for many pages, one row each."""
    bounded = np.minimum(np.maximum(evidence, _LEAST), _MOST)
    bounded[:, :OF_MODEL] *= reliance
    bounds = np.array([CERTAIN[kind] for kind in kinds])
    unbounded = logistic(BIAS + row_products(bounded, _WEIGHTS) + priors)
    return np.asarray(np.minimum(np.maximum(unbounded, bounds[:, 0]), bounds[:, 1]))


def logistic(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(odds, -30.0), 30.0))))


# ---- remembered pages

MOST_MARKED = 2_000
"""Up to this many pages, links are marked in a table of 4 MB, in a tenth of the time of sorting."""


@dataclass(slots=True, eq=False)
class RememberedPage:
    """A fetched page, or the description, that the model is fitted on."""

    url: Url
    document: WeightedTerms
    keyword_counts: Floats
    """ln(1 + tf) of each keyword."""
    context: tuple[float, float, float]
    """The evidence from title, links and parent."""
    kind: str = ""
    """`seed`, `given` (example, label or description), `off` (label), or empty."""
    probability: float = 0.0
    links: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    """Its outlinks, as from `page.page.outlink_numbers`."""


class Neighbours:
    """The links among some pages, in both directions."""

    def __init__(self, pages: Sequence[RememberedPage]) -> None:
        self._size = len(pages)
        keys = np.frombuffer(numbers_of([page.url for page in pages]), np.uint32).astype(np.int64)
        order = np.argsort(keys, kind="stable")
        links = np.concatenate([np.zeros(0, np.uint32), *(page.links for page in pages)])
        sources = np.repeat(np.arange(self._size), [len(page.links) for page in pages])
        may_be_known = np.zeros(1 << 16, np.bool_)  # by the last bits: most links lead to other pages
        may_be_known[keys & 0xFFFF] = True
        candidates = np.flatnonzero(may_be_known.take(links & 0xFFFF))
        links, sources = links[candidates].astype(np.int64), sources[candidates]
        nearest = np.minimum(np.searchsorted(keys[order], links), max(self._size - 1, 0))
        is_known = keys[order][nearest] == links if self._size else np.zeros(0, bool)
        sources, targets = sources[is_known], order[nearest[is_known]]
        both = _distinct(np.concatenate([sources * self._size + targets, targets * self._size + sources]), self._size)
        self._sources, self._targets = both // max(self._size, 1), both % max(self._size, 1)

    def evidence(self, probabilities: Floats, average: float) -> Floats:
        """How much more probable the neighbours of each page are than the average page, like `link_evidence`."""
        is_other = self._sources != self._targets
        sources, targets = self._sources[is_other], self._targets[is_other]
        sums = np.bincount(sources, probabilities[targets], self._size).astype(np.float64)
        counts = np.bincount(sources, minlength=self._size)
        return np.minimum(np.maximum(np.log((sums + 3 * average) / (counts + 3) / average), -2.0), 3.0)


def _distinct(pairs: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Sorted distinct pairs. A pair of numbers below `size` is first * size + second."""
    if size > MOST_MARKED:
        pairs = np.sort(pairs)
        return pairs[np.diff(pairs, prepend=-1) > 0]  # like `np.unique`, which would import numpy's masked arrays
    is_pair = np.zeros(size * size, np.bool_)
    is_pair[pairs] = True
    return np.flatnonzero(is_pair)


def link_evidence(total: float, count: int, average: float) -> float:
    """ln(mean probability of the neighbours / average), with three average neighbours added."""
    return min(max(math.log((total + 3 * average) / (count + 3) / average), -2.0), 3.0)


def pack(pages: Sequence[RememberedPage]) -> dict[str, Any]:
    """Pages as columns of JSON values and arrays."""
    return {
        "urls": [page.url for page in pages],
        "kinds": [page.kind for page in pages],
        "probabilities": np.array([page.probability for page in pages], np.float64),
        "contexts": np.array([page.context for page in pages], np.float64),
        "keywords": np.array([page.keyword_counts for page in pages], np.float64),
        "lengths": np.array([len(page.document.ids) for page in pages], np.int64),
        "ids": np.concatenate([np.zeros(0, np.int64), *(page.document.ids for page in pages)]).astype(np.int32),
        "links": np.concatenate([np.zeros(0, np.uint32), *(page.links for page in pages)]),
        "link_lengths": np.array([len(page.links) for page in pages], np.int64),
        "weights": np.concatenate([np.zeros(0), *(page.document.weights for page in pages)]),
    }


def unpack(state: Mapping[str, Any]) -> list[RememberedPage]:
    """The inverse of `pack`. Raises ValueError if the columns do not match."""
    ends = np.cumsum(state["lengths"])
    ids, weights = state["ids"].astype(np.int64), state["weights"]
    page_links = np.split(state["links"], np.cumsum(state["link_lengths"])[:-1])
    if len(state["urls"]) != len(ends) or len(ids) != len(weights) or (len(ends) and ends[-1] != len(ids)):
        raise ValueError("the remembered pages of a judge are damaged")
    pages = []
    for number, (url, end, length) in enumerate(zip(state["urls"], ends, state["lengths"], strict=True)):
        title, links, parent = state["contexts"][number].tolist()
        document = WeightedTerms(ids[end - length : end], weights[end - length : end])
        probability = float(state["probabilities"][number])
        facts = (
            state["keywords"][number],
            (title, links, parent),
            state["kinds"][number],
            probability,
            page_links[number],
        )
        pages.append(RememberedPage(Url(url), document, *facts))
    return pages
