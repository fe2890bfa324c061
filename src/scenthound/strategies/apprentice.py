"""Apprentice: learn from the words near a link what the first classifier will say of its page (sheet 30.7).

    score(link) = R(page)                               until `after` instances were seen
                  P(relevant | features of the link)    from then on
    features    = pairs (term, offset)                  offset: distance from the anchor in text leaves, up to `reach`

Chakrabarti, Punera and Subramanyam 2002. A first classifier gives every fetched page its relevance R. A second one, the
apprentice, learns during the crawl to predict it: the text leaves of a page are numbered, those of the anchor have
offset 0, the others their signed distance (`text.offsets`). When a page v arrives with R(v), every link to it that was
seen before is an instance of a multinomial naive Bayes model, relevant with weight R(v) and irrelevant with 1 - R(v).

The first classifier: with examples and other pages given before the crawl (`train`), naive Bayes on these two classes,
and R is the probability of the first. Otherwise R is the cosine of the topic's keywords with the page. With
`critic="judge"` R is the relevance by the judge of the crawl.

Ours:
* When the apprentice takes over, waiting links are re-scored by it too, so that one scale holds for all.
* With many features the probability is 0 or 1 to the last digit, and links tie; `score="logit"` tells them apart.
* An anchor without text stands before the next that has some, its `alt` text at offset 0. Of several anchors to one
  URL the best counts, and teaches.
* Memory is bounded: the first `MOST_SIGHTINGS` links to one URL teach, `memory` waiting links are remembered, and of a
  page the first `MOST_OF_A_PAGE` leaves and terms.
* A label given while the crawl runs is R of its page, for one that waits and for the last `RECENT` that arrived.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal

import numpy as np

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.anchors import best_anchors, first_anchors
from scenthound.page.views.leaves import first_leaves, link_leaves
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.parts.sightings import WaitingLinks, new_scores
from scenthound.strategies.parts.word_parameters import stem_parameter, stop_words_parameter
from scenthound.text.naive_bayes import NaiveBayes
from scenthound.text.offset_bayes import OffsetBayes, Reals, Whole, as_probabilities
from scenthound.text.offsets import LeafTerms, Spot, Spots, features, sums_around
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Vocabulary

GOOD, OTHER = "on topic", "other"
MOST_OF_A_PAGE = 100_000
RECENT = 500


@strategy("apprentice")
@dataclass
class Apprentice(Parameterised):
    """Links whose surroundings look like those of links that led to relevant pages; learned during the crawl."""

    reach: int = parameter(5, "how many text leaves before and after a link are used", least=0, most=20)
    after: int = parameter(100, "instances before the apprentice is used", least=1)
    score: Literal["probability", "logit"] = parameter("probability", "rank links by this; logit does not saturate")
    critic: Literal["own", "judge"] = parameter(
        "own", "how relevant a page is: by its own first classifier, or by the judge of the crawl"
    )
    memory: int = parameter(200_000, "waiting links whose surroundings are remembered", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
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
                critic.add(label, page.record.counts(self.analyser_))
            progress(f"{len(pages)} pages {label}")
        self.critic_ = critic

    def model(self) -> Mapping[str, Any]:
        return {"analyser": self.analyser_.name, "critic": None if self.critic_ is None else self.critic_.save()}

    def use(self, model: Mapping[str, Any]) -> None:
        if model["analyser"] != self.analyser_.name:
            raise ValueError(f"it was trained with the words of {model['analyser']}, not of {self.analyser_.name}")
        critic = None if model["critic"] is None else NaiveBayes.load(model["critic"])
        if critic is not None and critic.classes != (GOOD, OTHER):
            raise ValueError("this classifier tells other things apart")
        self.critic_ = critic

    def relevance(self, page: Page) -> float:
        """R: by label, by the judge of the crawl, by the first classifier, or by the topic's keywords."""
        label = self.labels_.get(page.url, self.labels_.get(page.candidate.url))
        if label is not None:
            return float(label)
        return self.verdict_ if self.critic == "judge" else self.page_probability(page)

    def page_probability(self, page: Page) -> float:
        """By the first classifier, or by the topic's keywords."""
        if self.critic_ is None:
            return page.view(page_similarity, self.query_)
        return self.critic_.posterior(GOOD, page.record.counts(self.analyser_))

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
        self.waiting_: WaitingLinks[LeafTerms] = WaitingLinks(self.memory)
        """Every sighting: the number of the page, and the spot of the link on it."""
        self.labels_: dict[Url, bool] = {}
        self.verdict_ = 0.0
        """What the judge says about the page that is read next."""
        self.recent_: dict[Url, tuple[float, int, Whole]] = {}
        """The relevance, number and features of the instances that pages gave which came of late."""
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        self.verdict_ = relevance

    def read(self, page: Page) -> Iterable[Candidate]:
        relevance, was_listened_to = self.relevance(page), self.is_listened_to
        self._learn(page, relevance)
        self.pages_ += 1
        leaves, spots = terms_and_spots(page, self.analyser_, self.bayes_.vocabulary)
        foreseen = self._foreseen(leaves, spots) if self.is_listened_to else None
        offers = self._offers(page, relevance, spots, foreseen)
        self.waiting_.keep(self.pages_, leaves)
        return offers + (self._rescore_waiting() if self.is_listened_to and not was_listened_to else [])

    def _offers(self, page: Page, relevance: float, spots: Spots, foreseen: Reals | None) -> list[Candidate]:
        """The page's links, each at its best anchor, scored by the page's R or by the apprentice."""
        anchors = page.view(link_leaves, self.analyser_).anchors
        positions = first_anchors(anchors) if foreseen is None else best_anchors(anchors, foreseen)
        begins, ends, instead = spots.begins.tolist(), spots.ends.tolist(), spots.instead
        links, done = page.links, self.waiting_.done
        chosen = [position for position in positions.tolist() if links[position].url not in done]
        sightings = [
            (links[position].url, (begins[position], ends[position], *instead.get(position, ()))) for position in chosen
        ]
        waiting = zip(chosen, self.waiting_.add_page(self.pages_, sightings), strict=True)
        if foreseen is None:
            parts = {"parent": relevance}
            return [page.offer(links[position], relevance, link.carry, parts) for position, link in waiting]
        scores = foreseen.tolist()
        return [
            page.offer(links[at], scores[at], link.carry, {"parent": relevance, "apprentice": scores[at]})
            for at, link in waiting
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.waiting_.forget(miss.candidate)
        return ()

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """A label is the relevance of its page, whether or not the page was fetched yet."""
        self.labels_[url] = on_topic
        if url in self.recent_:
            relevance, instances, taught = self.recent_[url]
            self.bayes_.add(taught, relevance, -instances)
            self.bayes_.add(taught, float(on_topic), instances)
            self.recent_[url] = (float(on_topic), instances, taught)
        return self._rescore_waiting() if self.is_listened_to else []

    @property
    def is_listened_to(self) -> bool:
        return self.instances_ >= self.after

    # ---- the apprentice

    def _learn(self, page: Page, relevance: float) -> None:
        """Learn from every link to this page that was seen before."""
        link = self.waiting_.arrived(page.candidate, page.url)
        if link is None:
            return
        seen = len(link.seen)
        if seen:
            pages = self.waiting_.pages
            spots = [Spot(pages[number], begin, end, instead) for number, begin, end, *instead in link.seen]
            feature_ids = features(spots, self.reach)
            self.bayes_.add(feature_ids, relevance, seen)
            self.instances_ += seen
            self.recent_[page.url] = (relevance, seen, feature_ids)
            if len(self.recent_) > RECENT:
                del self.recent_[next(iter(self.recent_))]
        self.waiting_.release(link)

    def _foreseen(self, leaves: LeafTerms, spots: Spots) -> Reals:
        """The apprentice's scores for the links of one page."""
        odds = self.bayes_.odds(sums_around(leaves, spots, self.bayes_.weights, self.reach))
        return odds if self.score == "logit" else as_probabilities(odds)

    def _rescore_waiting(self) -> list[Candidate]:
        """The apprentice's scores for all waiting links; of several sightings the best counts."""
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
            "pages": [[number, *(len(column) for column in page)] for number, page in pages.items()],
            "terms": np.concatenate([empty, *(page.terms for page in pages.values())]),
            "flat": np.concatenate([empty, *(page.flat for page in pages.values())]),
            "starts": np.concatenate([empty, *(page.starts for page in pages.values())]),
            "waiting": self.waiting_.save(),
            "labels": dict(self.labels_),
            "recent": [[url, *counts[:2], len(counts[2])] for url, counts in self.recent_.items()],
            "features": np.concatenate([np.zeros(0, np.int64), *(counts[2] for counts in self.recent_.values())]),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.bayes_ = OffsetBayes.load(state["bayes"], self.reach)
        self.instances_, self.pages_ = state["counts"]
        pages, begins = {}, [0, 0, 0]
        for number, *sizes in state["pages"]:
            ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
            columns = zip(LeafTerms._fields, begins, ends, strict=True)
            pages[number], begins = LeafTerms(*(state[name][begin:end] for name, begin, end in columns)), ends
        self.waiting_ = WaitingLinks(self.memory)
        self.waiting_.load(state["waiting"], pages)
        self.labels_ = {Url(url): bool(label) for url, label in state["labels"].items()}
        self.recent_, begin = {}, 0
        for url, relevance, instances, size in state["recent"]:
            taught = state["features"][begin : begin + size]
            self.recent_[Url(url)], begin = (relevance, instances, taught), begin + size


def terms_and_spots(page: Page, analyser: Analyser, vocabulary: Vocabulary) -> tuple[LeafTerms, Spots]:
    """A page's terms as ids, and the spot of each link, parallel to `page.links`."""
    seen = first_leaves(page.record, page.view(link_leaves, analyser), analyser, MOST_OF_A_PAGE)
    ids = iter(vocabulary.add(list(chain.from_iterable(seen.alternatives.values()))).tolist())
    instead = {position: list(islice(ids, len(words))) for position, words in seen.alternatives.items()}
    names = page.record.counts(analyser).names[: int(seen.flat.max(initial=-1)) + 1]
    return LeafTerms(vocabulary.add(names), seen.flat, seen.starts), Spots(seen.begins, seen.ends, instead)


def link_features(page: Page, link: Link, reach: int, analyser: Analyser) -> list[tuple[str, int]]:
    """The pairs (term, offset) of a link, in document order: what the apprentice learns from."""
    vocabulary, width = Vocabulary(), 2 * reach + 1
    leaves, spots = terms_and_spots(page, analyser, vocabulary)
    names = vocabulary.all_words
    feature_list = features([spots.of(link.position, leaves)], reach)
    return [(names[feature // width], feature % width - reach) for feature in feature_list.tolist()]
