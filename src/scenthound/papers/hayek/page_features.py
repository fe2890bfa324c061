"""Features of pages and links, as names and as ids.

    volleyball            a word of the page's text (real: only a fetched page has it)
    host:fivb path:events                       words of the URL in and after its host part
    before:see anchor:results after:from        the 3 words before, the words in, the 3 words after a link to it
    distance:1            known to be 1 link from a goal

Being a goal is not a feature, because agents that match goals by our own list of goals would learn nothing. Each
economy has a lexicon with its own ids, in the order of first use.

Further features of text, links and sites ([ECON], section 4) are off unless `features` names them.

    ngrams    ngram:beach_volleyball     adjacent words, stop words left out
    bayes     bayes:1:80                 P(1 link from a goal | words) ≥ .80

    P(d | words) ∝ (pages(d) + 1) · Π over words  (documents(d, word) + 1) / (pages(d) + 2)

Ours: n is 2 [D]; distances up to 3; levels of 50, 80 and 95 %. The counts are those when the page was fetched, and the
page keeps its levels. Pages far from any goal are one class, as in the dictionaries.

    sites    visits:5 goals:1    pages fetched and goals found at the site so far, in bins 1, 2, 5, 20
    hubs     hub:2               links from its pages to goals so far, in the same bins

Agents can thus learn to leave a site after its goal, or to return to a site that leads to many goals. A feature holds
for one bin only: `visits:5` means 5 to 19.

Conditions on words are off unless `operators` names them.

    or:beach|coast           has one of the words
    near:beach|volleyball    has both, at most 5 words apart, stop words left out
    not:hockey               does not have the word

A condition is a feature like any other: an agent bids on pages for which all its features hold. Only real agents have
conditions, which concern words of the text, and each also has a plain word, by which it is indexed.
"""

from __future__ import annotations

import random
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scenthound.model import Link
from scenthound.page.page import Page
from scenthound.page.views.anchors import anchor_tokens, term_sequence
from scenthound.text.term_counts import unpack_terms
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Ids, Vocabulary

AROUND = 3  # words before and after an anchor [ECON]
FAR = 8
"""The distance of pages that are not known to be nearer to a goal."""
FEATURE_CLASSES = ("words", "url", "links", "distance")
"""Words of the page, words of its URL, words around links to it, its distance from a goal."""
MORE_CLASSES = ("ngrams", "bayes", "sites", "hubs")
"""[ECON]'s future work, off by default."""
OPERATORS = ("or", "near", "not")
KINDS = {"visits": "sites", "goals": "sites", "hub": "hubs"}
"""The kinds of counts of a site, and the feature class of each."""
_CLASS_OF = {
    "host": "url",
    "path": "url",
    "before": "links",
    "anchor": "links",
    "after": "links",
    "distance": "distance",
    "ngram": "ngrams",
    "bayes": "bayes",
    **KINDS,
    **dict.fromkeys(OPERATORS, "words"),
}
WORDS_PER_PAGE = 2000
WORDS_PER_ANCHOR = 12
MOST_FEATURES = 1_000_000

_SPLIT = re.compile(r"[^0-9a-z]+")
_STATES = tuple(f"{kind}:" for kind in ("distance", *KINDS))  # not stored with a page, because they change
_UNFETCHED = ("host:", "path:", "before:", "anchor:", "after:", *_STATES)


class Lexicon:
    """Feature names and their ids. When it is full, new names are ignored."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._vocabulary = Vocabulary(MOST_FEATURES)
        self.virtual = bytearray()
        """For each feature, whether unfetched pages can have it."""
        self.indexed = bytearray()
        """For each feature, whether pages are indexed by it. States of the crawl and conditions are not."""
        self.distances = self.add([f"distance:{steps}" for steps in range(FAR)]).tolist()
        self.add(list(names))

    @property
    def names(self) -> Sequence[str]:
        return self._vocabulary.all_words

    def add(self, names: Sequence[str]) -> Ids:
        """The ids of features, which are added if they are new; -1 if the lexicon is full."""
        ids = self._vocabulary.add(names)
        new = self.names[len(self.virtual) :]
        self.virtual += bytes(name.startswith(_UNFETCHED) for name in new)
        self.indexed += bytes(not name.startswith(_STATES) and not is_condition(name) for name in new)
        return ids

    def ids(self, names: Sequence[str]) -> Ids:
        """The ids of features; -1 for unknown features."""
        return self._vocabulary.ids(names)

    def __len__(self) -> int:
        return len(self._vocabulary)


def feature_class(name: str) -> str:
    """The class of a feature.

    >>> feature_class("volleyball"), feature_class("anchor:results")
    ('words', 'links')
    """
    kind, colon, _ = name.partition(":")
    return _CLASS_OF[kind] if colon else "words"


def url_features(url: str) -> list[str]:
    """The features of a URL, in order.

    >>> url_features("https://www.fivb.org/en/events.html")
    ['host:www', 'host:fivb', 'host:org', 'path:en', 'path:events', 'path:html']
    """
    host, _, path = url.lower().partition("://")[2].partition("/")
    sections = [("host", host), ("path", path[:300])]
    return [f"{kind}:{word}" for kind, text in sections for word in _SPLIT.split(text) if word and len(word) < 40]


class LinkWords:
    """The words around the links of a page. Stop words are skipped [D: so the three words carry meaning]."""

    def __init__(self, page: Page, analyser: Analyser) -> None:
        lines, of_token = page.view(term_sequence, analyser)
        self._terms = (*unpack_terms(lines), None)  # the last entry is for stop words, whose index is -1
        self._tokens = of_token.tolist()
        self._spans = page.view(anchor_tokens)
        self._analyser = analyser

    def features(self, link: Link) -> list[str]:
        """Features for the words before, in and after an anchor."""
        begin, end = self._spans[link.position]
        inside = self._words(begin, min(end, begin + 40)) if begin < end else self._analyser.terms(link.anchor[:400])
        return [
            *(f"before:{word}" for word in self._words(max(0, begin - 4 * AROUND), begin)[-AROUND:]),
            *(f"anchor:{word}" for word in inside[:WORDS_PER_ANCHOR]),
            *(f"after:{word}" for word in self._words(end, end + 4 * AROUND)[:AROUND]),
        ]

    def _words(self, begin: int, end: int) -> list[str]:
        return [term for index in self._tokens[begin:end] if (term := self._terms[index]) is not None]


APART = 5
CHANCE = 0.5  # probability that a new real agent gets a condition


def is_condition(name: str) -> bool:
    """Whether a feature name is a condition.

    >>> is_condition("not:hockey"), is_condition("anchor:not")
    (True, False)
    """
    return name.partition(":")[0] in OPERATORS and ":" in name


def operands(name: str) -> tuple[str, list[str]]:
    """The operator and the words of a condition.

    >>> operands("or:beach|coast")
    ('or', ['beach', 'coast'])
    """
    kind, _, words = name.partition(":")
    return kind, words.split("|")


def holds(name: str, has: Callable[[str], bool], order: Sequence[str]) -> bool:
    """Whether a condition holds for a page that `has` words, which come in this `order`.

    >>> words = "beach towel volleyball".split()
    >>> [holds(name, words.__contains__, words) for name in ("or:beach|coast", "near:beach|volleyball", "not:towel")]
    [True, True, False]
    """
    kind, words = operands(name)
    if kind == "not":
        return not any(map(has, words))
    if kind == "or":
        return any(map(has, words))
    return all(map(has, words)) and are_near(words[0], words[1], order)


def are_near(first: str, second: str, order: Sequence[str]) -> bool:
    """Whether two words occur at most `APART` words apart.

    >>> are_near("a", "b", "a x x x x b".split()), are_near("a", "b", "b x x x x x a".split())
    (True, False)
    """
    last = {first: -APART - 1, second: -APART - 1}
    for index, word in enumerate(order):
        if word in last:
            last[word] = index
            if abs(last[first] - last[second]) <= APART and min(last.values()) >= 0:
                return True
    return False


def draw_condition(
    rng: random.Random, kinds: Sequence[str], own: Sequence[str], others: Sequence[str], order: Sequence[str]
) -> str | None:
    """Draw a condition that holds for a page with `own` words in this `order`; `others` are words of another page."""
    kind = rng.choice(list(kinds))
    foreign = sorted(set(others) - set(own))
    if kind == "near":
        indices = [index for index in range(len(order) - 1) if order[index] != order[index + 1]]
        if not indices:
            return None
        index = rng.choice(indices)
        return f"near:{order[index]}|{order[index + 1]}"
    if not foreign or (kind == "or" and not own):
        return None
    word = rng.choice(foreign)
    return f"not:{word}" if kind == "not" else f"or:{rng.choice(list(own))}|{word}"


BINS = (1, 2, 5, 20)


def bin_of(count: int) -> int:
    """The lower bound of the bin of a count; 0 below the first bin.

    >>> [bin_of(count) for count in (0, 1, 4, 5, 100)]
    [0, 1, 2, 5, 20]
    """
    return max((start for start in BINS if start <= count), default=0)


class SiteCounts:
    """Counts by host, for the kinds whose feature class is in use."""

    def __init__(self, classes: frozenset[str]) -> None:
        self._counts = {kind: Counter[str]() for kind, feature_class in KINDS.items() if feature_class in classes}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, kind: str, host: str, number: int = 1) -> bool:
        """Add to a count. Returns whether that changes a feature of the host's pages."""
        if not number or kind not in self._counts:
            return False
        old_bin = bin_of(self._counts[kind][host])
        self._counts[kind][host] += number
        return bin_of(self._counts[kind][host]) != old_bin

    def features(self, host: str) -> list[str]:
        """The features of the pages of a host."""
        bins = ((kind, bin_of(counts[host])) for kind, counts in self._counts.items())
        return [f"{kind}:{start}" for kind, start in bins if start]


LEVELS = (50, 80, 95)
NEAREST = 4  # distances 0 to 3 have features
MOST_NGRAMS = 1000  # per page, the most frequent


def ngrams(words: Sequence[str], length: int = 2) -> Counter[str]:
    """Count the n-grams of a text.

    >>> ngrams("beach volleyball beach volleyball".split())
    Counter({'ngram:beach_volleyball': 2, 'ngram:volleyball_beach': 1})
    """
    grams = zip(*(words[start:] for start in range(length)), strict=False)
    counts = Counter("ngram:" + "_".join(gram) for gram in grams)
    return Counter(dict(counts.most_common(MOST_NGRAMS)))


def probabilities(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[float]:
    """P(d | words), from the number of pages at each distance and how many of them have each word.

    A distance at which no page is known has probability 0.

    >>> [round(probability, 3) for probability in probabilities([1, 3, 0], [[1, 1], [0, 1], [0, 0]])]
    [0.735, 0.265, 0.0]
    """
    total, with_word = np.asarray(pages, dtype=float), np.asarray(documents, dtype=float)
    if not total.any():
        return [0.0] * len(total)
    logs = np.log(total + 1) + np.log((with_word + 1) / (total[:, None] + 2)).sum(axis=1)
    logs[total == 0] = -np.inf
    odds = np.exp(logs - logs.max())
    return list((odds / odds.sum()).tolist())


def bayes_levels(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[str]:
    """The features for the levels that each distance reaches, including all lower levels.

    >>> bayes_levels([1, 3], [[1, 1], [0, 1]])
    ['bayes:0:50']
    """
    nearest = probabilities(pages, documents)[:NEAREST]
    return [
        f"bayes:{distance}:{level}"
        for distance, probability in enumerate(nearest)
        for level in LEVELS
        if probability >= level / 100
    ]


def sorted_counts(ids: Ids, times: Ids) -> tuple[array[int], array[int]]:
    """Ids in ascending order and how often each occurs; negative ids, which mean words without an id, are left out.

    >>> sorted_counts(np.array([7, -1, 3], dtype=np.int32), np.array([1, 5, 2], dtype=np.int32))
    (array('i', [3, 7]), array('i', [2, 1]))
    """
    order = np.argsort(ids)[int((ids < 0).sum()) :]
    return array("i", ids[order].tobytes()), array("i", times[order].tobytes())


def known_ids(known: array[int], wanted: array[int]) -> list[int]:
    """The `wanted` ids that are among the `known` ones, which are in ascending order.

    >>> known_ids(array("i", [3, 7, 9]), array("i", [9, 4, 3]))
    [9, 3]
    """
    if not known or not wanted:
        return []
    ids, sorted_ids = np.array(wanted), np.frombuffer(known, dtype=np.int32)
    is_known = sorted_ids.take(np.searchsorted(sorted_ids, ids), mode="clip") == ids
    return list(ids[is_known].tolist())


def pack_lists(lists: Sequence[Sequence[int]]) -> Ids:
    """Lists of numbers as one array: the number of lists, their lengths, then all items.

    >>> pack_lists([[5, 6], [], [7]]).tolist()
    [3, 2, 0, 1, 5, 6, 7]
    """
    flat = array("i", [len(lists), *map(len, lists)])
    for numbers in lists:
        flat.extend(numbers)
    return np.array(flat, dtype=np.int32)


def unpack_lists(packed: Any) -> list[array[int]]:
    """The inverse of `pack_lists`. Raises ValueError if the lists do not fill the array."""
    flat = array("i", np.asarray(packed, dtype=np.int32).tobytes())
    lists, begin = [], 1 + flat[0]
    for length in flat[1 : 1 + flat[0]]:
        lists.append(flat[begin : begin + length])
        begin += length
    if begin != len(flat):
        raise ValueError("the lists do not fill their array")
    return lists


class Dictionaries:
    """Document and term counts of each feature on the known pages, by distance from a goal."""

    def __init__(self) -> None:
        self.pages = np.zeros(FAR + 1, dtype=np.int32)
        self.documents = np.zeros((FAR + 1, 1024), dtype=np.int32)
        self.occurrences = np.zeros((FAR + 1, 1024), dtype=np.int32)

    def make_room(self, features: int) -> None:
        """Make room for this many features."""
        size = self.documents.shape[1]
        if features > size:
            padding = ((0, 0), (0, max(features, 2 * size) - size))
            self.documents, self.occurrences = np.pad(self.documents, padding), np.pad(self.occurrences, padding)

    def save(self, features: int) -> dict[str, Any]:
        """The counts of the first `features` features."""
        self.make_room(features)
        return {
            "pages": self.pages.copy(),
            "documents": self.documents[:, :features].copy(),
            "occurrences": self.occurrences[:, :features].copy(),
        }

    def load(self, state: Mapping[str, Any], features: int) -> None:
        for name in ("pages", "documents", "occurrences"):
            shape = (FAR + 1,) if name == "pages" else (FAR + 1, features)
            counts = np.array(state[name], dtype=np.int32)
            if counts.shape != shape or (counts < 0).any():
                raise ValueError(f"`{name}` of the dictionaries is damaged")
            setattr(self, name, counts)

    def count(self, distance: int, features: Any, counts: Any, sign: int = 1) -> None:
        self.documents[distance, features] += sign
        self.occurrences[distance, features] += sign * counts
