"""Training: layers of pages around examples, found by following back-links, and the classifier of a taxonomy."""

from __future__ import annotations

import random
from collections.abc import Sequence

from scenthound.lessons import Taxonomy
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.ports import Lessons
from scenthound.text.taxonomy import Tree, TreeClassifier
from scenthound.text.tokens import Analyser

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
