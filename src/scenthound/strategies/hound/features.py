"""The features of each waiting URL, from all links to it on fetched pages (sheet 80.3), and their weights: shipped
weights, corrected by the results of this crawl (sheet 80.4).

u is one of the n fetched pages that link to the URL, r(u) its relevance. T(B) measures how well the words B fit the
topic: the sum of idf(t) q(t) over its words, divided by sqrt(1 + their number). A *yield* is the mean relevance of the
fetched targets of some links, less m0, the mean of all pages. Virtual targets with relevance m0, whose number is the
strength, draw it towards 0.

    feature     formula                                                         strength
    citing      mean r(u)
    sum         sum of r(u)^2 / sqrt(1 + out-links of u)
    anchor      largest T(anchor)
    beside      largest T(text beside the link)
    heading     largest T(heading)
    text        sum of T(anchor) + T(beside) over links, / sqrt(n)
    relevant    sum of r(u) T(beside) over links, / sqrt(n)
    address     T(address)
    keyword     1 if the address contains a keyword
    shape       yield of all fetched pages whose address has the same shape     5
    addresses   sum of the yields of the address's words over all fetched pages, / sqrt(1 + their number)     2
    page        sum of the yields of the pages u, / sqrt(n)                     3
    near        mean yield of the links beside it; distances 1, 2, 3 have weights 1, 1/2, 1/3     1
    path        mean yield of links at the same tag path                        5
    anchors     mean over links of: sum of the yields of the anchor's words, / sqrt(1 + their number)     2
    besides     the same for the words beside the link                          5
    cocited     sum over u of a(u) / out-links of u; a(u) = sum of r(w)^2 / sqrt(pages that link to w) over its
                fetched targets w
    examples    sum over u of ln(1 + examples that u links to) * max(r(u), 0.2), / sqrt(n)

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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.link_text import ADDRESS, ANCHOR, BESIDE, HEADING
from scenthound.strategies.hound.link_table import WAITING, Column, Flags, LinkTable, Reals, Whole
from scenthound.strategies.hound.topic_fit import LearnedTopic
from scenthound.text.row_products import row_products

RELEVANT = 0.5
"""Relevance from which a page counts as relevant in explanations."""


class FrontierFeatures(NamedTuple):
    """The waiting URLs and their features."""

    urls: Whole
    features: dict[str, Reals]
    links: Reals
    """How many fetched pages link to each URL."""
    relevant_links: Reals
    """How many relevant pages link to each URL."""


def frontier_features(table: LinkTable, topic: LearnedTopic) -> FrontierFeatures:
    """Compute all features of all waiting URLs."""
    relevance, is_example = topic.relevance.values, topic.is_example.values
    source, target, is_first = table.source.values, table.target.values, table.is_first.values
    others = relevance[~is_example]
    mean = float(others.mean()) if len(others) else float(relevance.mean()) if len(relevance) else 0.0
    target_page = table.page_of.values[target]
    is_fetched = (target_page >= 0) & (target_page != source)  # of the target; self-links are left out
    gained = np.where(is_fetched, relevance[target_page], 0.0)
    url_relevance = np.where(table.page_of.values >= 0, relevance[table.page_of.values], np.nan)
    texts = table.score_new_rows(topic.word_weights())

    waiting = np.flatnonzero(table.state.values == WAITING)
    position = np.full(len(table.names), -1, dtype=np.int64)
    position[waiting] = np.arange(len(waiting))
    rows = np.flatnonzero(position[target] >= 0)
    pairs = rows[is_first[rows]]
    of_row, of_pair = position[target[rows]], position[target[pairs]]
    citing = source[pairs]
    size = len(waiting)

    def total(where: Whole, values: Reals) -> Reals:
        return np.bincount(where, weights=values, minlength=size).astype(np.float64)

    def largest(values: Reals) -> Reals:
        best = np.zeros(size)
        np.maximum.at(best, of_row, values[rows])
        return best

    links = np.maximum(total(of_pair, np.ones(len(pairs))), 1)
    sightings = np.maximum(total(of_row, np.ones(len(rows))), 1)
    root = np.sqrt(links)
    r = relevance[citing]
    fetched_pairs = is_fetched & is_first
    page_yield = _yields(source[fetched_pairs], gained[fetched_pairs], len(relevance), mean, 3)
    path_yield = _yields(table.path.values[is_fetched], gained[is_fetched], len(table.paths), mean, 5)
    cited_by = np.maximum(np.bincount(target[is_first], minlength=len(table.names)), 1)
    authority = np.bincount(
        source[fetched_pairs],
        weights=gained[fetched_pairs] ** 2 / np.sqrt(cited_by[target[fetched_pairs]]),
        minlength=len(relevance),
    )
    to_example = fetched_pairs & is_example[target_page]
    examples = np.bincount(source[to_example], minlength=len(relevance))
    degree = table.out_degree.values
    anchor_words, beside_words = _word_yields(table, topic, is_fetched, gained, mean)
    features = {
        "citing": total(of_pair, r) / links,
        "sum": total(of_pair, r**2 / np.sqrt(degree[citing] + 1)),
        "anchor": largest(texts[ANCHOR]),
        "beside": largest(texts[BESIDE]),
        "heading": largest(texts[HEADING]),
        "text": total(of_row, (texts[ANCHOR] + texts[BESIDE])[rows]) / root,
        "relevant": total(of_row, relevance[source[rows]] * texts[BESIDE][rows]) / root,
        "address": largest(texts[ADDRESS]),
        "keyword": largest((table.pieces[ADDRESS].mean_weight(topic.keyword_marks()) > 0).astype(np.float64)),
        "shape": _shape_yields(table, relevance, mean)[waiting],
        "addresses": largest(address_yields(table, url_relevance, mean)),
        "page": total(of_pair, page_yield[citing]) / root,
        "near": total(of_row, _near_yields(source, is_fetched, gained, mean)[rows]) / sightings,
        "path": total(of_row, path_yield[table.path.values[rows]]) / sightings,
        "anchors": total(of_row, anchor_words[rows]) / sightings,
        "besides": total(of_row, beside_words[rows]) / sightings,
        "cocited": total(of_pair, authority[citing] / np.maximum(degree[citing], 1)),
        "examples": total(of_pair, np.log1p(examples[citing]) * np.maximum(r, 0.2)) / root,
    }
    return FrontierFeatures(waiting, features, links, total(of_pair, (r >= RELEVANT).astype(np.float64)))


def _yields(keys: npt.NDArray[np.integer[Any]], gained: Reals, size: int, mean: float, strength: float) -> Reals:
    """The yield of each key: the mean of its gains and of `strength` virtual gains of `mean`, less `mean`.

    >>> _yields(np.array([0, 0, 0]), np.array([0.9, 0.7, 0.1]), 1, 0.3, 3).round(4).tolist()
    [0.1333]
    """
    total = np.bincount(keys, weights=gained, minlength=size)
    count = np.bincount(keys, minlength=size)
    return np.asarray((total + strength * mean) / (count + strength) - mean)


def _word_yields(
    table: LinkTable, topic: LearnedTopic, is_fetched: Flags, gained: Reals, mean: float
) -> tuple[Reals, Reals]:
    """For every link, the yields of its anchor's words and of the words beside it."""
    link_yields = []
    for piece, strength in ((ANCHOR, 2), (BESIDE, 5)):
        runs = table.pieces[piece]
        done = runs.of_each_word(is_fetched)
        words, gains = runs.words.values[done], np.repeat(gained[is_fetched], runs.sizes.values[is_fetched])
        yields = _yields(words, gains, len(topic.pages_with), mean, strength)
        link_yields.append(runs.mean_weight(yields))
    return link_yields[0], link_yields[1]


def _shape_yields(table: LinkTable, relevance: Reals, mean: float) -> Reals:
    """For every URL, the yield of the shape of its address."""
    pages, shapes = table.page_of.values, table.shape.values
    fetched = np.flatnonzero(pages >= 0)
    yields = _yields(shapes[fetched], relevance[pages[fetched]], len(table.shapes), mean, 5)
    return np.asarray(yields[shapes])


def address_yields(table: LinkTable, values: Reals, mean: float) -> Reals:
    """For every link, the yields of the words of its address, from the values of URLs; nan: unknown."""
    runs, target = table.pieces[ADDRESS], table.target.values
    rows = table.first_rows()  # each URL counts once
    is_lesson = np.zeros(len(target), dtype=np.bool_)
    is_lesson[rows] = ~np.isnan(values[target[rows]])
    gains = np.repeat(values[target[is_lesson]], runs.sizes.values[is_lesson])
    words = runs.words.values
    yields = _yields(words[runs.of_each_word(is_lesson)], gains, int(words.max(initial=-1)) + 1, mean, 2)
    return runs.mean_weight(yields)


def _near_yields(source: Whole, is_fetched: Flags, gained: Reals, mean: float) -> Reals:
    """For every link, the yield of the three links before and after it on its page."""
    total, weight = np.full(len(source), mean), np.ones(len(source))
    for distance in (1, 2, 3):
        is_same = source[distance:] == source[:-distance]
        later, earlier = slice(distance, None), slice(None, -distance)
        for here, there in ((later, earlier), (earlier, later)):
            counts = (is_same & is_fetched[there]) / distance
            total[here] += counts * gained[there]
            weight[here] += counts
    return np.asarray(total / weight - mean)


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
        self.unexplained = float(state["unexplained"])
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
