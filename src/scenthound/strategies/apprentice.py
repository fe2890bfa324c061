"""Apprentice: learn from the words near a link what the first classifier will say of its page (sheet 30.7).

Chakrabarti, Punera and Subramanyam 2002. A first classifier gives every fetched page its relevance R. A second one, the
apprentice, learns during the crawl to foresee it. The features of a link are pairs (term, offset): the text leaves of
the page's tag tree are numbered, those of the anchor have offset 0 and others their signed distance in leaves, up to
`reach`. When a page v has come with R(v), every link to it that was seen before is an instance, relevant with weight
R(v) and irrelevant with 1 - R(v), of a multinomial naive Bayes model. Until `after` instances were seen a link is worth
its page's R, then what the apprentice says.

The first classifier: where examples and other pages were given before the crawl (`train`), naive Bayes on these two
classes, and R is the probability of the first. Otherwise R is the cosine of the topic's keywords with the page.

Ours: the moment the apprentice takes over, links that wait are judged by it too, so that one scale holds for all.
An anchor without text stands before the next that has some, its `alt` text at offset 0. Of several anchors to one URL
the best counts, and teaches. Bounded: the first `MOST_SIGHTINGS` links to one URL teach, `memory` waiting links
are remembered, and of a page the first `MOST_OF_A_PAGE` terms. A label given while the crawl runs is R of its page,
for one that waits and for the last `RECENT` that came.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Link, Miss, Page, Topic, Url
from scenthound.ports import Lessons
from scenthound.strategies import strategy
from scenthound.strategies.sightings import LINK, Sightings
from scenthound.text.bayes import NaiveBayes
from scenthound.text.contexts import (
    Query,
    anchor_leaves,
    anchor_terms,
    anchors_by_url,
    leaf_terms,
    link_number,
    page_counts,
)
from scenthound.text.numbers import NONE
from scenthound.text.offset_bayes import OffsetBayes, Reals, Whole
from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import Analyser

GOOD, OTHER = "on topic", "other"
MOST_OF_A_PAGE = 100_000
RECENT = 500
Numbers = npt.NDArray[np.int32]


class Leaves(NamedTuple):
    """The terms of a page as numbers, and where in them each leaf begins; one more for where the last ends."""

    terms: Numbers
    starts: Numbers


class Spot(NamedTuple):
    """A link on a page: which leaves are its anchor, and the terms of its text if it has none."""

    begin: int
    end: int
    instead: tuple[int, ...] = ()


@strategy("apprentice")
@dataclass
class Apprentice:
    """Links whose surroundings look like those that led to relevant pages; learns it during the crawl."""

    reach: int = field(default=5, metadata={"doc": "how many text leaves before and after a link are looked at"})
    after: int = field(default=100, metadata={"doc": "instances before the apprentice is listened to"})
    memory: int = field(default=200_000, metadata={"doc": "waiting links whose surroundings are remembered"})
    stop_words: str = field(default="english", metadata={"doc": "stop list: english, dialog, small or none"})
    stem: bool = field(default=True, metadata={"doc": "take Porter stems of words"})

    needs = ("examples", "others")

    def __post_init__(self) -> None:
        for name, least, most in (("reach", 0, 20), ("after", 1, None), ("memory", 1, None)):
            value = getattr(self, name)
            wrong = not isinstance(value, int) or isinstance(value, bool) or value < least
            if wrong or (most is not None and value > most):
                hint = f"give a whole number, {least} or more" if most is None else f"a whole number, {least} to {most}"
                raise BadConfig(f"apprentice: `{name}` can't be {value!r}", hint)
        if self.stop_words not in STOP_LISTS:
            raise BadConfig(
                f"apprentice: `stop_words` can't be {self.stop_words!r}", "one of: " + ", ".join(STOP_LISTS)
            )
        if type(self.stem) is not bool:
            raise BadConfig(f"apprentice: `stem` can't be {self.stem!r}", "say true or false")
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.critic_: NaiveBayes | None = None
        """The first classifier, if it was trained."""

    # ---- the first classifier

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        for name, pages in (("examples", lessons.examples), ("others", lessons.others)):
            if not pages:
                raise BadConfig(
                    f"apprentice: there are no {name} to learn from",
                    "give pages on topic and pages of the background, or crawl without training",
                )
        critic = NaiveBayes([GOOD, OTHER])
        for label, pages in ((GOOD, lessons.examples), (OTHER, lessons.others)):
            for page in pages:
                critic.add(label, page_counts(page, self.analyser_))
            progress(f"{len(pages)} pages {label}")
        self.critic_ = critic

    def model(self) -> Mapping[str, Any]:
        return {"analyser": self.analyser_.name, "critic": None if self.critic_ is None else self.critic_.save()}

    def use(self, model: Mapping[str, Any]) -> None:
        if model["analyser"] != self.analyser_.name:
            raise ValueError(f"it was trained on words as {model['analyser']} gives them, not {self.analyser_.name}")
        critic = None if model["critic"] is None else NaiveBayes.load(model["critic"])
        if critic is not None and critic.classes != (GOOD, OTHER):
            raise ValueError("this classifier tells other things apart")
        self.critic_ = critic

    def relevance(self, page: Page) -> float:
        """R: by label, by the first classifier, or by the topic's keywords."""
        label = self.labels_.get(page.url, self.labels_.get(page.candidate.url))
        if label is not None:
            return float(label)
        counts = page_counts(page, self.analyser_)
        return self.query_.similarity(counts) if self.critic_ is None else self.critic_.posterior(GOOD, counts)

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.query_ = Query(topic.keywords, self.analyser_)
        self.bayes_ = OffsetBayes(self.reach)
        self.instances_ = self.pages_ = 0
        self.waiting_: Sightings[Leaves] = Sightings(self.memory)
        """Every sighting: the number of the page, and the spot of the link on it."""
        self.labels_: dict[Url, bool] = {}
        self.recent_: dict[Url, tuple[float, list[Whole]]] = {}
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        relevance, was_listened_to = self.relevance(page), self.is_listened_to
        self._learn(page, relevance)
        self.pages_ += 1
        leaves, spots = taken_in(page, self.analyser_, self.bayes_.numbered)
        foreseen = self._foreseen(leaves, spots) if self.is_listened_to else None
        offers = []
        for url, anchors in anchors_by_url(page).items():
            if url in self.waiting_.done:
                continue
            numbers = [link_number(page, anchor) for anchor in anchors]
            best = numbers[0] if foreseen is None else max(numbers, key=foreseen.__getitem__)  # the first of equals
            parts = {"parent": relevance} if foreseen is None else {"parent": relevance, "apprentice": foreseen[best]}
            score = relevance if foreseen is None else foreseen[best]
            number = self.waiting_.number(url)
            begin, end, instead = spots[best]
            self.waiting_.see(number, (self.pages_, begin, end, *instead))
            offers.append(page.offer(page.links[best], score, {LINK: number}, parts))
        self.waiting_.keep(self.pages_, leaves)
        return offers + (self._ranked_anew() if self.is_listened_to and not was_listened_to else [])

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        known = self.waiting_.arrived(miss.candidate, miss.candidate.url)
        if known is not None:
            self.waiting_.release(known)
        return ()

    def hear(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """A label is the relevance of its page, whether it has come or not."""
        self.labels_[url] = on_topic
        if url in self.recent_:
            relevance, instances = self.recent_[url]
            for features in instances:
                self.bayes_.add(features, relevance, sign=-1)
                self.bayes_.add(features, float(on_topic))
            self.recent_[url] = (float(on_topic), instances)
        return self._ranked_anew() if self.is_listened_to else []

    @property
    def is_listened_to(self) -> bool:
        return self.instances_ >= self.after

    # ---- the apprentice

    def _learn(self, page: Page, relevance: float) -> None:
        """Every link to the page that was seen before is an instance."""
        known = self.waiting_.arrived(page.candidate, page.url)
        if known is None:
            return
        instances = [self._features(seen) for seen in known.seen]
        for features in instances:
            self.bayes_.add(features, relevance)
        self.instances_ += len(instances)
        self.waiting_.release(known)
        self.recent_[page.url] = (relevance, instances)
        if len(self.recent_) > RECENT:
            del self.recent_[next(iter(self.recent_))]

    def _features(self, seen: Sequence[int]) -> Whole:
        number, begin, end, *instead = seen
        return features_of(self.waiting_.pages[number], Spot(begin, end, tuple(instead)), self.reach)

    def _foreseen(self, leaves: Leaves, spots: Sequence[Spot]) -> list[float]:
        """P(relevant) for links of one page: what each leaf says at each offset is computed once for all of them."""
        said = self._leaf_weights(leaves)
        reach = self.reach
        padded = np.concatenate([np.zeros((reach, 2 * reach + 1)), said, np.zeros((reach + 1, 2 * reach + 1))])
        begins = np.array([spot.begin for spot in spots], dtype=np.int64)
        ends = np.array([spot.end for spot in spots], dtype=np.int64)
        total = np.zeros(len(spots))
        for offset in range(1, reach + 1):
            total += padded[begins - offset + reach, reach - offset] + padded[ends - 1 + offset + reach, reach + offset]
        total += np.where(ends == begins + 1, padded[begins + reach, reach], 0.0)
        for place in np.flatnonzero(ends > begins + 1).tolist():
            total[place] += said[begins[place] : ends[place], reach].sum()
        pictures = [place for place, spot in enumerate(spots) if spot.instead]
        if pictures:
            terms = np.array(list(chain.from_iterable(spots[place].instead for place in pictures)), dtype=np.int64)
            starts = np.array([0, *accumulate(len(spots[place].instead) for place in pictures[:-1])], dtype=np.int64)
            total[pictures] += self.bayes_.weights(terms, starts)[:, reach]
        found: list[float] = self.bayes_.probabilities(total).tolist()
        return found

    def _leaf_weights(self, leaves: Leaves) -> Reals:
        """For each leaf the sum over its terms of what they say, at each offset."""
        said = np.zeros((len(leaves.starts) - 1, 2 * self.reach + 1))
        filled = np.flatnonzero(np.diff(leaves.starts))
        if len(filled):
            said[filled] = self.bayes_.weights(leaves.terms.astype(np.int64), leaves.starts[filled].astype(np.int64))
        return said

    def _ranked_anew(self) -> list[Candidate]:
        """What the apprentice says of everything that waits; of several sightings the best counts."""
        by_page: dict[int, list[tuple[int, Spot]]] = {}
        for number, link in self.waiting_.links.items():
            for page, begin, end, *instead in link.seen:
                by_page.setdefault(page, []).append((number, Spot(begin, end, tuple(instead))))
        best: dict[int, float] = {}
        for page, seen in by_page.items():
            worth = self._foreseen(self.waiting_.pages[page], [spot for _, spot in seen])
            for (number, _), value in zip(seen, worth, strict=True):
                best[number] = max(value, best.get(number, 0.0))
        links = self.waiting_.links
        return [
            Candidate(links[number].url, value, parts={"apprentice": value}, rescored=True)
            for number, value in sorted(best.items())
        ]

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        pages, empty = self.waiting_.pages, np.zeros(0, np.int32)
        instances = list(chain.from_iterable(one for _, one in self.recent_.values()))
        return {
            "bayes": self.bayes_.save(),
            "counts": [self.instances_, self.pages_],
            "pages": [[number, len(one.terms), len(one.starts)] for number, one in pages.items()],
            "terms": np.concatenate([empty, *(one.terms for one in pages.values())]),
            "starts": np.concatenate([empty, *(one.starts for one in pages.values())]),
            "waiting": self.waiting_.save(),
            "labels": dict(self.labels_),
            "recent": [
                [url, relevance, [len(one) for one in found]] for url, (relevance, found) in self.recent_.items()
            ],
            "features": np.concatenate([np.zeros(0, np.int64), *instances]),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.bayes_ = OffsetBayes.load(state["bayes"], self.reach)
        self.instances_, self.pages_ = state["counts"]
        pages, term, start = {}, 0, 0
        for number, terms, starts in state["pages"]:
            pages[number] = Leaves(state["terms"][term : term + terms], state["starts"][start : start + starts])
            term, start = term + terms, start + starts
        self.waiting_ = Sightings(self.memory)
        self.waiting_.load(state["waiting"], pages)
        self.labels_ = {Url(url): bool(label) for url, label in state["labels"].items()}
        self.recent_, begin = {}, 0
        for url, relevance, sizes in state["recent"]:
            ends = list(accumulate(sizes, initial=begin))
            found = [state["features"][one:other] for one, other in pairwise(ends)]
            self.recent_[Url(url)], begin = (relevance, found), ends[-1]


def taken_in(
    page: Page, analyser: Analyser, numbered: Callable[[Sequence[str]], list[int]]
) -> tuple[Leaves, list[Spot]]:
    """A page's terms as numbers, and the spot of every link, in step with `page.links`."""
    terms = leaf_terms(page, analyser)
    sizes = [0, *accumulate(map(len, terms))]
    if sizes[-1] > MOST_OF_A_PAGE:
        sizes = [min(size, MOST_OF_A_PAGE) for size in sizes]
    flat = numbered(list(chain.from_iterable(terms))[:MOST_OF_A_PAGE])
    spots = []
    for (begin, end), said in zip(anchor_leaves(page), anchor_terms(page, analyser), strict=True):
        instead = numbered(said) if begin == end and said else ()
        spots.append(Spot(begin, end, tuple(number for number in instead if number != NONE)))
    return Leaves(np.array(flat, dtype=np.int32), np.array(sizes, dtype=np.int32)), spots


def features_of(leaves: Leaves, spot: Spot, reach: int) -> Whole:
    """The features of a link, in document order: number of the term times (2 reach + 1), plus offset plus reach."""
    first, behind = max(spot.begin - reach, 0), min(spot.end + reach, len(leaves.starts) - 1)
    places = np.arange(first, behind)
    offsets = np.minimum(places - spot.begin, 0) + np.maximum(places - spot.end + 1, 0) + reach
    ends = leaves.starts[first : behind + 1]
    terms = leaves.terms[ends[0] : ends[-1]].astype(np.int64)
    features = terms * (2 * reach + 1) + np.repeat(offsets, np.diff(ends))
    if spot.instead:
        middle = leaves.starts[spot.begin] - ends[0]
        own = np.array(spot.instead, dtype=np.int64) * (2 * reach + 1) + reach
        features, terms = np.insert(features, middle, own), np.insert(terms, middle, spot.instead)
    return features[terms != NONE]


def seen_features(page: Page, link: Link, reach: int, analyser: Analyser) -> list[tuple[str, int]]:
    """The pairs (term, offset) of a link, in document order: what the apprentice is taught."""
    known = OffsetBayes(reach)
    leaves, spots = taken_in(page, analyser, known.numbered)
    names = list(known.numbers)
    features = features_of(leaves, spots[link_number(page, link)], reach)
    return [(names[feature // known.width], int(feature % known.width) - reach) for feature in features]
