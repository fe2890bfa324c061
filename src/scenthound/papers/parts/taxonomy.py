"""A tree of categories that classifies pages (sheet 30.3): a classifier at every inner node, on the words that Fisher's
discriminant chooses.

For a word t, let x be its share of the words of a document, and μ(c) the mean of x over the documents of class c. The
discriminant is the sum over pairs of classes of (μ(c) - μ(c'))², divided by the sum over classes of the mean of
(x - μ(c))². It is infinite for a word that differs between classes but never within one.

P(root|d) = 1 and P(c|d) = P(parent|d) · P(c | parent, d), the last factor from a multinomial classifier at the parent
that was trained on all documents below each child, with their counts as priors. R(d) is the sum over the good
categories. R(d) uses only the classifiers above good categories; the best leaf is found without the classifiers of
branches that can't contain it.

Source: Chakrabarti et al. 1998 for the discriminant, 1999 for the tree, as in [CHAP] eq. 6. A page in an inner category
trains the classifiers above it, but not its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from heapq import heappop, heappush
from typing import Any, NamedTuple

from scenthound.errors import BadConfig
from scenthound.model import DECIMALS
from scenthound.papers.parts.naive_bayes import Frozen, NaiveBayes, Numbered, log_sum, numbered
from scenthound.text.term_counts import Document, TermCounts
from scenthound.text.vectors import Counts
from scenthound.text.vocabulary import Vocabulary


class Fisher:
    """Computes the discriminant from documents added one by one; only sums per word and class are kept."""

    def __init__(self, classes: Sequence[str]) -> None:
        self._documents = dict.fromkeys(classes, 0)
        self._sums: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)

    def add(self, label: str, counts: Mapping[str, int]) -> None:
        words = sum(counts.values())
        if not words:
            return
        self._documents[label] += 1
        for word, times in counts.items():
            share = times / words
            total, total_of_squares = self._sums[word].get(label, (0.0, 0.0))
            self._sums[word][label] = (total + share, total_of_squares + share * share)

    def value(self, word: str) -> float:
        classes = {label: documents for label, documents in self._documents.items() if documents}
        sums = self._sums.get(word, {})
        means = {label: sums[label][0] / documents for label, documents in classes.items() if label in sums}
        within = math.fsum(
            max(0.0, sums[label][1] / classes[label] - mean * mean) for label, mean in means.items()
        )  # a class without the word has neither mean nor spread
        total = math.fsum(means.values())
        between = len(classes) * math.fsum(mean * mean for mean in means.values()) - total * total
        if round(between, 2 * DECIMALS) <= 0.0:
            return 0.0
        return between / within if round(within, 2 * DECIMALS) > 0.0 else math.inf

    def best(self, most: int) -> list[str]:
        """The `most` words with the largest discriminant, ties in alphabetical order."""
        return sorted(self._sums, key=lambda word: (-round(self.value(word), DECIMALS), word))[:most]


FURTHEST = 1e9  # log-odds of a certain event


class Relevance(NamedTuple):
    """How relevant a page is to the topic."""

    probability: float
    """R(d): from 0 to 1, and close to either for long pages."""
    log_odds: float
    """ln R(d) - ln(1 - R(d)), which also distinguishes between long pages."""
    good: Mapping[str, float]
    """P(c|d) of each good category."""


class Tree:
    """The categories of a taxonomy. They are checked to be a tree, with both good categories and others."""

    def __init__(self, children: Mapping[str, Sequence[str]], good: Sequence[str], root: str = "root") -> None:
        self.children = {name: tuple(below) for name, below in children.items() if below}
        self.good, self.root = tuple(good), root
        self.parents: dict[str, str] = {}
        for name, below in self.children.items():
            for child in below:
                if child in self.parents or child == root:
                    raise _twice(child, self.parents.get(child, ""), name, root)
                self.parents[child] = name
        self.order = self._ordered()
        """All categories, each after its parent, children in their given order."""
        self.positions = {name: position for position, name in enumerate(self.order)}
        self.leaves = [name for name in self.order if name not in self.children]
        self._check_good()
        above = {ancestor for name in self.good for ancestor in self._ancestors(name)}
        self.above_good = {name: None for name in self.order if name in above}
        """The inner categories above good ones, from the root down: their classifiers are needed for R(d)."""

    def _ordered(self) -> list[str]:
        order, waiting = [], [self.root]
        while waiting:  # terminates: every category has one parent, and the root has none
            name = waiting.pop()
            order.append(name)
            waiting.extend(reversed(self.children.get(name, ())))
        lost = sorted((self.children.keys() | self.parents.keys()) - set(order))
        if lost and not self.children.get(self.root):
            raise BadConfig(f"the taxonomy has no root called `{self.root}`", f"put `{lost[0]}` below `{self.root}`")
        if lost:
            raise BadConfig(
                f"the categories {_listed(lost)} form a cycle or are not below the root",
                f"put every category below `{self.root}`, once",
            )
        return order

    def _check_good(self) -> None:
        categories = set(self.order)
        for name in self.good:
            if name not in categories:
                similar = get_close_matches(name, categories - {self.root}, n=1, cutoff=0.4)
                hint = f"did you mean `{similar[0]}`?" if similar else "categories: " + _listed(self.order[1:])
                raise BadConfig(f"there is no category `{name}` to mark as good", hint)
            outer = next((ancestor for ancestor in self._ancestors(name) if ancestor in self.good), None)
            if outer is not None:
                raise BadConfig(
                    f"`{outer}` and `{name}` below it are both marked good", f"mark one: `{outer}` includes `{name}`"
                )
        if not self.good:
            raise BadConfig("no category is marked good", "mark at least one of: " + _listed(self.order[1:]))
        if all(self.is_good(name) for name in self.leaves):
            raise BadConfig(
                "every category is good, so there is nothing to distinguish them from",
                "add a category of pages that are off topic",
            )

    def _ancestors(self, name: str) -> Iterable[str]:
        while name != self.root:
            name = self.parents[name]
            yield name

    def is_good(self, name: str) -> bool:
        """Whether the category, or one above it, is marked good, so that the hard rule follows links."""
        return name in self.good or any(ancestor in self.good for ancestor in self._ancestors(name))

    def path(self, name: str) -> list[tuple[str, str]]:
        """Each classifier above a category, with the correct class for a document of the category."""
        chain = [name, *self._ancestors(name)]
        return [(chain[index + 1], chain[index]) for index in range(len(chain) - 1)]


class TreeClassifier:
    """A tree with a classifier at each inner category."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.nodes = {name: NaiveBayes(below) for name, below in tree.children.items()}
        self._frozen: dict[str, Frozen] = {}
        self._vocabulary = Vocabulary()
        self._last_read: tuple[Document, Numbered] | None = None  # the last document that was read

    @classmethod
    def learn(cls, tree: Tree, documents: Sequence[tuple[str, Mapping[str, int]]], features: int = 0) -> TreeClassifier:
        """Train on (category, document) pairs. `features`: words kept per inner category, those with the largest Fisher
        discriminant; 0 keeps all. Raises `BadConfig` for a category without words to learn from."""
        classifier = cls(tree)
        for category, _ in documents:
            if category not in tree.parents and category != tree.root:
                raise BadConfig(
                    f"there are pages of `{category}`, which is not in the taxonomy",
                    "add the category, or leave out the pages",
                )
        classifier._check_taught(documents)
        if features:
            examples: dict[str, list[tuple[str, Mapping[str, int]]]] = {name: [] for name in tree.children}
            for category, counts in documents:
                for node, child in tree.path(category):
                    examples[node].append((child, counts))
            for name, below in tree.children.items():
                classifier.nodes[name] = NaiveBayes(below, vocabulary=_best_words(below, examples[name], features))
        for category, counts in documents:
            classifier.add(category, counts)
        return classifier

    def _check_taught(self, documents: Sequence[tuple[str, Mapping[str, int]]]) -> None:
        taught = {name for category, counts in documents if counts for _, name in self.tree.path(category)}
        empty = [name for name in self.tree.order[1:] if name not in taught]
        if empty:
            raise BadConfig(
                f"nothing can be learned about the category `{empty[0]}`: it has no example with words",
                "give it examples, or remove it from the taxonomy",
            )

    def add(self, category: str, counts: Document, weight: float = 1.0) -> None:
        """Count a document for a category and all above it. A negative weight takes a document back."""
        for node, child in self.tree.path(category):
            self.nodes[node].add(child, counts, weight)
            self._frozen.pop(node, None)

    def freeze(self, nodes: Iterable[str] | None = None) -> None:
        """Prepare classifiers before the first query has to do it; by default those that R(d) needs."""
        for name in self.tree.above_good if nodes is None else nodes:
            if name not in self._frozen:
                self._frozen[name] = Frozen(self.nodes[name], self._vocabulary)
                self._last_read = None

    # ---- classifying

    def relevance(self, counts: Document, length: int = 0) -> Relevance:
        """How relevant a page is. With a `length`, a longer page is no more certain than one of `length` words."""
        document = self._read(counts, self.tree.above_good)
        logs = {self.tree.root: 0.0}
        good: dict[str, float] = {}
        rest: list[float] = []
        for node in self.tree.above_good:
            for child, log in self._below(node, logs[node], document, length):
                if child in self.tree.good:
                    good[child] = log
                elif child in self.tree.above_good:
                    logs[child] = log
                else:
                    rest.append(log)
        inside, outside = log_sum(list(good.values())), log_sum(rest)
        odds = inside - outside if max(inside, outside) > -math.inf else 0.0
        probabilities = {name: math.exp(log) for name, log in good.items()}
        return Relevance(
            min(1.0, math.fsum(probabilities.values())), max(-FURTHEST, min(FURTHEST, odds)), probabilities
        )

    def best_leaf(self, counts: Document) -> tuple[str, float]:
        """The leaf with the largest P(c|d) (the first in the tree if several are equal), and that probability."""
        document, positions = self._read(counts, self.nodes), self.tree.positions
        waiting = [(-1.0, False, 0, self.tree.root, 0.0)]
        while True:  # P never grows on the way down, so the first leaf that is popped is the best
            _, is_leaf, _, name, log = heappop(waiting)
            if is_leaf:
                return name, math.exp(log)
            for child, below in self._below(name, log, document):
                key = (-round(math.exp(below), DECIMALS), child not in self.nodes, positions[child], child, below)
                heappush(waiting, key)

    def probabilities(self, counts: Document) -> dict[str, float]:
        """P(c|d) of all categories."""
        document = self._read(counts, self.nodes)
        logs = {self.tree.root: 0.0}
        for name in self.tree.order:
            if name in self.nodes:
                logs.update(self._below(name, logs[name], document))
        return {name: math.exp(logs[name]) for name in self.tree.order}

    def nearest(self, counts: Document, good: bool) -> str:
        """The most probable leaf among the good ones if `good`, else among the others."""
        probabilities = self.probabilities(counts)
        return max(
            (name for name in self.tree.leaves if self.tree.is_good(name) == good), key=probabilities.__getitem__
        )

    def _read(self, counts: Document, nodes: Iterable[str]) -> Numbered:
        """Convert a document to word ids, and prepare these classifiers for it."""
        self.freeze(nodes)
        if self._last_read is None or self._last_read[0] is not counts:
            document = numbered(counts, self._vocabulary)
            if not isinstance(counts, Counts | TermCounts):  # other mappings may change before the next query
                return document
            self._last_read = (counts, document)
        return self._last_read[1]

    def _below(self, node: str, log: float, document: Numbered, length: int = 0) -> Iterable[tuple[str, float]]:
        frozen = self._frozen[node]
        logs = frozen.log_posteriors(document, length) + log
        return zip(frozen.classes, logs.tolist(), strict=True)

    # ---- saving

    def save(self) -> dict[str, Any]:
        return {
            "children": {name: list(below) for name, below in self.tree.children.items()},
            "good": list(self.tree.good),
            "root": self.tree.root,
            "nodes": {name: node.save() for name, node in self.nodes.items()},
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> TreeClassifier:
        """The inverse of `save`. Raises ValueError, KeyError or TypeError for anything else."""
        try:
            classifier = cls(Tree(state["children"], state["good"], state["root"]))
        except BadConfig as error:
            raise ValueError(error.message) from None
        for name, node in classifier.nodes.items():
            loaded = NaiveBayes.load(state["nodes"][name])
            if loaded.classes != node.classes or loaded.events != "multinomial":
                raise ValueError("a saved taxonomy has classifiers for other categories than its own")
            classifier.nodes[name] = loaded
        return classifier


def _best_words(
    classes: Sequence[str], documents: Sequence[tuple[str, Mapping[str, int]]], features: int
) -> Sequence[str] | None:
    """The words that separate classes best; None if there are no more than `features`, so that all are used."""
    if len(set[str]().union(*(counts for _, counts in documents))) <= features:
        return None
    fisher = Fisher(classes)
    for label, counts in documents:
        fisher.add(label, counts)
    return fisher.best(features)


def _twice(child: str, first_parent: str, second_parent: str, root: str) -> BadConfig:
    if child in (root, second_parent):
        return BadConfig(
            f"the category `{child}` is below itself", f"remove it from the categories below `{second_parent}`"
        )
    if first_parent == second_parent:
        return BadConfig(f"the category `{child}` is twice below `{first_parent}`", "list it once")
    return BadConfig(
        f"the category `{child}` is below `{first_parent}` and below `{second_parent}`", "choose one; names are unique"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
