"""Taxonomy-focused crawl with the soft and the hard rule, and the distiller (sheet 30.3).

    R(page)     = Σ P(c | page) over the good categories c
    score(link) = R(page)     soft: always; hard: if the most probable leaf is good or below a good category

    P(root | page) = 1,  P(c | page) = P(parent of c | page) · P(c | parent of c, page)

Chakrabarti, van den Berg and Dom 1999, by way of [CHAP]. Every page is classified into a tree of categories, some of
which the user marked good. By the soft rule all its links have the score R; waiting links keep their maximum. By the
hard rule the links of other pages are thrown away. A hard crawl can run out of links, and then it ends: that weakness
is part of the result. Without a taxonomy among the lessons, the tree has two leaves: the examples and the others.

The distiller, if on, looks for hubs on the crawled graph every `every` pages: Kleinberg's iteration on links between
hosts, weighted by relevance (`graph.distiller`). The best tenth of the hubs are then added to the frontier, as [CHAP]
says (`promote="hubs"`). A hub is always a page that was fetched: only such pages have known links. No page is fetched
twice in a crawl, and its links are known, so to visit it again is to follow its links again, all that were not visited:

    score(link) = h(hub) / largest h     the best hub that has the link; within its host too

Links that wait keep their larger score, and those that the hard rule threw away are followed. `promote="links"` is the
other reading (Chakrabarti et al.): what a hub links to on other hosts has relevance 1. `both` does both. The distiller
is off by default, so that the soft and the hard rule can be compared by themselves.

Ours:
* The paper orders the frontier by (tries, relevance, load of the host, insertion). In the laboratory tries and load
  are 0. Live, both are the loop's: a failed request is kept apart from the frontier until its host has rested, and is
  tried `retries` times at most; a host that was just asked rests for the crawl's `delay`, so the load is even.
* The classifier changes by labels only: a page with a label is counted for the most probable good leaf, or the most
  probable other leaf, its own links have relevance 1 or 0, and waiting links of the last `recent` pages are re-scored.
  Words selected by `features` stay as they are then.
* On long pages R is 0 or 1 to the last digit (94 to 100% of the early pages of a crawl have R > .999999), and links
  that tie are taken first in, first out: a crawl is breadth-first for some 180 pages. So by default R is computed as if
  no page had more than `LENGTH` words, P(c | parent, page) ∝ P(c) · P(page | c)^min(1, LENGTH / words): long pages are
  no surer than short ones (`score="per-word"`). `score="probability"` is R as published, `score="logit"` its log-odds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.parts.distillation import MOST_LINKS, Distilling
from scenthound.strategies.parts.recent_pages import RecentPages
from scenthound.strategies.parts.taxonomy_classifier import learn_taxonomy, two_leaves
from scenthound.strategies.parts.word_parameters import LENGTH, SCORES, stem_parameter, stop_words_parameter
from scenthound.text.taxonomy import FURTHEST, Relevance, TreeClassifier
from scenthound.text.term_counts import Document, terms_of
from scenthound.text.tokens import Analyser

Label = tuple[bool, str, Mapping[str, int]]  # on topic or not, the leaf it was counted for if it was read, its words
MOST_PARTS = 5  # good categories shown in the parts of a score


@strategy("focused-soft")
@dataclass
class FocusedSoft(Parameterised):
    """Links of pages that are most probably in a good category of a taxonomy first."""

    name: ClassVar[str] = "focused-soft"

    score: str = parameter("per-word", SCORES, among=("per-word", "probability", "logit"))
    features: int = parameter(20_000, "words kept per inner category, by Fisher's discriminant; 0: all", least=0)
    distiller: bool = parameter(False, "look for hubs and promote them")
    promote: str = parameter(
        "hubs",
        "hubs: follow all their links again, best hub first; links: what they link to on other hosts first; or both",
        among=("hubs", "links", "both"),
    )
    every: int = parameter(500, "pages between two runs of the distiller", least=1)
    rho: float = parameter(0.1, "relevance that a page must exceed to be endorsed", least=0, most=1)
    percentile: float = parameter(90.0, "hubs from this percentile on are promoted", least=0, most=100)
    memory: int = parameter(MOST_LINKS, "links remembered for the distiller", least=1)
    recent: int = parameter(200, "pages whose words and links are remembered, for labels", least=0)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.tree_: TreeClassifier | None = None
        self.labels_: dict[Url, Label] = {}

    # ---- what it is taught

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        taxonomy = lessons.taxonomy
        if taxonomy is None:
            for what, pages in (("page on topic", lessons.examples), ("other page", lessons.others)):
                if not pages:
                    raise BadConfig(
                        f"{self.name} has no {what} to learn from",
                        "give examples, and pages of the background, or a taxonomy with examples",
                    )
            taxonomy = two_leaves(lessons.examples, lessons.others)
        self._forget_labels()
        self.tree_ = learn_taxonomy(taxonomy, self.analyser_, self.features)
        progress(f"learned {len(self.tree_.nodes)} classifiers for {len(self.tree_.tree.leaves)} leaves")

    def model(self) -> Mapping[str, Any]:
        """What training gave, without labels taken since."""
        tree, kept = self._taught(), self.labels_
        self._forget_labels()
        saved = tree.save()
        self._recall_labels(kept)
        return {"tree": saved, "analyser": self.analyser_.name}

    def use(self, model: Mapping[str, Any]) -> None:
        if model["analyser"] != self.analyser_.name:
            raise ValueError("this model was trained with other words: `stop_words` or `stem` differ")
        self.labels_ = {}
        self.tree_ = TreeClassifier.load(model["tree"])

    def _taught(self) -> TreeClassifier:
        if self.tree_ is None:
            raise BadConfig(f"{self.name} can't start untrained", f"train it first: scenthound train {self.name}")
        return self.tree_

    @property
    def declaration(self) -> Declaration:
        lessons = ("examples", "others", "taxonomy")
        return Declaration(parts=Parts((self.analyser_,)), training="required", lessons=lessons, free=("score",))

    # ---- the crawl

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._forget_labels()
        self._taught().freeze()
        self.recent_ = RecentPages(self.recent, seeds)
        self.distilling_ = Distilling(self.memory) if self.distiller else None
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def page_probability(self, page: Page) -> float:
        """How likely a page is on topic, by its label or by the classifier."""
        if page.url in self.labels_:
            return float(self.labels_[page.url][0])
        return self._taught().relevance(page.record.counts(self.analyser_)).probability

    def read(self, page: Page) -> Iterable[Candidate]:
        self.recent_.mark_done(page.url, page.candidate.url)
        counts = page.record.counts(self.analyser_)
        if self.labels_.get(page.url, (False, "-", {}))[1] == "":  # labelled before it was read
            self._learn_label(page.url, self.labels_[page.url][0], counts)
        score, parts = self._worth(page.url, counts)
        followed = page.outlinks if score is not None else ()
        worth = self._least() if score is None else score
        self.recent_.keep(page.url, counts, [link.url for link in page.outlinks], worth, page.candidate.depth)
        offers = [page.offer(link, worth, parts=parts) for link in followed]
        if self.distilling_ is not None:
            self.distilling_.read(page, parts["relevance"])
            if self.distilling_.pages % self.every == 0:
                offers += self._promoted()
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.recent_.mark_done(miss.candidate.url)
        if self.distilling_ is not None:
            self.distilling_.miss(miss.candidate.url)
        return ()

    def _worth(self, url: Url, counts: Document) -> tuple[float | None, dict[str, float]]:
        """The score of a page's links, or None if they are not followed; and the parts of the score."""
        if url in self.labels_:
            on_topic = self.labels_[url][0]
            return self._score(certainty(float(on_topic))), {"relevance": float(on_topic), "label": float(on_topic)}
        relevance = self._taught().relevance(counts, LENGTH if self.score == "per-word" else 0)
        parts = {"relevance": relevance.probability, "logit": relevance.log_odds}
        if len(relevance.good) > 1:
            best = sorted(relevance.good.items(), key=lambda one: -one[1])[:MOST_PARTS]
            parts |= {f"P({name})": probability for name, probability in best}
        return self._ruled(relevance, counts, parts), parts

    def _ruled(self, relevance: Relevance, counts: Document, parts: dict[str, float]) -> float | None:
        """Apply the rule: the score of the links, or None if they are dropped. May add parts of the score."""
        return self._score(relevance)

    def _score(self, relevance: Relevance) -> float:
        return relevance.log_odds if self.score == "logit" else relevance.probability

    def _least(self) -> float:
        return -FURTHEST if self.score == "logit" else 0.0

    def _promoted(self) -> list[Candidate]:
        assert self.distilling_ is not None
        promoted = self.distilling_.promoted(self.rho, self.percentile, self.promote)
        self.recent_.mark_done(
            *(promotion.url for promotion in promoted)
        )  # promoted pages keep their score, whatever labels say
        return [
            Candidate(url, self._score(certainty(relevance)), parts=parts, parent=parent, depth=depth)
            for url, relevance, hub, parent, depth in promoted
            for parts in [{"relevance": relevance, "promoted by hub": hub}]
        ]

    # ---- labels

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Count a page as its label says; if it was not read yet, as soon as it is."""
        earlier = self.labels_.get(url)
        if earlier is not None and earlier[0] == on_topic:
            return ()
        if earlier is not None and earlier[1]:
            counts: Document | None = earlier[2]
            self._taught().add(earlier[1], earlier[2], -1.0)
        else:
            counts = self.recent_.words(url)
        if counts is None:
            self.labels_[url] = (on_topic, "", {})
            if url in self.recent_.spared:
                return ()
            # if it waits, its result is certain
            score = self._score(certainty(float(on_topic)))
            return [Candidate(url, score, parts={"label": float(on_topic)}, rescored=True)]
        self._learn_label(url, on_topic, counts)
        return self._rescored()

    def _learn_label(self, url: Url, on_topic: bool, counts: Document) -> None:
        tree = self._taught()
        category = tree.nearest(counts, good=on_topic)
        tree.add(category, counts)
        names, times = terms_of(counts)
        self.labels_[url] = (on_topic, category, dict(zip(names, times.tolist(), strict=True)))

    def _forget_labels(self) -> None:
        """Undo all labels. Counts are exact, so this restores what training gave."""
        for _, category, counts in self.labels_.values():
            if category and self.tree_ is not None:
                self.tree_.add(category, counts, -1.0)
        self.labels_ = {}

    def _recall_labels(self, labels: Mapping[Url, Label]) -> None:
        for _, category, counts in labels.values():
            if category:
                self._taught().add(category, counts)
        self.labels_ = dict(labels)

    def _rescored(self) -> list[Candidate]:
        worth = {url: self._worth(url, counts) for url, counts in self.recent_.counted()}
        least = self._least()
        scores = {url: least if score is None else score for url, (score, _) in worth.items()}
        # links that the hard rule dropped are offered if their page is followed now
        return self.recent_.rescored(scores, lambda url: worth[url][1], lambda url: worth[url][0] is not None)

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        return {
            "labels": [[url, on, category, dict(words)] for url, (on, category, words) in self.labels_.items()],
            "recent": self.recent_.save(),
            "distilling": None if self.distilling_ is None else self.distilling_.save(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._forget_labels()
        self._recall_labels(
            {Url(url): (bool(on), str(category), words) for url, on, category, words in state["labels"]}
        )
        self.recent_ = RecentPages.load(state["recent"], self.recent, self.recent_.spared)
        if self.distilling_ is not None and state["distilling"] is not None:
            self.distilling_ = Distilling.load(state["distilling"], self.memory)


def certainty(probability: float) -> Relevance:
    """A relevance that no classifier computed.

    >>> certainty(1.0).log_odds == FURTHEST, round(certainty(0.75).log_odds, 3)
    (True, 1.099)
    """
    if not 0.0 < probability < 1.0:
        return Relevance(probability, FURTHEST if probability else -FURTHEST, {})
    return Relevance(probability, math.log(probability / (1.0 - probability)), {})


@strategy("focused-hard")
@dataclass
class FocusedHard(FocusedSoft):
    """Links of pages whose most probable category is a good one, most relevant first; all other links are dropped."""

    name: ClassVar[str] = "focused-hard"

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        candidates = super().start(topic, seeds)
        self._taught().freeze(self._taught().nodes)  # the best leaf may be anywhere
        return candidates

    def _ruled(self, relevance: Relevance, counts: Document, parts: dict[str, float]) -> float | None:
        tree = self._taught()
        leaf, probability = tree.best_leaf(counts)
        parts[f"best leaf {leaf}"] = probability
        return self._score(relevance) if tree.tree.is_good(leaf) else None
