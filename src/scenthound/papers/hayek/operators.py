"""Conditions on words that agents may have: Or, Near, Not ([ECON], section 4). Off unless `operators` names them.

    or:beach|coast           has one of the words
    near:beach|volleyball    has both, at most 5 words apart, stop words left out
    not:hockey               does not have the word

A condition is a feature like any other: an agent bids on pages for which all its features hold. Only real agents have
conditions, which concern words of the text, and each also has a plain word, by which it is indexed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

OPERATORS = ("or", "near", "not")
APART = 5
CHANCE = 0.5  # probability that a new real agent gets a condition


def is_condition(name: str) -> bool:
    """Whether a feature name is a condition.

    >>> is_condition("not:hockey"), is_condition("anchor:not")
    (True, False)
    """
    return name.partition(":")[0] in OPERATORS and ":" in name


def operands(name: str) -> tuple[str, list[str]]:
    """The operator and the words of a condition.

    >>> operands("or:beach|coast")
    ('or', ['beach', 'coast'])
    """
    kind, _, words = name.partition(":")
    return kind, words.split("|")


def holds(name: str, has: Callable[[str], bool], order: Sequence[str]) -> bool:
    """Whether a condition holds for a page that `has` words, which come in this `order`.

    >>> words = "beach towel volleyball".split()
    >>> [holds(name, words.__contains__, words) for name in ("or:beach|coast", "near:beach|volleyball", "not:towel")]
    [True, True, False]
    """
    kind, words = operands(name)
    if kind == "not":
        return not any(map(has, words))
    if kind == "or":
        return any(map(has, words))
    return all(map(has, words)) and are_near(words[0], words[1], order)


def are_near(first: str, second: str, order: Sequence[str]) -> bool:
    """Whether two words occur at most `APART` words apart.

    >>> are_near("a", "b", "a x x x x b".split()), are_near("a", "b", "b x x x x x a".split())
    (True, False)
    """
    last = {first: -APART - 1, second: -APART - 1}
    for index, word in enumerate(order):
        if word in last:
            last[word] = index
            if abs(last[first] - last[second]) <= APART and min(last.values()) >= 0:
                return True
    return False


def draw_condition(
    rng: random.Random, kinds: Sequence[str], own: Sequence[str], others: Sequence[str], order: Sequence[str]
) -> str | None:
    """Draw a condition that holds for a page with `own` words in this `order`; `others` are words of another page."""
    kind = rng.choice(list(kinds))
    foreign = sorted(set(others) - set(own))
    if kind == "near":
        indices = [index for index in range(len(order) - 1) if order[index] != order[index + 1]]
        if not indices:
            return None
        index = rng.choice(indices)
        return f"near:{order[index]}|{order[index + 1]}"
    if not foreign or (kind == "or" and not own):
        return None
    word = rng.choice(foreign)
    return f"not:{word}" if kind == "not" else f"or:{rng.choice(list(own))}|{word}"
