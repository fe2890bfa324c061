"""Reinforcement-learning spider: the words around a link predict the reward that follows it (sheet 30.5).

    score(link) = Σ P(bin | words around the link) · mean Q of the bin
    Q(link)     = Σ γ^t · [the page fetched at time t is a target]     t = 0 for the page that the link leads to

Rennie and McCallum 1999. On a web that is fully known, Q is the discounted reward that a spider with full knowledge
would collect after the link (`discounted_rewards`). The values of Q are put into bins, and a multinomial naive
Bayes classifier learns the bin from the words around a link. `bins=3` looks into the future; `bins=2` only tells links
to targets from others ("immediate"), the paper's comparison.

The words around a link are those of its anchor, its parent element, the page's title, the nearest heading (the heading
that contains the link, or the last one before it) and its URL, each part counted separately. If several anchors lead to
one URL, the best counts (rule 6).

Ours: the known web is the pages within `depth` back-links of the examples, sampled down to `pages`; the targets are
the examples. Links that leave this web have Q = 0: by construction, they lead to no target within `depth` links.
Training uses at most `links` links, sampled at random. Nothing is learned during the crawl.
"""

from __future__ import annotations

import math
import random
from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.anchors import best_anchors, outlink_anchors
from scenthound.page.views.elements import surroundings
from scenthound.papers.parts.naive_bayes import FrozenPieces, NaiveBayes
from scenthound.papers.parts.training_pages import back_layers, check_analyser, check_examples, trained
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
from scenthound.text.row_products import row_products
from scenthound.text.tokens import Analyser

HORIZON = 10
FAR = 255  # beyond the horizon, or unreachable
AT_ONCE = 32  # targets whose distances are computed together: bounds the memory to 32 bytes per link

Distances = npt.NDArray[np.uint8]


def discounted_rewards(
    links: Sequence[Sequence[int]],
    targets: Collection[int],
    gamma: float,
    starts: Iterable[int],
    horizon: int = HORIZON,
) -> dict[int, float]:
    """Q of each page in `starts`: the reward of a spider that has fetched it at step 0, up to step `horizon`.

    At each step it may fetch a page that any of its pages links to. It repeatedly takes the shortest path to the
    nearest target that it has not fetched, and receives gamma^t for a target at step t. This is optimal on small
    graphs, and a good plan on others.

    Pages are numbers; ties among fetched pages go to the lower number. The `links` of a page are in document order.
    """
    sorted_targets = sorted(set(targets))
    distance = distances(links, sorted_targets, horizon)
    linked = [np.asarray(to, dtype=np.int64) for to in links]
    return {start: _reward(start, linked, sorted_targets, distance, gamma, horizon) for start in starts}


def distances(links: Sequence[Sequence[int]], targets: Sequence[int], horizon: int = HORIZON) -> Distances:
    """The number of links from each page (row) to each target (column); `FAR` if it is more than `horizon`."""
    distance = np.full((len(links), len(targets)), FAR, dtype=np.uint8)
    distance[list(targets), list(range(len(targets)))] = 0
    sources = np.array([page for page, linked in enumerate(links) if linked], dtype=np.int64)
    if not len(sources) or not len(targets):
        return distance
    sizes = np.array([len(links[page]) for page in sources])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ends = np.array([other for linked in links for other in linked], dtype=np.int64)
    for first in range(0, len(targets), AT_ONCE):
        batch = distance[:, first : first + AT_ONCE]
        for _ in range(min(horizon, len(links))):
            nearest = np.minimum.reduceat(batch[ends], begins, axis=0)
            shorter = np.minimum(batch[sources], np.where(nearest < horizon, nearest + 1, FAR).astype(np.uint8))
            if np.array_equal(shorter, batch[sources]):
                break
            batch[sources] = shorter
    return distance


def _reward(
    start: int,
    linked: Sequence[npt.NDArray[np.int64]],
    sorted_targets: list[int],
    distance: Distances,
    gamma: float,
    horizon: int,
) -> float:
    is_left = np.array([target != start for target in sorted_targets], dtype=bool)
    value = 1.0 if not is_left.all() else 0.0
    fetched, step = [start], 0
    while is_left.any():
        nearest = distance[fetched][:, is_left].min(axis=1)
        steps = int(nearest.min())
        if steps == FAR or step + steps > horizon:
            break
        page = fetched[int(nearest.argmin())]  # the first of equals, as in a breadth-first search
        for to_go in range(steps - 1, -1, -1):
            from_here = distance[linked[page]][:, is_left].min(axis=1)
            page = int(linked[page][int((from_here == to_go).argmax())])
            insort(fetched, page)
        is_left[sorted_targets.index(page)] = False
        step += steps
        value += gamma**step
    return value


def distance_bin(value: float, gamma: float, bins: int) -> int:
    """The bin of a value: bin 0 for at least 1, bin i for gamma^i up to gamma^(i - 1), the last bin for the rest.

    >>> [distance_bin(value, 0.5, 3) for value in (1.5, 1.0, 0.6875, 0.5, 0.25, 0.0)]
    [0, 0, 1, 1, 2, 2]
    """
    value = round(value, 12)
    return next((bin_number for bin_number in range(bins - 1) if value >= round(gamma**bin_number, 12)), bins - 1)


PROGRESS = 5000  # interval, in links, between progress messages


@strategy("reinforcement")
@dataclass
class Reinforcement(Parameterised):
    """Prefers links whose words predict targets, now or a few links on. Needs examples and pages that link to them."""

    bins: int = parameter(3, "number of value classes: 3 looks ahead, 2 considers only the next page", least=2)
    gamma: float = parameter(0.5, "discount of a target's value for every link on the way to it", above=0, below=1)
    depth: int = parameter(3, "how many links back from the examples the known web reaches", least=1)
    pages: int = parameter(1000, "maximum number of pages in the known web", least=2)
    links: int = parameter(20_000, "maximum number of links to learn from", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.bayes_: NaiveBayes | None = None

    # ---- learning

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        check_examples(lessons, "reinforcement")
        examples = {page.url for page in lessons.examples[: self.pages]}
        web = self._known_web(lessons, sorted(examples), rng)
        progress(f"a web of {len(web):,} pages")
        if web.keys() <= examples:
            raise BadConfig(
                "reinforcement: no page is known that links to an example",
                "train it on a bed or a crawl with pages that lead to the examples",
            )
        node_of = {url: node for node, url in enumerate(web)}
        targets = [[node_of[url] for url in links if url in node_of] for links in web.values()]
        starts = sorted({target for page_targets in targets for target in page_targets})
        rewards = discounted_rewards(targets, [node_of[url] for url in examples], self.gamma, starts)
        urls = list(web)
        values = {urls[node]: value for node, value in rewards.items()}
        progress(f"values of {len(values):,} pages")
        links = [(url, index) for url, outlinks in web.items() for index in range(len(outlinks))]
        if len(links) > self.links:
            links = [links[index] for index in sorted(rng.sample(range(len(links)), self.links))]
        self._learn(lessons, links, values, progress)

    def _known_web(self, lessons: Lessons, examples: Sequence[Url], rng: random.Random) -> dict[Url, list[Url]]:
        """The URLs of the pages around the examples, sorted, each with its outlinks.

        The pages themselves are not kept: two thousand parsed pages need too much memory.
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
        links: Sequence[tuple[Url, int]],
        values: Mapping[Url, float],
        progress: Callable[[str], None],
    ) -> None:
        """Learn the classifier and the mean Q of each bin from links, given as page and index among its outlinks."""
        bayes = NaiveBayes([str(bin_number) for bin_number in range(self.bins)])
        sums, counts = [0.0] * self.bins, [0] * self.bins
        for url, page_links in groupby(links, key=itemgetter(0)):
            page = lessons.page(url)
            if page is None:
                continue
            around = page.view(surroundings, self.analyser_)
            for _, index in page_links:
                link = page.outlinks[index]
                value = values.get(link.url, 0.0)
                bin_number = distance_bin(value, self.gamma, self.bins)
                bayes.add(str(bin_number), Counter(around.of(link.position)))
                sums[bin_number] += value
                counts[bin_number] += 1
                if not sum(counts) % PROGRESS:
                    progress(f"{sum(counts):,} of {len(links):,} links")
        self._use_classifier(bayes, [total / max(count, 1) for total, count in zip(sums, counts, strict=True)])
        progress(f"links per bin: {', '.join(map(str, counts))}")

    def _use_classifier(self, bayes: NaiveBayes, means: Sequence[float]) -> None:
        self.bayes_, self.means_ = bayes, [float(mean) for mean in means]
        self.frozen_ = FrozenPieces(bayes)

    def model(self) -> Mapping[str, Any]:
        return {
            "analyser": self.analyser_.name,
            "bayes": trained(self.bayes_, "reinforcement").save(),
            "means": list(self.means_),
        }

    def use(self, model: Mapping[str, Any]) -> None:
        check_analyser(model, self.analyser_)
        bayes = NaiveBayes.load(model["bayes"])
        if bayes.classes != tuple(map(str, range(len(model["means"])))):
            raise ValueError("the classes of this model are not bins of values")
        self._use_classifier(bayes, model["means"])

    @property
    def declaration(self) -> Declaration:
        parts = Parts((self.analyser_,), leaves=True, elements=True)
        return Declaration(parts=parts, training="required", lessons=("examples", "back-links", "pages"))

    # ---- crawling

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        trained(self.bayes_, "reinforcement")
        return [Candidate(url, math.inf) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        around = page.view(surroundings, self.analyser_)
        if not len(around.rows):
            return []
        posteriors = self.frozen_.posteriors(*around)
        scores = row_products(posteriors, np.array(self.means_)).tolist()
        names, probabilities = (
            [f"bin {name}" for name in trained(self.bayes_, "reinforcement").classes],
            posteriors.tolist(),
        )
        links = page.links
        return [
            page.offer(links[index], scores[index], parts=dict(zip(names, probabilities[index], strict=True)))
            for index in best_anchors(page.view(outlink_anchors), scores).tolist()
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()
