"""A topic made of example pages: words that tell them from the rest, where they fall in a taxonomy, and how sure
a classifier is that has seen so few.

Words are ranked by the information that their presence gives on whether a page is an example (in bits), times the
logarithm of how often examples use them; a background of other pages is what they are told from. How sure: every page
is classified by what all the others teach (leave one out); counts are exact, so taking one out costs its words only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenthound.lab.run.lessons import tree
from scenthound.lab.topics.taxonomies import Categories
from scenthound.page.page import Page
from scenthound.strategies.parts.taxonomy_classifier import learn_taxonomy
from scenthound.text.bayes import NaiveBayes
from scenthound.text.taxonomy import TreeClassifier
from scenthound.text.tokens import Analyser, stem, tokens

KEYWORDS = 8
Z95 = 1.959964  # of the normal distribution
ANALYSER = Analyser()


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word that tells examples from other pages."""

    word: str
    score: float
    examples: int
    """Examples that have it."""
    others: int


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with Wilson's 95% interval."""

    hits: int
    of: int
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.hits:,} of {self.of:,} (95% interval {self.least:.0%} to {self.most:.0%})"


@dataclass(frozen=True, slots=True)
class Sureness:
    """What a classifier makes of pages it has not learned from."""

    recognised: Share
    """Examples that it takes for the topic, each left out in its turn."""
    mistaken: Share
    """Background pages that it takes for the topic."""
    auc: float
    """The chance that an example scores higher than a background page; 0.5 is a coin."""
    auc_error: float
    """Its standard error (Hanley and McNeil 1982)."""


@dataclass(frozen=True, slots=True)
class Falls:
    """A category, and how probable it is: on average over the examples, and for how many it is the most probable."""

    name: str
    probability: float
    first_of: int
    is_leaf: bool


def propose_keywords(examples: Sequence[Page], others: Sequence[Page], most: int = KEYWORDS) -> list[Keyword]:
    """The words that tell the examples from the others best, in the form in which examples mostly write them."""
    ours = [page.record.counts(ANALYSER).to_dict() for page in examples]
    theirs = Counter(term for page in others for term in page.record.counts(ANALYSER))
    has = Counter(term for counts in ours for term in counts)
    times: Counter[str] = Counter()
    for counts in ours:
        times.update(counts)
    found = []
    for term, number in has.items():
        share, rest = number / len(ours), theirs[term] / len(others) if others else 0.0
        if share <= rest or term.isdigit():
            continue
        bits = information(number, len(ours), theirs[term], len(others))
        found.append((bits * math.log2(1.0 + times[term] / len(ours)), term, number))
    found.sort(key=lambda one: (-round(one[0], 9), one[1]))
    written = _spellings(examples, {term for _, term, _ in found[:most]})
    return [Keyword(written[term], score, number, theirs[term]) for score, term, number in found[:most]]


def information(has: int, of: int, other_has: int, other_of: int) -> float:
    """Bits that a word's presence gives on the class of a page, half a page added to each count. Classes weigh the
    same, however many pages they have.

    >>> round(information(5, 5, 0, 1000), 3), round(information(1, 2, 500, 1000), 3)
    (0.785, 0.0)
    """
    here, there = (has + 0.5) / (of + 1.0), (other_has + 0.5) / (other_of + 1.0)
    return _entropy((here + there) / 2) - (_entropy(here) + _entropy(there)) / 2


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1.0 - share) if part > 0)


def _spellings(examples: Sequence[Page], terms: set[str]) -> dict[str, str]:
    """For each term the word that most often stands for it; of equal ones the shortest."""
    counted: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for page in examples:
        for word in tokens(page.text):
            if (term := stem(word)) in counted:
                counted[term][word] += 1
    return {
        term: min(words, key=lambda word: (-words[word], len(word), word)) if words else term
        for term, words in counted.items()
    }


def how_sure(examples: Sequence[Page], others: Sequence[Page]) -> Sureness | None:
    """Leave-one-out with a naive Bayes classifier and equal priors; None with fewer than two on either side."""
    documents = [("on", page.record.counts(ANALYSER).to_dict()) for page in examples]
    documents += [("off", page.record.counts(ANALYSER).to_dict()) for page in others]
    if len(examples) < 2 or len(others) < 2:
        return None
    bayes = NaiveBayes(("on", "off"), uniform=True)
    for label, counts in documents:
        bayes.add(label, counts)
    odds: dict[str, list[float]] = {"on": [], "off": []}
    for label, counts in documents:
        bayes.add(label, counts, -1.0)
        odds[label].append(bayes.log_odds("on", counts))
        bayes.add(label, counts)
    area = _area(odds["on"], odds["off"])
    return Sureness(
        wilson(sum(one > 0 for one in odds["on"]), len(examples)),
        wilson(sum(one > 0 for one in odds["off"]), len(others)),
        area,
        _area_error(area, len(examples), len(others)),
    )


def wilson(hits: int, of: int) -> Share:
    """A share with its 95% interval, sensible for few and for extreme ones too (Wilson 1927).

    >>> print(wilson(5, 5))
    5 of 5 (95% interval 57% to 100%)
    """
    if not of:
        return Share(0, 0, 0.0, 1.0)
    share, square = hits / of, Z95 * Z95
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return Share(hits, of, max(0.0, middle - half), min(1.0, middle + half))


def _area(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Mann and Whitney: pairs in which ours is larger, ties as half."""
    wins = sum((one > other) + 0.5 * (one == other) for one in ours for other in theirs)
    return wins / (len(ours) * len(theirs))


def _area_error(area: float, ours: int, theirs: int) -> float:
    first, second = area / (2 - area), 2 * area * area / (1 + area)
    spread = area * (1 - area) + (ours - 1) * (first - area * area) + (theirs - 1) * (second - area * area)
    return math.sqrt(max(0.0, spread) / (ours * theirs))


def categories_of(examples: Sequence[Page], categories: Categories) -> list[Falls]:
    """Where the examples fall in a taxonomy: every category, the most probable first."""
    classifier = _classifier(categories)
    leaves = set(classifier.tree.leaves)
    found: list[Mapping[str, float]] = [classifier.probabilities(page.record.counts(ANALYSER)) for page in examples]
    first = Counter(max(leaves, key=lambda name: (one[name], name)) for one in found)
    names = [name for name in classifier.tree.order if name != classifier.tree.root]
    told = [
        Falls(name, math.fsum(one[name] for one in found) / len(found), first[name], name in leaves) for name in names
    ]
    return sorted(told, key=lambda one: (-round(one.probability, 12), one.name))


def _classifier(categories: Categories) -> TreeClassifier:
    """A classifier over all categories; which is good plays no part in where pages fall."""
    taught = {}
    for path, pages in categories.placed.items():
        if kept := [page for page in pages if page.record.counts(ANALYSER)]:
            taught[path] = kept
    first = tree(taught, ())
    assert first is not None, "categories have pages in two of them at least"
    last = [name for name in first.examples if name not in first.children][-1]
    whole = tree(taught, [last])
    assert whole is not None
    return learn_taxonomy(whole, ANALYSER)
