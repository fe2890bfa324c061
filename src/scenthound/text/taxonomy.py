"""A tree of categories that classifies pages (sheet 30.3): a classifier at every inner node.

P(root|d) = 1 and P(c|d) = P(parent|d) · P(c | parent, d), the last factor from a multinomial classifier at the parent
that was trained on all documents below each child, priors by their counts. R(d) is the sum over the good categories.
Only the classifiers above good categories are asked for R(d); the best leaf is found without asking those of branches
that can't hold it.

Chakrabarti et al. 1999 by way of [CHAP] eq. 6. A page that lies in an inner category itself teaches the classifiers
above it and not its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from heapq import heappop, heappush
from typing import Any, NamedTuple

from scenthound.errors import BadConfig
from scenthound.model import DECIMALS
from scenthound.text.fisher import Fisher
from scenthound.text.frozen import Frozen, Numbered, numbered
from scenthound.text.naive_bayes import NaiveBayes, log_sum
from scenthound.text.term_counts import Document, TermCounts
from scenthound.text.vectors import Counts
from scenthound.text.vocabulary import Vocabulary

FURTHEST = 1e9  # log-odds of what is certain


class Relevance(NamedTuple):
    """How far a page is on topic."""

    probability: float
    """R(d): from 0 to 1, and near one of them on long pages."""
    log_odds: float
    """ln R(d) - ln(1 - R(d)), which tells long pages apart too."""
    good: Mapping[str, float]
    """P(c|d) of each good category."""


class Tree:
    """A taxonomy's categories, known to be a tree whose good ones can be told from others."""

    def __init__(self, children: Mapping[str, Sequence[str]], good: Sequence[str], root: str = "root") -> None:
        self.children = {name: tuple(below) for name, below in children.items() if below}
        self.good, self.root = tuple(good), root
        self.parents: dict[str, str] = {}
        for name, below in self.children.items():
            for child in below:
                if child in self.parents or child == root:
                    raise _twice(child, self.parents.get(child, ""), name, root)
                self.parents[child] = name
        self.order = self._from_the_root()
        """All categories, each after its parent, children in the order given."""
        self.places = {name: place for place, name in enumerate(self.order)}
        self.leaves = [name for name in self.order if name not in self.children]
        self._check_good()
        above = {one for name in self.good for one in self._ancestors(name)}
        self.asked = {name: None for name in self.order if name in above}
        """Inner categories whose classifiers R(d) needs, from the root down."""

    def _from_the_root(self) -> list[str]:
        order, waiting = [], [self.root]
        while waiting:  # every category has one parent and the root has none, so this ends
            name = waiting.pop()
            order.append(name)
            waiting.extend(reversed(self.children.get(name, ())))
        lost = sorted((self.children.keys() | self.parents.keys()) - set(order))
        if lost and not self.children.get(self.root):
            raise BadConfig(f"the taxonomy has no root called `{self.root}`", f"put `{lost[0]}` below `{self.root}`")
        if lost:
            raise BadConfig(
                f"the categories {_listed(lost)} go round in a circle or hang in the air",
                f"every category must be below `{self.root}`, by one way only",
            )
        return order

    def _check_good(self) -> None:
        known = set(self.order)
        for name in self.good:
            if name not in known:
                near = get_close_matches(name, known - {self.root}, n=1, cutoff=0.4)
                way_out = f"did you mean `{near[0]}`?" if near else "there are: " + _listed(self.order[1:])
                raise BadConfig(f"no category `{name}` that could be good", way_out)
            above = next((one for one in self._ancestors(name) if one in self.good), None)
            if above is not None:
                raise BadConfig(
                    f"`{above}` and `{name}` below it are both marked good", f"mark one: `{above}` has `{name}` in it"
                )
        if not self.good:
            raise BadConfig("no category is marked good", "mark at least one of: " + _listed(self.order[1:]))
        if all(self.is_good(name) for name in self.leaves):
            raise BadConfig(
                "every category is good: there is nothing to tell it from",
                "add a category of pages that are not wanted",
            )

    def _ancestors(self, name: str) -> Iterable[str]:
        while name != self.root:
            name = self.parents[name]
            yield name

    def is_good(self, name: str) -> bool:
        """Whether it or one above it is marked good: then the hard rule follows links."""
        return name in self.good or any(one in self.good for one in self._ancestors(name))

    def path(self, name: str) -> list[tuple[str, str]]:
        """Each classifier above a category, with what it should answer for a document there."""
        way = [name, *self._ancestors(name)]
        return [(way[place + 1], way[place]) for place in range(len(way) - 1)]


class TreeClassifier:
    """A tree and what was learned at each of its inner categories."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.nodes = {name: NaiveBayes(below) for name, below in tree.children.items()}
        self._frozen: dict[str, Frozen] = {}
        self._vocabulary = Vocabulary()
        self._asked: tuple[Document, Numbered] | None = None  # the last document

    @classmethod
    def learn(cls, tree: Tree, documents: Sequence[tuple[str, Mapping[str, int]]], features: int = 0) -> TreeClassifier:
        """A classifier for documents with their categories. `features`: words kept per inner category, those with the
        largest Fisher discriminant; 0 keeps all. `BadConfig` for a category without words to learn from."""
        made = cls(tree)
        for category, _ in documents:
            if category not in tree.parents and category != tree.root:
                raise BadConfig(f"there are pages of `{category}`, which the taxonomy lacks", "add it, or leave them")
        made._check_taught(documents)
        if features:
            taught: dict[str, list[tuple[str, Mapping[str, int]]]] = {name: [] for name in tree.children}
            for category, counts in documents:
                for node, child in tree.path(category):
                    taught[node].append((child, counts))
            for name, below in tree.children.items():
                made.nodes[name] = NaiveBayes(below, vocabulary=_best_words(below, taught[name], features))
        for category, counts in documents:
            made.add(category, counts)
        return made

    def _check_taught(self, documents: Sequence[tuple[str, Mapping[str, int]]]) -> None:
        taught = {name for category, counts in documents if counts for _, name in self.tree.path(category)}
        empty = [name for name in self.tree.order[1:] if name not in taught]
        if empty:
            raise BadConfig(
                f"nothing can be learned of the category `{empty[0]}`: it has no example with words in it",
                "give it examples, or take it out of the taxonomy",
            )

    def add(self, category: str, counts: Document, weight: float = 1.0) -> None:
        """Count a document for a category and all above it. A negative weight takes one back."""
        for node, child in self.tree.path(category):
            self.nodes[node].add(child, counts, weight)
            self._frozen.pop(node, None)

    def freeze(self, nodes: Iterable[str] | None = None) -> None:
        """Make classifiers ready to be asked, as happens anyway when they are: those of R(d), if none are named."""
        for name in self.tree.asked if nodes is None else nodes:
            if name not in self._frozen:
                self._frozen[name] = Frozen(self.nodes[name], self._vocabulary)
                self._asked = None

    # ---- asking

    def relevance(self, counts: Document, length: int = 0) -> Relevance:
        """How far a page is on topic. With a `length` a longer page is no surer than one of so many words."""
        document = self._read(counts, self.tree.asked)
        logs = {self.tree.root: 0.0}
        good: dict[str, float] = {}
        rest: list[float] = []
        for node in self.tree.asked:
            for child, log in self._below(node, logs[node], document, length):
                if child in self.tree.good:
                    good[child] = log
                elif child in self.tree.asked:
                    logs[child] = log
                else:
                    rest.append(log)
        inside, outside = log_sum(list(good.values())), log_sum(rest)
        odds = inside - outside if max(inside, outside) > -math.inf else 0.0
        each = {name: math.exp(log) for name, log in good.items()}
        return Relevance(min(1.0, math.fsum(each.values())), max(-FURTHEST, min(FURTHEST, odds)), each)

    def best_leaf(self, counts: Document) -> tuple[str, float]:
        """The leaf with the largest P(c|d), and that; of equal ones the first in the tree."""
        document, places = self._read(counts, self.nodes), self.tree.places
        waiting = [(-1.0, False, 0, self.tree.root, 0.0)]
        while True:  # P never grows on the way down: the first leaf to come up is the best
            _, is_leaf, _, name, log = heappop(waiting)
            if is_leaf:
                return name, math.exp(log)
            for child, below in self._below(name, log, document):
                key = (-round(math.exp(below), DECIMALS), child not in self.nodes, places[child], child, below)
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
        """The most probable leaf among the good ones, or among the others."""
        found = self.probabilities(counts)
        return max((name for name in self.tree.leaves if self.tree.is_good(name) == good), key=found.__getitem__)

    def _read(self, counts: Document, nodes: Iterable[str]) -> Numbered:
        """A document for these classifiers, which are made ready."""
        self.freeze(nodes)
        if self._asked is None or self._asked[0] is not counts:
            document = numbered(counts, self._vocabulary)
            if not isinstance(counts, Counts | TermCounts):  # others may change before they are asked for again
                return document
            self._asked = (counts, document)
        return self._asked[1]

    def _below(self, node: str, log: float, document: Numbered, length: int = 0) -> Iterable[tuple[str, float]]:
        frozen = self._frozen[node]
        found = frozen.log_posteriors(document, length) + log
        return zip(frozen.classes, found.tolist(), strict=True)

    # ---- keeping

    def save(self) -> dict[str, Any]:
        return {
            "children": {name: list(below) for name, below in self.tree.children.items()},
            "good": list(self.tree.good),
            "root": self.tree.root,
            "nodes": {name: node.save() for name, node in self.nodes.items()},
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> TreeClassifier:
        """Raises ValueError, KeyError or TypeError for what `save` did not give."""
        try:
            made = cls(Tree(state["children"], state["good"], state["root"]))
        except BadConfig as error:
            raise ValueError(error.message) from None
        for name, node in made.nodes.items():
            loaded = NaiveBayes.load(state["nodes"][name])
            if loaded.classes != node.classes or loaded.events != "multinomial":
                raise ValueError("a saved taxonomy has classifiers for other categories than its own")
            made.nodes[name] = loaded
        return made


def _best_words(
    classes: Sequence[str], documents: Sequence[tuple[str, Mapping[str, int]]], features: int
) -> Sequence[str] | None:
    """The words that tell classes apart best; None for all, where there are no more than asked for."""
    if len(set[str]().union(*(counts for _, counts in documents))) <= features:
        return None
    fisher = Fisher(classes)
    for label, counts in documents:
        fisher.add(label, counts)
    return fisher.best(features)


def _twice(child: str, one: str, other: str, root: str) -> BadConfig:
    if child in (root, other):
        return BadConfig(f"the category `{child}` is below itself", f"take it out of what is below `{other}`")
    if one == other:
        return BadConfig(f"the category `{child}` is twice below `{one}`", "name it once")
    return BadConfig(f"the category `{child}` is below `{one}` and below `{other}`", "choose one; names are unique")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
