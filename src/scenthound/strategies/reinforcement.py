"""Reinforcement-learning spider: the words around a link predict the reward that follows it (sheet 30.5).

    score(link) = Σ P(bin | words around the link) · mean value of the bin

Rennie and McCallum 1999. On a web that is known, every link gets the reward that a spider with full knowledge would
collect after it (`graph.rewards`). The values are put into bins, and a multinomial naive Bayes classifier learns the
bin from the words around a link. `bins=3` looks into the future; `bins=2` tells only links to targets from others
("immediate"), the paper's comparison.

The words around a link, each part counted by itself: its anchor, its parent element, the page's title, the nearest
heading (the one it stands in or the last before it) and the words of its URL. Of several anchors to one URL the best
counts (rule 6).

Ours: the known web are the pages within `depth` back-links of the examples, sampled down to `pages`; the targets are
the examples. Links that leave this web are worth 0: what lies behind them is, by construction, no target within
`depth` links. At most `links` links are learned from, sampled at random. Nothing is learned during the crawl.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np

from scenthound.errors import BadConfig
from scenthound.graph.rewards import discounted_rewards, distance_bin
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.anchors import best_anchors, outlink_anchors
from scenthound.page.views.surrounding_words import surroundings
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.parts.back_links import back_layers
from scenthound.strategies.parts.word_parameters import stem_parameter, stop_words_parameter
from scenthound.text.frozen import FrozenPieces
from scenthound.text.naive_bayes import NaiveBayes
from scenthound.text.tokens import Analyser

PROGRESS = 5000


@strategy("reinforcement")
@dataclass
class Reinforcement(Parameterised):
    """Links whose words promise reward, now or a few links on, first. Needs examples and pages that link to them."""

    bins: int = parameter(3, "classes of value: 3 looks into the future, 2 only at the next page", least=2)
    gamma: float = parameter(0.5, "what a target is worth for every step that it is away", above=0, below=1)
    depth: int = parameter(3, "how many links back from the examples the known web reaches", least=1)
    pages: int = parameter(1000, "most pages of the known web", least=2)
    links: int = parameter(20_000, "most links that are learned from", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.bayes_: NaiveBayes | None = None

    # ---- learning

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        if not lessons.examples:
            raise BadConfig("reinforcement: there are no examples to learn from", "give some pages that are on topic")
        examples = {page.url for page in lessons.examples[: self.pages]}
        web = self._known_web(lessons, sorted(examples), rng)
        progress(f"a web of {len(web):,} pages")
        if web.keys() <= examples:
            raise BadConfig(
                "reinforcement: no page is known that links to an example",
                "train it on a bed or a crawl that holds pages which lead to the examples",
            )
        number = {url: index for index, url in enumerate(web)}
        inside = [[number[url] for url in links if url in number] for links in web.values()]
        starts = sorted({target for to in inside for target in to})
        rewards = discounted_rewards(inside, [number[url] for url in examples], self.gamma, starts)
        urls = list(web)
        values = {urls[index]: value for index, value in rewards.items()}
        progress(f"values of {len(values):,} pages")
        spots = [(url, index) for url, links in web.items() for index in range(len(links))]
        if len(spots) > self.links:
            spots = [spots[index] for index in sorted(rng.sample(range(len(spots)), self.links))]
        self._learn(lessons, spots, values, progress)

    def _known_web(self, lessons: Lessons, examples: Sequence[Url], rng: random.Random) -> dict[Url, list[Url]]:
        """The pages around the examples with their links, sorted by URL.

        Pages are not kept: two thousand parsed pages need too much memory.
        """
        cap = max(1, (self.pages - len(examples)) // self.depth)
        pages = {page.url: page for page in lessons.examples}
        web: dict[Url, list[Url]] = {}
        for url in sorted(chain.from_iterable(back_layers(lessons, examples, self.depth, cap, rng))):
            page = pages.get(url) or lessons.page(url)
            if page is not None:
                web[url] = [link.url for link in page.outlinks]
        return web

    def _learn(
        self,
        lessons: Lessons,
        spots: Sequence[tuple[Url, int]],
        values: Mapping[Url, float],
        progress: Callable[[str], None],
    ) -> None:
        """Learn a classifier and the mean values from these links, each given as page and index among its outlinks."""
        bayes = NaiveBayes([str(number) for number in range(self.bins)])
        sums, links = [0.0] * self.bins, [0] * self.bins
        for url, places in groupby(spots, key=itemgetter(0)):
            page = lessons.page(url)
            if page is None:
                continue
            around = page.view(surroundings, self.analyser_)
            for _, index in places:
                link = page.outlinks[index]
                value = values.get(link.url, 0.0)
                number = distance_bin(value, self.gamma, self.bins)
                bayes.add(str(number), Counter(around.of(link.position)))
                sums[number] += value
                links[number] += 1
                if not sum(links) % PROGRESS:
                    progress(f"{sum(links):,} of {len(spots):,} links")
        self._take(bayes, [total / max(link_features, 1) for total, link_features in zip(sums, links, strict=True)])
        progress(f"links per bin: {', '.join(map(str, links))}")

    def _take(self, bayes: NaiveBayes, means: Sequence[float]) -> None:
        self.bayes_, self.means_ = bayes, [float(mean) for mean in means]
        self.frozen_ = FrozenPieces(bayes)

    def model(self) -> Mapping[str, Any]:
        return {"analyser": self.analyser_.name, "bayes": self._trained().save(), "means": list(self.means_)}

    def use(self, model: Mapping[str, Any]) -> None:
        if model["analyser"] != self.analyser_.name:
            raise ValueError(f"it was trained with the words of {model['analyser']}, not of {self.analyser_.name}")
        bayes = NaiveBayes.load(model["bayes"])
        if bayes.classes != tuple(map(str, range(len(model["means"])))):
            raise ValueError("these are no bins of values")
        self._take(bayes, model["means"])

    def _trained(self) -> NaiveBayes:
        if self.bayes_ is None:
            raise BadConfig(
                "reinforcement has not learned anything yet: it can't start without",
                "train it first: scenthound train reinforcement",
            )
        return self.bayes_

    @property
    def declaration(self) -> Declaration:
        parts = Parts((self.analyser_,), leaves=True, elements=True)
        return Declaration(parts=parts, training="required", lessons=("examples", "back-links", "pages"))

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._trained()
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        around = page.view(surroundings, self.analyser_)
        if not len(around.rows):
            return []
        posteriors = self.frozen_.posteriors(*around)
        worth = (posteriors @ np.array(self.means_)).tolist()
        names, chances = [f"bin {name}" for name in self._trained().classes], posteriors.tolist()
        links = page.links
        return [
            page.offer(links[number], worth[number], parts=dict(zip(names, chances[number], strict=True)))
            for number in best_anchors(page.view(outlink_anchors), worth).tolist()
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()
