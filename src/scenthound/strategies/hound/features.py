"""The features of each waiting URL, from all links to it on fetched pages (sheet 80.3).

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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.link_text import ADDRESS, ANCHOR, BESIDE, HEADING
from scenthound.strategies.hound.link_table import WAITING, Flags, LinkTable, Reals, Whole
from scenthound.strategies.hound.topic_fit import LearnedTopic

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
