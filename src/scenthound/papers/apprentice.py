"""Apprentice: learn from the words near a link how relevant its page will be (sheet 30.7).

    score(link) = R(page)                               until `after` instances were seen
                  P(relevant | features of the link)    from then on
    features    = pairs (term, offset)                  offset: distance from the anchor in text leaves, up to `reach`

Chakrabarti, Punera and Subramanyam 2002. A first classifier, the critic, assigns a relevance R to every fetched page. A
second one, the apprentice, learns during the crawl to predict R from the words around a link: leaves inside the anchor
have offset 0, all others their signed distance from it (`text.offsets`). When a page v arrives, every link to it seen
before becomes a training instance of a multinomial naive Bayes model: relevant with weight R(v), irrelevant with weight
1 - R(v).

The critic is naive Bayes on two classes if it was trained on examples and other pages (`train`); R is then the
probability of the first class. Without training, R is the cosine of the topic's keywords with the page. With
`critic="judge"`, R is the relevance assigned by the crawl's judge.

Ours:
* When the apprentice takes over, it also re-scores all waiting links, so that all scores are on one scale.
* With many features the probability rounds to 0 or 1 and links tie; `score="logit"` tells them apart.
* An anchor without text counts as standing before the next anchor with text, its `alt` text at offset 0. If several
  anchors lead to one URL, the best one is used.
* Memory is bounded: it learns from the first `MOST_SIGHTINGS` links to a URL, remembers `memory` waiting links, and
  reads the first `MOST_OF_A_PAGE` leaves and terms of a page.
* A label given during the crawl sets R of its page, if the page is still waiting or is one of the last `RECENT` read.
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
from scenthound.page.views.anchors import best_anchors, first_anchors, first_leaves, link_leaves
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.parts.offsets import (
    LeafTerms,
    LinkSpan,
    LinkSpans,
    OffsetBayes,
    Reals,
    Whole,
    as_probabilities,
    features,
    sums_around,
)
from scenthound.papers.parts.training_pages import check_analyser
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.sightings import WaitingLinks, new_scores
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
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
        """The critic, if it was trained."""

    # ---- the critic

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
        check_analyser(model, self.analyser_)
        critic = None if model["critic"] is None else NaiveBayes.load(model["critic"])
        if critic is not None and critic.classes != (GOOD, OTHER):
            raise ValueError(f"this classifier has other classes than {GOOD!r} and {OTHER!r}")
        self.critic_ = critic

    def relevance(self, page: Page) -> float:
        """R: from a label, the crawl's judge, the critic, or the topic's keywords, in this order."""
        label = self.labels_.get(page.url, self.labels_.get(page.candidate.url))
        if label is not None:
            return float(label)
        return self.verdict_ if self.critic == "judge" else self.page_probability(page)

    def page_probability(self, page: Page) -> float:
        """R from the trained critic, or else from the topic's keywords."""
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
        """A sighting is the page's number, the link's span of leaves, and the term ids of its `alt` text."""
        self.labels_: dict[Url, bool] = {}
        self.verdict_ = 0.0
        """The judge's relevance for the page about to be read."""
        self.recent_: dict[Url, tuple[float, int, Whole]] = {}
        """Relevance, number of instances and their features, for each recently read page."""
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        self.verdict_ = relevance

    def read(self, page: Page) -> Iterable[Candidate]:
        relevance, was_ready = self.relevance(page), self.is_ready
        self._learn(page, relevance)
        self.pages_ += 1
        leaves, spans = terms_and_spans(page, self.analyser_, self.bayes_.vocabulary)
        predictions = self._predict(leaves, spans) if self.is_ready else None
        offers = self._offers(page, relevance, spans, predictions)
        self.waiting_.keep(self.pages_, leaves)
        return offers + (self._rescore_waiting() if self.is_ready and not was_ready else [])

    def _offers(self, page: Page, relevance: float, spans: LinkSpans, predictions: Reals | None) -> list[Candidate]:
        """One candidate per outlink, taken at its best anchor and scored by the apprentice, or else by the page's R."""
        anchors = page.view(link_leaves, self.analyser_).anchors
        positions = first_anchors(anchors) if predictions is None else best_anchors(anchors, predictions)
        begins, ends, alt_terms = spans.begins.tolist(), spans.ends.tolist(), spans.alt_terms
        links, done = page.links, self.waiting_.done
        chosen = [position for position in positions.tolist() if links[position].url not in done]
        sightings = [
            (links[position].url, (begins[position], ends[position], *alt_terms.get(position, ())))
            for position in chosen
        ]
        waiting = zip(chosen, self.waiting_.add_page(self.pages_, sightings), strict=True)
        if predictions is None:
            parts = {"parent": relevance}
            return [page.offer(links[position], relevance, link.carry, parts) for position, link in waiting]
        scores = predictions.tolist()
        return [
            page.offer(links[i], scores[i], link.carry, {"parent": relevance, "apprentice": scores[i]})
            for i, link in waiting
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.waiting_.forget(miss.candidate)
        return ()

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Use a label as the relevance of its page, whether or not the page has been fetched."""
        self.labels_[url] = on_topic
        if url in self.recent_:
            relevance, instances, learned = self.recent_[url]
            self.bayes_.add(learned, relevance, -instances)
            self.bayes_.add(learned, float(on_topic), instances)
            self.recent_[url] = (float(on_topic), instances, learned)
        return self._rescore_waiting() if self.is_ready else []

    @property
    def is_ready(self) -> bool:
        """Whether the apprentice has seen enough instances to take over."""
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
            spans = [LinkSpan(pages[number], begin, end, alt_terms) for number, begin, end, *alt_terms in link.seen]
            feature_ids = features(spans, self.reach)
            self.bayes_.add(feature_ids, relevance, seen)
            self.instances_ += seen
            self.recent_[page.url] = (relevance, seen, feature_ids)
            if len(self.recent_) > RECENT:
                del self.recent_[next(iter(self.recent_))]
        self.waiting_.release(link)

    def _predict(self, leaves: LeafTerms, spans: LinkSpans) -> Reals:
        """The apprentice's scores for the links of one page."""
        odds = self.bayes_.odds(sums_around(leaves, spans, self.bayes_.weights, self.reach))
        return odds if self.score == "logit" else as_probabilities(odds)

    def _rescore_waiting(self) -> list[Candidate]:
        """The apprentice's scores for all waiting links; the best of several sightings counts."""
        by_page: dict[int, list[tuple[int, ...]]] = {}
        for number, link in self.waiting_.links.items():
            for page, *sighting in link.seen:
                by_page.setdefault(page, []).append((number, *sighting))
        best: dict[int, float] = {}
        for page, sightings in by_page.items():
            begins, ends = np.array([sighting[1:3] for sighting in sightings], dtype=np.int32).T
            alt_terms = {index: terms for index, (_, _, _, *terms) in enumerate(sightings) if terms}
            scores = self._predict(self.waiting_.pages[page], LinkSpans(begins, ends, alt_terms))
            for (number, *_), value in zip(sightings, scores.tolist(), strict=True):
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
            learned = state["features"][begin : begin + size]
            self.recent_[Url(url)], begin = (relevance, instances, learned), begin + size


def terms_and_spans(page: Page, analyser: Analyser, vocabulary: Vocabulary) -> tuple[LeafTerms, LinkSpans]:
    """The term ids of a page's leaves, and the span of each link, parallel to `page.links`."""
    leaves = first_leaves(page.record, page.view(link_leaves, analyser), analyser, MOST_OF_A_PAGE)
    ids = iter(vocabulary.add(list(chain.from_iterable(leaves.alternatives.values()))).tolist())
    alt_terms = {position: list(islice(ids, len(words))) for position, words in leaves.alternatives.items()}
    names = page.record.counts(analyser).names[: int(leaves.flat.max(initial=-1)) + 1]
    spans = LinkSpans(leaves.begins, leaves.ends, alt_terms)
    return LeafTerms(vocabulary.add(names), leaves.flat, leaves.starts), spans


def link_features(page: Page, link: Link, reach: int, analyser: Analyser) -> list[tuple[str, int]]:
    """The features of a link: pairs (term, offset) in document order."""
    vocabulary, width = Vocabulary(), 2 * reach + 1
    leaves, spans = terms_and_spans(page, analyser, vocabulary)
    names = vocabulary.all_words
    feature_list = features([spans.of(link.position, leaves)], reach)
    return [(names[feature // width], feature % width - reach) for feature in feature_list.tolist()]
