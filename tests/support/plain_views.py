"""The views of a page in plain Python, straight from the tree: slow, and easy to check by eye. Oracles for tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from scenthound.model import Link
from scenthound.page.keyword_similarity import Query
from scenthound.text.tokens import Analyser, tokens
from scenthound.text.vectors import Counts, term_frequencies
from scenthound.web.html_document import parse_html, tag_name
from support.random_pages import HOME

HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


class PlainLeaf(NamedTuple):
    text: str
    anchor: int
    """The innermost link around it; -1: none."""
    heading: int
    """The id of the innermost heading around it; -1: none."""
    elements: frozenset[int]
    """The ids of all elements around it."""


class PlainPage:
    """A parsed page, and what it says about its links."""

    def __init__(self, html: str) -> None:
        self.document = parse_html(html, HOME)
        self.links = list(self.document.links)
        self.anchors = {node.mem_id: position for position, node in enumerate(self.document.nodes)}
        root = self.document.root
        self.leaves = list(self._leaves_in(root, PlainLeaf("", -1, -1, frozenset()))) if root is not None else []
        self.tokens = [token for leaf in self.leaves for token in tokens(leaf.text)]

    def _leaves_in(self, node: LexborNode, around: PlainLeaf) -> Iterator[PlainLeaf]:
        if node.is_text_node:
            if text := (node.text_content or "").strip():
                yield around._replace(text=text)
            return
        name = node.mem_id
        anchor = self.anchors.get(name, around.anchor)
        heading = name if node.tag in HEADINGS and name not in self.anchors else around.heading
        child = node.first_child
        while child is not None:
            yield from self._leaves_in(child, PlainLeaf("", anchor, heading, around.elements | {name}))
            child = child.next

    # ---- where links stand

    def anchor_leaves(self, link: Link) -> tuple[int, int]:
        """The leaves of an anchor; where it has none, the place before the next anchor that has some."""
        own = [place for place, leaf in enumerate(self.leaves) if leaf.anchor == link.position]
        if own:
            return own[0], own[-1] + 1
        later = [leaf.anchor for leaf in self.leaves if leaf.anchor > link.position]
        begin = self.anchor_leaves(self.links[min(later)])[0] if later else len(self.leaves)
        return begin, begin

    def anchor_tokens(self, link: Link) -> tuple[int, int]:
        begin, end = self.anchor_leaves(link)
        return self._tokens_before(begin), self._tokens_before(end)

    def _tokens_before(self, leaf: int) -> int:
        return sum(len(tokens(each.text)) for each in self.leaves[:leaf])

    def heading(self, link: Link) -> list[PlainLeaf]:
        """The heading that a link stands in or after. Another heading inside it cuts it in pieces."""
        begin, end = self.anchor_leaves(link)
        before = self.leaves[: begin + 1 if end > begin else begin]
        places = [place for place, leaf in enumerate(before) if leaf.heading >= 0]
        if not places:
            return []
        first = last = places[-1]
        number = self.leaves[first].heading
        while first > 0 and self.leaves[first - 1].heading == number:
            first -= 1
        while last + 1 < len(self.leaves) and self.leaves[last + 1].heading == number:
            last += 1
        return self.leaves[first : last + 1]

    # ---- windows

    def window(self, link: Link, width: int, analyser: Analyser) -> Counts:
        start, end = self.anchor_tokens(link)
        before, after = self.tokens[max(0, start - width) : start], self.tokens[end : end + width]
        inside = self.tokens[start:end] if end > start else tokens(link.anchor)
        return term_frequencies(analyser.terms_of([*before, *inside, *after]))

    # ---- elements

    def chain(self, link: Link) -> list[LexborNode]:
        """The link's element and all above it, up to the root."""
        found, node = [], self.document.nodes[link.position]
        while node is not None and node.is_element_node:
            found.append(node)
            node = node.parent
        return found

    def tag_path(self, link: Link) -> str:
        return "/".join(tag_name(node) for node in reversed(self.chain(link)))

    def element(self, link: Link, up: int, analyser: Analyser) -> list[str]:
        """The terms in the element so many levels above a link; 0 is the anchor."""
        if not up:
            return analyser.terms(link.anchor)
        chain = self.chain(link)
        name = chain[min(up, len(chain) - 1)].mem_id
        return analyser.terms(" ".join(leaf.text for leaf in self.leaves if name in leaf.elements))

    def climbed_similarity(self, link: Link, query: Query, up: int, min_words: int) -> float:
        terms = self.element(link, up, query.analyser)
        while len(terms) < min_words and up < len(self.chain(link)):
            up += 1
            terms = self.element(link, up, query.analyser)
        return query.similarity(term_frequencies(terms))

    # ---- terms around links

    def alternatives(self, analyser: Analyser) -> dict[int, list[str]]:
        """The terms of anchors without leaves, if there are any."""
        empty = [link for link in self.links if len(set(self.anchor_leaves(link))) == 1]
        found = {link.position: analyser.terms(link.anchor) for link in empty}
        return {position: terms for position, terms in found.items() if terms}

    def surroundings(self, link: Link, analyser: Analyser) -> list[str]:
        heading = " ".join(leaf.text for leaf in self.heading(link))
        address = link.url.split("://", 1)[1].removeprefix("www.")
        around = self.element(link, 1, analyser)
        title, anchor = analyser.terms(self.document.title), analyser.terms(link.anchor)
        return [*title, *analyser.terms(heading), *around, *anchor, *analyser.terms(address)]

    def term_positions(self, analyser: Analyser) -> dict[str, list[int]]:
        """2b + 1 for a token in anchor b, 2g for one outside with g anchors before it; `alt` texts last."""
        found: dict[str, list[int]] = defaultdict(list)
        spans = [self.anchor_tokens(link) for link in self.links]
        for place, term in enumerate(analyser.term_of_each(self.tokens)):
            begun = 0  # anchors up to the first that is still to come
            while begun < len(spans) and spans[begun][0] <= place:
                begun += 1
            is_inside = begun > 0 and place < spans[begun - 1][1]
            if term is not None:
                found[term].append(2 * begun - 1 if is_inside else 2 * begun)
        for link, (start, end) in zip(self.links, spans, strict=True):
            for term in analyser.terms(link.anchor) if start == end else ():
                found[term].append(2 * link.position + 1)
        return dict(found)
