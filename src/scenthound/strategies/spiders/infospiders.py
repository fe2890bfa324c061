"""InfoSpiders: a population of agents, each with keywords, a small neural net and a private frontier (sheet 40.1).

    score(link) = alpha · net(link) + (1 - alpha) · similarity(page)
    P(link)     ∝ e^(greed · score)                      the draw from the agent's private frontier
    energy      ← energy + similarity(page) - cost       after every page; from `theta` on the agent splits

Menczer and Belew; the redesigned version of [CHAP] 3.5. An agent draws a link, fetches the page, and gains energy by
the similarity of its own keywords with it. Its net sees the keywords around links, and learns what that link brought. A
child has a copy of its parent's net and keywords, one more word from the page they are on, half the energy and every
second link. `memory=0` is the old version, which could follow links of the current page only; `cost` and `death` make
the ecological one (0.05 and true).

Ours, as the sheet decides: agents take turns, oldest first, and share what was visited, so that no page is fetched
twice; seeds are dealt out and fetched first, and nothing is learned from them; a new word has no weight in the child's
net, and no input in links that were seen before; a link found again keeps its larger score with what was seen then.

All agents together hold `buffer` links ([EXP] allows a crawler 256), or as many as the frontier of the crawl if that is
less, and an agent has at most ⌊that / population⌋, 16 or more. With long private frontiers the draw is nearly blind:
e^(greed · score) hardly tells apart a thousand links whose scores differ by .05. A memory of at most 1,024 links is
saved with every commit: a killed crawl goes on with the links it had.

Ours, where the sheet is silent: one of several anchors to a URL counts, the best (rule 6); of a topic the first 64
words are used, and no agent has more; a request that brings no page costs nothing and teaches nothing; seeds that wait
are kept with `memory=0`. In a live crawl an agent asks for one page at a time, and links of resting hosts do not take
part in its draw (see `population`).
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
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier
from scenthound.strategies import strategy
from scenthound.strategies.parts.callbacks import weak_method
from scenthound.strategies.parts.word_parameters import stem_parameter, stop_words_parameter
from scenthound.strategies.spiders.living_agents import living_agents
from scenthound.strategies.spiders.net import Net, link_inputs, sightings
from scenthound.strategies.spiders.population import Flight, Population, Spider, View
from scenthound.strategies.spiders.private_frontier import PrivateFrontier
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, cosine

MOST_WORDS = 64  # inputs of a net, and numbers kept with every link
FARTHEST = 1000
MOST_AGENTS = 10_000
SMALL_BUFFER = 1024  # links that are saved with every commit
MOST_UNITS = 256
SHOWN = 6  # decimals in events


class Meal(NamedTuple):
    """An agent's energy after a page, and whether it is enough to split."""

    energy: float
    is_enough: bool


def meal(energy: float, similarity: float, cost: float, theta: float) -> Meal:
    """What a page does to an agent.

    >>> meal(1.5, 0.75, 0.05, 2.0)
    Meal(energy=2.2, is_enough=True)
    """
    after = energy + similarity - cost
    return Meal(after, after >= theta)


def new_word(counts: Mapping[str, int], keywords: Iterable[str]) -> str | None:
    """The most frequent term that is none of the known; of equals the first to appear.

    >>> new_word({"solar": 3, "roof": 2, "kit": 2}, ["solar"])
    'roof'
    """
    had = set(keywords)
    words = (word for word in counts if word not in had)
    return max(words, key=counts.__getitem__, default=None)


@strategy("infospiders")
@dataclass
class InfoSpiders(Parameterised):
    """Agents that live on relevant pages, learn which words near links pay off, and multiply."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "net": "what the agent's net made of the words around the link",
        "page": "similarity of the page it was found on with the agent's keywords",
        "agent": "number of the agent that drew it",
        "energy": "its energy when it did",
        "probability": "how likely this link was among all that the agent held",
    }
    alpha: float = parameter(0.5, "weight of the net in a link's score; the page has the rest", least=0, most=1)
    greed: float = parameter(5.0, "beta: how much a better link is preferred; 0 draws blindly", least=0)
    rate: float = parameter(0.5, "eta: how fast the nets learn; 0 leaves them as they are", least=0)
    reach: int = parameter(5, "rho: most anchors between a word and a link", least=0, most=FARTHEST)
    hidden: int = parameter(
        16, "most hidden units; never more than words of the topic; 0: none", least=0, most=MOST_UNITS
    )
    theta: float = parameter(2.0, "energy at which an agent splits; it begins with half of it", above=0)
    cost: float = parameter(0.0, "energy that a page costs; 0.05 in the ecological version", least=0)
    death: bool = parameter(False, "remove agents whose energy is below 0")
    population: int = parameter(8, f"most agents at a time, up to {MOST_AGENTS}", least=1, most=MOST_AGENTS)
    buffer: int = parameter(256, "links that all agents hold together; 0: as many as the frontier of the crawl", least=0)
    memory: int = parameter(1, "1; or 0, where an agent forgets the links of earlier pages", least=0, most=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rng_ = random.Random(0)
        self.population_ = self._made(None)
        self.events_: list[Event] = []
        self.parent_: tuple[Spider, str | None, Url] | None = None

    # ---- what the crawl asks

    @property
    def declaration(self) -> Declaration:
        parts = Parts((Analyser(self.stop_words, self.stem),), leaves=True)
        return Declaration(parts=parts, score_parts=self.score_parts, small_state=0 < self.buffer <= SMALL_BUFFER)

    def use_random(self, rng: random.Random) -> None:
        self.rng_ = rng

    def frontier(self, bound: int | None) -> Frontier:
        self.population_ = self._made(bound)
        return self.population_

    def _made(self, bound: int | None) -> Population:
        if self.buffer:
            bound = self.buffer if bound is None else min(bound, self.buffer)
        return Population(bound, self.population, self.greed, weak_method(self._retired), weak_method(self._split))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.analyser_ = Analyser(self.stop_words, self.stem)
        topic_terms = list(self.analyser_.counts(topic.keywords).items())[:MOST_WORDS]
        seeds = list(dict.fromkeys(seeds))
        self.events_, self.parent_ = [], None
        self.population_.clear(self.rng_.getrandbits(64))
        for number, seed in enumerate(seeds[: self.population]):
            net = Net.born(len(topic_terms), min(self.hidden, len(topic_terms)), self.rng_)
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
        enough = self._feed(agent, flight, similarity, page.url)
        if self.death and agent.energy < 0:
            self.population_.remove(agent)
            self._gone(agent, "starved")
            return []
        if not self.memory:
            self._forget(agent)
        if enough and len(self.population_.agents) < self.population:
            word = new_word(counts.to_dict(), agent.keywords) if len(agent.keywords) < MOST_WORDS else None
            self.parent_ = (agent, word, page.url)
        return self._scored(agent, page, similarity)

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
        before = agent.energy
        agent.energy, enough = meal(before, similarity, self.cost, self.theta)
        agent.pages += 1
        facts = {"agent": agent.number, "similarity": similarity, "before": before, "energy": agent.energy}
        if flight is not None and flight.inputs is not None and len(flight.inputs) == len(agent.keywords):
            facts["expected"] = agent.net.learn(flight.inputs.astype(np.float64), similarity, self.rate)
        self.events_.append(Event("fed", {name: round(value, SHOWN) for name, value in facts.items()}, url))
        return enough

    def _scored(self, agent: Spider, page: Page, similarity: float) -> list[Candidate]:
        """The links of a page with the agent's scores; of several anchors to one URL the best counts."""
        outlinks = page.outlinks
        anchors = page.view(outlink_anchors)
        seen = sightings(page, agent.columns, self.analyser_)
        inputs = link_inputs(seen, len(page.links), agent.columns, self.reach)
        outputs = np.round(agent.net.outputs(inputs), DECIMALS)
        rows = best_anchors(anchors, outputs)
        net = outputs[rows]
        scores = np.round(self.alpha * net + (1 - self.alpha) * similarity, DECIMALS)
        numbers = {link.url: index for index, link in enumerate(outlinks)}
        self.population_.view = View(agent, similarity, numbers, net.tolist(), inputs[rows].astype(np.float32))
        return [page.offer(link, score) for link, score in zip(outlinks, scores.tolist(), strict=True)]

    def _forget(self, agent: Spider) -> None:
        """The old version: drop all links of earlier pages except waiting seeds."""
        links = agent.links
        for url in [url for url, row in links.rows.items() if links.score[row] < math.inf]:
            self.population_.drop(agent, url)

    def _split(self) -> None:
        """Step 7. It needs the links of the page in the frontier, so it runs at the start of the next call."""
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

    def _retired(self, agent: Spider) -> None:
        self._gone(agent, "nothing left")

    def _gone(self, agent: Spider, why: str) -> None:
        energy = round(agent.energy, SHOWN)
        self.events_.append(Event("died", {"agent": agent.number, "why": why, "energy": energy, "pages": agent.pages}))

    def agents_in(self, state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """Energy, words, links and net of the agents in a saved state."""
        return living_agents(state["pack"])

    # ---- what survives a restart

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
