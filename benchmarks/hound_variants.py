"""Variants of hound for `hound.py`: parts switched off, other weights, weights fitted to a web.

`without` lists features, parts of the score or mechanisms, separated by `+`:

    learning    the shipped weights are kept
    belief      seeds always count as examples, whatever the keywords say
    keywords    the topic is learned from the seeds alone
    domains     home pages are not preferred when other home pages of their domain could be fetched
    links       when looking for sites, home pages are ranked without the features of links
    lists       when looking for sites, pages that may list sites come after all home pages
    sites       pages are looked for, whatever the topic says
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.run.handover import visible_topic
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.model import Candidate, Topic, Url
from scenthound.parameters import parameter
from scenthound.strategies import strategy
from scenthound.strategies.hound.features import (
    FEATURES,
    SHIPPED,
    WEIGHTS,
    FrontierFeatures,
    Scoring,
    deviations,
    frontier_features,
)
from scenthound.strategies.hound.hound import Hound
from scenthound.strategies.hound.link_table import Reals
from scenthound.strategies.hound.ranking import Ranking
from scenthound.strategies.hound.site_search import FIRST_TOPICALITY, SiteSearch
from scenthound.strategies.hound.topic_fit import LearnedTopic
from scenthound.topic_list import BedTopic

MECHANISMS = ("learning", "belief", "keywords")
OF_SITES = ("sites", "domains", "links", "lists", "topicality")
CUES: Mapping[str, tuple[str, ...]] = {
    "anchor": ("anchor", "anchors"),
    "context": ("beside", "heading", "text", "relevant", "besides"),
    "page": ("citing", "sum"),
    "siblings": ("near", "page"),
    "URL": ("address", "keyword", "shape", "addresses"),
    "tag path": ("path",),
    "graph": ("cocited", "examples"),
}
"""The features of each cue, by the text they read. `text` counts as context, though it includes the anchor."""


def variant(without: Iterable[str] = (), weights: Iterable[float] = ()) -> str:
    """The name of a variant for `lab run`."""
    named, numbers = "+".join(without), " ".join(f"{weight:.3f}" for weight in weights)
    return "hound-variant" + (f":without={named}" if named else "") + (f":weights={numbers}" if numbers else "")


def only(cue: str) -> str:
    """Hound with the features of one cue alone."""
    return variant(sorted(set(FEATURES).difference(CUES[cue])))


@strategy("hound-variant")
@dataclass
class HoundVariant(Hound):
    """Hound with parts switched off, or with other weights."""

    without: str = parameter("", "features, parts and mechanisms to switch off, separated by +")
    weights: str = parameter("", "weights of the features, separated by spaces; empty: the shipped weights")

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        off = set(self.without.split("+")) - {""}
        if unknown := off.difference(FEATURES, WEIGHTS, MECHANISMS, OF_SITES):
            raise ValueError(f"hound has no part called {', '.join(sorted(unknown))}")
        offers = super().start(replace(topic, looking_for="pages") if "sites" in off else topic, seeds)
        weights = np.array([float(weight) for weight in self.weights.split()]) if self.weights else SHIPPED
        self.scoring_ = _Scoring(weights, off)
        keywords = [] if "keywords" in off else self.analyser_.terms(topic.keywords)
        self.topic_ = _LearnedTopic(self.vocabulary_, keywords)
        self.topic_.always_believes = "belief" in off
        if self.sites_ is not None:
            self.sites_ = _SiteSearch(self.table_)
            self.sites_.off = off
        return offers


class _Scoring(Scoring):
    def __init__(self, shipped: Reals, off: set[str]) -> None:
        super().__init__(shipped)
        part_of = {feature: part for part, features in WEIGHTS.items() for feature in features}
        self._learns = "learning" not in off
        self._kept = np.array([float(not off & {feature, part_of[feature]}) for feature in FEATURES])

    def rank(self, deviations: Reals) -> Reals:
        return super().rank(deviations * self._kept)

    def set_ranked(self, urls: list[int], deviations: Reals) -> None:
        super().set_ranked(urls, deviations * self._kept)

    def learn(self, relevance: Reals, belief: float) -> None:
        if self._learns:
            super().learn(relevance, belief)


class _LearnedTopic(LearnedTopic):
    always_believes = False

    def _set_belief(self, *vectors: Any) -> Reals:
        fits = super()._set_belief(*vectors)
        if self.always_believes:
            self.belief = 1.0
        return fits


class _SiteSearch(SiteSearch):
    off: set[str]

    def _domain_values(self) -> Reals:
        values = super()._domain_values()
        return np.full_like(values, values.mean()) if "domains" in self.off and len(values) else values

    def topicality(self, relevance: Reals) -> float:
        return FIRST_TOPICALITY if "topicality" in self.off else super().topicality(relevance)

    def rank(self, frontier: FrontierFeatures, scores: Reals, relevance: Reals) -> Ranking:
        ranked = super().rank(frontier, np.zeros_like(scores) if "links" in self.off else scores, relevance)
        if "lists" not in self.off:
            return ranked
        return ranked.take(np.argsort(ranked.is_list, kind="stable"))._replace(scores=ranked.scores)


# ---- weights fitted to a web


class _Observed(Hound):
    """Hound that sums up, at each ranking, the covariance of features and targets over the whole frontier."""

    def observe(self, targets: Iterable[str]) -> None:
        self.targets_ = frozenset(targets)
        self.together_, self.with_answer_ = np.zeros((len(FEATURES), len(FEATURES))), np.zeros(len(FEATURES))

    def _rank(self) -> list[Candidate]:
        offers = super()._rank()
        frontier = frontier_features(self.table_, self.topic_)
        answers = np.array([self.table_.names[url] in self.targets_ for url in frontier.urls], dtype=np.float64)
        if answers.std() > 0:
            z = deviations(frontier)
            z, answers = z - z.mean(axis=0), (answers - answers.mean()) / answers.std()
            self.together_ += z.T @ z / len(z)
            self.with_answer_ += z.T @ answers / len(z)
        return offers


def fitted(bed: PreparedBed, topics: Sequence[BedTopic], pages: int, ridge: float = 0.1) -> list[float]:
    """The weights that best separate targets from other URLs in the frontier, in crawls of hound for these topics.

    A ridge regression over all frontiers with equal weight, scaled to the length of the shipped weights.
    """
    together, with_answer = np.zeros((len(FEATURES), len(FEATURES))), np.zeros(len(FEATURES))
    for topic in topics:
        crawler = _Observed()
        crawler.observe(topic.targets)
        run_strategy(bed, visible_topic(topic, bed.aliases), crawler, topic.seeds, ReplayLimits(pages))
        together += crawler.together_
        with_answer += crawler.with_answer_
    scale = np.trace(together) / len(FEATURES)
    weights = np.linalg.solve(together + ridge * scale * np.eye(len(FEATURES)), with_answer)
    return (weights * np.linalg.norm(SHIPPED) / np.linalg.norm(weights)).tolist()
