"""Reference lists in HTML, joined to collected papers where the match is certain.

A reference list is a list below a heading such as “References”. A reference is joined to a collected page if it has the
page's whole title in it, word for word, and also its year or the surname of its first author: without a second sign two
papers of one title can't be told apart. Titles of fewer than four words are never joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from scenthound.text.tokens import tokens

FEWEST_WORDS = 4
MOST_REFERENCES = 2_000
LONGEST = 1_000  # characters of one reference
_HEADING = re.compile(
    r"\s*(\d+\.?|[ivx]+\.)?\s*(references|bibliography|works cited|literature( cited)?)\s*:?\s*", re.I
)
_LISTS = ("ol", "ul", "dl")
_HEADINGS = "h1, h2, h3, h4, h5, h6"


@dataclass(frozen=True, slots=True)
class Paper:
    """What a reference to a collected page is recognised by."""

    title: str
    authors: tuple[str, ...] = ()
    date: str = ""


def references(html: str) -> list[str]:
    """The texts of the references of a page, in order; empty if it has no reference list."""
    tree = LexborHTMLParser(html[:2_000_000])
    found: list[str] = []
    for heading in tree.css(_HEADINGS):
        if not _HEADING.fullmatch(heading.text(deep=True)[:60]):
            continue
        for items in _lists_after(heading):
            entries = items.css("dd" if items.tag == "dl" else "li")
            found += [" ".join(entry.text(deep=True, separator=" ").split())[:LONGEST] for entry in entries]
    return [text for text in dict.fromkeys(found) if text][:MOST_REFERENCES]


def _lists_after(heading: LexborNode) -> Iterator[LexborNode]:
    """The lists between a heading and the next; a heading may be alone in a box, its list beside the box."""
    node = heading.next
    if heading.parent is not None and not any(sibling.tag in _LISTS for sibling in _after(heading)):
        node = heading.parent.next
    while node is not None:
        if node.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            return
        if node.tag in _LISTS:
            yield node
        elif node.tag in ("div", "section"):
            if node.css_first(_HEADINGS) is not None:
                return
            yield from (items for items in node.css("ol, ul, dl"))
        node = node.next


def _after(node: LexborNode) -> Iterator[LexborNode]:
    sibling = node.next
    while sibling is not None:
        yield sibling
        sibling = sibling.next


class Papers:
    """Collected papers, to be found by references to them."""

    def __init__(self, papers: Mapping[int, Paper]) -> None:
        self._papers = papers
        self._starts: dict[tuple[str, ...], list[tuple[list[str], int]]] = {}
        for number, paper in papers.items():
            words = tokens(paper.title)
            if len(words) >= FEWEST_WORDS and (paper.authors or paper.date):
                self._starts.setdefault(tuple(words[:FEWEST_WORDS]), []).append((words, number))

    def cited_in(self, texts: Iterable[str]) -> list[int]:
        """The numbers of the papers that these references certainly name, each once."""
        return list(dict.fromkeys(number for text in texts if (number := self._find(text)) is not None))

    def _find(self, text: str) -> int | None:
        words = tokens(text)
        certain = {
            number
            for begin in range(len(words) - FEWEST_WORDS + 1)
            for title, number in self._starts.get(tuple(words[begin : begin + FEWEST_WORDS]), ())
            if words[begin : begin + len(title)] == title and self._is_confirmed(number, words)
        }
        return certain.pop() if len(certain) == 1 else None

    def _is_confirmed(self, number: int, words: list[str]) -> bool:
        paper = self._papers[number]
        if paper.date and paper.date[:4] in words:
            return True
        return bool(paper.authors) and surname(paper.authors[0]) in words


def surname(author: str) -> str:
    """The surname as it is written in references.

    >>> surname("Menczer, Filippo"), surname("Filippo Menczer")
    ('menczer', 'menczer')
    """
    part = author.partition(",")[0] if "," in author else author
    return (tokens(part) or [""])[-1]
