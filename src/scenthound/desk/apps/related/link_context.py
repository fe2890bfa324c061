"""The context of a link, for people to read: the heading above it and the passage that contains it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from scenthound.formats import printable
from scenthound.web.html_document import HEADINGS, HtmlDocument

LONGEST = 300  # characters of a passage or a heading
MOST_READ = 2_000_000  # characters read for all passages of a page
_BLOCKS = frozenset("li p td th dd dt tr blockquote figcaption caption div section article aside nav main body".split())
_HEADING_TAGS = frozenset(HEADINGS.split(","))
_SENTENCE_END = re.compile(r"[.!?]\s")


class Context(NamedTuple):
    """The heading above a link (empty if there is none), and the sentence or list item that contains it."""

    heading: str
    passage: str


def contexts(document: HtmlDocument, positions: Collection[int]) -> dict[int, Context]:
    """The context of each of these links, by its position in the document."""
    if document.root is None:
        return {}
    headings = _headings_above(document)
    left, by_position = MOST_READ, {}
    for position in positions:
        node = document.nodes[position]
        passage = ""
        if left > 0:
            block = _block_of(node)
            whole = block.text(separator=" ", strip=True, skip_empty=True)
            left -= len(whole)
            passage = _sentence_around(printable(whole), printable(document.links[position].anchor))
        by_position[position] = Context(headings.get(node.mem_id, ""), passage)
    return by_position


def _headings_above(document: HtmlDocument) -> dict[int, str]:
    """The heading above each anchor, by its memory id."""
    assert document.root is not None
    by_anchor: dict[int, str] = {}
    heading = ""
    for node in document.root.css(f"{HEADINGS},a[href],area[href]"):
        if node.tag in _HEADING_TAGS:
            heading = printable(node.text(separator=" ", strip=True), LONGEST)
        else:
            by_anchor[node.mem_id] = heading
    return by_anchor


def _block_of(node: LexborNode) -> LexborNode:
    """The nearest block element around a link."""
    ancestor = node
    while ancestor.parent is not None and ancestor.tag not in _BLOCKS:
        ancestor = ancestor.parent
    return ancestor


def _sentence_around(text: str, anchor: str) -> str:
    """The text if it is short, else the sentence that contains the anchor, cut to `LONGEST`.

    >>> _sentence_around("One thing. " * 40 + "We like the Bee Club most. Another.", "Bee Club")
    'We like the Bee Club most.'
    """
    if len(text) <= LONGEST:
        return text
    offset = max(0, text.find(anchor))
    begins = [match.end() for match in _SENTENCE_END.finditer(text, max(0, offset - LONGEST), offset)]
    begin = begins[-1] if begins else max(0, offset - LONGEST // 2)
    end = _SENTENCE_END.search(text, offset + len(anchor))
    return printable(text[begin : end.start() + 1 if end else len(text)], LONGEST)
