"""Find the reference list of an HTML page, by its heading and its entries.

A list follows a heading such as “References”, as list items, paragraphs, table rows or the boxes that reference
managers write. An entry with neither a year nor an address is not a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scenthound.web.html_document import parse_html

MOST_REFERENCES = 2_000
MOST_LISTS = 20  # lists of one page; the last ones are used
LONGEST = 1_000  # characters of one reference
FEWEST_WORDS = 3  # words of three letters or more in a reference
_HEADING = re.compile(
    r"(?:\W*(?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)\.?\s+)?(?:references|bibliography|literature(?:\scited)?|works\scited)\W*",
    re.IGNORECASE,
)
_YEAR_OR_ADDRESS = re.compile(r"\b(?:1[6-9]|20)\d\d|https?://|\bdoi\b|\barxiv\b|\bin press\b|\bto appear\b", re.I)
_WORD = re.compile(r"[^\W\d_]{3,}")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_ANY_HEADING = ", ".join(_HEADINGS)
_MAY_HEAD = ", ".join((*_HEADINGS, "p", "b", "strong", "dt"))
_ITEMS = "li, dd, tr, p, .csl-entry, .citation, .footnote"
_LONGEST_HEADING = 60
_ANYWHERE = "http://anywhere.invalid/"


def is_reference_heading(text: str) -> bool:
    """Whether this is the heading of a reference list.

    >>> is_reference_heading("7. References"), is_reference_heading("References to objects")
    (True, False)
    """
    return len(text) <= _LONGEST_HEADING and _HEADING.fullmatch(text.strip()) is not None


def is_reference(text: str) -> bool:
    """Whether this looks like a reference: a few words, and a year or an address.

    >>> is_reference("Porter M. An algorithm for suffix stripping. 1980."), is_reference("See also our home page.")
    (True, False)
    """
    return len(_WORD.findall(text)) >= FEWEST_WORDS and _YEAR_OR_ADDRESS.search(text) is not None


def references(html: str) -> list[str]:
    """The texts of a page's references, in order; empty if it has no reference list."""
    root = parse_html(html, _ANYWHERE).root  # goes through the guard: nesting is bounded
    headings = [] if root is None else [node for node in root.css(_MAY_HEAD) if _is_heading(node)]
    texts: dict[str, None] = {}
    for heading in headings[-MOST_LISTS:]:
        for node in _items_after(heading):
            text = " ".join(node.text(deep=True, separator=" ").split())
            if is_reference(text):
                texts[text[:LONGEST]] = None
    return list(texts)[:MOST_REFERENCES]


def _is_heading(node: LexborNode) -> bool:
    return is_reference_heading(node.text(deep=True)[: _LONGEST_HEADING + 1])


def _items_after(heading: LexborNode) -> Iterator[LexborNode]:
    """Nodes that may be references, up to the next heading. A heading may be alone in a box with its list beside it."""
    node = heading
    while _next_element(node) is None and node.parent is not None and node.parent.tag not in ("body", "html"):
        node = node.parent
    sibling = _next_element(node)
    while sibling is not None and sibling.css_first(_ANY_HEADING) is None:  # finds the node itself too
        yielded: set[int] = set()
        for item in sibling.css(_ITEMS):
            if not _is_inside(item, yielded):
                yielded.add(item.mem_id)
                yield item
        sibling = _next_element(sibling)


def _is_inside(node: LexborNode, outer_ids: set[int]) -> bool:
    ancestor = node.parent
    while ancestor is not None and ancestor.mem_id not in outer_ids:
        ancestor = ancestor.parent
    return ancestor is not None


def _next_element(node: LexborNode) -> LexborNode | None:
    sibling = node.next
    while sibling is not None and not sibling.is_element_node:
        sibling = sibling.next
    return sibling
