"""Makes a topic from example pages: keywords, matching categories of a taxonomy, and a test of the classifier.

Keywords are ranked by the information (in bits) that their presence gives about whether a page is an example or part of
the background, times the logarithm of their frequency in the examples. The classifier is tested leave-one-out: each
page is classified by a model trained on all others. Counts are exact, so leaving a page out costs only its own words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenthound.lab.run.topic_lessons import tree
from scenthound.lab.topics.taxonomies import Categories
from scenthound.model import DECIMALS
from scenthound.page.page import Page
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.parts.taxonomy import TreeClassifier
from scenthound.papers.parts.training_pages import learn_taxonomy
from scenthound.text.tokens import Analyser, stem, tokens

KEYWORDS = 8
Z95 = 1.959964  # 97.5% quantile of the normal distribution
ANALYSER = Analyser()


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word that distinguishes the examples from other pages."""

    word: str
    score: float
    examples: int
    """Number of examples that contain it."""
    others: int
    """Number of other pages that contain it."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """A proportion with Wilson's 95% interval."""

    hits: int
    of: int
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.hits:,} of {self.of:,} (95% interval {self.least:.0%} to {self.most:.0%})"


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The results of a classifier on pages that it was not trained on."""

    recognised: Proportion
    """Examples classified as on topic."""
    mistaken: Proportion
    """Background pages classified as on topic."""
    auc: float
    """The probability that an example scores higher than a background page; 0.5 is chance."""
    auc_error: float
    """Its standard error (Hanley and McNeil 1982)."""


@dataclass(frozen=True, slots=True)
class CategoryMatch:
    """A category, its mean probability over the examples, and the number of examples for which it is the best leaf."""

    name: str
    probability: float
    first_of: int
    is_leaf: bool


def propose_keywords(examples: Sequence[Page], others: Sequence[Page], most: int = KEYWORDS) -> list[Keyword]:
    """The words that best distinguish the examples from the others, in the spelling most common in the examples."""
    example_counts = [page.record.counts(ANALYSER).to_dict() for page in examples]
    other_pages = Counter(term for page in others for term in page.record.counts(ANALYSER))
    example_pages = Counter(term for counts in example_counts for term in counts)
    frequency: Counter[str] = Counter()
    for counts in example_counts:
        frequency.update(counts)
    scored = []
    for term, count in example_pages.items():
        share, other_share = count / len(examples), other_pages[term] / len(others) if others else 0.0
        if share <= other_share or term.isdigit():
            continue
        bits = information(count, len(examples), other_pages[term], len(others))
        scored.append((bits * math.log2(1.0 + frequency[term] / len(examples)), term, count))
    best = sorted(scored, key=lambda entry: (-round(entry[0], 9), entry[1]))[:most]
    spelling = _spellings(examples, {term for _, term, _ in best})
    return [Keyword(spelling[term], score, count, other_pages[term]) for score, term, count in best]


def information(has: int, of: int, other_has: int, other_of: int) -> float:
    """The information, in bits, that a word's presence gives about the class of a page. Both classes have equal weight,
    and half a page is added to each count.

    >>> round(information(5, 5, 0, 1000), 3), round(information(1, 2, 500, 1000), 3)
    (0.785, 0.0)
    """
    share, other_share = (has + 0.5) / (of + 1.0), (other_has + 0.5) / (other_of + 1.0)
    return _entropy((share + other_share) / 2) - (_entropy(share) + _entropy(other_share)) / 2


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1.0 - share) if part > 0)


def _spellings(examples: Sequence[Page], terms: set[str]) -> dict[str, str]:
    """The most frequent word of each term; of equally frequent words the shortest."""
    spellings: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for page in examples:
        for word in tokens(page.text):
            if (term := stem(word)) in spellings:
                spellings[term][word] += 1
    return {
        term: min(words, key=lambda word: (-words[word], len(word), word)) if words else term
        for term, words in spellings.items()
    }


def leave_one_out(examples: Sequence[Page], others: Sequence[Page]) -> LeaveOneOut | None:
    """Leave-one-out with a naive Bayes classifier and equal priors; None with fewer than two examples or others."""
    documents = [("on", page.record.counts(ANALYSER).to_dict()) for page in examples]
    documents += [("off", page.record.counts(ANALYSER).to_dict()) for page in others]
    if len(examples) < 2 or len(others) < 2:
        return None
    bayes = NaiveBayes(("on", "off"), uniform=True)
    for label, counts in documents:
        bayes.add(label, counts)
    odds: dict[str, list[float]] = {"on": [], "off": []}
    for label, counts in documents:
        bayes.add(label, counts, -1.0)  # leave this page out
        odds[label].append(bayes.log_odds("on", counts))
        bayes.add(label, counts)
    area = _area(odds["on"], odds["off"])
    return LeaveOneOut(
        wilson(sum(value > 0 for value in odds["on"]), len(examples)),
        wilson(sum(value > 0 for value in odds["off"]), len(others)),
        area,
        _area_error(area, len(examples), len(others)),
    )


def wilson(hits: int, of: int) -> Proportion:
    """A proportion with its 95% interval, which is also valid for few cases and near 0 or 1 (Wilson 1927).

    >>> print(wilson(5, 5))
    5 of 5 (95% interval 57% to 100%)
    """
    if not of:
        return Proportion(0, 0, 0.0, 1.0)
    share, square = hits / of, Z95 * Z95
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return Proportion(hits, of, max(0.0, middle - half), min(1.0, middle + half))


def _area(examples: Sequence[float], others: Sequence[float]) -> float:
    """The Mann-Whitney statistic: the share of pairs in which the example's value is larger; ties count one half."""
    wins = sum((a > b) + 0.5 * (a == b) for a in examples for b in others)
    return wins / (len(examples) * len(others))


def _area_error(area: float, examples: int, others: int) -> float:
    """The standard error of the area (Hanley and McNeil 1982)."""
    first, second = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (examples - 1) * (first - area * area) + (others - 1) * (second - area * area)
    return math.sqrt(max(0.0, variance) / (examples * others))


def match_categories(examples: Sequence[Page], categories: Categories) -> list[CategoryMatch]:
    """All categories of a taxonomy, sorted by their probability for the examples."""
    classifier = _classifier(categories)
    leaves = set(classifier.tree.leaves)
    probabilities: list[Mapping[str, float]] = [
        classifier.probabilities(page.record.counts(ANALYSER)) for page in examples
    ]
    best = Counter(max(leaves, key=lambda name: (by_name[name], name)) for by_name in probabilities)
    names = [name for name in classifier.tree.order if name != classifier.tree.root]
    means = {name: math.fsum(by_name[name] for by_name in probabilities) / len(examples) for name in names}
    matches = [CategoryMatch(name, means[name], best[name], name in leaves) for name in names]
    return sorted(matches, key=lambda match: (-round(match.probability, DECIMALS), match.name))


def _classifier(categories: Categories) -> TreeClassifier:
    """A classifier over all categories. It needs a good category, but which one does not matter here."""
    with_terms = {}
    for path, pages in categories.pages.items():
        if kept := [page for page in pages if page.record.counts(ANALYSER)]:
            with_terms[path] = kept
    without_good = tree(with_terms, ())
    assert without_good is not None, "at least two categories have pages"
    last_leaf = [name for name in without_good.examples if name not in without_good.children][-1]
    taxonomy = tree(with_terms, [last_leaf])
    assert taxonomy is not None
    return learn_taxonomy(taxonomy, ANALYSER)
