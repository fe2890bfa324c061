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
With many features the probability is 0 or 1 to the last digit, and links tie; `score="logit"` tells them apart.
An anchor without text stands before the next that has some, its `alt` text at offset 0. Of several anchors to one URL
the best counts, and teaches. Bounded: the first `MOST_SIGHTINGS` links to one URL teach, `memory` waiting links are
remembered, and of a page the first `MOST_OF_A_PAGE` leaves and terms. A label given while the crawl runs is R of its
page, for one that waits and for the last `RECENT` that came.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

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
    leaf_numbers,
    link_number,
    page_counts,
    whole_counts,
)
from scenthound.text.numbers import NONE
from scenthound.text.offset_bayes import OffsetBayes, Reals, Whole, as_probabilities
from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import Analyser

SCORES = ("probability", "logit")
GOOD, OTHER = "on topic", "other"
MOST_OF_A_PAGE = 100_000
RECENT = 500
Numbers = npt.NDArray[np.int32]


class Leaves(NamedTuple):
    """The terms of a page as numbers: the distinct ones, their places in these leaf after leaf, and where in that each
    leaf begins; one more for where the last ends."""

    terms: Whole
    flat: Numbers
    starts: Numbers


class Spots(NamedTuple):
    """Where links stand on a page: which leaves are their anchors; and for those without text, by place, what is said
    instead, as terms."""

    spans: Sequence[tuple[int, int]]
    instead: Mapping[int, Sequence[int]] = {}


@strategy("apprentice")
@dataclass
class Apprentice:
    """Links whose surroundings look like those that led to relevant pages; learns it during the crawl."""

    reach: int = field(default=5, metadata={"doc": "how many text leaves before and after a link are looked at"})
    after: int = field(default=100, metadata={"doc": "instances before the apprentice is listened to"})
    score: Literal["probability", "logit"] = field(
        default="probability",
        metadata={"doc": "what a link is worth: the probability, or its logit, which does not come to an end at 1"},
    )
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
        for name, known in (("score", SCORES), ("stop_words", tuple(STOP_LISTS))):
            value = getattr(self, name)
            if value not in known:
                raise BadConfig(f"apprentice: `{name}` can't be {value!r}", "one of: " + ", ".join(known))
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
        if self.critic_ is None:
            return self.query_.similarity(page_counts(page, self.analyser_))
        return self.critic_.posterior(GOOD, whole_counts(page, self.analyser_))

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.query_ = Query(topic.keywords, self.analyser_)
        self.bayes_ = OffsetBayes(self.reach)
        self.instances_ = self.pages_ = 0
        self.waiting_: Sightings[Leaves] = Sightings(self.memory)
        """Every sighting: the number of the page, and the spot of the link on it."""
        self.labels_: dict[Url, bool] = {}
        self.recent_: dict[Url, tuple[float, int, Whole]] = {}
        """The relevance, number and features of the instances that pages gave which came of late."""
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        relevance, was_listened_to = self.relevance(page), self.is_listened_to
        self._learn(page, relevance)
        self.pages_ += 1
        leaves, spots = taken_in(page, self.analyser_, self.bayes_.numbered)
        foreseen = self._foreseen(leaves, spots) if self.is_listened_to else None
        best: dict[Url, int] = {}
        for place, link in enumerate(page.links):
            known = best.setdefault(link.url, place)
            if foreseen is not None and foreseen[place] > foreseen[known]:
                best[link.url] = place
        best.pop(page.url, None)
        offers, waiting, parts = [], self.waiting_, {"parent": relevance}
        for url, place in best.items():
            if url not in waiting.done:
                number = waiting.number(url)
                waiting.see(number, (self.pages_, *spots.spans[place], *spots.instead.get(place, ())))
                score = relevance if foreseen is None else foreseen[place]
                said = parts if foreseen is None else {**parts, "apprentice": score}
                offers.append(page.offer(page.links[place], score, {LINK: number}, said))
        waiting.keep(self.pages_, leaves)
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
            relevance, instances, features = self.recent_[url]
            self.bayes_.add(features, relevance, -instances)
            self.bayes_.add(features, float(on_topic), instances)
            self.recent_[url] = (float(on_topic), instances, features)
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
        seen = len(known.seen)
        if seen:
            pages, reach = self.waiting_.pages, self.reach
            features = np.concatenate(
                [features_of(pages[number], (begin, end), said, reach) for number, begin, end, *said in known.seen]
            )
            self.bayes_.add(features, relevance, seen)
            self.instances_ += seen
            self.recent_[page.url] = (relevance, seen, features)
            if len(self.recent_) > RECENT:
                del self.recent_[next(iter(self.recent_))]
        self.waiting_.release(known)

    def _foreseen(self, leaves: Leaves, spots: Spots) -> list[float]:
        """What links of one page are worth: what each leaf says at each offset is computed once for all of them."""
        said, reach = self._leaf_weights(leaves), self.reach
        padded = np.concatenate([np.zeros((reach, 2 * reach + 1)), said, np.zeros((reach + 1, 2 * reach + 1))])
        begins, ends = np.array(spots.spans, dtype=np.int64).reshape(-1, 2).T
        total = np.zeros(len(begins))
        for offset in range(1, reach + 1):
            total += padded[begins - offset + reach, reach - offset] + padded[ends - 1 + offset + reach, reach + offset]
        total += np.where(ends == begins + 1, padded[begins + reach, reach], 0.0)
        for place in np.flatnonzero(ends > begins + 1).tolist():
            total[place] += said[begins[place] : ends[place], reach].sum()
        if spots.instead:
            terms = np.array(list(chain.from_iterable(spots.instead.values())), dtype=np.int64)
            starts = list(accumulate(map(len, spots.instead.values()), initial=0))[:-1]
            total[list(spots.instead)] += np.add.reduceat(self.bayes_.weights(terms)[:, reach], starts)
        odds = self.bayes_.odds(total)
        found: list[float] = (odds if self.score == "logit" else as_probabilities(odds)).tolist()
        return found

    def _leaf_weights(self, leaves: Leaves) -> Reals:
        """For each leaf the sum over its terms of what they say, at each offset."""
        said = np.zeros((len(leaves.starts) - 1, 2 * self.reach + 1))
        filled = np.flatnonzero(np.diff(leaves.starts))
        if len(filled):
            said[filled] = np.add.reduceat(
                self.bayes_.weights(leaves.terms)[leaves.flat], leaves.starts[filled], axis=0
            )
        return said

    def _ranked_anew(self) -> list[Candidate]:
        """What the apprentice says of everything that waits; of several sightings the best counts."""
        by_page: dict[int, list[tuple[int, ...]]] = {}
        for number, link in self.waiting_.links.items():
            for page, *spot in link.seen:
                by_page.setdefault(page, []).append((number, *spot))
        best: dict[int, float] = {}
        for page, seen in by_page.items():
            spans = [(begin, end) for _, begin, end, *_ in seen]
            instead = {place: said for place, (_, _, _, *said) in enumerate(seen) if said}
            worth = self._foreseen(self.waiting_.pages[page], Spots(spans, instead))
            for (number, *_), value in zip(seen, worth, strict=True):
                best[number] = max(value, best.get(number, -math.inf))
        links = self.waiting_.links
        return [
            Candidate(links[number].url, value, parts={"apprentice": value}, rescored=True)
            for number, value in sorted(best.items())
        ]

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        pages, empty = self.waiting_.pages, np.zeros(0, np.int32)
        return {
            "bayes": self.bayes_.save(),
            "counts": [self.instances_, self.pages_],
            "pages": [[number, *(len(column) for column in one)] for number, one in pages.items()],
            "terms": np.concatenate([np.zeros(0, np.int64), *(one.terms for one in pages.values())]),
            "flat": np.concatenate([empty, *(one.flat for one in pages.values())]),
            "starts": np.concatenate([empty, *(one.starts for one in pages.values())]),
            "waiting": self.waiting_.save(),
            "labels": dict(self.labels_),
            "recent": [[url, *known[:2], len(known[2])] for url, known in self.recent_.items()],
            "features": np.concatenate([np.zeros(0, np.int64), *(known[2] for known in self.recent_.values())]),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.bayes_ = OffsetBayes.load(state["bayes"], self.reach)
        self.instances_, self.pages_ = state["counts"]
        pages, begins = {}, [0, 0, 0]
        for number, *sizes in state["pages"]:
            ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
            columns = zip(Leaves._fields, begins, ends, strict=True)
            pages[number], begins = Leaves(*(state[name][begin:end] for name, begin, end in columns)), ends
        self.waiting_ = Sightings(self.memory)
        self.waiting_.load(state["waiting"], pages)
        self.labels_ = {Url(url): bool(label) for url, label in state["labels"].items()}
        self.recent_, begin = {}, 0
        for url, relevance, instances, size in state["recent"]:
            features = state["features"][begin : begin + size]
            self.recent_[Url(url)], begin = (relevance, instances, features), begin + size


def taken_in(page: Page, analyser: Analyser, numbered: Callable[[Sequence[str]], list[int]]) -> tuple[Leaves, Spots]:
    """A page's terms as numbers, and the spot of every link, in step with `page.links`."""
    (terms, flat, starts), spans, most = leaf_numbers(page, analyser), anchor_leaves(page), MOST_OF_A_PAGE
    if len(starts) > most + 1 or len(flat) > most:
        spans = [(min(begin, most), min(end, most)) for begin, end in spans]
        flat, starts = flat[:most], np.minimum(starts[: most + 1], most)
        terms = terms[: int(flat.max(initial=-1)) + 1]
    instead = {}
    for place, ((begin, end), said) in enumerate(zip(spans, anchor_terms(page, analyser), strict=True)):
        if begin == end and said:
            instead[place] = numbered(said)
    return Leaves(np.array(numbered(terms), dtype=np.int64), flat, starts), Spots(spans, instead)


def features_of(leaves: Leaves, span: tuple[int, int], instead: Sequence[int], reach: int) -> Whole:
    """The features of a link, in document order: number of the term times (2 reach + 1), plus offset plus reach."""
    anchor, behind_anchor = span
    first, behind = max(anchor - reach, 0), min(behind_anchor + reach, len(leaves.starts) - 1)
    places = np.arange(first, behind)
    offsets = np.minimum(places - anchor, 0) + np.maximum(places - behind_anchor + 1, 0) + reach
    ends = leaves.starts[first : behind + 1]
    terms = leaves.terms[leaves.flat[ends[0] : ends[-1]]]
    features = terms * (2 * reach + 1) + np.repeat(offsets, np.diff(ends))
    if instead:
        middle = leaves.starts[anchor] - ends[0]
        own = np.array(instead, dtype=np.int64) * (2 * reach + 1) + reach
        features, terms = np.insert(features, middle, own), np.insert(terms, middle, instead)
    return np.asarray(features[terms != NONE])


def seen_features(page: Page, link: Link, reach: int, analyser: Analyser) -> list[tuple[str, int]]:
    """The pairs (term, offset) of a link, in document order: what the apprentice is taught."""
    known, place = OffsetBayes(reach), link_number(page, link)
    leaves, spots = taken_in(page, analyser, known.numbered)
    names = list(known.numbers)
    features = features_of(leaves, spots.spans[place], spots.instead.get(place, ()), reach)
    return [(names[feature // known.width], int(feature % known.width) - reach) for feature in features]
