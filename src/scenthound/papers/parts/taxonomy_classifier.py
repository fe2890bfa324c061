"""Train a tree classifier from a taxonomy with example pages."""

from __future__ import annotations

from collections.abc import Sequence

from scenthound.lessons import Taxonomy
from scenthound.page.page import Page
from scenthound.text.taxonomy import Tree, TreeClassifier
from scenthound.text.tokens import Analyser


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
