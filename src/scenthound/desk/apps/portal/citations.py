"""Find the collected papers that references cite, where the match is certain.

A reference matches a collected page if it contains the page's full title as a separate sentence, and also the page's
year or the surname of its first author: without a second criterion, two papers with the same title can't be told apart.
Only letters and digits are compared, so hyphenation and different dashes do not matter. Titles of fewer than four
words never match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenthound.text.tokens import tokens

FEWEST_WORDS = 4
_OPENING = 16  # leading characters of a title, used as its lookup key
_BEFORE = frozenset(".,;)]}\"'“”‘’«»*?!-–—/0123456789")
"""Characters that may precede a title, apart from white space."""
_AFTER = frozenset(".,;([\"'“”‘’«»*?!/")
_SENTENCE = re.compile(r"[^A-Z\s][.?!]\s|[”\"]\s")
"""The end of a sentence; the full stop after an initial does not count."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The data used to recognise references to a collected page."""

    title: str
    authors: tuple[str, ...] = ()
    date: str = ""


class Papers:
    """The collected papers, indexed to find them in references."""

    def __init__(self, papers: Mapping[int, Paper]) -> None:
        self._papers = papers
        self._openings: dict[str, list[tuple[str, int]]] = {}
        for number, paper in papers.items():
            title, _ = _letters(paper.title)
            if len(tokens(paper.title)) >= FEWEST_WORDS and (paper.authors or paper.date) and len(title) >= _OPENING:
                self._openings.setdefault(title[:_OPENING], []).append((title, number))

    def cited_in(self, texts: Iterable[str]) -> list[int]:
        """The numbers of the papers that these references cite with certainty, without duplicates."""
        return list(dict.fromkeys(number for text in texts if (number := self._find(text)) is not None))

    def _find(self, text: str) -> int | None:
        letters, offsets = _letters(text)
        words = tokens(text)
        matches = {
            number
            for start in range(len(letters) - _OPENING + 1)
            for title, number in self._openings.get(letters[start : start + _OPENING], ())
            if letters.startswith(title, start)
            and _stands_alone(text, offsets[start], offsets[start + len(title) - 1])
            and self._is_confirmed(number, words)
        }
        return matches.pop() if len(matches) == 1 else None

    def _is_confirmed(self, number: int, words: list[str]) -> bool:
        paper = self._papers[number]
        if paper.date and paper.date[:4] in words:
            return True
        return bool(paper.authors) and surname(paper.authors[0]) in words


def _letters(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits in lower case without accents, and the offset of each in the text."""
    letters, offsets = list[str](), list[int]()
    for offset, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character.casefold()):
            if part.isalnum():
                letters.append(part)
                offsets.append(offset)
    return "".join(letters), offsets


def _stands_alone(text: str, begin: int, last: int) -> bool:
    """Whether text[begin:last + 1] is a complete title, not part of a longer one."""
    before, after = text[:begin].rstrip(), text[last + 1 :].lstrip()
    if before.endswith(":"):  # follows the authors, unless it separates a title from its subtitle
        opens = before[-2:-1].isdigit() or _SENTENCE.search(before) is None
    else:
        opens = not before or before[-1] in _BEFORE
    return opens and (not after or after[0] in _AFTER)


def surname(author: str) -> str:
    """The surname as written in references.

    >>> surname("Menczer, Filippo"), surname("Filippo Menczer")
    ('menczer', 'menczer')
    """
    part = author.partition(",")[0] if "," in author else author
    return (tokens(part) or [""])[-1]
