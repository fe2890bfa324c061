"""The text of simple pages: sentences of words drawn according to Zipf's law from the vocabulary of a subject.

In a *word table* each word occurs in proportion to its probability, so that drawing a word is one look-up. There is a
table for each leaf, facet and strength: a page is about one of four facets of its subject, and only the first facet
uses the subject's name freely. So some pages on a subject never name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from scenthound.lab.generate import subjects
from scenthound.lab.generate.rng import below

_BITS = 11
_SLOTS = 1 << _BITS
FACETS = 4
STRENGTHS = (0.12, 0.24, 0.40)
"""Share of a page's words that belong to its subject."""
_COUSINS = 0.05  # share of words from other subjects of the same area
_SHIFT = 32 - _BITS
_SENTENCES = tuple((text, text.count("%s")) for text in subjects.SENTENCES)
_LINKS = tuple((text, text.count("%s")) for text in subjects.LINK_SENTENCES)


def _fill(slots: int, ranked: Sequence[tuple[str, float]]) -> list[str]:
    """Divide `slots` entries among words by weight. Only adds and divides, since IEEE 754 fixes their results."""
    total, cumulative, table = sum(weight for _, weight in ranked), 0.0, list[str]()
    for word, weight in ranked:
        cumulative += weight
        table += [word] * (int(cumulative / total * slots + 0.5) - len(table))
    return table


def _zipf(ranked: Sequence[str]) -> list[tuple[str, float]]:
    return [(word, 1.0 / (rank + 3)) for rank, word in enumerate(ranked)]


@lru_cache(maxsize=1024)
def word_table(leaf: int, facet: int, strength: int) -> tuple[str, ...]:
    """The words of a page about `leaf` (-1: no particular subject)."""
    if leaf < 0:
        return tuple(_fill(_SLOTS, _zipf(subjects.GENERAL)))
    subject = subjects.LEAVES[leaf]
    favoured = [
        (word, weight * (5.0 if rank % FACETS == facet else 1.0))
        for rank, (word, weight) in enumerate(_zipf(subject.words))
    ]
    if facet == 0:
        favoured += [(word, 0.4) for word in subject.name.split()]
        favoured += [(word, 0.1) for word in subject.path[0].split()]
    area = subjects.LEAVES[leaf // 6 * 6 : leaf // 6 * 6 + 6]
    cousins = [word for sibling in area for word in sibling.words[:20]]
    on_topic, near = int(_SLOTS * STRENGTHS[strength]), int(_SLOTS * _COUSINS)
    table = _fill(on_topic, favoured) + _fill(near, [(word, 1.0) for word in cousins])
    return tuple(table + _fill(_SLOTS - len(table), _zipf(subjects.GENERAL)))


def sentence(table: Sequence[str], draws: Iterator[int]) -> str:
    """One sentence of words drawn from a word table."""
    text, slots = _SENTENCES[next(draws) * len(_SENTENCES) >> 32]
    return text % tuple([table[next(draws) >> _SHIFT] for _ in range(slots)])


def sentences(count: int, table: Sequence[str], draws: Iterator[int]) -> str:
    return " ".join([sentence(table, draws) for _ in range(count)])


def link_sentence(anchor: str, table: Sequence[str], draws: Iterator[int]) -> str:
    """A sentence around an `<a>` element, with words from the table of the linked page's subject."""
    text, slots = _LINKS[next(draws) * len(_LINKS) >> 32]
    return (text % tuple([table[next(draws) >> _SHIFT] for _ in range(slots)])).replace("{}", anchor)


def title(leaf: int, bits: int) -> str:
    """The title of a page about `leaf`. One in ten names the subject; three in twenty have only general words."""
    draw = bits % 20
    ending = subjects.TITLE_ENDINGS[(bits >> 8) % len(subjects.TITLE_ENDINGS)]
    if leaf < 0 or draw < 3:
        first = subjects.GENERAL[(bits >> 16) % len(subjects.GENERAL)]
        second = subjects.GENERAL[(bits >> 32) % len(subjects.GENERAL)]
        return f"{first.capitalize()} and {second} {ending}"
    subject = subjects.LEAVES[leaf]
    if draw < 5:
        return f"{subject.name.capitalize()} {ending}"
    first = subject.words[(bits >> 16) % len(subject.words)]
    second = subject.words[(bits >> 32) % 12]
    return f"{first.capitalize()} and {second} {ending}" if draw < 13 else f"{first.capitalize()} {ending}"


def description(leaf: int, openings: Sequence[str]) -> str:
    """A description of the subject, as the editor of a directory would write it."""
    subject = subjects.LEAVES[leaf]
    return " ".join([subject.name.capitalize() + ":", ", ".join(subject.words[:12]) + ".", *openings])


def pick(choices: Sequence[str], draws: Iterator[int]) -> str:
    return choices[below(draws, len(choices))]
