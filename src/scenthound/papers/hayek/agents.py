"""New agents of the Hayek economy, with features drawn from a page by weight (sheet 40.2, algorithm 4).

    P(word) ∝ weight(word)     1 to 3 words, without replacement

The weightings are the six of [ECON] and CORR_ub: `uniform`, `tf`, `tf-idf`, `documents`, `differential`,
`information-gain`, `corr-ub`; a mix draws one of several for every agent.

Ours: [ECON] counts "in some set of URLs". Here term and document frequencies are those of the pages at the same
distance from a goal as the page that the words are drawn from.

`KnownProspects` is what exploratory auctions know: the content of all fetched pages.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scenthound.papers.hayek.known_web import FAR, FETCHED, KnownWeb
from scenthound.papers.hayek.market import ROOT, Agent, Market
from scenthound.papers.hayek.page_features import CHANCE, FEATURE_CLASSES, Dictionaries, draw_condition, feature_class
from scenthound.parameters import parameter


@dataclass(frozen=True)
class KnownProspects:
    """`Prospects` for one sequence, from the known web."""

    web: KnownWeb
    factory: AgentFactory
    banned: Collection[str]
    """Hosts whose pages are off the market."""
    ends_at_goal: bool
    sells_known: bool
    """Whether fetched pages are for sale, or only pages that were never fetched."""

    def is_goal(self, page: int) -> bool:
        known_page = self.web.pages[page]
        return known_page.state == FETCHED and known_page.goal

    def links(self, page: int) -> Iterable[int]:
        pages = self.web.pages
        if pages[page].state != FETCHED or not self.sells_known:
            return ()
        return [link for link in pages[page].links if pages[link].host not in self.banned]

    def real_bidders(self, page: int) -> Iterable[int] | None:
        if self.web.pages[page].state != FETCHED:
            return None
        agents = self.factory.market.agents
        return [number for number in self.factory.matches(page) if not agents[number].virtual]


WEIGHTINGS = ("uniform", "tf", "tf-idf", "documents", "differential", "information-gain", "corr-ub")
MIXES = {"mixed": WEIGHTINGS, "mixed-counts": WEIGHTINGS[:5]}
"""Sets of weightings from which one is drawn for every agent; [ECON], 3.2 used `mixed-counts` for bid-epsilon."""
MOST_DRAWN = 3
LAMBDA = 3.0  # cost of a page with the word that is not a goal, in CORR_ub


def weighting_parameter(default: str) -> Any:
    doc = "how words of new agents are drawn: " + ", ".join(WEIGHTINGS)
    return parameter(default, doc, among=(*WEIGHTINGS, *MIXES))


def entropy(*counts: Any) -> Any:
    """Entropy, in bits, of document counts by class; 0 if there are no documents. Works on arrays too."""
    total = sum(np.asarray(count, dtype=float) for count in counts)
    bits = np.zeros_like(total)
    for count in counts:
        share = np.divide(count, total, out=np.zeros_like(total), where=total > 0)
        bits = bits - share * np.log2(share, out=np.zeros_like(share), where=share > 0)
    return bits


def information_gain(goals: int, others: int, in_goals: Any, in_others: Any) -> Any:
    """Information, in bits, that the presence of a word gives about whether a page is a goal.

    >>> round(float(information_gain(15, 85, 12, 1)), 6)
    0.370713
    """
    all_pages = goals + others
    if all_pages == 0:
        return np.zeros_like(np.asarray(in_goals, dtype=float))
    with_word = np.asarray(in_goals, dtype=float) + np.asarray(in_others, dtype=float)
    share = with_word / all_pages
    present = entropy(np.asarray(in_goals, dtype=float), np.asarray(in_others, dtype=float))
    absent = entropy(goals - np.asarray(in_goals, dtype=float), others - np.asarray(in_others, dtype=float))
    unconditional = entropy(np.asarray(float(goals)), np.asarray(float(others)))
    return np.maximum(0.0, unconditional - share * present - (1.0 - share) * absent)


def corr_ub(in_goals: Any, in_others: Any, cost: float = LAMBDA) -> Any:
    """Goals with the word minus `cost` times other pages with it."""
    return np.asarray(in_goals, dtype=float) - cost * np.asarray(in_others, dtype=float)


def differential(near: int, far: int, in_near: Any, in_far: Any) -> Any:
    """The share of one set of documents that has a word, minus the share of another set."""
    fraction = np.asarray(in_near, dtype=float) / near if near else np.asarray(in_near, dtype=float) * 0.0
    return fraction - (np.asarray(in_far, dtype=float) / far if far else 0.0)


def weights(kind: str, dictionaries: Dictionaries, features: Any, distance: int) -> Any:
    """The weight of each feature in a draw from a page at this distance from a goal. Never negative."""
    documents, occurrences, pages = (
        dictionaries.documents[:, features],
        dictionaries.occurrences[:, features],
        dictionaries.pages,
    )
    in_goals = documents[0]
    in_others = documents.sum(axis=0) - in_goals
    if kind == "tf":
        return occurrences[distance].astype(float)
    if kind == "tf-idf":
        rarity = np.log((1.0 + pages.sum()) / (1.0 + documents.sum(axis=0)))
        return occurrences[distance] * np.maximum(0.0, rarity)
    if kind == "documents":
        return documents[distance].astype(float)
    if kind == "differential":  # for a goal: compared with all other pages
        in_nearer = documents[distance - 1] if distance else in_others
        nearer = pages[distance - 1] if distance else pages[1:].sum()
        return np.maximum(0.0, differential(int(pages[distance]), int(nearer), documents[distance], in_nearer))
    if kind == "information-gain":
        return information_gain(int(pages[0]), int(pages[1:].sum()), in_goals, in_others)
    if kind == "corr-ub":
        scores = corr_ub(in_goals, in_others)
        return scores - scores.min() if len(scores) else scores
    return np.ones(len(features))


def draw(rng: random.Random, features: Sequence[int], weights: Sequence[float], count: int) -> list[int]:
    """Draw `count` features without replacement, in proportion to their weights; evenly if all are 0."""
    left, weights_left = list(features), [float(weight) for weight in weights]
    drawn: list[int] = []
    while left and len(drawn) < count:
        total = math.fsum(weights_left)
        index = rng.randrange(len(left))
        if total > 0:
            index, point = 0, rng.random() * total
            while index < len(left) - 1 and point >= weights_left[index]:
                point -= weights_left[index]
                index += 1
        drawn.append(left.pop(index))
        weights_left.pop(index)
    return drawn


class AgentFactory:
    """Makes new agents from the words of a page, and children of agents."""

    def __init__(
        self,
        web: KnownWeb,
        market: Market,
        rng: random.Random,
        weighting: str,
        classes: Sequence[str] = FEATURE_CLASSES,
        operators: Sequence[str] = (),
    ) -> None:
        self.web, self.market, self.rng = web, market, rng
        self.weightings, self.classes = MIXES.get(weighting, (weighting,)), frozenset(classes)
        self.operators = operators

    def new_agent(self, page: int, *, virtual: bool, paid_by: int = ROOT) -> Agent | None:
        """Make an agent with 1 to 3 features of a page; None if the page has no suitable features.

        A virtual agent has only features that unfetched pages can have; a real agent has at least one word of the text.
        """
        features = self._draw_features(page, virtual, 1 + self.rng.randrange(MOST_DRAWN), not virtual)
        if not features:
            return None
        features += self._draw_condition(page, virtual)
        return self._add_to_matches(
            self.market.admit(features, virtual=virtual, paid_by=paid_by, source=self.web.pages[page].url)
        )

    def child(self, parent: Agent) -> Agent | None:
        """Make a child that differs by one feature: added, removed or replaced. The parent pays its start capital."""
        page = self._source(parent)
        features = list(parent.features)
        change = self.rng.choice(("add", "remove", "replace"))
        if change != "add" and (change == "replace" or len(features) > 1):
            features.pop(self.rng.randrange(len(features)))
        needs_word = not parent.virtual and not any(map(self._is_word, features))
        if change != "remove" or needs_word or not features:
            if page is None:
                return None
            new = self._draw_features(page, parent.virtual, 1, needs_word, set(parent.features))
            if not new:
                return None
            features += new + ([] if needs_word else self._draw_condition(page, parent.virtual))
        source = parent.source if page is None else self.web.pages[page].url
        return self._add_to_matches(
            self.market.admit(
                features, virtual=parent.virtual, parent=parent.number, paid_by=parent.number, source=source
            )
        )

    def matches(self, page: int) -> list[int]:
        """The agents that match a page, oldest first."""
        known_page, agents = self.web.pages[page], self.market.agents
        if known_page.matches is None:
            keys = self.web.features_among(page, self.market.index.keys(), self.market.keyed)
            known_page.matches = self.market.agents_among(keys, partial(self.web.has, page))
        elif any(number not in agents for number in known_page.matches):
            known_page.matches = [number for number in known_page.matches if number in agents]
        return known_page.matches

    def _add_to_matches(self, agent: Agent) -> Agent:
        """Add a new agent to the cached matches of pages."""
        for page in self.web.pages_with(agent.features):
            matches = self.web.pages[page].matches
            if matches is not None:
                matches.append(agent.number)
        return agent

    def _source(self, agent: Agent) -> int | None:
        """The page for a child's new words: its parent's source, or a page near a goal if that is unknown here."""
        number = self.web.numbers.get(agent.source)
        if number is not None and (self.web.pages[number].words or agent.virtual):
            return number
        return self.any_page()

    def any_page(self) -> int | None:
        """A random fetched page, if possible a page that leads to a goal."""
        fetched = self.web.fetched
        near = [number for number in fetched if self.web.pages[number].distance < FAR] or fetched
        return near[self.rng.randrange(len(near))] if near else None

    def _draw_features(
        self,
        page: int,
        virtual: bool,
        count: int,
        needs_word: bool,
        without: Set[int] = frozenset(),
    ) -> list[int]:
        known_page = self.web.pages[page]
        words = self._allowed(known_page.words, without)
        seen = self._allowed(sorted(self.web.features(page, real=False)), without)
        kind = self.weightings[0] if len(self.weightings) == 1 else self.rng.choice(self.weightings)
        pool = seen if virtual else words + seen
        if not pool or (needs_word and not words):
            return []
        drawn = draw(self.rng, pool, self._weights(kind, pool, known_page.distance), count)
        if needs_word and not any(map(self._is_word, drawn)):
            drawn[-1] = draw(self.rng, words, self._weights(kind, words, known_page.distance), 1)[0]
        return drawn

    def _is_word(self, feature: int) -> bool:
        """Whether a feature is an indexed feature of the text."""
        lexicon = self.web.lexicon
        return bool(lexicon.indexed[feature]) and not lexicon.virtual[feature]

    def _draw_condition(self, page: int, virtual: bool) -> list[int]:
        """With probability `CHANCE`, a condition that holds for a page; only for real agents, if conditions are on."""
        if not self.operators or virtual or self.rng.random() >= CHANCE:
            return []
        web, names, other = self.web, self.web.lexicon.names, self.any_page()
        own, order = web.pages[page].words, web.pages[page].order
        words = [[names[word] for word in ids if word >= 0] for ids in (own, web.pages[other or 0].words, order)]
        plain = [[word for word in text if ":" not in word] for text in words]
        condition = draw_condition(self.rng, self.operators, *plain)
        feature = -1 if condition is None else int(web.lexicon.add([condition])[0])
        return [feature] if feature >= 0 else []

    def _allowed(self, features: Iterable[int], without: Set[int]) -> list[int]:
        names, classes = self.web.lexicon.names, self.classes
        return [feature for feature in features if feature not in without and feature_class(names[feature]) in classes]

    def _weights(self, kind: str, features: Sequence[int], distance: int) -> Any:
        """The weights of features. Distances and site counts are in no dictionary and get the mean of the others."""
        self.web.dictionaries.make_room(len(self.web.lexicon))
        values = weights(kind, self.web.dictionaries, np.asarray(features, dtype=np.intp), distance)
        is_state = ~np.frombuffer(self.web.lexicon.indexed, dtype=np.bool_)[np.asarray(features, dtype=np.intp)]
        if is_state.any():
            values = np.array(values, dtype=float)
            values[is_state] = values[~is_state].mean() if not is_state.all() else 1.0
        return values
