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
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views import LinkLeaves, link_leaves, page_similarity, terms
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.parts.sightings import Sightings, new_scores
from scenthound.text.bayes import NaiveBayes
from scenthound.text.offset_bayes import OffsetBayes, Reals, Whole, as_probabilities
from scenthound.text.query import Query
from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import NONE

SCORES = ("probability", "logit")
GOOD, OTHER = "on topic", "other"
MOST_OF_A_PAGE = 100_000
RECENT = 500
SHORT = 7  # leaves of an anchor that are added up for all links at once
Numbers = npt.NDArray[np.int32]


class Leaves(NamedTuple):
    """The terms of a page as numbers: the distinct ones, their places in these leaf after leaf, and where in that each
    leaf begins; one more for where the last ends."""

    terms: Numbers
    flat: Numbers
    starts: Numbers


class Spots(NamedTuple):
    """Where links stand on a page: which leaves are their anchors, from the first to before the one behind; and for
    those without text, by place, what is said instead, as terms."""

    begins: Numbers
    ends: Numbers
    instead: Mapping[int, Sequence[int]] = {}

    @property
    def spans(self) -> list[tuple[int, int]]:
        return list(zip(self.begins.tolist(), self.ends.tolist(), strict=True))


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
                critic.add(label, page.view(terms, self.analyser_))
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
            return page_similarity(page.record, self.query_)
        return self.critic_.posterior(GOOD, page.view(terms, self.analyser_))

    @property
    def declaration(self) -> Declaration:
        parts = Parts((self.analyser_,), leaves=True)
        return Declaration(parts=parts, training="optional", lessons=("examples", "others"))

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.query_ = Query(topic.keywords, self.analyser_)
        if self.critic_ is not None:
            self.critic_.settle()
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
        leaves, spots = taken_in(page, self.analyser_, self.bayes_)
        foreseen = self._foreseen(leaves, spots) if self.is_listened_to else None
        offers, waiting, parts = [], self.waiting_, {"parent": relevance}
        done, met, links, instead, number = waiting.done, waiting.met, page.links, spots.instead, self.pages_
        begins, ends = spots.begins.tolist(), spots.ends.tolist()
        for place in best_places(page.view(link_leaves, self.analyser_), foreseen).tolist():
            link = links[place]
            if link.url not in done:
                sighting = (number, begins[place], ends[place])
                known = met(link.url, (*sighting, *instead[place]) if place in instead else sighting)
                if foreseen is None:
                    offers.append(page.offer(link, relevance, known.carry, parts))
                else:
                    score = float(foreseen[place])
                    offers.append(page.offer(link, score, known.carry, {"parent": relevance, "apprentice": score}))
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
            pages = self.waiting_.pages
            features = features_of_all([(pages[page_number], *spot) for page_number, *spot in known.seen], self.reach)
            self.bayes_.add(features, relevance, seen)
            self.instances_ += seen
            self.recent_[page.url] = (relevance, seen, features)
            if len(self.recent_) > RECENT:
                del self.recent_[next(iter(self.recent_))]
        self.waiting_.release(known)

    def _foreseen(self, leaves: Leaves, spots: Spots) -> Reals:
        """What links of one page are worth: what each leaf says at each offset is computed once for all of them."""
        said, reach, width = self._leaf_weights(leaves), self.reach, 2 * self.reach + 1
        padded = np.zeros((len(said) + width, width))
        padded[reach : reach + len(said)] = said
        begins, ends = spots.begins.astype(np.int64), spots.ends.astype(np.int64)
        away = np.arange(1, reach + 1)[:, np.newaxis]
        before, behind = (
            (begins + reach - away) * width + (reach - away),
            (ends + reach - 1 + away) * width + reach + away,
        )
        total = (padded.take(before) + padded.take(behind)).sum(axis=0)
        sizes = ends - begins
        own, longest = np.zeros(len(sizes)), int(sizes.max(initial=0))
        column = padded[reach:, reach].copy()
        for step in range(min(longest, SHORT)):  # as a sum adds up so few: one after the other
            own += np.where(step < sizes, column.take(begins + step, mode="clip"), 0.0)
        if longest > SHORT:
            for place in np.flatnonzero(sizes > SHORT).tolist():
                own[place] = column[begins[place] : ends[place]].sum()
        total += own
        if spots.instead:
            terms = np.array(list(chain.from_iterable(spots.instead.values())), dtype=np.int64)
            starts = list(accumulate(map(len, spots.instead.values()), initial=0))[:-1]
            total[list(spots.instead)] += np.add.reduceat(self.bayes_.weights(terms)[:, reach], starts)
        odds = self.bayes_.odds(total)
        return odds if self.score == "logit" else as_probabilities(odds)

    def _leaf_weights(self, leaves: Leaves) -> Reals:
        """For each leaf the sum over its terms of what they say, at each offset."""
        said = np.zeros((len(leaves.starts) - 1, 2 * self.reach + 1))
        filled = np.flatnonzero(np.diff(leaves.starts))
        if len(filled):
            every = self.bayes_.weights(leaves.terms).take(leaves.flat, axis=0)
            said[filled] = np.add.reduceat(every, leaves.starts[filled], axis=0)
        return said

    def _ranked_anew(self) -> list[Candidate]:
        """What the apprentice says of everything that waits; of several sightings the best counts."""
        by_page: dict[int, list[tuple[int, ...]]] = {}
        for number, link in self.waiting_.links.items():
            for page, *spot in link.seen:
                by_page.setdefault(page, []).append((number, *spot))
        best: dict[int, float] = {}
        for page, seen in by_page.items():
            begins, ends = np.array([spot[1:3] for spot in seen], dtype=np.int32).T
            instead = {place: said for place, (_, _, _, *said) in enumerate(seen) if said}
            worth = self._foreseen(self.waiting_.pages[page], Spots(begins, ends, instead))
            for (number, *_), value in zip(seen, worth.tolist(), strict=True):
                best[number] = max(value, best.get(number, -math.inf))
        links, ranked = self.waiting_.links, sorted(best.items())
        urls, values = [links[number].url for number, _ in ranked], [value for _, value in ranked]
        return new_scores(urls, values, [{"apprentice": value} for value in values])

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        pages, empty = self.waiting_.pages, np.zeros(0, np.int32)
        return {
            "bayes": self.bayes_.save(),
            "counts": [self.instances_, self.pages_],
            "pages": [[number, *(len(column) for column in one)] for number, one in pages.items()],
            "terms": np.concatenate([empty, *(one.terms for one in pages.values())]),
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


def taken_in(page: Page, analyser: Analyser, known: OffsetBayes) -> tuple[Leaves, Spots]:
    """A page's terms as numbers, and the spot of every link, in step with `page.links`."""
    names, flat, starts, begins, ends, said, *_ = page.view(link_leaves, analyser)
    most = MOST_OF_A_PAGE
    if len(starts) > most + 1 or len(flat) > most:
        begins, ends = np.minimum(begins, most), np.minimum(ends, most)
        flat, starts = flat[:most], np.minimum(starts[: most + 1], most)
        names = names[: int(flat.max(initial=-1)) + 1]
        beyond = np.flatnonzero(begins == ends).tolist()  # anchors of which no leaf is left
        said = {place: tuple(words) for place in beyond if (words := analyser.terms(page.links[place].anchor))}
    instead = {place: known.vocabulary.add(words).tolist() for place, words in said.items()}
    return Leaves(known.vocabulary.add(names), flat, starts), Spots(begins, ends, instead)


def best_places(among: LinkLeaves, worth: Reals | None) -> Numbers:
    """Which of the links to each URL counts, in step with `page.outlinks`: that of most worth, else the first."""
    places, starts = among.positions, among.outlinks
    if worth is None or len(places) == len(starts) - 1:
        return np.asarray(places[starts[:-1]])
    values, sizes = worth[places], np.diff(starts)
    best = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, starts[:-1]), sizes))
    chosen = np.zeros(len(sizes), dtype=np.int32)
    owners = np.repeat(np.arange(len(sizes)), sizes)[best]
    chosen[owners[::-1]] = places[best[::-1]]  # of several the last that is written stays: the first of the best
    return chosen


def features_of(leaves: Leaves, span: tuple[int, int], instead: Sequence[int], reach: int) -> Whole:
    """The features of a link, in document order: number of the term times (2 reach + 1), plus offset plus reach."""
    return features_of_all([(leaves, *span, *instead)], reach)


def features_of_all(seen: Sequence[tuple[Any, ...]], reach: int) -> Whole:
    """The features of links one after the other; of each are given the leaves, where among them its anchor begins and
    ends, and what is said instead where it has no text."""
    terms: list[Any] = []
    offsets: list[Any] = []
    sizes: list[Any] = []
    for (numbers, flat, starts), anchor, behind_anchor, *instead in seen:
        first, behind = max(anchor - reach, 0), min(behind_anchor + reach, len(starts) - 1)
        ends = starts[first : behind + 1]
        begin, end = int(ends[0]), int(ends[-1])
        own = behind_anchor - anchor
        offsets_of = _offsets if own <= reach else _offsets.__wrapped__  # long ones would fill the memory
        around = offsets_of(anchor - first, own, behind - behind_anchor, reach)
        each = ends[1:] - ends[:-1]
        if not instead:
            terms.append(numbers.take(flat[begin:end]))
        else:
            middle = int(starts[anchor])
            terms += [numbers.take(flat[begin:middle]), np.array(instead), numbers.take(flat[middle:end])]
            place = anchor - first
            around, each = np.insert(around, place, reach), np.insert(each, place, len(instead))
        offsets.append(around)
        sizes.append(each)
    every = np.concatenate([np.zeros(0, np.int64), *terms])
    features = every * (2 * reach + 1) + np.repeat(np.concatenate(offsets), np.concatenate(sizes))
    return np.asarray(features[every != NONE] if (every == NONE).any() else features)


@lru_cache(maxsize=1 << 10)
def _offsets(before: int, own: int, behind: int, reach: int) -> Whole:
    """The offsets, plus `reach`, of so many leaves before an anchor, in it and behind it."""
    found = [*range(reach - before, reach), *[reach] * own, *range(reach + 1, reach + 1 + behind)]
    return np.array(found, dtype=np.int64)


def seen_features(page: Page, link: Link, reach: int, analyser: Analyser) -> list[tuple[str, int]]:
    """The pairs (term, offset) of a link, in document order: what the apprentice is taught."""
    known, place = OffsetBayes(reach), link.position
    leaves, spots = taken_in(page, analyser, known)
    names = list(known.vocabulary)
    features = features_of(leaves, spots.spans[place], spots.instead.get(place, ()), reach)
    return [(names[feature // known.width], int(feature % known.width) - reach) for feature in features]
