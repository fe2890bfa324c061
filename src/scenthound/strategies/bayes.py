"""Bayesian crawl, the reference crawler of [ECON]: expand what looks most like a goal, and keep learning (sheet 30.2).

    score(link) = P(goal | words of its page)     naive Bayes (sheet 30.1), on all pages fetched so far

which is `score="probability"`; by default it is computed per word, see below.

Every fetched page is judged at once and counted as a goal or as another page. Words are not stemmed, stop words are
left out. The plain prior is kept however unbalanced the classes are, as in the paper.

Two modes. `fetch-all` is the paper's: of all fetched pages that were not selected yet (the corona) the one with the
largest P(goal) is selected, of equals the one fetched first, and all its links that were not fetched yet are fetched in
document order. Two counts come with every page, as they stood when it was chosen: goals among the pages fetched, and
among those selected. `link`, for comparison with other crawlers, gives every link the P(goal) of the page it was found
on and fetches one page at a time.

Ours:
* A page is a goal if it has all words of `goal`; with `judge="points"` (the paper's second task, a "points-based
  arbiter", no more is said) if its words have at least `threshold` points: 1 each, or as in `board:2 directors:1.5`.
* Untrained, the only goal document at the start is made of the topic's keywords and description, and there is no other
  document: until the first page is judged not to be a goal every page looks like one. Trained, goals are the examples
  and others the background, and the keywords are not counted.
* Counts are "continually updated", so `fetch-all` scores the whole corona anew before every selection, in O(pages);
  with `rescore_every` = 50 it happens at every 50th, and in between a page has the P(goal) it had when it was fetched.
  In link mode, which is ours, `rescore_every` counts pages, and links of the last `recent` pages are re-scored; without
  it a link keeps its score until a label comes. Doing so every 50 pages changed nothing but the cost (20 topics of
  the schools bed, 500 pages each: target recall 0.586 with it, 0.592 without, standard error 0.05).
* A page with a label counts as the label says, as long as it is one of the last `recent` or in the corona; its links
  have P(goal) = 1 or 0.
* On long pages P(goal) is 0 or 1 to the last digit, links tie, and the crawl is breadth-first for its first 180 pages
  or so. Link mode therefore scores a page as if it had no more than `LENGTH` words like its own, with equal priors
  (`score="per-word"`): logistic(min(1, LENGTH / words) · Σ ln(P(word | goal) / P(word | other))). The prior is left
  out because it falls with every page that is no goal, so that links found early would win.
  `score="probability"` is the published score, `score="logit"` its log-odds. `fetch-all` uses the published one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.parts.corona import Corona, CoronaPage
from scenthound.strategies.parts.level_frontier import ChosenUrl, LevelFrontier
from scenthound.strategies.parts.recent_pages import RecentPages
from scenthound.strategies.parts.word_parameters import LENGTH, SCORES, stem_parameter, stop_words_parameter
from scenthound.strategies.parts.word_points import word_points
from scenthound.text.document_store import Values
from scenthound.text.naive_bayes import NaiveBayes
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser

CLASSES = ("goal", "other")
ROUNDING = 1e-9
CERTAIN = 1e9  # log-odds of a page with a label


@strategy("bayes")
@dataclass
class Bayes(Parameterised):
    """Links of the page that is most probably a goal first, by a classifier that learns from every page."""

    mode: str = parameter(
        "link", "link: one link at a time; fetch-all: all links of the best page", among=("link", "fetch-all")
    )
    events: str = parameter("multinomial", "the event model", among=("multinomial", "bernoulli"))
    goal: str = parameter("", 'words of a goal page, for points as "board:2 directors"; if empty the topic\'s keywords')
    judge: str = parameter("words", "a goal has all words, or enough of them (points)", among=("words", "points"))
    threshold: float = parameter(2, "with judge=points: how many points make a goal", above=0)
    score: str = parameter("per-word", SCORES, among=("per-word", "probability", "logit"))
    rescore_every: int = parameter(
        0, "selections (link mode: pages) between two computations of all scores; 0: 1 (link mode: never)", least=0
    )
    recent: int = parameter(200, "pages whose words and links are remembered, for labels", least=0)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analyser_ = Analyser(self.stop_words, self.stem)
        if self.goal.strip() and not word_points(self.goal, self.analyser_, "goal"):
            raise BadConfig(f"bayes: nothing is left of `goal` {self.goal!r} without stop words", "give other words")
        self.lesson_: Mapping[str, Any] | None = None
        self.levels_ = LevelFrontier(None, self._next_stage)
        self.on_select_: Callable[[Url, float], None] | None = None
        """Called with every page that is selected and its P(goal), for inspection."""
        if self.mode == "fetch-all":
            self.frontier = self._frontier  # only this mode has a frontier of its own

    @property
    def declaration(self) -> Declaration:
        return Declaration(
            parts=Parts((self.analyser_,)), training="optional", lessons=("examples", "others"), free=("score",)
        )

    # ---- what it may be taught

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        if not lessons.examples:
            raise BadConfig("bayes has no example to learn from", "give pages on topic, or crawl without a model")
        made = self._untaught()
        for label, pages in zip(CLASSES, (lessons.examples, lessons.others), strict=True):
            for page in pages:
                made.add(label, page.record.counts(self.analyser_))
        if not made.size:
            raise BadConfig("bayes: no example has a word in it", "give pages with text")
        self.lesson_ = made.save()
        progress(f"counted {len(lessons.examples)} goals and {len(lessons.others)} others, {made.size} words")

    def model(self) -> Mapping[str, Any]:
        if self.lesson_ is None:
            raise BadConfig("bayes was taught nothing", "train it first")
        return {"classifier": self.lesson_, "analyser": self.analyser_.name}

    def use(self, model: Mapping[str, Any]) -> None:
        classifier = NaiveBayes.load(model["classifier"])
        if (
            classifier.classes != CLASSES
            or classifier.events != self.events
            or model["analyser"] != self.analyser_.name
        ):
            raise ValueError("this model was trained with other parameters: `events`, `stop_words` or `stem` differ")
        self.lesson_ = classifier.save()

    def _untaught(self) -> NaiveBayes:
        return NaiveBayes(CLASSES, "bernoulli" if self.events == "bernoulli" else "multinomial")

    # ---- the crawl

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        if self.goal.strip():
            self.goal_points_ = word_points(self.goal, self.analyser_, "goal")
        else:
            self.goal_points_ = dict.fromkeys(self.analyser_.terms(topic.keywords), 1.0)
        if self.lesson_ is None:
            self.classifier_ = self._untaught()
            if topic_counts := self.analyser_.counts(f"{topic.keywords} {topic.description}"):
                self.classifier_.add("goal", topic_counts)
        else:
            self.classifier_ = NaiveBayes.load(self.lesson_)
        self.recent_ = RecentPages(self.recent, seeds)
        self.labels_: dict[Url, bool] = {}
        self.fetched_ = self.fetched_goals_ = 0
        self.selected_ = self.selected_goals_ = 0
        self.is_stale_ = False  # a label came since the last rescoring
        self.corona_ = Corona()
        self.levels_.clear()
        carry = {"stage": 0} if self.mode == "fetch-all" else {}
        return [Candidate(url, math.inf, carry) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        counts = page.record.counts(self.analyser_)
        is_goal = self._is_goal(page.url, counts)
        if self.mode == "fetch-all":
            self._catch_up(page.candidate)
            self.levels_.settle(page.candidate.url)
        self._count(page.url, counts, is_goal)
        return self._links(page, counts) if self.mode == "link" else self._arrive(page, counts, is_goal)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        if self.mode == "fetch-all":
            self._catch_up(miss.candidate)
            self.levels_.settle(miss.candidate.url)
        self.recent_.mark_done(miss.candidate.url)
        return ()

    def _count(self, url: Url, document: TermCounts, is_goal: bool) -> None:
        """Add a page to the statistics; a page that is read again and still remembered counts once."""
        if url in self.recent_.documents:
            return
        self.classifier_.add("goal" if is_goal else "other", document)
        self.fetched_ += 1
        self.fetched_goals_ += is_goal

    def _is_goal(self, url: Url, counts: Mapping[str, int]) -> bool:
        return self.labels_[url] if url in self.labels_ else self._judged(counts)

    def _judged(self, counts: Mapping[str, int]) -> bool:
        if self.judge == "words":
            return bool(self.goal_points_) and all(word in counts for word in self.goal_points_)
        points = sum(worth for word, worth in self.goal_points_.items() if word in counts)
        return points >= self.threshold - ROUNDING

    # ---- link mode

    def _links(self, page: Page, document: TermCounts) -> list[Candidate]:
        self.recent_.mark_done(page.url, page.candidate.url)
        odds = self._known(page.url, self.classifier_.log_odds("goal", document))
        score, parts = self._score(odds, self.classifier_.events_in(document)), self._parts(odds)
        self.recent_.keep(page.url, document, [link.url for link in page.outlinks], score)
        offers = page.offer_all(score, parts)
        if self.rescore_every and self.fetched_ % self.rescore_every == 0:
            return [*offers, *self._rescored()]
        return offers

    def _score(self, odds: float, events: float = 0) -> float:
        """The score of a page's links, from its log-odds and how many events (words) they are made of."""
        if self.score != "per-word":
            return odds if self.score == "logit" else logistic(odds)
        if abs(odds) >= CERTAIN:  # a label, or there is only one class so far
            return logistic(odds)
        return logistic((odds - self._empty()) * min(1.0, LENGTH / max(events, 1)))

    def _parts(self, odds: float) -> dict[str, float]:
        return {"goal": logistic(odds), "logit": odds}

    def _rescored(self) -> list[Candidate]:
        """New scores for waiting links of remembered pages, by the current statistics."""
        documents = self.recent_.documents
        sums = documents.sums(self._weigh, self.events == "multinomial").tolist()
        empty = self._empty()
        odds = {Url(url): self._known(Url(url), empty + total) for url, total in zip(documents, sums, strict=True)}
        events = documents.sums(self.classifier_.are_known, self.events == "multinomial").tolist()
        counts = dict(zip(odds, events, strict=True))
        scores = {url: self._score(log_odds, counts[url]) for url, log_odds in odds.items()}
        return self.recent_.rescored(scores, lambda url: self._parts(odds[url]))

    def _known(self, url: Url, odds: float) -> float:
        """Log-odds within bounds; certain if there is a label."""
        if url in self.labels_:
            return CERTAIN if self.labels_[url] else -CERTAIN
        return max(-CERTAIN, min(CERTAIN, odds))

    def _weigh(self, words: Sequence[str]) -> Values:
        return self.classifier_.weights("goal", words)[1]

    def _empty(self) -> float:
        """The log-odds of an empty page; each word adds its weight to it."""
        return self.classifier_.weights("goal", ())[0]

    # ---- the paper's mode

    def _frontier(self, bound: int | None) -> Frontier:
        self.levels_ = LevelFrontier(bound, self._next_stage)
        return self.levels_

    def _arrive(self, page: Page, document: TermCounts, is_goal: bool) -> list[Candidate]:
        """Add a page to the corona; its links wait until it is selected."""
        self.recent_.keep(page.url, document)
        if page.url not in self.corona_:
            links = [link.url for link in page.outlinks]
            probability = logistic(self._known(page.url, self.classifier_.log_odds("goal", document)))
            self.corona_.put(
                CoronaPage(page.url, self.fetched_, page.candidate.depth, is_goal, links), document, probability
            )
        return [page.offer(link, 0.0) for link in page.outlinks if link.url not in self.levels_]

    def _next_stage(self) -> list[ChosenUrl] | None:
        """Select the page whose links are fetched next; None if all were selected."""
        if not len(self.corona_):
            return None
        if self.is_stale_ or self.selected_ % (self.rescore_every or 1) == 0:
            empty, self.is_stale_ = self._empty(), False
            self.corona_.rescore(
                self._weigh, self.events == "multinomial", lambda url, sum: logistic(self._known(url, empty + sum))
            )
        page, probability = self.corona_.select()
        self.selected_ += 1
        self.selected_goals_ += self.labels_.get(page.url, page.is_goal)
        if self.on_select_ is not None:
            self.on_select_(page.url, probability)
        parts = {
            "goal": probability,
            "goals fetched": float(self.fetched_goals_),
            "goals selected": float(self.selected_goals_),
        }
        carry = {"stage": self.selected_}
        return [ChosenUrl(link, probability, carry, parts, page.url, page.depth + 1) for link in page.links]

    def _catch_up(self, candidate: Candidate) -> None:
        """On resume, repeat the selections that were made before this page was fetched; its stage says how many."""
        stage: Any = candidate.carry.get("stage")
        while isinstance(stage, int) and self.selected_ < stage and (chosen := self._next_stage()) is not None:
            self.levels_.begin(chosen)

    # ---- labels

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Count a page as its label says; if it was not read yet, as soon as it is."""
        counts = self.recent_.words(url)
        if counts is None:
            counts = self.corona_.words(url)
        was = None if counts is None else self._is_goal(url, counts)
        self.labels_[url] = on_topic
        self.is_stale_ = True
        if counts is None:
            if url in self.recent_.spared or self.mode != "link":
                return ()
            score = self._score(self._known(url, 0.0))  # if it waits, its result is certain
            return [Candidate(url, score, parts={"label": float(on_topic)}, rescored=True)]
        if was != on_topic:
            self.classifier_.add(CLASSES[on_topic], counts, -1.0)
            self.classifier_.add(CLASSES[not on_topic], counts)
            self.fetched_goals_ += 1 if on_topic else -1
        return self._rescored() if self.mode == "link" else ()

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        state = {
            "classifier": self.classifier_.save(),
            "recent": self.recent_.save(),
            "labels": {str(url): on_topic for url, on_topic in self.labels_.items()},
            "counts": [self.fetched_, self.fetched_goals_, self.selected_, self.selected_goals_],
            "stale": self.is_stale_,
        }
        if self.mode == "fetch-all":
            state |= {"corona": self.corona_.save(), "frontier": self.levels_.save()}
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        self.classifier_ = NaiveBayes.load(state["classifier"])
        self.recent_ = RecentPages.load(state["recent"], self.recent, self.recent_.spared)
        self.labels_ = {Url(url): bool(on_topic) for url, on_topic in state["labels"].items()}
        self.fetched_, self.fetched_goals_, self.selected_, self.selected_goals_ = state["counts"]
        self.is_stale_ = state["stale"]
        if self.mode == "fetch-all":
            self.corona_ = Corona.load(state["corona"])
            self.levels_.load(state["frontier"])


def logistic(odds: float) -> float:
    """The probability that belongs to log-odds.

    >>> logistic(0.0), logistic(1e9), logistic(-1e9)
    (0.5, 1.0, 0.0)
    """
    if odds < 0.0:
        power = math.exp(odds)
        return power / (1.0 + power)
    return 1.0 / (1.0 + math.exp(-odds))
