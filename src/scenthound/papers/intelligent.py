"""Intelligent crawling: learn during the crawl which events predict that a page satisfies a predicate (sheet 30.6).

    score(link) = Σ over the four families f of  w_f · Σ ln max(I(E), 0.01)  over the significant events E of f
    I(E)        = P(C | E) / P(C)                                       the interest ratio
    significant = |P(C | E) - p| ≥ errors · √(p(1 - p) / pages with E)    p = P(C); for words also I(E) > 1

Aggarwal, Al-Garawi and Yu 2001. Nothing is assumed about how satisfying pages link to one another. C means that the
page satisfies the predicate. An event E is something known before a page is fetched; each has two counts: the pages
that had it, and how many of these satisfied the predicate. There are four families: the words of the pages that link to
the page, the words of its URL, a link from a satisfying page, a satisfying sibling (a page that one of its parents
links to as well).

The predicate is `similarity` (the cosine of the topic's keywords with the page is at least `threshold`), `words` (the
page has all keywords) or `judge` (the judge of the crawl calls the page relevant).

Ours, as the sheet decides: breadth-first until `breadth` pages are seen, then the whole frontier is re-scored, and
again every `every` pages; a link found in between is scored by the page it was found on, and the larger score is kept
(rule 5). A link from a satisfying page and a satisfying sibling are events that happen or not; how often does not
matter. If many pages link to one URL, the first `MOST_SIGHTINGS` count. Memory is bounded: beyond `memory` waiting
links, the oldest keep their score.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.elements import url_text
from scenthound.papers.parts.interest import EventCounts, FloatArray, Totals, log_ratios, sums_over_unions
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.sightings import WaitingLink, WaitingLinks, new_scores
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Ids

FAMILIES = ("words", "url", "links", "siblings")
MOST_WORDS = 20_000  # per page; no genuine page has more different words
ONE = ["yes"]  # the only event of the families `links` and `siblings`

Seen = tuple[tuple[int, ...], ...]


class _Parent:
    """A fetched page that waiting links were found on."""

    __slots__ = ("goal_children", "is_goal", "words")

    def __init__(self, words: Ids, is_goal: bool, goal_children: int = 0) -> None:
        self.words, self.is_goal, self.goal_children = words, is_goal, goal_children


@strategy("intelligent")
@dataclass
class Intelligent(Parameterised):
    """Prefers links that share features with relevant pages: words of parents and URL, relevant parents, siblings."""

    predicate: Literal["similarity", "words", "judge"] = parameter(
        "similarity", "similarity of at least `threshold`, all keywords (words), or the verdict of the crawl's judge"
    )
    threshold: float = parameter(0.1, "minimum similarity of a page that satisfies the predicate", least=0)
    breadth: int = parameter(50, "pages crawled breadth-first before links are ranked", least=0)
    every: int = parameter(100, "interval, in pages, between computations of all scores", least=1)
    errors: float = parameter(2.0, "minimum distance, in standard errors, of an event from the base rate", least=0)
    words: float = parameter(1.0, "weight of the words of the pages that link to the URL", least=0)
    url: float = parameter(1.0, "weight of the words of the URL", least=0)
    links: float = parameter(1.0, "weight of a link from a satisfying page", least=0)
    siblings: float = parameter(1.0, "weight of a satisfying sibling", least=0)
    memory: int = parameter(200_000, "waiting links whose events are remembered", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts((Analyser(self.stop_words, self.stem),)))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.query_ = Query(topic.keywords, self.analyser_)
        self.totals_ = Totals()
        self.events_ = {name: EventCounts() for name in FAMILIES}
        for name in FAMILIES[2:]:
            self.events_[name].ids(ONE)
        self.waiting_: WaitingLinks[_Parent] = WaitingLinks(self.memory)
        """`more` of each link: the words of its URL, as event ids, and whether a satisfying page links to it. The ids
        are stored as bytes, so that those of many links can be joined in one call."""
        self.goals_: set[Url] = set()
        self.verdict_ = False
        """The judge's verdict on the page that is read next."""
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        self.verdict_ = relevant

    def read(self, page: Page) -> Iterable[Candidate]:
        is_goal = self.is_satisfied(page)
        self._count(page, is_goal)
        number, parent = self.totals_.pages, self._parent(page, is_goal)
        offers = self._offers(page, number, parent)
        self.waiting_.keep(number, parent)
        seen = self.totals_.pages
        if seen == self.breadth or (seen > self.breadth and seen % self.every == 0):
            offers += self._rescore_waiting()
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.waiting_.forget(miss.candidate)
        return ()

    def is_satisfied(self, page: Page) -> bool:
        """Whether a page satisfies the predicate."""
        if self.predicate == "judge":
            return self.verdict_
        if self.predicate == "words":
            counts = page.record.counts(self.analyser_)
            return bool(self.query_.counts) and all(word in counts for word in self.query_.counts)
        return page.view(page_similarity, self.query_) >= self.threshold

    # ---- counting

    def _count(self, page: Page, is_goal: bool) -> None:
        """Count a fetched page for all events known before it was fetched."""
        link = self.waiting_.arrived(page.candidate, page.url)
        events, pages, goals = self.events_, self.totals_.pages, self.totals_.goals
        self.totals_ = Totals(pages + 1, goals + is_goal)
        if link is None:
            events["url"].count(self._url_events([page.url])[0], is_goal)
        else:
            tokens, from_goal = link.more
            parents = [self.waiting_.pages[number] for (number,) in link.seen]
            events["url"].count(np.frombuffer(tokens, np.intc), is_goal)
            events["words"].count_union([parent.words for parent in parents], is_goal)
            if from_goal:
                events["links"].count([0], is_goal)
            if any(parent.goal_children for parent in parents):
                events["siblings"].count([0], is_goal)
            for parent in parents:
                parent.goal_children += is_goal
            self.waiting_.release(link)
        if is_goal:
            self.goals_.add(page.url)

    def _parent(self, page: Page, is_goal: bool) -> _Parent:
        words = self.events_["words"].ids(page.record.counts(self.analyser_).names[:MOST_WORDS])
        goal_children = sum(link.url in self.goals_ for link in page.outlinks) if self.goals_ else 0
        return _Parent(words, is_goal, goal_children)

    def _url_events(self, urls: Sequence[Url]) -> list[list[int]]:
        """The distinct words of each URL, as event ids."""
        terms = self.analyser_.terms
        return self.events_["url"].ids_of_each([dict.fromkeys(terms(url_text(url))) for url in urls])

    # ---- ranking

    def _offers(self, page: Page, number: int, parent: _Parent) -> list[Candidate]:
        """The page's links, scored by this page alone."""
        done, offer = self.waiting_.done, page.offer
        links = [link for link in page.outlinks if link.url not in done]
        waiting = self.waiting_.add_page(number, [(link.url, ()) for link in links], self._events_of)
        if parent.is_goal:
            for waiting_link in waiting:
                if not waiting_link.more[1]:
                    waiting_link.more = (waiting_link.more[0], True)
        if self.totals_.pages < self.breadth:
            no_parts = {"words": 0.0, "url": 0.0, "links": 0.0, "siblings": 0.0}
            return [
                offer(link, 0.0, waiting_link.carry, no_parts)
                for link, waiting_link in zip(links, waiting, strict=True)
            ]
        words = self.words * float(
            self.events_["words"].positive_log_ratios(self.totals_, self.errors, parent.words).sum()
        )
        url = self.url * self._url_logs(waiting)
        from_goal, sibling = self._single_logs() if parent.is_goal or parent.goal_children else (0.0, 0.0)
        link_part = self.links * from_goal if parent.is_goal else 0.0
        sibling_part = self.siblings * sibling if parent.goal_children else 0.0
        scores = words + url + link_part + sibling_part
        parts: dict[float, Mapping[str, float]] = {}
        offers = []
        for link, waiting_link, url_score, score in zip(links, waiting, url.tolist(), scores.tolist(), strict=True):
            shared_parts = parts.get(url_score)
            if shared_parts is None:
                shared_parts = parts[url_score] = {
                    "words": words,
                    "url": url_score,
                    "links": link_part,
                    "siblings": sibling_part,
                }
            offers.append(offer(link, score, waiting_link.carry, shared_parts))
        return offers

    def _events_of(self, urls: Sequence[Url]) -> list[tuple[bytes, bool]]:
        """The value of `more` for links that are seen for the first time."""
        return [(array("i", events).tobytes(), False) for events in self._url_events(urls)]

    def _rescore_waiting(self) -> list[Candidate]:
        """Re-score all waiting links. Links with the same parents share the sums over words."""
        waiting, parents = list(self.waiting_.links.values()), self.waiting_.pages
        groups: dict[Seen, int] = {}
        owners = np.array(
            [groups.setdefault(tuple(waiting_link.seen), len(groups)) for waiting_link in waiting], dtype=np.int64
        )
        from_goal, sibling = self._single_logs()
        goal_parents = {(number,) for number, parent in parents.items() if parent.goal_children}
        has_sibling = np.array([not goal_parents.isdisjoint(seen) for seen in groups], dtype=np.bool_)
        families = (
            self.words * self._word_logs(list(groups))[owners],
            self.url * self._url_logs(waiting),
            np.where([waiting_link.more[1] for waiting_link in waiting], self.links * from_goal, 0.0),
            np.where(has_sibling[owners], self.siblings * sibling, 0.0),
        )
        words, url, links, siblings = families
        scores = words + url + links + siblings
        rows = zip(*(family.tolist() for family in families), strict=True)
        parts = [{"words": row[0], "url": row[1], "links": row[2], "siblings": row[3]} for row in rows]
        return new_scores([waiting_link.url for waiting_link in waiting], scores.tolist(), parts)

    def _word_logs(self, groups: Sequence[Seen]) -> FloatArray:
        """For each group of parents, the sum of ln I over the words on any of them."""
        words: dict[tuple[int, ...], Ids] = {(number,): parent.words for number, parent in self.waiting_.pages.items()}
        return sums_over_unions(words, groups, self.events_["words"].positive_log_ratios(self.totals_, self.errors))

    def _single_logs(self) -> list[float]:
        """ln I of a link from a satisfying page, and of a satisfying sibling."""
        families = [self.events_[name] for name in FAMILIES[2:]]
        goals = np.array([family.goals[0] for family in families])
        pages = np.array([family.pages[0] for family in families])
        values: list[float] = log_ratios(goals, pages, self.totals_, self.errors).tolist()
        return values

    def _url_logs(self, links: Sequence[WaitingLink]) -> FloatArray:
        """For each link, the sum of ln I over the words of its URL."""
        return self.events_["url"].summed_log_ratios([link.more[0] for link in links], self.totals_, self.errors)

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        parents, waiting = self.waiting_.pages, self.waiting_.save()
        for link in waiting["links"]:
            link[2] = [np.frombuffer(link[2][0], np.intc).tolist(), link[2][1]]
        return {
            "totals": list(self.totals_),
            "events": {name: events.save() for name, events in self.events_.items()},
            "parents": [
                [number, parent.is_goal, parent.goal_children, len(parent.words)] for number, parent in parents.items()
            ],
            "parent words": np.concatenate([np.zeros(0, np.int32), *(parent.words for parent in parents.values())]),
            "waiting": waiting,
            "goals": sorted(self.goals_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.totals_ = Totals(*state["totals"])
        self.events_ = {name: EventCounts.load(state["events"][name]) for name in FAMILIES}
        parents, offset = {}, 0
        for number, is_goal, goal_children, size in state["parents"]:
            words = state["parent words"][offset : offset + size]
            parents[number], offset = _Parent(words, is_goal, goal_children), offset + size
        self.waiting_ = WaitingLinks(self.memory)
        self.waiting_.load(state["waiting"], parents)
        for link in self.waiting_.links.values():
            link.more = (array("i", link.more[0]).tobytes(), link.more[1])
        self.goals_ = set(map(Url, state["goals"]))
