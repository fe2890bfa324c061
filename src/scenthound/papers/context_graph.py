"""Context-graph crawler: explore first the pages that seem nearest to a target (sheet 30.4).

    layer(page) = argmax P(layer | words)     if that probability is at least `threshold`, else "other"
    order       = layer ascending, probability descending, arrival; then the page's links in document order

Diligenti, Coetzee, Lawrence, Giles and Gori 2000. Before the crawl it learns what pages one, two, … links before a
target look like: back-links of example pages give layers, and a multinomial naive Bayes classifier has one class per
layer, with uniform prior, on a reduced vocabulary. During the crawl every fetched page is classified, and the next URL
is the first remaining link of the first page in the lowest layer.

Ours, as the sheet decides: a page belongs to the lowest layer in which it appears; the layers of each example are
capped by a seeded sample before they are merged, and each merged layer at ten times the cap; vocabulary words are
ranked by tf/max tf · ln(N/df), with tf over the layers in `vocabulary_from` and df over all. The threshold is a
probability. On long pages probabilities come close to 0 and 1; `length_norm` divides the log-likelihood by the number
of vocabulary words in the page before normalising. A page without vocabulary words is equally probable in every layer.
The score in a trail is the number of queues behind the page's own, plus the probability.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.parts.page_queues import PAGE, POSITION, PageQueues
from scenthound.papers.parts.training_pages import back_layers, check_analyser, check_examples, sample, trained
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
from scenthound.text.term_counts import Document
from scenthound.text.tokens import Analyser

MERGED = 10  # a merged layer has at most this many times `cap` pages


class LayerGuess(NamedTuple):
    """The layer that a page was assigned to."""

    layer: int
    """The layer's number; "other" is the number of layers."""
    probability: float
    """The probability of the best layer, even if it is below the threshold."""


@strategy("context-graph")
@dataclass
class ContextGraph(Parameterised):
    """Prefers pages that look close to a target, whatever they are about. Needs examples and their back-links."""

    layers: int = parameter(3, "number of layers, each one link further back from the examples", least=1)
    k: int = parameter(40, "words in the vocabulary", least=1)
    vocabulary_from: str = parameter("0", 'layers whose words make the vocabulary, such as "0", "0 1" or "all"')
    threshold: float = parameter(0.5, "probability below which a page belongs to no layer", least=0, most=1)
    length_norm: bool = parameter(
        False, "normalise by page length, so that long pages do not get extreme probabilities"
    )
    cap: int = parameter(300, "maximum number of pages in a layer of one example", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sources_ = chosen_layers(self.vocabulary_from, self.layers)
        self.analyser_ = Analyser(self.stop_words, self.stem)
        self.bayes_: NaiveBayes | None = None
        self.queues_ = PageQueues()

    # ---- learning

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        check_examples(lessons, "context-graph")
        layers = self._merged_layers(lessons, rng, progress)
        if not any(layers[1:]):
            raise BadConfig(
                "context-graph: no page is known that links to an example",
                "train it on a bed or a crawl with pages that lead to the examples",
            )
        self.bayes_ = layer_classifier(layers, self.sources_, self.k)
        if not self.bayes_.size:
            raise BadConfig("context-graph: the examples contain no words", "give examples with text")
        progress(f"vocabulary of {self.bayes_.size} words")

    def _merged_layers(
        self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]
    ) -> list[list[Mapping[str, int]]]:
        """The word counts of all pages, layer by layer."""
        examples = {page.url: page for page in lessons.examples}
        lowest = dict.fromkeys(examples, 0)
        for url in examples:
            for depth, members in enumerate(back_layers(lessons, [url], self.layers, self.cap, rng)):
                for member in members:
                    lowest[member] = min(depth, lowest.get(member, depth))
        layers: list[list[Mapping[str, int]]] = []
        for depth in range(self.layers + 1):
            members = sample([url for url, layer in lowest.items() if layer == depth], MERGED * self.cap, rng)
            pages = (examples.get(url) or lessons.page(url) for url in members)  # one at a time: they may be large
            layers.append([page.record.counts(self.analyser_).to_dict() for page in pages if page is not None])
            progress(f"layer {depth}: {len(layers[-1])} pages")
        return layers

    def model(self) -> Mapping[str, Any]:
        return {"analyser": self.analyser_.name, "bayes": trained(self.bayes_, "context-graph").save()}

    def use(self, model: Mapping[str, Any]) -> None:
        check_analyser(model, self.analyser_)
        bayes = NaiveBayes.load(model["bayes"])
        if bayes.classes != tuple(map(str, range(len(bayes.classes)))) or bayes.vocabulary is None:
            raise ValueError("the classes of this model are not layers of a context graph")
        self.bayes_ = bayes

    @property
    def declaration(self) -> Declaration:
        parts = Parts((self.analyser_,))
        return Declaration(parts=parts, training="required", lessons=("examples", "back-links", "pages"))

    # ---- crawling

    def frontier(self, bound: int | None) -> Frontier:
        self.queues_ = PageQueues(bound)
        return self.queues_

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        trained(self.bayes_, "context-graph")
        self.queues_.clear()
        self.pages_ = 0
        return [
            Candidate(url, math.inf, {PAGE: -1, POSITION: position})
            for position, url in enumerate(dict.fromkeys(seeds))
        ]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.queues_.settle(page.candidate.url)
        number, self.pages_ = self.pages_, self.pages_ + 1
        bayes = trained(self.bayes_, "context-graph")
        layer, probability = classify(bayes, page.record.counts(self.analyser_), self.threshold, self.length_norm)
        score = len(bayes.classes) - layer + probability
        parts = {"layer": float(layer), "probability": probability}
        return [
            page.offer(link, score, {PAGE: number, POSITION: position}, parts)
            for position, link in enumerate(page.outlinks)
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.queues_.settle(miss.candidate.url)
        return ()

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        return {"pages": self.pages_, "queues": self.queues_.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self.pages_ = state["pages"]
        self.queues_.load(state["queues"])


def layer_classifier(layers: Sequence[Sequence[Mapping[str, int]]], sources: Iterable[int], k: int) -> NaiveBayes:
    """Train a classifier with one class per layer, in order, on the `k` best words of the layers `sources`."""
    vocabulary = [word for word, _ in best_words(layers, sources, k)]
    bayes = NaiveBayes([str(layer) for layer in range(len(layers))], uniform=True, vocabulary=vocabulary)
    for layer, documents in enumerate(layers):
        for counts in documents:
            bayes.add(str(layer), counts)
    return bayes


def best_words(
    layers: Sequence[Sequence[Mapping[str, int]]], sources: Iterable[int], k: int
) -> list[tuple[str, float]]:
    """The `k` words of the layers `sources` with the largest tf/max tf · ln(N/df), with that value.

    Ties are in alphabetical order.
    """
    documents = [counts for layer in layers for counts in layer]
    df = Counter(word for counts in documents for word in counts)
    tf: Counter[str] = Counter()
    for layer in sources:
        for counts in layers[layer] if layer < len(layers) else ():
            tf.update(counts)
    max_tf = max(tf.values(), default=1)
    scores = {word: count / max_tf * math.log(len(documents) / df[word]) for word, count in tf.items()}
    ranked = sorted(scores.items(), key=lambda item: (-round(item[1], 12), item[0]))
    return ranked[:k]


def classify(bayes: NaiveBayes, counts: Document, threshold: float, length_norm: bool = False) -> LayerGuess:
    """The most probable layer, the lower one if two tie; "other" if its probability is below the threshold."""
    probabilities = layer_probabilities(bayes, counts, length_norm)
    rounded = [round(probability, 12) for probability in probabilities]
    best = max(rounded)
    winner = rounded.index(best)
    layer = winner if best >= threshold else len(probabilities)
    return LayerGuess(layer, probabilities[winner])


def layer_probabilities(bayes: NaiveBayes, counts: Document, length_norm: bool = False) -> list[float]:
    """P(layer | page) in the order of the layers; 0 for a layer without pages."""
    logs = bayes.log_likelihoods(counts)
    words = bayes.known_words(counts) if length_norm else 1
    best = max(logs)
    weights = [
        math.exp((log_probability - best) / max(words, 1)) if log_probability > -math.inf else 0.0
        for log_probability in logs
    ]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def chosen_layers(text: str, layers: int) -> tuple[int, ...]:
    """Parse `vocabulary_from` into layer numbers."""
    if str(text).strip().lower() == "all":
        return tuple(range(layers + 1))
    try:
        chosen = tuple(sorted({int(part) for part in str(text).replace(",", " ").split()}))
    except ValueError:
        chosen = ()
    if not chosen or chosen[0] < 0 or chosen[-1] > layers:
        raise BadConfig(
            f"context-graph: `vocabulary_from` can't be {text!r}",
            f'give layers from 0 to {layers}, such as "0" or "0 1", or "all"',
        )
    return chosen
