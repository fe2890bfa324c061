"""Training: layers of pages around examples, found by following back-links, the classifier of a taxonomy, and what is
refused: training without examples, models of other words, a start without training.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from scenthound.errors import BadConfig
from scenthound.lessons import Taxonomy
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.papers.parts.taxonomy import Tree, TreeClassifier
from scenthound.ports import Lessons
from scenthound.text.tokens import Analyser

T = TypeVar("T")
MOST_BACK_LINKS = 1000  # per page: a very popular page would otherwise fill a layer by itself


def back_layers(lessons: Lessons, starts: Sequence[Url], depth: int, cap: int, rng: random.Random) -> list[list[Url]]:
    """The layers around `starts`, which is layer 0: layer i + 1 has up to `cap` new pages that link to layer i."""
    layers, seen = [list(starts)], set(starts)
    for _ in range(depth):
        linking: dict[Url, None] = {}
        for url in layers[-1]:
            linking.update(dict.fromkeys(lessons.back_links(url, MOST_BACK_LINKS)))
        layers.append(sample([url for url in linking if url not in seen], cap, rng))
        seen.update(linking)
    return layers


def sample(urls: Sequence[Url], most: int, rng: random.Random) -> list[Url]:
    """A random sample of at most `most` URLs, in their original order."""
    if len(urls) <= most:
        return list(urls)
    return [urls[index] for index in sorted(rng.sample(range(len(urls)), most))]


def learn_taxonomy(taxonomy: Taxonomy, analyser: Analyser, features: int = 0) -> TreeClassifier:
    """Train a classifier for a taxonomy. Raises `BadConfig` if it is not a tree or has no examples."""
    tree = Tree(taxonomy.children, taxonomy.good, taxonomy.root)
    documents = [
        (category, page.record.counts(analyser).to_dict())
        for category, pages in taxonomy.examples.items()
        for page in pages
    ]
    return TreeClassifier.learn(tree, documents, features)


def two_leaves(examples: Sequence[Page], others: Sequence[Page]) -> Taxonomy:
    """The smallest taxonomy: pages on topic, and all others."""
    return Taxonomy({"root": ["on topic", "other"]}, {"on topic": examples, "other": others}, ("on topic",))


def check_examples(lessons: Lessons, strategy: str) -> None:
    """Raise `BadConfig` if there are no examples to learn from."""
    if not lessons.examples:
        raise BadConfig(f"{strategy}: there are no examples to learn from", "give some on-topic pages")


def check_analyser(model: Mapping[str, Any], analyser: Analyser) -> None:
    """Raise ValueError if a model was trained on other words than this analyser gives."""
    if model["analyser"] != analyser.name:
        raise ValueError(f"it was trained with the analyser {model['analyser']}, not {analyser.name}")


def trained(learned: T | None, strategy: str) -> T:
    """What a strategy has learned. Raises `BadConfig` if it was not trained."""
    if learned is None:
        raise BadConfig(f"{strategy} can't start untrained", f"train it first: scenthound train {strategy}")
    return learned
