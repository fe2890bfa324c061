"""Taxonomy-focused crawl with the soft and the hard rule, and the distiller (sheet 30.3).

    R(page)     = Σ P(c | page) over the good categories c
    score(link) = R(page)     soft: always; hard: if the most probable leaf is good or below a good category

    P(root | page) = 1,  P(c | page) = P(parent of c | page) · P(c | parent of c, page)

Chakrabarti, van den Berg and Dom 1999, as presented in [CHAP]. Every page is classified into a tree of categories, some
of which the user marked good. Under the soft rule all its links get the score R; waiting links keep their maximum.
Under the hard rule the links of pages outside the good categories are dropped. A hard crawl can run out of links, and
then it ends: that weakness is part of the result. If the lessons have no taxonomy, the tree has two leaves: the
examples and the others.

The distiller, if on, looks for hubs on the crawled graph every `every` pages: Kleinberg's iteration on links between
hosts, weighted by relevance (`graph.link_scores`). The best tenth of the hubs are then added to the frontier, as [CHAP]
says (`promote="hubs"`). Only a fetched page can be a hub, since the links of other pages are not known, and no page is
fetched twice in a crawl. So visiting a hub again means offering all its unvisited links again:

    score(link) = h(hub) / largest h     for the best hub with the link; links within the hub's host count too

Waiting links keep the larger score, and links that the hard rule dropped are followed. `promote="links"` is the other
reading (Chakrabarti et al.): pages that a hub links to on other hosts get relevance 1. `both` does both. The distiller
is off by default, so that the soft and the hard rule can be compared on their own.

Ours:
* The paper orders the frontier by (tries, relevance, load of the host, insertion). In the laboratory tries and load
  are 0. In a live crawl the loop handles both: it sets a failed request aside until its host has rested, and tries it
  at most `retries` times; a host rests for the crawl's `delay` after each request, so the load is even.
* Only labels change the classifier: a labelled page is counted for the most probable good leaf, or the most probable
  other leaf; its own links get relevance 1 or 0, and waiting links of the last `recent` pages are re-scored. The words
  selected by `features` do not change.
* On long pages R is 0 or 1 to the last digit (94 to 100% of the early pages of a crawl have R > .999999), and links
  that tie are taken first in, first out: a crawl is breadth-first for some 180 pages. So by default R is computed as if
  no page had more than `LENGTH` words, P(c | parent, page) ∝ P(c) · P(page | c)^min(1, LENGTH / words), and long pages
  are not classified with more certainty (`score="per-word"`). `score="probability"` is R as published, `score="logit"`
  its log-odds.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.graph.link_graph import GrowingGraph
from scenthound.graph.link_scores import across_hosts, distil, endorsements, nearest_rank
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.parts.scored_pages import RecentPages
from scenthound.papers.parts.taxonomy import FURTHEST, Relevance, TreeClassifier
from scenthound.papers.parts.training_pages import learn_taxonomy, trained, two_leaves
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import LENGTH, SCORES, stem_parameter, stop_words_parameter
from scenthound.text.term_counts import Document, terms_of
from scenthound.text.tokens import Analyser

MOST_LINKS = 5_000_000  # 16 bytes each, plus a few hundred bytes per URL


class PromotedPage(NamedTuple):
    """An unvisited page that a good hub links to, with its new relevance."""

    url: Url
    relevance: float
    hub: float
    parent: Url
    depth: int


class Distillation:
    """The links and the relevance of all pages read, up to `most` links.

    The relevance of an unread page is the largest relevance of a page that links to it.
    """

    def __init__(self, most: int = MOST_LINKS) -> None:
        self._graph = GrowingGraph(most)
        self._relevance = array("d")
        self._depths = array("q")
        self._hosts = array("q")
        self._host_numbers: dict[str, int] = {}
        self._visited: set[int] = set()

    @property
    def pages(self) -> int:
        """How many pages were read."""
        return len(self._visited)

    def read(self, page: Page, relevance: float) -> None:
        node = self._add(page.url)
        self._visited.add(node)
        self._relevance[node], self._depths[node] = relevance, page.candidate.depth
        linked = []
        for link in page.outlinks if not self._graph.is_full else ():
            target = self._add(link.url)
            linked.append(target)
            if target not in self._visited and self._relevance[target] < relevance:
                self._relevance[target] = relevance
        self._graph.link(node, linked)

    def miss(self, url: Url) -> None:
        node = self._graph.number(url)
        if node is not None and node not in self._visited:
            self._graph.dead.add(node)

    def _add(self, url: Url) -> int:
        """The node of a URL, added to the graph if it is new."""
        node = self._graph.add(url)
        if node == len(self._relevance):
            self._relevance.append(0.0)
            self._depths.append(0)
            self._hosts.append(self._host_numbers.setdefault(urls.host(url), len(self._host_numbers)))
        return node

    def promoted(self, rho: float, percentile: float, promote: str = "hubs") -> list[PromotedPage]:
        """Run the distiller and return every unvisited page that one of the best hubs links to.

        With `hubs`, links within a host count too, and a page gets the relevance h(its best hub) / largest h. With
        `links`, only links between hosts count, and the relevance is 1. `both` takes the larger.
        """
        graph, nodes = self._graph.graph()
        relevance = np.array(self._relevance)[nodes]
        across = across_hosts(graph, np.array(self._hosts)[nodes])
        hubs, _ = distil(across, relevance, rho)
        psi = nearest_rank(hubs, percentile)
        if psi is None:
            return []
        best = float(hubs.max())
        chosen: dict[int, tuple[int, float]] = {}  # by page: the best hub that links to it, and the page's relevance
        if promote != "links":
            chosen |= {page: (hub, float(hubs[hub]) / best) for page, hub in endorsements(graph, hubs, psi)}
        if promote != "hubs":
            chosen |= {page: (hub, 1.0) for page, hub in endorsements(across, hubs, psi)}
        promotions = []
        for page, (hub, new_relevance) in chosen.items():
            node, parent = int(nodes[page]), int(nodes[hub])
            if node in self._visited:
                continue
            self._relevance[node] = max(self._relevance[node], new_relevance)
            depth = self._depths[parent] + 1
            promotions.append(
                PromotedPage(Url(graph.names[page]), new_relevance, float(hubs[hub]), Url(graph.names[hub]), depth)
            )
        return promotions

    def save(self) -> dict[str, Any]:
        """The state as plain JSON and arrays."""
        return {
            "graph": self._graph.save(),
            "relevance": np.array(self._relevance),
            "depths": np.array(self._depths, dtype=np.int64),
            "visited": np.array(sorted(self._visited), dtype=np.int64),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_LINKS) -> Distillation:
        distillation = cls(most)
        graph = GrowingGraph.load(state["graph"], most)
        for name in graph.names:
            distillation._add(Url(name))
        distillation._graph = graph
        distillation._relevance = array("d", np.asarray(state["relevance"]).tolist())
        distillation._depths = array("q", np.asarray(state["depths"]).tolist())
        distillation._visited = set(np.asarray(state["visited"]).tolist())
        return distillation


Label = tuple[bool, str, Mapping[str, int]]  # on topic?; the leaf the page was counted for, "" if unread; its words
MOST_PARTS = 5  # good categories shown in the parts of a score


@strategy("focused-soft")
@dataclass
class FocusedSoft(Parameterised):
    """Prefers links on the pages most likely to be in a good category of a taxonomy."""

    name: ClassVar[str] = "focused-soft"

    score: str = parameter("per-word", SCORES, among=("per-word", "probability", "logit"))
    features: int = parameter(20_000, "words kept per inner category, chosen by Fisher's discriminant; 0: all", least=0)
    distiller: bool = parameter(False, "look for hubs and promote them")
    promote: str = parameter(
        "hubs",
        "hubs: follow all their links again, best hub first; links: pages that hubs link to on other hosts; or both",
        among=("hubs", "links", "both"),
    )
    every: int = parameter(500, "interval, in pages, between runs of the distiller", least=1)
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

    # ---- training

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        taxonomy = lessons.taxonomy
        if taxonomy is None:
            for kind, pages in (("on-topic page", lessons.examples), ("other page", lessons.others)):
                if not pages:
                    raise BadConfig(
                        f"{self.name} has no {kind} to learn from",
                        "give examples and background pages, or a taxonomy with examples",
                    )
            taxonomy = two_leaves(lessons.examples, lessons.others)
        self._forget_labels()
        self.tree_ = learn_taxonomy(taxonomy, self.analyser_, self.features)
        progress(f"learned {len(self.tree_.nodes)} classifiers for {len(self.tree_.tree.leaves)} leaves")

    def model(self) -> Mapping[str, Any]:
        """The result of training, without the labels taken since."""
        tree, labels = self._trained_tree(), self.labels_
        self._forget_labels()
        saved = tree.save()
        self._restore_labels(labels)
        return {"tree": saved, "analyser": self.analyser_.name}

    def use(self, model: Mapping[str, Any]) -> None:
        if model["analyser"] != self.analyser_.name:
            raise ValueError("this model was trained with other words: `stop_words` or `stem` differ")
        self.labels_ = {}
        self.tree_ = TreeClassifier.load(model["tree"])

    def _trained_tree(self) -> TreeClassifier:
        return trained(self.tree_, self.name)

    @property
    def declaration(self) -> Declaration:
        lessons = ("examples", "others", "taxonomy")
        return Declaration(parts=Parts((self.analyser_,)), training="required", lessons=lessons, free=("score",))

    # ---- the crawl

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._forget_labels()
        self._trained_tree().freeze()
        self.recent_ = RecentPages(self.recent, seeds)
        self.distillation_ = Distillation(self.memory) if self.distiller else None
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def page_probability(self, page: Page) -> float:
        """The probability that a page is on topic, from its label or the classifier."""
        if page.url in self.labels_:
            return float(self.labels_[page.url][0])
        return self._trained_tree().relevance(page.record.counts(self.analyser_)).probability

    def read(self, page: Page) -> Iterable[Candidate]:
        self.recent_.mark_done(page.url, page.candidate.url)
        counts = page.record.counts(self.analyser_)
        if self.labels_.get(page.url, (False, "-", {}))[1] == "":  # labelled before it was read
            self._learn_label(page.url, self.labels_[page.url][0], counts)
        score, parts = self._link_score(page.url, counts)
        followed = page.outlinks if score is not None else ()
        kept_score = self._lowest_score() if score is None else score
        self.recent_.keep(page.url, counts, [link.url for link in page.outlinks], kept_score, page.candidate.depth)
        offers = [page.offer(link, kept_score, parts=parts) for link in followed]
        if self.distillation_ is not None:
            self.distillation_.read(page, parts["relevance"])
            if self.distillation_.pages % self.every == 0:
                offers += self._promote_hubs()
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.recent_.mark_done(miss.candidate.url)
        if self.distillation_ is not None:
            self.distillation_.miss(miss.candidate.url)
        return ()

    def _link_score(self, url: Url, counts: Document) -> tuple[float | None, dict[str, float]]:
        """The score of a page's links, or None if they are not followed; and the parts of the score."""
        if url in self.labels_:
            on_topic = self.labels_[url][0]
            return self._score(certainty(float(on_topic))), {"relevance": float(on_topic), "label": float(on_topic)}
        relevance = self._trained_tree().relevance(counts, LENGTH if self.score == "per-word" else 0)
        parts = {"relevance": relevance.probability, "logit": relevance.log_odds}
        if len(relevance.good) > 1:
            best = sorted(relevance.good.items(), key=lambda item: -item[1])[:MOST_PARTS]
            parts |= {f"P({category})": probability for category, probability in best}
        return self._apply_rule(relevance, counts, parts), parts

    def _apply_rule(self, relevance: Relevance, counts: Document, parts: dict[str, float]) -> float | None:
        """The score of the links under the rule, or None if they are dropped. May add parts of the score."""
        return self._score(relevance)

    def _score(self, relevance: Relevance) -> float:
        return relevance.log_odds if self.score == "logit" else relevance.probability

    def _lowest_score(self) -> float:
        return -FURTHEST if self.score == "logit" else 0.0

    def _promote_hubs(self) -> list[Candidate]:
        assert self.distillation_ is not None
        promoted = self.distillation_.promoted(self.rho, self.percentile, self.promote)
        # Promoted pages keep their score, whatever labels say.
        self.recent_.mark_done(*(promotion.url for promotion in promoted))
        return [
            Candidate(url, self._score(certainty(relevance)), parts=parts, parent=parent, depth=depth)
            for url, relevance, hub, parent, depth in promoted
            for parts in [{"relevance": relevance, "promoted by hub": hub}]
        ]

    # ---- labels

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Count a page as its label says: now, or when it is read."""
        earlier = self.labels_.get(url)
        if earlier is not None and earlier[0] == on_topic:
            return ()
        if earlier is not None and earlier[1]:
            counts: Document | None = earlier[2]
            self._trained_tree().add(earlier[1], earlier[2], -1.0)
        else:
            counts = self.recent_.counts(url)
        if counts is None:
            self.labels_[url] = (on_topic, "", {})
            if url in self.recent_.fixed:
                return ()
            # If the page is waiting, its relevance is certain.
            score = self._score(certainty(float(on_topic)))
            return [Candidate(url, score, parts={"label": float(on_topic)}, rescored=True)]
        self._learn_label(url, on_topic, counts)
        return self._rescore_recent()

    def _learn_label(self, url: Url, on_topic: bool, counts: Document) -> None:
        tree = self._trained_tree()
        category = tree.nearest(counts, good=on_topic)
        tree.add(category, counts)
        names, times = terms_of(counts)
        self.labels_[url] = (on_topic, category, dict(zip(names, times.tolist(), strict=True)))

    def _forget_labels(self) -> None:
        """Undo all labels. Counts are exact, so this restores the result of training."""
        for _, category, counts in self.labels_.values():
            if category and self.tree_ is not None:
                self.tree_.add(category, counts, -1.0)
        self.labels_ = {}

    def _restore_labels(self, labels: Mapping[Url, Label]) -> None:
        for _, category, counts in labels.values():
            if category:
                self._trained_tree().add(category, counts)
        self.labels_ = dict(labels)

    def _rescore_recent(self) -> list[Candidate]:
        scored = {url: self._link_score(url, counts) for url, counts in self.recent_.all_counts()}
        lowest = self._lowest_score()
        scores = {url: lowest if score is None else score for url, (score, _) in scored.items()}
        # Links that the hard rule dropped are offered if their page is followed now.
        return self.recent_.rescored(scores, lambda url: scored[url][1], lambda url: scored[url][0] is not None)

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        return {
            "labels": [[url, on, category, dict(words)] for url, (on, category, words) in self.labels_.items()],
            "recent": self.recent_.save(),
            "distilling": None if self.distillation_ is None else self.distillation_.save(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._forget_labels()
        self._restore_labels(
            {Url(url): (bool(on), str(category), words) for url, on, category, words in state["labels"]}
        )
        self.recent_ = RecentPages.load(state["recent"], self.recent, self.recent_.fixed)
        if self.distillation_ is not None and state["distilling"] is not None:
            self.distillation_ = Distillation.load(state["distilling"], self.memory)


def certainty(probability: float) -> Relevance:
    """The relevance of a page whose probability is known without a classifier.

    >>> certainty(1.0).log_odds == FURTHEST, round(certainty(0.75).log_odds, 3)
    (True, 1.099)
    """
    if not 0.0 < probability < 1.0:
        return Relevance(probability, FURTHEST if probability else -FURTHEST, {})
    return Relevance(probability, math.log(probability / (1.0 - probability)), {})


@strategy("focused-hard")
@dataclass
class FocusedHard(FocusedSoft):
    """Follows only links on pages whose most probable category is good, most relevant pages first."""

    name: ClassVar[str] = "focused-hard"

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        candidates = super().start(topic, seeds)
        self._trained_tree().freeze(self._trained_tree().nodes)  # the best leaf can be under any node
        return candidates

    def _apply_rule(self, relevance: Relevance, counts: Document, parts: dict[str, float]) -> float | None:
        tree = self._trained_tree()
        leaf, probability = tree.best_leaf(counts)
        parts[f"best leaf {leaf}"] = probability
        return self._score(relevance) if tree.tree.is_good(leaf) else None
