"""References joined to collected papers, where the match is certain.

A reference is joined to a collected page if it has the page's whole title, as one sentence of its own, and also the
page's year or the surname of its first author: without a second sign two papers of one title can't be told apart.
Letters and digits alone are compared, so that a divided word or another dash does no harm. Titles of fewer than four
words are never joined.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenthound.text.tokens import tokens

FEWEST_WORDS = 4
_OPENING = 16  # characters of a title by which it is looked up
_BEFORE = frozenset(".,;)]}\"'“”‘’«»*?!-–—/0123456789")
"""What may stand before a title, blanks aside."""
_AFTER = frozenset(".,;([\"'“”‘’«»*?!/")
_SENTENCE = re.compile(r"[^A-Z\s][.?!]\s|[”\"]\s")
"""The end of a sentence; the full stop of an initial is none."""


@dataclass(frozen=True, slots=True)
class Paper:
    """What a reference to a collected page is recognised by."""

    title: str
    authors: tuple[str, ...] = ()
    date: str = ""


class Papers:
    """Collected papers, to be found by references to them."""

    def __init__(self, papers: Mapping[int, Paper]) -> None:
        self._papers = papers
        self._openings: dict[str, list[tuple[str, int]]] = {}
        for number, paper in papers.items():
            title, _ = _letters(paper.title)
            if len(tokens(paper.title)) >= FEWEST_WORDS and (paper.authors or paper.date) and len(title) >= _OPENING:
                self._openings.setdefault(title[:_OPENING], []).append((title, number))

    def cited_in(self, texts: Iterable[str]) -> list[int]:
        """The numbers of the papers that these references certainly name, each once."""
        return list(dict.fromkeys(number for text in texts if (number := self._find(text)) is not None))

    def _find(self, text: str) -> int | None:
        letters, places = _letters(text)
        words = tokens(text)
        certain = {
            number
            for begin in range(len(letters) - _OPENING + 1)
            for title, number in self._openings.get(letters[begin : begin + _OPENING], ())
            if letters.startswith(title, begin)
            and _stands_alone(text, places[begin], places[begin + len(title) - 1])
            and self._is_confirmed(number, words)
        }
        return certain.pop() if len(certain) == 1 else None

    def _is_confirmed(self, number: int, words: list[str]) -> bool:
        paper = self._papers[number]
        if paper.date and paper.date[:4] in words:
            return True
        return bool(paper.authors) and surname(paper.authors[0]) in words


def _letters(text: str) -> tuple[str, list[int]]:
    """Letters and digits in lower case without accents, and the place of each in the text."""
    found, places = [], []
    for place, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character.casefold()):
            if part.isalnum():
                found.append(part)
                places.append(place)
    return "".join(found), places


def _stands_alone(text: str, begin: int, last: int) -> bool:
    """Whether what stands there is a whole title, not part of a longer one."""
    before, after = text[:begin].rstrip(), text[last + 1 :].lstrip()
    if before.endswith(":"):  # after the authors; after the first words of a title it opens a subtitle
        opens = before[-2:-1].isdigit() or _SENTENCE.search(before) is None
    else:
        opens = not before or before[-1] in _BEFORE
    return opens and (not after or after[0] in _AFTER)


def surname(author: str) -> str:
    """The surname as it is written in references.

    >>> surname("Menczer, Filippo"), surname("Filippo Menczer")
    ('menczer', 'menczer')
    """
    part = author.partition(",")[0] if "," in author else author
    return (tokens(part) or [""])[-1]
