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
is not told apart. Of the pages that link to one URL the first `MOST_PARENTS` speak for it. What is remembered is
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
from scenthound.text.contexts import Query, address_terms, page_counts, url_text
from scenthound.text.interest import Events, Reals, Totals
from scenthound.text.stopwords import STOP_LISTS
from scenthound.text.tokens import Analyser

PREDICATES = ("similarity", "words")
MOST_PARENTS = 8
FAMILIES = ("words", "url", "links", "siblings")
ONE = ["yes"]  # the only event of a family that has but one

Numbers = npt.NDArray[np.int32]


class _Parent:
    """A fetched page that waiting links were found on."""

    __slots__ = ("children", "goal_children", "is_goal", "words")

    def __init__(self, words: Numbers, is_goal: bool, goal_children: int = 0) -> None:
        self.words, self.is_goal, self.goal_children = words, is_goal, goal_children
        self.children = 0
        """How many waiting links name it."""


class _Waiting:
    """A link that was offered and not heard of since."""

    __slots__ = ("from_goal", "parents", "tokens", "url")

    def __init__(self, url: Url, tokens: Sequence[int], parents: Sequence[int] = (), from_goal: bool = False) -> None:
        self.url, self.tokens, self.parents, self.from_goal = url, tuple(tokens), list(parents), from_goal


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
        self.parents_: dict[int, _Parent] = {}
        self.waiting_: dict[int, _Waiting] = {}
        self.numbers_: dict[Url, int] = {}
        """Of the waiting links, by URL."""
        self.next_ = 0
        self.goals_: set[Url] = set()
        self.done_: set[Url] = set()
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        is_goal = self.is_satisfied(page)
        self._count(page, is_goal)
        number, parent = self.totals_.pages, self._parent(page, is_goal)
        offers = self._offers(page, number, parent)
        if parent.children:
            self.parents_[number] = parent
        while len(self.waiting_) > self.memory:
            self._forget(next(iter(self.waiting_)))
        seen = self.totals_.pages
        if seen == self.breadth or (seen > self.breadth and seen % self.every == 0):
            offers += self._ranked_anew()
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self._arrived(miss.candidate, miss.candidate.url)
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
        known = self._arrived(page.candidate, page.url)
        events, pages, goals = self.events_, self.totals_.pages, self.totals_.goals
        self.totals_ = Totals(pages + 1, goals + is_goal)
        if known is None:
            tokens = events["url"].numbered(dict.fromkeys(self.analyser_.terms(url_text(page.url))))
            events["url"].count(tokens, is_goal)
        else:
            parents = [self.parents_[number] for number in known.parents]
            events["url"].count(list(known.tokens), is_goal)
            events["words"].count(_union([parent.words for parent in parents]), is_goal)
            if known.from_goal:
                events["links"].count([0], is_goal)
            if any(parent.goal_children for parent in parents):
                events["siblings"].count([0], is_goal)
            for parent in parents:
                parent.goal_children += is_goal
            self._release(known)
        if is_goal:
            self.goals_.add(page.url)

    def _parent(self, page: Page, is_goal: bool) -> _Parent:
        words = self.events_["words"].numbered(page_counts(page, self.analyser_))
        goal_children = sum(link.url in self.goals_ for link in page.outlinks)
        return _Parent(np.array(words, dtype=np.int32), is_goal, goal_children)

    def _arrived(self, candidate: Candidate, url: Url) -> _Waiting | None:
        """What is known of a URL that waits no longer. A redirect's target takes the place of what was asked for."""
        asked: Any = candidate.carry.get("link")
        number = asked if isinstance(asked, int) and asked in self.waiting_ else self.numbers_.get(candidate.url)
        known = None if number is None else self.waiting_.pop(number)
        if known is not None:
            del self.numbers_[known.url]
            self.done_.add(known.url)
        if (other := self.numbers_.get(url)) is not None:
            self._forget(other)
        self.done_.add(url)
        return known

    def _forget(self, number: int) -> None:
        known = self.waiting_.pop(number)
        del self.numbers_[known.url]
        self._release(known)

    def _release(self, known: _Waiting) -> None:
        for number in known.parents:
            parent = self.parents_[number]
            parent.children -= 1
            if not parent.children:
                del self.parents_[number]

    # ---- ranking

    def _offers(self, page: Page, number: int, parent: _Parent) -> list[Candidate]:
        """The page's links, each worth what this page alone says for it."""
        outlinks, addresses = page.outlinks, address_terms(page, self.analyser_)
        tokens = [self.events_["url"].numbered(dict.fromkeys(address)) for address in addresses]
        is_ranked = self.totals_.pages >= self.breadth
        if is_ranked:
            words = float(self._word_logs(parent.words).sum())
            url = self._url_logs(tokens)
            from_goal, sibling = self._single_logs()
            others = (from_goal if parent.is_goal else 0.0, sibling if parent.goal_children else 0.0)
        offers = []
        for place, link in enumerate(outlinks):
            if link.url in self.done_:
                continue
            carry = {"link": self._meet(link.url, tokens[place], number, parent)}
            if is_ranked:
                parts = self._parts(words, url[place], *others)
                offers.append(page.offer(link, sum(parts.values()), carry, parts))
            else:
                offers.append(page.offer(link, 0.0, carry))
        return offers

    def _meet(self, url: Url, tokens: Sequence[int], number: int, parent: _Parent) -> int:
        """The number of a waiting link, which this page leads to as well."""
        known = self.numbers_.get(url)
        if known is None:
            known = self.numbers_[url] = self.next_
            self.next_ += 1
            self.waiting_[known] = _Waiting(url, tokens)
        entry = self.waiting_[known]
        entry.from_goal = entry.from_goal or parent.is_goal
        if len(entry.parents) < MOST_PARENTS:
            entry.parents.append(number)
            parent.children += 1
        return known

    def _ranked_anew(self) -> list[Candidate]:
        """Every waiting link under its priority of now. Links of the same parents share what their words say."""
        waiting = list(self.waiting_.values())
        logs = np.maximum(self.events_["words"].logs(self.totals_, self.errors), 0.0)
        telling = {number: one.words[logs[one.words] > 0.0] for number, one in self.parents_.items()}
        said: dict[tuple[int, ...], float] = {}
        url = self._url_logs([one.tokens for one in waiting])
        from_goal, sibling = self._single_logs()
        is_related = {number for number, one in self.parents_.items() if one.goal_children}
        offers = []
        for place, one in enumerate(waiting):
            key = tuple(one.parents)
            words = said.get(key)
            if words is None:
                words = said[key] = float(logs[_union([telling[number] for number in key])].sum())
            beside = sibling if not is_related.isdisjoint(key) else 0.0
            parts = self._parts(words, url[place], from_goal if one.from_goal else 0.0, beside)
            offers.append(Candidate(one.url, sum(parts.values()), parts=parts, rescored=True))
        return offers

    def _parts(self, words: float, url: float, links: float, siblings: float) -> dict[str, float]:
        return {
            "words": self.words * words,
            "url": self.url * url,
            "links": self.links * links,
            "siblings": self.siblings * siblings,
        }

    def _word_logs(self, words: Numbers) -> Reals:
        found = self.events_["words"].logs(self.totals_, self.errors, words.astype(np.int64))
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
        parents, waiting = self.parents_, self.waiting_
        return {
            "totals": list(self.totals_),
            "events": {name: events.save() for name, events in self.events_.items()},
            "parents": [[number, one.is_goal, one.goal_children, len(one.words)] for number, one in parents.items()],
            "parent words": np.concatenate([np.zeros(0, np.int32), *(one.words for one in parents.values())]),
            "waiting": [
                [number, one.url, list(one.tokens), list(one.parents), one.from_goal] for number, one in waiting.items()
            ],
            "next": self.next_,
            "goals": sorted(self.goals_),
            "done": sorted(self.done_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.totals_ = Totals(*state["totals"])
        self.events_ = {name: Events.load(state["events"][name]) for name in FAMILIES}
        self.parents_, self.waiting_, begin = {}, {}, 0
        for number, is_goal, goal_children, size in state["parents"]:
            words = state["parent words"][begin : begin + size]
            self.parents_[number], begin = _Parent(words, is_goal, goal_children), begin + size
        for number, url, tokens, parents, from_goal in state["waiting"]:
            self.waiting_[number] = _Waiting(Url(url), tokens, parents, from_goal)
            for parent in parents:
                self.parents_[parent].children += 1
        self.numbers_ = {one.url: number for number, one in self.waiting_.items()}
        self.next_ = state["next"]
        self.goals_, self.done_ = set(map(Url, state["goals"])), set(map(Url, state["done"]))


def _union(words: Sequence[Numbers]) -> npt.NDArray[np.int64]:
    """The numbers that are in any of the sets."""
    if len(words) == 1:
        return words[0].astype(np.int64)
    return np.unique(np.concatenate([np.zeros(0, np.int32), *words])).astype(np.int64)
