"""The default judge: a probability from a topic model that is learned from the user's input and from the crawl.

    log-odds of a page = BIAS + sum of WEIGHTS * evidence + prior

    likeness    ln(score) - L               score: q . x (`text.topic_model`); L: mean ln(score) of pages on topic
    separation  (L - B)/v (ln(score) - (L + B)/2)    B: the same of other pages, v: pooled variance (two normals)
    keywords    the same two normals over the mean of ln(1 + tf) of the keywords, weighted by idf
    title       share of the keywords in the title
    links       ln(mean probability of the pages that it links to / average); in a fit also of those that link to it
    parent      probability of the page that it was found on, minus the average

The first two are multiplied by W / (W + .5), where W is the weight of the pages on topic, so that a model of few pages
counts little.

The model starts with seeds, example pages, labels and the description. It is fitted again whenever the crawl has grown
by 25 % or 100 pages: pages that are probably on topic join it with their probability as weight, the others become the
background, and the remembered pages are judged again (two rounds of expectation-maximisation, leave-one-out). An
example or a label has a prior of +-6. The prior of the seeds is learned: it is high if the keywords are more frequent
in seeds than in other pages, low if they are rarer. So seeds that are only starting points do not become the topic.

A page is relevant if its probability is at least t, which has the best expected F1 over the remembered pages: t = F*/2
(Lipton, Elkan and Narayanaswamy 2014, "Thresholding classifiers to maximize F1 score"), between .2 and .5.

*Sites.* If the topic says that sites are looked for, the model is learned from home pages only (and from labels,
examples and seeds that are home pages; if no seed is one, from all seeds). Other pages are rated by the same model and
keep the relevance of their content, but only home pages are flagged as relevant (`looking_for.is_counted`).

Nothing here sees the lab's ground truth. WEIGHTS were set on half of the topics of two recorded webs and of generated
webs, see docs/concepts/judges.md.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound import url as urls
from scenthound.judges import judge
from scenthound.judges.topic_evidence import (
    WEIGHTS,
    Neighbours,
    RememberedPage,
    link_evidence,
    pack,
    probabilities,
    probability,
    unpack,
)
from scenthound.judging import Verdict
from scenthound.looking_for import PAGES, SITES, is_counted
from scenthound.model import LookingFor, Topic, Url
from scenthound.page.page import AheadView, Page, numbers_of, outlink_numbers, title_term_numbers
from scenthound.parameters import Parameterised, parameter
from scenthound.text.background import document_share
from scenthound.text.row_products import row_products
from scenthound.text.tokens import Analyser
from scenthound.text.topic_model import Floats, TopicModel

GIVEN = 6.0
"""Prior log-odds of an example page or a label."""
SITE_SEED = 2.5
"""Prior log-odds of a seed if the user is looking for sites."""
SEED_PRIOR = (12.0, -1.5, 2.5)
"""The prior log-odds of a seed if the user is looking for pages: slope over (AUC - .5), minimum and maximum."""
FLOOR = 0.005  # lower scores count as this
TYPICAL_ON, TYPICAL_OFF = 0.08, 0.02  # prior scores, with the weight of 1 and 5 pages
FEWEST_OTHERS = 10  # pages before the background is used
ROUNDS = 2
KEYWORDS_ON, KEYWORDS_OFF, KEYWORD_VARIANCE = 1.0, 0.1, 0.4  # priors of the keyword scores
JOINED, FIRST_JOINED = 0.3, 6.0  # see `_most_joined`
FLAG_RANGE = (0.2, 0.5)
LITTLE = 0.5  # weight of pages on topic at which the model has half its effect
DOUBTFUL_SEED = 0.3  # a seed below this probability is reported
LEAST_SEED = 0.25  # a seed below this probability is not part of the topic
MOST_PROBABILITIES = 20_000
LINKS = list(WEIGHTS).index("links")
Number = TypeVar("Number", float, Floats)


@judge("topic")
@dataclass
class TopicJudge(Parameterised):
    """A topic model with calibrated probabilities."""

    ahead: ClassVar[tuple[AheadView, ...]] = (outlink_numbers, title_term_numbers)
    uses_examples: ClassVar[bool] = True
    terms: int = parameter(100, "terms of the topic vector", least=1)
    remember: int = parameter(500, "latest pages that the model is fitted on", least=20)
    background: bool = parameter(True, "weight words by their frequency in English too, not only in the crawl")
    labels_: dict[Url, bool] = field(init=False, default_factory=dict, repr=False)

    # ---- the port

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.analyser_ = Analyser()
        self.seeds_, self.examples_ = frozenset(seeds), frozenset(map(Url, topic.examples))
        self.looking_for_, self.has_home_seed_ = topic.looking_for, any(map(urls.is_home, seeds))
        keywords = list(dict.fromkeys(self.analyser_.terms(topic.keywords)))
        share = document_share if self.background else _no_background
        self.keywords_, self.model_ = frozenset(keywords), TopicModel(keywords, self.terms, share)
        self.keyword_numbers_ = frozenset(memoryview(numbers_of(keywords)).cast("I"))
        self.given_: list[RememberedPage] = []
        self.others_: list[RememberedPage] = []
        self.inner_: list[RememberedPage] = []
        """In a search for sites, the latest pages that the model is not learned from."""
        self.probabilities_: dict[Url, float] = {}
        self.fitted_at_, self.average_, self.threshold_ = 0, 0.1, 0.4
        self.on_, self.off_, self.variance_ = math.log(TYPICAL_ON), math.log(TYPICAL_OFF), 0.5
        self.seed_auc_, self.reliance_ = (0.0, 0), 0.0
        self.keyword_slope_, self.keyword_middle_ = _slope(KEYWORDS_ON, KEYWORDS_OFF, KEYWORD_VARIANCE)
        if topic.description.strip():
            counts = self.analyser_.counts(topic.description)
            document = self.model_.document(counts)
            self.given_.append(
                RememberedPage(Url(""), document, self._keyword_counts(counts), (0.0, 0.0, 0.0), "given", 1.0)
            )
        self._count_given()
        self._fit()

    def judge(self, page: Page) -> Verdict:
        remembered = self._remembered(page)
        self.model_.see(remembered.document)
        self._remember(remembered)
        remembered.probability = self._probability(remembered)
        pages = self.model_.pages
        is_learned = self._is_learned(remembered)
        if is_learned and (remembered.kind or pages >= self.fitted_at_ * 1.25 or pages >= self.fitted_at_ + 100):
            self._fit()
        return self._verdict(remembered, remembered.probability)

    def revised(self) -> Iterator[tuple[Url, Verdict]]:
        later = copy.copy(self)  # a fit changes later verdicts, and this method must not
        later.model_, later.probabilities_ = copy.copy(self.model_), dict(self.probabilities_)
        later.given_, later.others_ = [*map(copy.copy, self.given_)], [*map(copy.copy, self.others_)]
        later._fit()
        for page in (*later.given_, *later.others_):
            if page.url:
                yield page.url, later._rated(page.url, page.probability)
        for page in self.inner_:
            yield page.url, later._rated(page.url, later._probability(page))

    @property
    def threshold(self) -> float:
        return self.threshold_

    def take_looking_for(self, looking_for: LookingFor) -> None:
        self.looking_for_ = looking_for
        ages = [(index - len(group), page) for group in (self.inner_, self.others_) for index, page in enumerate(group)]
        pages = [*self.given_, *(page for _, page in sorted(ages, key=lambda pair: pair[0]))]
        self.given_, self.others_, self.inner_ = [], [], []
        for page in pages:
            self._remember(page)
        self._count_given()
        self._fit()

    def take_label(self, url: Url, on_topic: bool) -> None:
        self.labels_[url] = on_topic
        for page in (*self.given_, *self.others_, *self.inner_):
            if page.url == url:
                page.kind = "given" if on_topic else "off"
                if page in self.others_:
                    self.others_.remove(page)
                    self.given_.append(page)
        self._count_given()
        self._fit()

    def save(self) -> Mapping[str, Any]:
        return {
            "model": self.model_.save(),
            "given": pack(self.given_),
            "others": pack(self.others_),
            "inner": pack(self.inner_),
            "probabilities": dict(self.probabilities_),
            "labels": dict(self.labels_),
            "numbers": {name: vars(self)[name] for name in _NUMBERS},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.model_.load(state["model"])
        self.given_, self.others_ = unpack(state["given"]), unpack(state["others"])
        self.inner_ = unpack(state["inner"]) if "inner" in state else []  # states saved before sites were counted
        self._count_given()
        self.probabilities_ = {Url(url): float(value) for url, value in state["probabilities"].items()}
        self.labels_ = {Url(url): bool(value) for url, value in state["labels"].items()}
        for name in _NUMBERS:
            setattr(self, name, state["numbers"][name])
        auc, number = self.seed_auc_
        self.seed_auc_ = (auc, number)

    def doubts(self) -> list[str]:
        seeds = [page for page in self.given_ if page.kind == "seed"]
        odd = [str(page.url) for page in seeds if page.probability < DOUBTFUL_SEED]
        doubts = []
        if odd and len(self.others_) >= FEWEST_OTHERS:
            shown = ", ".join(odd[:5]) + (f" and {len(odd) - 5} more" if len(odd) > 5 else "")
            doubts.append(
                f"{len(odd)} of {len(seeds)} seeds have little in common with the others or with the keywords: {shown};"
                " check them, or give more examples"
            )
        if len(self.others_) >= FEWEST_OTHERS and self.on_ - self.off_ < 0.5:
            doubts.append("relevant and other pages look alike: give more example pages, or more specific keywords")
        return doubts

    # ---- evidence

    def _remembered(self, page: Page) -> RememberedPage:
        counts = page.record.counts(self.analyser_)
        title = frozenset(memoryview(page.view(title_term_numbers)).cast("I"))
        outlinks = (link.url for link in page.outlinks)
        linked = [value for value in map(self.probabilities_.get, outlinks) if value is not None]
        parent = self.probabilities_.get(page.candidate.parent) if page.candidate.parent else None
        context = (
            len(title & self.keyword_numbers_) / max(len(self.keywords_), 1),
            link_evidence(sum(linked), len(linked), self.average_),
            (parent if parent is not None else self.average_) - self.average_,
        )
        kind = self._kind((page.url, page.candidate.url))
        document, links = self.model_.document(counts), np.frombuffer(page.view(outlink_numbers), np.uint32)
        return RememberedPage(page.url, document, self._keyword_counts(counts), context, kind, links=links)

    def _is_learned(self, page: RememberedPage) -> bool:
        """Whether the model is learned from this page: home pages are compared with home pages only."""
        return self.looking_for_ == PAGES or urls.is_home(page.url) or (bool(page.kind) and not self.has_home_seed_)

    def _remember(self, page: RememberedPage) -> None:
        if not self._is_learned(page):
            self.inner_.append(page)
        elif page.kind:
            self.given_.append(page)
            self._count_given()
        else:
            self.others_.append(page)
        for latest in (self.others_, self.inner_):
            del latest[: -self.remember]

    def _kind(self, names: Iterable[Url]) -> str:
        for name in names:
            if name in self.labels_:
                return "given" if self.labels_[name] else "off"
            if name in self.examples_:
                return "given"
        return "seed" if any(name in self.seeds_ for name in names) else ""

    def _keyword_counts(self, counts: Mapping[str, int]) -> Floats:
        return np.log1p(np.array([counts.get(term, 0) for term in self.model_.keywords], np.float64))

    def _probability(self, page: RememberedPage) -> float:
        log = math.log(max(self.model_.score(page.document), FLOOR))
        evidence = (*self._evidence(log, float(self._keyword_scores(page.keyword_counts[None])[0])), *page.context)
        return probability(evidence, self.reliance_, self._prior(page.kind), page.kind)

    def _evidence(self, log: Number, keywords: Number) -> tuple[Number, Number, Number]:
        """The evidence from likeness, separation and keywords, for one page or many."""
        likeness = log - self.on_
        separation = (self.on_ - self.off_) / self.variance_ * (log - (self.on_ + self.off_) / 2)
        return likeness, separation, self.keyword_slope_ * (keywords - self.keyword_middle_)

    def _keyword_scores(self, counts: Floats) -> Floats:
        """The keyword score of each page, from its row of keyword counts."""
        idf = self.model_.keyword_idf_
        return row_products(counts, idf) / float(idf.sum()) if len(idf) else np.zeros(len(counts))

    def _prior(self, kind: str) -> float:
        """The prior log-odds of a kind of page."""
        return self._seed_prior() if kind == "seed" else _PRIORS[kind]

    def _seed_prior(self) -> float:
        slope, least, most = SEED_PRIOR
        if self.looking_for_ == SITES:
            return SITE_SEED
        if not self.keywords_:
            return most
        return min(max(slope * (self._seed_auc() - 0.5), least), most)

    def _seed_auc(self) -> float:
        """The probability that a seed has a higher keyword score than another page.

        Ten virtual pages are the initial background, with a probability of .4 if no seed has a keyword, .7 if all do.
        """
        fitted, number = self.seed_auc_
        return (fitted * number + 10 * (0.4 + 0.3 * self.seeds_with_keyword_)) / (number + 10)

    def _count_given(self) -> None:
        """Update the share of seeds with a keyword; called whenever `given_` has changed."""
        seeds = [page for page in self.given_ if page.kind == "seed"]
        with_keyword = sum(bool(page.keyword_counts.any()) for page in seeds)
        self.seeds_with_keyword_ = with_keyword / max(len(seeds), 1)

    # ---- learning

    def _fit(self) -> None:
        pages = [*self.given_, *self.others_]
        self.fitted_at_ = self.model_.pages
        if not pages:
            fit = self.model_.fit([])
            fit.learn(np.zeros(0), np.zeros(0))
            return
        fit = self.model_.fit([page.document for page in pages])
        is_given, kinds = np.arange(len(pages)) < len(self.given_), [page.kind for page in pages]
        keywords = self._keyword_scores(np.array([page.keyword_counts for page in pages]))
        self._compare_seeds(kinds, keywords)
        by_kind, neighbours = {kind: self._prior(kind) for kind in set(kinds)}, Neighbours(pages)
        priors, evidence = np.array([by_kind[kind] for kind in kinds]), np.empty((len(pages), len(WEIGHTS)))
        evidence[:, 3:] = [page.context for page in pages]
        rated = np.array([page.probability or 0.5 for page in pages])
        for _ in range(ROUNDS):
            evidence[:, LINKS] = neighbours.evidence(rated, self.average_)
            on, off = self._weights(rated, is_given)
            background = off if len(self.others_) >= FEWEST_OTHERS else np.zeros(len(pages))
            logs = np.log(np.maximum(fit.learn(on, background), FLOOR))
            is_dominant = on > 0.7 * on.sum()  # nearly the whole topic: without it nothing is left to compare
            if is_dominant.any():
                logs = np.where(is_dominant, math.log(TYPICAL_ON), logs)
            self._calibrate(logs, on, off)
            self._calibrate_keywords(keywords, on, off)
            evidence[:, :3] = np.stack(self._evidence(logs, keywords), axis=1)
            rated = probabilities(evidence, self.reliance_, priors, kinds)
        for page, value, links in zip(pages, rated.tolist(), evidence[:, LINKS].tolist(), strict=True):
            page.probability = self.probabilities_[page.url] = value
            page.context = (page.context[0], links, page.context[2])
        others = rated[~is_given]
        self.average_ = (float(others.sum()) + 1.0) / (len(others) + 10.0)
        self.threshold_ = best_threshold(others)

    def _weights(self, probability: Floats, is_given: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """How much each page counts as on topic and as off topic, according to its probability."""
        on = np.where(probability > np.where(is_given, LEAST_SEED, 0.5), probability, 0.0)
        allowed, joined = self._most_joined(float(on[is_given].sum())), float(on[~is_given].sum())
        if joined > allowed:
            on[~is_given] *= allowed / joined
        return on, np.where(is_given, 0.0, 1.0 - probability)

    def _most_joined(self, given: float) -> float:
        """The maximum weight of pages found by the crawl, if the user's pages have the weight `given`."""
        trust = 1 / (1 + math.exp(-self._seed_prior()))
        return JOINED * given + FIRST_JOINED * (1 - trust)

    def _compare_seeds(self, kinds: Sequence[str], scores: Floats) -> None:
        seeds = scores[[kind == "seed" for kind in kinds]]
        others = np.sort(scores[[not kind for kind in kinds]])
        if not len(seeds) or not len(others):
            self.seed_auc_ = (0.0, 0)
            return
        below = np.searchsorted(others, seeds, "left") + np.searchsorted(others, seeds, "right")
        self.seed_auc_ = (float(below.mean()) / 2 / len(others), len(others))

    def _calibrate(self, logs: Floats, on: Floats, off: Floats) -> None:
        """Means of ln(score) on and off topic, and their pooled variance, each with a weak prior."""
        self.off_ = (float(off @ logs) + 5 * math.log(TYPICAL_OFF)) / (float(off.sum()) + 5)
        self.on_ = (float(on @ logs) + math.log(TYPICAL_ON)) / (float(on.sum()) + 1)
        self.on_ = max(self.on_, self.off_ + 0.3)
        self.reliance_ = float(on.sum()) / (float(on.sum()) + LITTLE)
        spread = float(on @ (logs - self.on_) ** 2 + off @ (logs - self.off_) ** 2)
        self.variance_ = (spread + 8 * 0.5) / (float(on.sum() + off.sum()) + 8)

    def _calibrate_keywords(self, scores: Floats, on: Floats, off: Floats) -> None:
        """Like `_calibrate`, for keywords. Keywords that are no more frequent on topic than off topic count little."""
        ons, offs = float(on.sum()), float(off.sum())
        mean_on = (float(on @ scores) + 3 * KEYWORDS_ON) / (ons + 3)
        mean_off = (float(off @ scores) + 3 * KEYWORDS_OFF) / (offs + 3)
        spread = float(on @ (scores - mean_on) ** 2 + off @ (scores - mean_off) ** 2)
        variance = (spread + 8 * KEYWORD_VARIANCE) / (ons + offs + 8)
        self.keyword_slope_, self.keyword_middle_ = _slope(mean_on, mean_off, variance)

    def _verdict(self, page: RememberedPage, probability: float) -> Verdict:
        self.probabilities_[page.url] = probability
        if len(self.probabilities_) > MOST_PROBABILITIES:
            self.probabilities_.pop(next(iter(self.probabilities_)))
        return self._rated(page.url, probability)

    def _rated(self, url: Url, probability: float) -> Verdict:
        return Verdict(probability, probability >= self.threshold_ and is_counted(url, self.looking_for_))


_PRIORS = {"": 0.0, "given": GIVEN, "off": -GIVEN}
"""The prior log-odds for each kind of page, except seeds, whose prior is learned."""
_NUMBERS = (
    "fitted_at_", "average_", "threshold_", "on_", "off_", "variance_", "seed_auc_", "reliance_", "keyword_slope_",
    "keyword_middle_",
)  # fmt: skip
"""The learned numbers of a judge that are saved."""


def best_threshold(probabilities: Floats) -> float:
    """The threshold with the best expected F1, which is half of that F1; within `FLAG_RANGE`.

    >>> round(best_threshold(np.array([0.9] * 5 + [0.01] * 95)), 2)
    0.43
    """
    if len(probabilities) < FEWEST_OTHERS:
        return sum(FLAG_RANGE) / 2
    ranked = np.sort(probabilities)[::-1]
    expected = 2 * np.cumsum(ranked) / (np.arange(len(ranked)) + 1 + ranked.sum())
    return min(max(float(expected.max()) / 2, FLAG_RANGE[0]), FLAG_RANGE[1])


def _no_background(stem: str) -> float:
    return 0.0


def _slope(on: float, off: float, variance: float) -> tuple[float, float]:
    """Slope and zero of the log-likelihood ratio of two normals of equal variance."""
    return max(on - off, 0.0) / max(variance, 0.05), (on + off) / 2
