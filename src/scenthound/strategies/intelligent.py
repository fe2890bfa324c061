"""Intelligent crawling: learn on the way which observable events announce a page that is wanted (sheet 30.6).

Aggarwal, Al-Garawi and Yu 2001. Nothing is assumed about how wanted pages link to one another. Of every event that
shows before a page is fetched it is counted how many pages had it, and how many of those satisfied the predicate. Four
families: the words of the pages that link to it, the words of its URL, a link from a satisfying page, a satisfying
sibling (a page that one of its parents links to as well). A waiting link is worth the sum over the families of weight
times the logarithm of the product of the interest ratios P(C|E)/P(C) of its events, where only ratios at least `errors`
standard errors from the base rate count, of words only those above 1, and none is taken for less than 0.01.

The predicate is `similarity` (the cosine of the topic's keywords with the page is at least `threshold`) or `words` (the
page holds all keywords).

Ours, as the sheet decides: breadth-first until `breadth` pages are seen, then all priorities are computed anew, and
again every `every` pages; in between a link is worth what the page says on which it was found, and the larger value
holds (rule 5). Links from satisfying pages and satisfying siblings are events that happen or not; how many there are
is not told apart. Of the pages that link to one URL the first `MOST_SIGHTINGS` speak for it. What is remembered is
bounded: beyond `memory` waiting links the oldest keep the score they have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Page, Topic, Url
from scenthound.strategies import strategy
from scenthound.strategies.sightings import LINK, Sightings
from scenthound.text.contexts import Query, address_terms, page_counts, url_text, whole_counts
from scenthound.text.interest import Events, Reals, Totals
from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import Analyser

PREDICATES = ("similarity", "words")
FAMILIES = ("words", "url", "links", "siblings")
MOST_WORDS = 20_000  # of a page: no honest one has more
ONE = ["yes"]  # the only event of a family that has but one

Numbers = npt.NDArray[np.int32]


class _Parent:
    """A fetched page that waiting links were found on."""

    __slots__ = ("goal_children", "is_goal", "words")

    def __init__(self, words: Numbers, is_goal: bool, goal_children: int = 0) -> None:
        self.words, self.is_goal, self.goal_children = words, is_goal, goal_children


@strategy("intelligent")
@dataclass
class Intelligent:
    """Links that share what announced wanted pages so far: words of parents, URL words, good parents and siblings."""

    predicate: Literal["similarity", "words"] = field(
        default="similarity",
        metadata={"doc": "what is wanted: similarity (to the topic, from `threshold`) or words (all keywords)"},
    )
    threshold: float = field(default=0.1, metadata={"doc": "similarity from which a page satisfies the predicate"})
    breadth: int = field(default=50, metadata={"doc": "pages that are crawled breadth-first before anything is ranked"})
    every: int = field(default=100, metadata={"doc": "pages after which all priorities are computed anew"})
    errors: float = field(default=2.0, metadata={"doc": "standard errors from which an event counts"})
    words: float = field(default=1.0, metadata={"doc": "weight of the words of the pages that link to it"})
    url: float = field(default=1.0, metadata={"doc": "weight of the words of its URL"})
    links: float = field(default=1.0, metadata={"doc": "weight of a link from a satisfying page"})
    siblings: float = field(default=1.0, metadata={"doc": "weight of a satisfying sibling"})
    memory: int = field(default=200_000, metadata={"doc": "waiting links whose events are remembered"})
    stop_words: str = field(default="english", metadata={"doc": "stop list: english, dialog, small or none"})
    stem: bool = field(default=True, metadata={"doc": "take Porter stems of words"})

    def __post_init__(self) -> None:
        for name, known in (("predicate", PREDICATES), ("stop_words", tuple(STOP_LISTS))):
            value = getattr(self, name)
            if value not in known:
                raise BadConfig(f"intelligent: `{name}` can't be {value!r}", "one of: " + ", ".join(known))
        for name, least in (("breadth", 0), ("every", 1), ("memory", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadConfig(f"intelligent: `{name}` can't be {value!r}", f"give a whole number, {least} or more")
        for name in ("threshold", "errors", *FAMILIES):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 <= value < math.inf:
                raise BadConfig(f"intelligent: `{name}` can't be {value!r}", "give a number, 0 or more")
        if type(self.stem) is not bool:
            raise BadConfig(f"intelligent: `stem` can't be {self.stem!r}", "say true or false")

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.query_ = Query(topic.keywords, self.analyser_)
        self.totals_ = Totals()
        self.events_ = {name: Events() for name in FAMILIES}
        for name in FAMILIES[2:]:
            self.events_[name].numbered(ONE)
        self.waiting_: Sightings[_Parent] = Sightings(self.memory)
        """More of each link: the words of its URL, as events, and whether a satisfying page leads to it."""
        self.goals_: set[Url] = set()
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        is_goal = self.is_satisfied(page)
        self._count(page, is_goal)
        number, parent = self.totals_.pages, self._parent(page, is_goal)
        offers = self._offers(page, number, parent)
        self.waiting_.keep(number, parent)
        seen = self.totals_.pages
        if seen == self.breadth or (seen > self.breadth and seen % self.every == 0):
            offers += self._ranked_anew()
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        known = self.waiting_.arrived(miss.candidate, miss.candidate.url)
        if known is not None:
            self.waiting_.release(known)
        return ()

    def is_satisfied(self, page: Page) -> bool:
        """The predicate."""
        counts = page_counts(page, self.analyser_)
        if self.predicate == "words":
            return bool(self.query_.counts) and all(word in counts for word in self.query_.counts)
        return self.query_.similarity(counts) >= self.threshold

    # ---- counting

    def _count(self, page: Page, is_goal: bool) -> None:
        """The page has come: of all events that it showed before, one more page, and perhaps one more goal."""
        known = self.waiting_.arrived(page.candidate, page.url)
        events, pages, goals = self.events_, self.totals_.pages, self.totals_.goals
        self.totals_ = Totals(pages + 1, goals + is_goal)
        if known is None:
            tokens = events["url"].numbered(dict.fromkeys(self.analyser_.terms(url_text(page.url))))
            events["url"].count(tokens, is_goal)
        else:
            tokens, from_goal = known.more
            parents = [self.waiting_.pages[number] for (number,) in known.seen]
            events["url"].count(list(tokens), is_goal)
            scratch = np.empty(len(events["words"].pages), dtype=np.int64)
            events["words"].count(distinct([parent.words for parent in parents], scratch), is_goal)
            if from_goal:
                events["links"].count([0], is_goal)
            if any(parent.goal_children for parent in parents):
                events["siblings"].count([0], is_goal)
            for parent in parents:
                parent.goal_children += is_goal
            self.waiting_.release(known)
        if is_goal:
            self.goals_.add(page.url)

    def _parent(self, page: Page, is_goal: bool) -> _Parent:
        words = self.events_["words"].numbered(list(whole_counts(page, self.analyser_))[:MOST_WORDS])
        goal_children = sum(link.url in self.goals_ for link in page.outlinks)
        return _Parent(np.array(words, dtype=np.int32), is_goal, goal_children)

    # ---- ranking

    def _offers(self, page: Page, number: int, parent: _Parent) -> list[Candidate]:
        """The page's links, each worth what this page alone says for it."""
        addresses, waiting = address_terms(page, self.analyser_), self.waiting_
        met = zip(page.outlinks, addresses, strict=True)
        links = [(link, terms) for link, terms in met if link.url not in waiting.done]
        numbers = [self._meet(link.url, terms, number, parent.is_goal) for link, terms in links]
        if self.totals_.pages < self.breadth:
            none = {"words": 0.0, "url": 0.0, "links": 0.0, "siblings": 0.0}  # nothing is known yet: breadth-first
            return [page.offer(link, 0.0, {LINK: one}, none) for (link, _), one in zip(links, numbers, strict=True)]
        words = self.words * float(self._word_logs(parent.words).sum())
        url = self._url_logs([waiting.links[one].more[0] for one in numbers])
        from_goal, sibling = self._single_logs()
        by_goal = self.links * from_goal if parent.is_goal else 0.0
        beside = self.siblings * sibling if parent.goal_children else 0.0
        offers = []
        for (link, _), one, said in zip(links, numbers, url, strict=True):
            parts = {"words": words, "url": self.url * said, "links": by_goal, "siblings": beside}
            offers.append(page.offer(link, sum(parts.values()), {LINK: one}, parts))
        return offers

    def _meet(self, url: Url, terms: Sequence[str], parent: int, is_goal: bool) -> int:
        """The number of a waiting link, which this page leads to as well."""
        known = self.waiting_.known(url)
        if known is None:
            known = self.waiting_.number(url, (self.events_["url"].numbered(dict.fromkeys(terms)), is_goal))
        elif is_goal and not self.waiting_.links[known].more[1]:
            self.waiting_.links[known].more = (self.waiting_.links[known].more[0], True)
        self.waiting_.see(known, (parent,))
        return known

    def _ranked_anew(self) -> list[Candidate]:
        """Every waiting link under its priority of now. Links of the same parents share what their words say."""
        waiting, parents = list(self.waiting_.links.values()), self.waiting_.pages
        logs = np.maximum(self.events_["words"].logs(self.totals_, self.errors), 0.0)
        telling = {number: one.words[logs[one.words] > 0.0] for number, one in parents.items()}
        said: dict[tuple[tuple[int, ...], ...], float] = {}
        scratch = np.empty(len(logs), dtype=np.int64)
        url = self._url_logs([one.more[0] for one in waiting])
        from_goal, sibling = self._single_logs()
        is_related = {(number,) for number, one in parents.items() if one.goal_children}
        offers = []
        by_goal, beside = self.links * from_goal, self.siblings * sibling
        for one, address in zip(waiting, url, strict=True):
            key = tuple(one.seen)
            words = said.get(key)
            if words is None:
                words = said[key] = float(logs[distinct([telling[number] for (number,) in key], scratch)].sum())
            parts = {
                "words": self.words * words,
                "url": self.url * address,
                "links": by_goal if one.more[1] else 0.0,
                "siblings": 0.0 if is_related.isdisjoint(key) else beside,
            }
            offers.append(Candidate(one.url, sum(parts.values()), parts=parts, rescored=True))
        return offers

    def _word_logs(self, words: Numbers) -> Reals:
        found = self.events_["words"].logs(self.totals_, self.errors, words)
        return np.maximum(found, 0.0)

    def _single_logs(self) -> list[float]:
        return [float(self.events_[name].logs(self.totals_, self.errors, [0])[0]) for name in FAMILIES[2:]]

    def _url_logs(self, tokens: Sequence[Sequence[int]]) -> list[float]:
        """The sum of the logarithms for each row of event numbers."""
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
        owners = np.repeat(np.arange(len(tokens)), [len(one) for one in tokens])
        logs = self.events_["url"].logs(self.totals_, self.errors, flat)
        sums: list[float] = np.bincount(owners, logs, len(tokens)).tolist()
        return sums

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        parents = self.waiting_.pages
        return {
            "totals": list(self.totals_),
            "events": {name: events.save() for name, events in self.events_.items()},
            "parents": [[number, one.is_goal, one.goal_children, len(one.words)] for number, one in parents.items()],
            "parent words": np.concatenate([np.zeros(0, np.int32), *(one.words for one in parents.values())]),
            "waiting": self.waiting_.save(),
            "goals": sorted(self.goals_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.totals_ = Totals(*state["totals"])
        self.events_ = {name: Events.load(state["events"][name]) for name in FAMILIES}
        parents, begin = {}, 0
        for number, is_goal, goal_children, size in state["parents"]:
            words = state["parent words"][begin : begin + size]
            parents[number], begin = _Parent(words, is_goal, goal_children), begin + size
        self.waiting_ = Sightings(self.memory)
        self.waiting_.load(state["waiting"], parents)
        self.goals_ = set(map(Url, state["goals"]))


def distinct(numbers: Sequence[Numbers], scratch: npt.NDArray[np.int64]) -> Numbers:
    """The numbers that are in any of the sets. Without sorting, for it is asked very often: `scratch`, which has a
    place for each number, remembers where each was met last."""
    if len(numbers) == 1:
        return numbers[0]
    every = np.concatenate([np.zeros(0, np.int32), *numbers])
    places = np.arange(len(every))
    scratch[every] = places
    return np.asarray(every[scratch[every] == places])
