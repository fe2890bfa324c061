"""Make the record of a page with its leaves and elements, by walking its tree."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from selectolax.lexbor import LexborNode

from scenthound.model import Url
from scenthound.page.page_limits import MOST_TEXT
from scenthound.page.record import Parts, Record
from scenthound.page.tree_columns import Elements, Leaves, Numbers, analyse, fixed
from scenthound.text.term_counts import TermNumbers, pack_terms
from scenthound.text.tokens import pieces, tokens
from scenthound.web.html_document import HtmlDocument, tag_name


def read_tree(document: HtmlDocument, url: Url, text: str, parts: Parts, numbers: TermNumbers | None) -> Record:
    """The record of a page with its leaves, and its elements if `parts` has them; `text` is the text to keep."""
    text, leaves, elements = _columns(document, text)
    words = leaves.words
    analysed = {analyser.key: analyse(analyser, words, leaves.tokens, numbers) for analyser in parts.counts}
    kept_elements = elements if parts.elements else None
    return Record(
        url,
        document.title,
        text,
        document.links,
        analysed,
        leaves,
        kept_elements,
        document.noindex,
        document.nofollow,
        document.refused,
    )


class _Leaf(NamedTuple):
    text: str
    anchor: int
    heading: int


class _Tree(NamedTuple):
    """The elements of the links and all elements above them; the keys of `numbers` are the parser's node ids."""

    numbers: dict[int, int]
    parents: list[int]
    names: list[str]


def _columns(document: HtmlDocument, text: str) -> tuple[str, Leaves, Elements]:
    nodes = [document.nodes[link.position] for link in document.links]
    tree = _elements_of(nodes)
    found_leaves, first, end = _walk(document, nodes, tree.numbers)
    text, begins, ends = _locate(text, [leaf.text for leaf in found_leaves])
    found_leaves = found_leaves[: len(begins)]
    words, flat, first_token = dict[str, int](), array("i"), [0]
    for begin, end_of_leaf in zip(begins, ends, strict=True):
        for piece in pieces(text[begin:end_of_leaf]):
            flat.extend([words.setdefault(token, len(words)) for token in tokens(piece)])
        first_token.append(len(flat))
    anchors, headings = [leaf.anchor for leaf in found_leaves], [leaf.heading for leaf in found_leaves]
    columns = map(_column, (begins, ends, anchors, headings, first_token))
    leaves = Leaves._make([*columns, pack_terms(words), _column(flat)])
    tags: dict[str, int] = {}
    tag = [tags.setdefault(name, len(tags)) for name in tree.names]
    of_link = [tree.numbers[node.mem_id] for node in nodes]
    first, end = ([min(leaf, len(found_leaves)) for leaf in column] for column in (first, end))
    columns = map(_column, (tree.parents, first, end, tag))
    elements = Elements._make([*columns, tuple(tags), _column(of_link)])
    return text, leaves, elements


def _elements_of(nodes: Sequence[LexborNode]) -> _Tree:
    tree = _Tree({}, [], [])
    for start in nodes:
        chain: list[LexborNode] = []
        node: LexborNode | None = start
        while node is not None and node.is_element_node and node.mem_id not in tree.numbers:
            chain.append(node)
            node = node.parent
        if not chain:
            continue
        parent = tree.numbers.get(node.mem_id, -1) if node is not None else -1
        for element in reversed(chain):
            tree.numbers[element.mem_id] = len(tree.parents)
            tree.parents.append(parent)
            tree.names.append(tag_name(element))
            parent = tree.numbers[element.mem_id]
    return tree


def _walk(
    document: HtmlDocument, nodes: Sequence[LexborNode], elements: dict[int, int]
) -> tuple[list[_Leaf], list[int], list[int]]:
    """All non-empty runs of text in document order; and, for each element, its first leaf and the leaf after its last.

    Runs that begin after `MOST_TEXT` characters are left out.
    """
    characters_left = MOST_TEXT
    first, end = [0] * len(elements), [0] * len(elements)
    links = {node.mem_id: position for position, node in enumerate(nodes)}
    if document.root is not None:
        links.pop(document.root.mem_id, None)  # a link of the whole page, such as a refresh, contains no text
    heading_numbers = document.headings()
    leaves: list[_Leaf] = []
    anchors, link_nodes, headings = [-1], [0], [-1]
    node = next_node = document.root
    while node is not None:
        if node.is_text_node:
            if characters_left > 0 and (text := (node.text_content or "").strip()):
                characters_left -= len(text)
                leaves.append(_Leaf(text, anchors[-1], headings[-1]))
        else:
            node_id = node.mem_id
            element = elements.get(node_id)
            if element is not None:
                first[element] = len(leaves)
            if (child := node.first_child) is not None:
                if node_id in links:
                    anchors.append(links[node_id])
                    link_nodes.append(node_id)
                elif node_id in heading_numbers:
                    headings.append(heading_numbers[node_id])
                node = child
                continue
            if element is not None:
                end[element] = len(leaves)
        while node is not None and (next_node := node.next) is None:
            node = node.parent
            if node is not None:
                node_id = node.mem_id
                if node_id in elements:
                    end[elements[node_id]] = len(leaves)
                if node_id == link_nodes[-1]:
                    link_nodes.pop()
                    anchors.pop()
                elif node_id in heading_numbers:
                    headings.pop()
        node = next_node if node is not None else None
    return leaves, first, end


def _locate(text: str, leaves: Sequence[str]) -> tuple[str, list[int], list[int]]:
    """The text, and where each leaf begins and ends in it; the text may end before the last leaf does.

    If text and leaves disagree, the text is made from the leaves.
    """
    begins: list[int] = []
    ends: list[int] = []
    cursor, size = 0, len(text)
    for leaf in leaves:
        while cursor < size and text[cursor].isspace():
            cursor += 1
        end = min(cursor + len(leaf), size)
        if not text.startswith(leaf, cursor) and not (size == MOST_TEXT and leaf.startswith(text[cursor:])):
            return _locate(" ".join(leaves)[:MOST_TEXT], leaves)
        if cursor == end:
            break
        begins.append(cursor)
        ends.append(end)
        cursor = end
    return text, begins, ends


def _column(numbers: Sequence[int]) -> Numbers:
    return fixed(np.array(numbers, dtype=np.int32))
