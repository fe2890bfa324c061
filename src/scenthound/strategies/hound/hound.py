"""Hound: rank the whole frontier by features of all links found so far (sheet 80).

    score(v) = sum over features f of b_f * z_f(v)      z_f = (f - mean of f) / deviation of f, within -4 and 4

Mean and deviation are taken over the current frontier. The features and their weights b are in `features`,
the topic model in `topic_fit`. Only the initial weights are learned before the crawl; they were fitted once
(docs/results.md describes the data). If the topic says that sites are looked for, `site_search` decides the order
instead.

All waiting URLs are ranked again after 2 pages (6 from 60 pages on, 16 from 150, a twentieth of the pages from 320 on),
or later if the link table is large, so that the cost per page stays the same. Between rankings, new URLs wait below all
others. The link table is bounded: when it is full, the links of the least relevant pages are forgotten, and with them
the waiting URLs that no other link leads to.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from scenthound.looking_for import PAGES, SITES
from scenthound.model import NOTHING, Candidate, Event, LookingFor, Miss, Topic, Url
from scenthound.page.link_text import link_text
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.hound.features import Scoring, deviations, frontier_features
from scenthound.strategies.hound.hound_phrases import CITING, PARTS, reasons
from scenthound.strategies.hound.link_table import ASIDE, FETCHED, GONE, UNKNOWN, WAITING, LinkTable, Reals
from scenthound.strategies.hound.ranking import Ranking, exploration_rate, explore, rank_by_score
from scenthound.strategies.hound.site_search import SiteSearch
from scenthound.strategies.hound.topic_fit import LearnedTopic
from scenthound.strategies.sightings import new_scores
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Vocabulary

STEPS = ((60, 2), (150, 6), (math.inf, 16))
"""(pages, interval): below this number of fetched pages, the interval between rankings, in pages."""
GROWTH = 0.05
"""The interval between rankings is at least this share of the pages fetched."""
BEST = 150
"""How many of the best URLs get their score; all others wait below them until the next ranking."""
NOT_RANKED = -100.0
"""The score of all other URLs. Sums of weighted deviations are at most about 10."""
UNRANKED: Mapping[str, float] = MappingProxyType({"not ranked yet": NOT_RANKED})
EXPLORATION = "exploration"
"""The name of the score part, of the key in `carry` and of the events about exploration."""
PASSED_OVER = 20
"""After this many unranked URLs in a row, the best URLs must be outside the crawl's scope, or on hosts that rest for
long. More than are in flight, as some of those may have been taken before the last ranking."""


@strategy("hound")
@dataclass
class Hound(Parameterised):
    """Ranks the whole frontier by all links found so far: words, yields, co-citation. Looks for pages or sites."""

    score_parts: ClassVar[Mapping[str, str]] = {name: part.meaning for name, part in PARTS.items()}
    relevance: Literal["own", "judge"] = parameter(
        "own", "source of a fetched page's relevance: hound's own topic model, or the judge of the crawl"
    )
    compare_after: int = parameter(
        0, "sites: after this many pages, fetch home pages and pages of sites on topic only; 0: never", least=0
    )
    memory: int = parameter(150_000, "links remembered", least=1000)
    work: int = parameter(4000, "links re-ranked per fetched page; fewer is faster", least=100)
    exploration: float = parameter(
        0.0, "highest probability of taking a page that is not the best, to learn from it", least=0, most=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analyser_ = Analyser()
        self.random_seed_ = 0
        """The random seed; draws depend only on it and on the number of pages fetched."""

    @property
    def declaration(self) -> Declaration:
        parts = Parts((self.analyser_,), leaves=True, elements=True)
        return Declaration(parts=parts, score_parts=self.score_parts)

    def use_random(self, rng: random.Random) -> None:
        self.random_seed_ = rng.getrandbits(32)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.vocabulary_ = Vocabulary()
        self.topic_ = LearnedTopic(self.vocabulary_, self.analyser_.terms(topic.keywords))
        self.table_ = LinkTable(self.memory)
        self.sites_ = SiteSearch(self.table_) if topic.looking_for == SITES else None
        self.scoring_ = Scoring()
        self.seeds_left_ = len(set(seeds))
        """Seeds without a result yet. The first ranking waits for them, as they define the topic."""
        self.labels_: dict[Url, bool] = {}
        self.verdict_ = math.nan
        """The judge's relevance of the page that is read next, with `relevance="judge"`."""
        self.best_: set[int] = set()
        """The URLs that got a score in the last ranking."""
        self.pages_since_ranking_, self.pages_, self.unranked_ = 0, 0, 0
        self.events_: list[Event] = []
        numbers = [self.table_.number_of(url) for url in seeds]
        self.table_.state.values[numbers] = WAITING
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        self.verdict_ = relevance if self.relevance == "judge" else math.nan

    def read(self, page: Page) -> Iterable[Candidate]:
        number = self._mark_fetched(page)
        if number < 0:  # the page was lost and fetched again
            return [page.offer(link, NOT_RANKED, parts=UNRANKED) for link in page.outlinks]
        targets = self._learn(page, number, self.table_.number_of(page.candidate.url))
        offers = self._new_offers(page)
        if self.sites_ is not None:
            offers += self._home_offers(page.url, page.candidate.depth, self.sites_.fetched(number, targets))
        self._record_exploration(page)
        self.pages_ += 1
        self.pages_since_ranking_ += 1
        is_due = self._count(page.candidate) or self.pages_since_ranking_ >= self._interval()
        is_due = is_due or self.pages_ == self.compare_after
        return offers + self._rank() if is_due and self.seeds_left_ <= 0 else offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        number = self.table_.number_of(miss.candidate.url)
        if self.table_.state.values[number] == FETCHED or miss.retry_after is not None:
            return ()
        self.table_.state.values[number] = GONE
        if self.sites_ is not None:
            self.sites_.missed(number)
        self.best_.discard(number)
        is_due = self._count(miss.candidate)
        return self._rank() if is_due and self.pages_ and self.seeds_left_ <= 0 else ()

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Use a labelled page as a positive or negative example, and rank all waiting URLs again."""
        self.labels_[url] = on_topic
        number = self.table_.urls.get(url)
        page = -1 if number is None else int(self.table_.page_of.values[number])
        if page < 0:
            return ()
        self.topic_.label(page, on_topic)
        return self._rank()

    def take_looking_for(self, looking_for: LookingFor) -> Iterable[Candidate]:
        """Look for pages or for sites from now on: rank all waiting URLs again, and offer home pages of named hosts."""
        if looking_for == PAGES:
            self.sites_, homes = None, list[tuple[Url, Url]]()
        else:
            self.sites_ = SiteSearch(self.table_)
            homes = self.sites_.catch_up()
        offers = [offer for page, home in homes for offer in self._home_offers(page, 0, [home])]
        return offers + self._rank() if self.pages_ and self.seeds_left_ <= 0 else offers

    def _count(self, candidate: Candidate) -> bool:
        """Count a result. Returns whether no URL of the last ranking is left, or all of them are passed over."""
        # Seeds that redirect to each other never get a result: after any other result, stop waiting for seeds.
        self.seeds_left_ = self.seeds_left_ - 1 if _is_seed(candidate) else 0
        self.unranked_ = self.unranked_ + 1 if candidate.score == NOT_RANKED else 0
        if self.unranked_ >= PASSED_OVER:
            self.table_.state.values[sorted(self.best_)] = ASIDE
            self.best_, self.unranked_ = set(), 0
        return not self.best_

    def _is_ending(self) -> bool:
        """Whether pages are fetched to compare sites, not to find more of them."""
        return 0 < self.compare_after <= self.pages_

    def _interval(self) -> int:
        """The interval between rankings, in pages."""
        step = next(pages for below, pages in STEPS if self.pages_ < below)
        return max(step, int(GROWTH * self.pages_), len(self.table_) // self.work)

    # ---- reading a page

    def _mark_fetched(self, page: Page) -> int:
        """Mark a URL as fetched and return its number; -1 if it was fetched before."""
        table = self.table_
        number, requested = table.number_of(page.url), table.number_of(page.candidate.url)
        if table.state.values[number] == FETCHED:
            return -1
        if requested != number and table.state.values[requested] != FETCHED:
            table.state.values[requested] = GONE
        table.state.values[number] = FETCHED
        self.best_ -= {number, requested}
        return number

    def _learn(self, page: Page, number: int, requested: int) -> list[int]:
        """Remember the words and links of a page, and return the numbers of the linked URLs."""
        counts, text = page.record.counts(self.analyser_), page.view(link_text, self.analyser_)
        ids = self.vocabulary_.add(counts.names)
        label = self.labels_.get(page.url, self.labels_.get(page.candidate.url))
        page_number = self.topic_.add(
            ids, counts.times, _is_seed(page.candidate), math.nan if label is None else float(label), self.verdict_
        )
        targets = self.table_.numbers_of([link.url for link in page.links])
        self.table_.page_of.values[number] = page_number
        self.scoring_.fetched(requested, page_number)
        self.table_.add_page(page_number, targets, text, np.concatenate((ids, self.vocabulary_.add(text.extra))))
        return targets

    def _new_offers(self, page: Page) -> list[Candidate]:
        table, offers = self.table_, list[Candidate]()
        state = table.state.values
        for link in page.outlinks:
            number = table.urls[link.url]
            if state[number] == UNKNOWN:
                state[number] = WAITING
                offers.append(page.offer(link, NOT_RANKED, parts=UNRANKED))
        return offers

    def _home_offers(self, page: Url, depth: int, homes: Iterable[Url]) -> list[Candidate]:
        table, offers = self.table_, list[Candidate]()
        for url in homes:
            number = table.number_of(url)
            if table.state.values[number] == UNKNOWN:
                table.state.values[number] = WAITING
                offers.append(Candidate(url, NOT_RANKED, NOTHING, UNRANKED, page, depth=depth + 1))
        return offers

    # ---- ranking

    def _rank(self) -> list[Candidate]:
        """Score the best waiting URLs, and demote those that are no longer among the best."""
        self.pages_since_ranking_ = 0
        if self.topic_.update():
            self.table_.forget_scores()
        if self.table_.trim(self.topic_.relevance.values):
            self._forget_urls()
        frontier = frontier_features(self.table_, self.topic_)
        if not len(frontier.urls):
            self.best_ = set()
            return []
        self.scoring_.learn(self.topic_.relevance.values, self.topic_.belief)
        z = deviations(frontier)
        scores = self.scoring_.rank(z)
        if self.sites_ is None:
            ranked = rank_by_score(scores, BEST)
        else:
            ranked = self.sites_.rank(frontier, scores, self.topic_.relevance.values, self._is_ending()).first(BEST)
        ranked, lifts, rate = self._explore(ranked)
        best = frontier.urls[ranked.order]
        self.scoring_.set_ranked(best[~ranked.is_list].tolist(), z[ranked.order[~ranked.is_list]])
        parts = self._score_parts(ranked, z, lifts)
        citing = np.stack((frontier.relevant_links, frontier.links), axis=1)[ranked.order].astype(np.int64).tolist()
        exploration: dict[str, Any] = {EXPLORATION: round(rate, 6)} if self.exploration else {}
        carries = [{CITING: counts, **exploration} for counts in citing]
        return self._rescored(best.tolist(), ranked.scores.tolist(), parts, carries)

    def _forget_urls(self) -> None:
        """Forget waiting URLs that no remembered link leads to, so that memory and cost stay bounded."""
        drop = self.table_.can_be_forgotten()
        drop[sorted(self.best_)] = False
        if self.sites_ is not None:
            drop &= ~self.sites_.are_homes()  # home pages are offered without a link, once a page names their host
        if drop.any():
            numbers = self.table_.keep_urls(~drop)
            self.best_ = set(numbers[sorted(self.best_)].tolist())
            self.scoring_.renumber(numbers)
            if self.sites_ is not None:
                self.sites_.keep_urls(~drop, numbers)

    def _explore(self, ranked: Ranking) -> tuple[Ranking, Reals, float]:
        """The ranking with some URLs moved to one of the next turns, the amount added to each score, and the rate."""
        rate = exploration_rate(self.exploration, self.scoring_.unexplained, ranked.scores)
        ranked, lifts = explore(ranked, rate, self._interval(), np.random.default_rng((self.random_seed_, self.pages_)))
        return ranked, lifts, rate

    def _record_exploration(self, page: Page) -> None:
        """Record the exploration rate when this page was ranked, and whether it was taken before its turn."""
        candidate = page.candidate
        facts = {"rate": candidate.carry.get(EXPLORATION, 0.0), "tried": EXPLORATION in candidate.parts}
        self.events_.append(Event(EXPLORATION, facts, page.url))

    def _score_parts(self, ranked: Ranking, z: Reals, lifts: Reals) -> list[dict[str, float]]:
        """The parts of each score."""
        score_parts = []
        for index, score, factor, other, is_list, lift in zip(*map(np.ndarray.tolist, (*ranked, lifts)), strict=True):
            parts = self.scoring_.parts(z[index] * factor)
            if self.sites_ is not None:
                parts["may name other sites" if is_list else "known domain"] = other
                parts["turn"] = score - lift - math.fsum(parts.values())
            score_parts.append(parts | ({EXPLORATION: lift} if lift else {}))
        return score_parts

    def take_events(self) -> Iterable[Event]:
        events, self.events_ = self.events_, []
        return events

    def reasons(self, parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str) -> list[tuple[str, float]]:
        return reasons(parts, carry, anchor)

    def _rescored(
        self, best: list[int], scores: list[float], parts: list[dict[str, float]], carries: list[dict[str, Any]]
    ) -> list[Candidate]:
        """Candidates for the best URLs, and for those that are no longer among them."""
        state, names = self.table_.state.values, self.table_.names
        demoted = sorted(number for number in self.best_.difference(best) if state[number] == WAITING)
        self.best_ = set(best)
        ranked = [
            Candidate(Url(names[number]), score, carry, score_parts, rescored=True)
            for number, score, score_parts, carry in zip(best, scores, parts, carries, strict=True)
        ]
        return ranked + new_scores((Url(names[number]) for number in demoted), repeat(NOT_RANKED), repeat(UNRANKED))

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        return {
            "words": list(self.vocabulary_.all_words),
            "topic": self.topic_.save(),
            "table": self.table_.save(),
            "scoring": self.scoring_.save(),
            "sites": None if self.sites_ is None else self.sites_.save(),
            "labels": dict(self.labels_),
            "best": sorted(self.best_),
            "counts": [self.pages_since_ranking_, self.pages_, self.unranked_, self.seeds_left_],
            "random_seed": self.random_seed_,
            "explored": [[event.url, dict(event.facts)] for event in self.events_],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.vocabulary_.add(state["words"])
        self.topic_.load(state["topic"])
        self.table_.load(state["table"])
        self.scoring_.load(state["scoring"])
        self.sites_ = None if state["sites"] is None else SiteSearch(self.table_)
        if self.sites_ is not None:
            self.sites_.load(state["sites"])
        self.labels_ = dict(state["labels"])
        self.best_ = set(state["best"])
        self.pages_since_ranking_, self.pages_, self.unranked_, self.seeds_left_ = state["counts"]
        self.random_seed_ = int(state["luck"] if "luck" in state else state["random_seed"])  # `luck` in version 5
        self.events_ = [Event(EXPLORATION, facts, Url(url)) for url, facts in state["explored"]]


def _is_seed(candidate: Candidate) -> bool:
    return candidate.score == math.inf
