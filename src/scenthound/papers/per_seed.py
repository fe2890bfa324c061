"""One frontier per seed, around another strategy that scores the links (MySpiders).

    next = the best link of frontier k     k = 1, 2, …, K, 1, …      one frontier after the other

A link goes into the frontier of the page that it was found on; seeds are assigned to frontiers in turn. So a seed with
many good links can't keep the crawl away from the other seeds, as it can with a single frontier. `inner` scores the
links and learns from all pages.

Pant and Menczer, "MySpiders: Evolve Your Own Intelligent Web Crawlers" (2002), give each thread of best-first its own
frontier, and all threads the same history of visited pages.

Ours: a link that waits in one frontier and is found by another stays where it is, with the better score. When all
frontiers together are full, the longest drops its worst link. A frontier without links, or whose hosts are all resting,
is skipped. Links are taken one at a time, whatever the `n` of best-N-first. A strategy that has its own frontier, or
has to be trained first, can't be `inner`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenthound.errors import BadConfig
from scenthound.model import NOTHING, Candidate, Event, LookingFor, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.parts.seed_frontiers import THREAD, SeedFrontiers
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import (
    Declaration,
    EmitsEvents,
    Explains,
    Frontier,
    NeedsRandom,
    OwnFrontier,
    Saves,
    Strategy,
    TakesLabels,
    TakesLookingFor,
    declaration_of,
)
from scenthound.strategies import STRATEGIES, strategy

MOST_THREADS = 256
AGENT = "agent"


@strategy("per-seed")
@dataclass
class PerSeed(Parameterised):
    """One frontier per seed, served in turn; another strategy scores the links."""

    inner: str = parameter(
        "best-first",
        "the strategy that scores links, such as `hound` or `best-first:n=1`; one without a frontier of its own",
    )
    threads: int = parameter(
        0, "number of frontiers; seeds are assigned in turn; 0: one per seed", least=0, most=MOST_THREADS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inner_ = inner_strategy(self.inner)
        self.frontiers_ = SeedFrontiers()

    @property
    def declaration(self) -> Declaration:
        declared = declaration_of(self.inner_)
        parts = {**declared.score_parts, AGENT: "number of the frontier that the link waited in"}
        score_parts = parts if declared.score_parts else NOTHING
        return Declaration(
            eviction=declared.eviction,
            parts=declared.parts,
            topic_examples=declared.topic_examples,
            score_parts=score_parts,
        )

    def use_random(self, rng: random.Random) -> None:
        if isinstance(self.inner_, NeedsRandom):
            self.inner_.use_random(rng)

    def frontier(self, bound: int | None) -> Frontier:
        self.frontiers_ = SeedFrontiers(bound)
        return self.frontiers_

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.frontiers_.clear(min(self.threads or max(len(set(seeds)), 1), MOST_THREADS))
        offers = self.inner_.start(topic, seeds)
        return [self._assign(offer, index % self.frontiers_.threads) for index, offer in enumerate(offers)]

    def read(self, page: Page) -> Iterable[Candidate]:
        thread = self.frontiers_.landed(page.candidate)
        return self._assign_all(self.inner_.read(page), thread)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        thread = self.frontiers_.landed(miss.candidate)
        return self._assign_all(self.inner_.miss(miss), thread)

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        if not isinstance(self.inner_, TakesLabels):
            return ()
        offers = self.inner_.take_label(url, on_topic)
        return [self._assign(offer, self.frontiers_.thread_of(offer)) for offer in offers]

    def take_looking_for(self, looking_for: LookingFor) -> Iterable[Candidate]:
        if not isinstance(self.inner_, TakesLookingFor):
            return ()
        offers = self.inner_.take_looking_for(looking_for)
        return [self._assign(offer, self.frontiers_.thread_of(offer)) for offer in offers]

    def _assign_all(self, offers: Iterable[Candidate], thread: int) -> Iterator[Candidate]:
        """Assign candidates to the frontier of `thread`, unless they already wait in another."""
        for offer in offers:
            yield self._assign(offer, self.frontiers_.thread_of(offer) if offer.url in self.frontiers_ else thread)

    @staticmethod
    def _assign(offer: Candidate, thread: int) -> Candidate:
        parts = {**offer.parts, AGENT: float(thread)}
        return offer._replace(carry={**offer.carry, THREAD: thread}, parts=parts)

    # ---- events and explanations

    def take_events(self) -> Iterable[Event]:
        return self.inner_.take_events() if isinstance(self.inner_, EmitsEvents) else ()

    def reasons(self, parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str) -> list[tuple[str, float]]:
        if isinstance(self.inner_, Explains):
            return self.inner_.reasons(parts, carry, anchor)
        descriptions = declaration_of(self.inner_).score_parts
        return [(descriptions.get(name, name), value) for name, value in parts.items() if name != AGENT]

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        inner = self.inner_.save() if isinstance(self.inner_, Saves) else {}
        return {"inner": inner, "frontiers": self.frontiers_.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        if isinstance(self.inner_, Saves):
            self.inner_.load(state["inner"])
        self.frontiers_.load(state["frontiers"])


def inner_strategy(text: str) -> Strategy:
    """Create a strategy from its name and parameters, such as `best-first:n=1`.

    Raises `BadConfig` if it can't be wrapped.
    """
    name, _, rest = text.strip().partition(":")
    values: dict[str, Any] = {}
    for pair in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadConfig(f"`{pair}` in `inner = {text}` is not a parameter", "write: best-first:n=1")
        values[key.strip().replace("-", "_")] = _value(value.strip())
    kind = STRATEGIES.get(name)
    try:
        inner: Strategy = kind(**values)
    except TypeError:
        raise BadConfig(
            f"{name} does not know one of: {', '.join(values)}", f"see: scenthound strategies {name}"
        ) from None
    declared = declaration_of(inner)
    if isinstance(inner, OwnFrontier) or declared.training == "required" or declared.oracle:
        why = "is an oracle" if declared.oracle else "has to be trained first"
        why = "has its own frontier" if isinstance(inner, OwnFrontier) else why
        raise BadConfig(f"{name} {why}, so per-seed can't wrap it", "use another `inner`, such as best-first or hound")
    return inner


def _value(text: str) -> Any:
    """Parse a number or a boolean; any other text is returned unchanged."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text
