"""Conditions of an agent beyond "has this word": Or, Near, Not ([ECON], section 4). Off unless `operators` names them.

    or:beach|coast           has one of the words
    near:beach|volleyball    has both, at most 5 words apart, stop words left out
    not:hockey               does not have the word

A condition is a feature like any other, and an agent that has it bids where all its features hold. Only real agents
have conditions, on words of the text, and always with a plain word beside: that is how they are found.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

OPERATORS = ("or", "near", "not")
APART = 5
CHANCE = 0.5  # of a new real agent to get a condition


def is_condition(name: str) -> bool:
    """
    >>> is_condition("not:hockey"), is_condition("anchor:not")
    (True, False)
    """
    return name.partition(":")[0] in OPERATORS and ":" in name


def operands(name: str) -> tuple[str, list[str]]:
    """
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
    """
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


def drawn_condition(
    rng: random.Random, kinds: Sequence[str], own: Sequence[str], others: Sequence[str], order: Sequence[str]
) -> str | None:
    """A condition that holds for a page with `own` words in this `order`; `others` are words of another page."""
    kind = rng.choice(list(kinds))
    strange = sorted(set(others) - set(own))
    if kind == "near":
        places = [index for index in range(len(order) - 1) if order[index] != order[index + 1]]
        if not places:
            return None
        index = rng.choice(places)
        return f"near:{order[index]}|{order[index + 1]}"
    if not strange or (kind == "or" and not own):
        return None
    word = rng.choice(strange)
    return f"not:{word}" if kind == "not" else f"or:{rng.choice(list(own))}|{word}"
