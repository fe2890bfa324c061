"""InfoSpiders: a population of agents, each with keywords, a small neural net and a private frontier (sheet 40.1).

    score(link) = alpha · net(link) + (1 - alpha) · similarity(page)
    P(link)     ∝ e^(greed · score)                      the draw from the agent's private frontier
    energy      ← energy + similarity(page) - cost       after every page; from `theta` on the agent splits

Menczer and Belew; the redesigned version of [CHAP] 3.5. An agent draws a link, fetches the page, and gains as much
energy as the similarity of its keywords to the page. Its net sees the keywords around links, and learns to predict this
similarity. A child has a copy of its parent's net and keywords, one more word from the current page, half the energy
and every second link. `memory=0` is the old version, which could only follow links of the current page; `cost` and
`death` give the ecological version (0.05 and true).

Ours, as the sheet decides: agents take turns, oldest first, and share the set of visited pages, so that no page is
fetched twice; seeds are assigned in turn and fetched first, and the nets learn nothing from them; a new keyword has
weight 0 in the child's net, and input 0 for links seen before; a link found again keeps the larger score and its
inputs.

All agents together hold `buffer` links ([EXP] allows a crawler 256), or as many as the frontier of the crawl if that is
less, and an agent at most ⌊that / population⌋, but at least 16. With long private frontiers the draw is nearly blind:
e^(greed · score) hardly separates a thousand links whose scores differ by .05. With at most 1,024 links, the state is
saved with every commit, and a killed crawl continues with the links it had.

Ours, where the sheet is silent: if several anchors lead to one URL, the best counts (rule 6); the first 64 words of a
topic are used, and no agent has more; a failed request costs nothing and teaches nothing; waiting seeds are kept with
`memory=0`. In a live crawl an agent requests one page at a time, and links on resting hosts are left out of its draw
(see `population`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scenthound.model import DECIMALS, Candidate, Event, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.anchors import best_anchors, outlink_anchors
from scenthound.papers.parts.callbacks import weak_method
from scenthound.papers.spiders.net import Net, link_inputs, sightings
from scenthound.papers.spiders.population import Flight, PageView, Population, Spider
from scenthound.papers.spiders.private_frontier import PrivateFrontier
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, cosine

MOST_WORDS = 64  # inputs of a net, and numbers kept with every link
FARTHEST = 1000
MOST_AGENTS = 10_000
SMALL_BUFFER = 1024  # up to this many links, the state is saved with every commit
MOST_UNITS = 256
SHOWN = 6  # decimals in events


class Meal(NamedTuple):
    """An agent's energy after a page, and whether that is enough to split."""

    energy: float
    is_enough: bool


def meal(energy: float, similarity: float, cost: float, theta: float) -> Meal:
    """Feed a page to an agent.

    >>> meal(1.5, 0.75, 0.05, 2.0)
    Meal(energy=2.2, is_enough=True)
    """
    energy = energy + similarity - cost
    return Meal(energy, energy >= theta)


def new_word(counts: Mapping[str, int], keywords: Iterable[str]) -> str | None:
    """The most frequent term that is not a keyword; among ties, the first to appear.

    >>> new_word({"solar": 3, "roof": 2, "kit": 2}, ["solar"])
    'roof'
    """
    keywords = set(keywords)
    return max((word for word in counts if word not in keywords), key=counts.__getitem__, default=None)


@strategy("infospiders")
@dataclass
class InfoSpiders(Parameterised):
    """Agents that gain energy from relevant pages, learn which words near links pay off, and multiply."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "net": "output of the agent's net for the words around the link",
        "page": "similarity between the agent's keywords and the page that the link is on",
        "agent": "number of the agent that drew the link",
        "energy": "energy of the agent when it drew the link",
        "probability": "probability of the link among all that the agent held",
    }
    alpha: float = parameter(0.5, "weight of the net in a link's score; the page has the rest", least=0, most=1)
    greed: float = parameter(5.0, "beta: how much a better link is preferred; 0 draws blindly", least=0)
    rate: float = parameter(0.5, "eta: learning rate of the nets; 0: they do not learn", least=0)
    reach: int = parameter(5, "rho: maximum number of anchors between a word and a link", least=0, most=FARTHEST)
    hidden: int = parameter(
        16, "maximum number of hidden units, at most one per word of the topic; 0: none", least=0, most=MOST_UNITS
    )
    theta: float = parameter(2.0, "energy at which an agent splits; it starts with half of this", above=0)
    cost: float = parameter(0.0, "energy that a page costs; 0.05 in the ecological version", least=0)
    death: bool = parameter(False, "remove agents whose energy is below 0")
    population: int = parameter(8, f"maximum number of agents, up to {MOST_AGENTS}", least=1, most=MOST_AGENTS)
    buffer: int = parameter(
        256, "links that all agents hold together; 0: as many as the frontier of the crawl", least=0
    )
    memory: int = parameter(1, "1: keep links; 0: an agent forgets the links of earlier pages", least=0, most=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rng_ = random.Random(0)
        self.population_ = self._new_population(None)
        self.events_: list[Event] = []
        self.parent_: tuple[Spider, str | None, Url] | None = None

    # ---- the crawl

    @property
    def declaration(self) -> Declaration:
        parts = Parts((Analyser(self.stop_words, self.stem),), leaves=True)
        return Declaration(parts=parts, score_parts=self.score_parts, small_state=0 < self.buffer <= SMALL_BUFFER)

    def use_random(self, rng: random.Random) -> None:
        self.rng_ = rng

    def frontier(self, bound: int | None) -> Frontier:
        self.population_ = self._new_population(bound)
        return self.population_

    def _new_population(self, bound: int | None) -> Population:
        if self.buffer:
            bound = self.buffer if bound is None else min(bound, self.buffer)
        return Population(bound, self.population, self.greed, weak_method(self._on_retire), weak_method(self._split))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.analyser_ = Analyser(self.stop_words, self.stem)
        topic_terms = list(self.analyser_.counts(topic.keywords).items())[:MOST_WORDS]
        seeds = list(dict.fromkeys(seeds))
        self.events_, self.parent_ = [], None
        self.population_.clear(self.rng_.getrandbits(64))
        for number, seed in enumerate(seeds[: self.population]):
            net = Net.untrained(len(topic_terms), min(self.hidden, len(topic_terms)), self.rng_)
            self._join(
                Spider(number, None, Counts(topic_terms), net, self.theta / 2, PrivateFrontier(len(topic_terms))), seed
            )
        return [Candidate(url, math.inf, {"agent": index % self.population}) for index, url in enumerate(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        self._split()
        agent, flight = self.population_.landed(page.candidate)
        if agent is None:
            return []
        counts = page.record.counts(self.analyser_)
        similarity = cosine(agent.keywords, counts)
        is_enough = self._feed(agent, flight, similarity, page.url)
        if self.death and agent.energy < 0:
            self.population_.remove(agent)
            self._record_death(agent, "starved")
            return []
        if not self.memory:
            self._forget(agent)
        if is_enough and len(self.population_.agents) < self.population:
            word = new_word(counts.to_dict(), agent.keywords) if len(agent.keywords) < MOST_WORDS else None
            self.parent_ = (agent, word, page.url)
        return self._score_links(agent, page, similarity)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self._split()
        self.population_.landed(miss.candidate)
        return ()

    def take_events(self) -> Iterable[Event]:
        self._split()
        events, self.events_ = self.events_, []
        return events

    # ---- the life of an agent

    def _feed(self, agent: Spider, flight: Flight | None, similarity: float, url: Url) -> bool:
        """Steps 4 and 5: update the energy and train the net. Returns whether the energy is enough to split."""
        before = agent.energy
        agent.energy, is_enough = meal(before, similarity, self.cost, self.theta)
        agent.pages += 1
        facts = {"agent": agent.number, "similarity": similarity, "before": before, "energy": agent.energy}
        if flight is not None and flight.inputs is not None and len(flight.inputs) == len(agent.keywords):
            facts["expected"] = agent.net.learn(flight.inputs.astype(np.float64), similarity, self.rate)
        self.events_.append(Event("fed", {name: round(value, SHOWN) for name, value in facts.items()}, url))
        return is_enough

    def _score_links(self, agent: Spider, page: Page, similarity: float) -> list[Candidate]:
        """Step 6: the links of a page with the agent's scores; the best of several anchors to one URL counts."""
        outlinks = page.outlinks
        anchors = page.view(outlink_anchors)
        seen = sightings(page, agent.columns, self.analyser_)
        inputs = link_inputs(seen, len(page.links), agent.columns, self.reach)
        outputs = np.round(agent.net.outputs(inputs), DECIMALS)
        rows = best_anchors(anchors, outputs)
        net = outputs[rows]
        scores = np.round(self.alpha * net + (1 - self.alpha) * similarity, DECIMALS)
        row_of = {link.url: row for row, link in enumerate(outlinks)}
        self.population_.view = PageView(agent, similarity, row_of, net.tolist(), inputs[rows].astype(np.float32))
        return [page.offer(link, score) for link, score in zip(outlinks, scores.tolist(), strict=True)]

    def _forget(self, agent: Spider) -> None:
        """As in the old version, drop all links of earlier pages except waiting seeds."""
        links = agent.links
        for url in [url for url, row in links.rows.items() if links.score[row] < math.inf]:
            self.population_.drop(agent, url)

    def _split(self) -> None:
        """Step 7: split. The links of the page must be in the frontier first, so this is done at the next call."""
        if self.parent_ is None:
            return
        (agent, word, url), self.parent_ = self.parent_, None
        if agent.number not in self.population_.agents:
            return
        keywords = Counts(agent.keywords if word is None else {**agent.keywords, word: 1})
        agent.energy /= 2
        net = agent.net.child(len(keywords) - len(agent.keywords))
        child = Spider(
            self.population_.births, agent.number, keywords, net, agent.energy, PrivateFrontier(len(keywords))
        )
        self.population_.share(agent, child)
        self._join(child, url)

    def _join(self, agent: Spider, url: Url) -> None:
        self.population_.join(agent)
        facts = {"agent": agent.number, "parent": agent.parent, "energy": round(agent.energy, SHOWN)}
        words = list(agent.keywords)
        self.events_.append(Event("born", {**facts, "links": len(agent.links), "keywords": words}, url))

    def _on_retire(self, agent: Spider) -> None:
        self._record_death(agent, "nothing left")

    def _record_death(self, agent: Spider, why: str) -> None:
        energy = round(agent.energy, SHOWN)
        self.events_.append(Event("died", {"agent": agent.number, "why": why, "energy": energy, "pages": agent.pages}))

    def agents_in(self, state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """Energy, words, links and net of the agents in a saved state."""
        return living_agents(state["pack"])

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        self._split()
        return {
            "pack": self.population_.save(),
            "untold": [[event.kind, dict(event.facts), event.url] for event in self.events_],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.parent_ = None
        self.population_.load(state["pack"])
        self.events_ = [Event(*fields) for fields in state["untold"]]


def living_agents(state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The agents in a saved population, by number: energy, pages, the effect of each keyword, and the net.

    The effect of a word is the net's output for a link with only that word in its anchor, less the output for a link
    without any keyword near it.
    """
    agents = {}
    for saved in state["agents"]:
        number, _, energy, pages, _ = saved["agent"]
        words, net = [word for word, _ in saved["keywords"]], Net(*saved["net"])
        outputs = net.outputs(np.vstack([np.zeros(len(words)), np.eye(len(words))]))
        effects = (outputs[1:] - outputs[0]).tolist()
        agents[int(number)] = {
            "energy": float(energy),
            "pages": int(pages),
            "words": dict(zip(words, effects, strict=True)),
            "net": {"w1": net.w1.tolist(), "b1": net.b1.tolist(), "w2": net.w2.tolist(), "b2": float(net.b2)},
        }
    return agents
