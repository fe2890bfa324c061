"""From a taxonomy with example pages to a classifier."""

from __future__ import annotations

from collections.abc import Sequence

from scenthound.lessons import Taxonomy
from scenthound.page.page import Page
from scenthound.text.taxonomy import Tree, TreeClassifier
from scenthound.text.tokens import Analyser


def learn_taxonomy(taxonomy: Taxonomy, analyser: Analyser, features: int = 0) -> TreeClassifier:
    """A classifier for a taxonomy. `BadConfig` if it is no tree, or has nothing to learn from."""
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
