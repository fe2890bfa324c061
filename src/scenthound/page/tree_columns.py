"""The columns of a record that describe its tree, as numpy arrays: runs of text, and the elements around links; and
`read_tree`, which makes a record with them by walking a page's tree.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborNode

from scenthound.model import Url
from scenthound.page.read import MOST_TEXT
from scenthound.page.record import Analysed, Parts, Record
from scenthound.text.term_counts import TermCounts, TermNumbers, pack_terms, unpack_terms
from scenthound.text.tokens import Analyser, pieces, tokens
from scenthound.web.html_document import HtmlDocument, tag_name

Numbers = npt.NDArray[np.int32]


class Leaves(NamedTuple):
    """The non-empty runs of text of a page, in document order, and the tokens of all of them."""

    begin: Numbers
    """Where each leaf begins in the text."""
    end: Numbers
    anchor: Numbers
    """The position of the link whose anchor contains the leaf; -1 if there is none."""
    heading: Numbers
    """The number of the heading (`h1` to `h6`, in document order) that contains the leaf; -1 if there is none."""
    first_token: Numbers
    """Where in `tokens` each leaf begins, and where the last one ends: one more than there are leaves."""
    word_lines: bytes
    """The distinct raw tokens, including stop words, in order of first occurrence, as lines."""
    tokens: Numbers
    """Every token of the page, as an index into `words`."""

    @property
    def words(self) -> list[str]:
        """The distinct raw tokens."""
        return unpack_terms(self.word_lines)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.begin)

    def to_columns(self) -> list[bytes]:
        return [*map(_packed, self[:5]), self.word_lines, _packed(self.tokens)]

    @classmethod
    def from_columns(cls, columns: Sequence[bytes]) -> Leaves:
        """The inverse of `to_columns`."""
        return cls._make([*map(numbers_of, columns[:5]), columns[5], numbers_of(columns[6])])


class Elements(NamedTuple):
    """The elements of the links and all elements above them. A parent comes before its children."""

    parent: Numbers
    """The index of the parent element; -1 for the root."""
    first_leaf: Numbers
    end_leaf: Numbers
    """An element contains the leaves from `first_leaf` up to, but not including, `end_leaf`."""
    tag: Numbers
    """An index into `tags`."""
    tags: tuple[str, ...]
    """Tags with id and first class, such as `div#nav.wide`."""
    of_link: Numbers
    """The element of each link."""

    def to_columns(self) -> list[bytes]:
        return [*map(_packed, self[:4]), pack_terms(self.tags), _packed(self.of_link)]

    @classmethod
    def from_columns(cls, columns: Sequence[bytes]) -> Elements:
        """The inverse of `to_columns`."""
        return cls._make([*map(numbers_of, columns[:4]), tuple(unpack_terms(columns[4])), numbers_of(columns[5])])


def analyse(analyser: Analyser, words: list[str], tokens: Numbers, numbers: TermNumbers | None = None) -> Analysed:
    """The terms of a page's words, and how often each occurs among its tokens.

    >>> analyse(Analyser("small"), ["the", "clubs", "club"], np.array([0, 1, 2, 1])).counts
    TermCounts.of({'club': 3})
    """
    term_ids: dict[str, int] = {}
    terms = analyser.term_of_each(words)
    term_of_word = [-1 if term is None else term_ids.setdefault(term, len(term_ids)) for term in terms]
    table = np.array([*term_of_word, -1], dtype=np.int32)  # one extra, for a page without words
    counts = np.bincount(table[tokens] + 1, minlength=len(term_ids) + 1)[1:]
    shared_ids = None if numbers is None else numbers.of(term_ids.keys())
    return Analysed(TermCounts(pack_terms(term_ids), counts.astype("<i4").tobytes(), shared_ids), fixed(table[:-1]))


def fixed(column: Numbers) -> Numbers:
    """A read-only copy of a column, backed by a byte string.

    >>> fixed(np.array([1, 2], dtype=np.int32)).flags.writeable
    False
    """
    return np.frombuffer(np.asarray(column, dtype=np.int32).tobytes(), np.int32)


def check_tree(leaves: Leaves, elements: Elements | None, analysed: Iterable[Analysed], text: int, links: int) -> None:
    """Raise ValueError unless the columns match each other, the number of characters `text` and of links `links`."""
    for counts, of_word in analysed:
        if of_word is not None:
            _check_range("term", of_word, -1, len(counts))
            if len(of_word) != max(0, leaves.word_lines.count(b"\n") - 1):
                raise ValueError("the terms of a record do not fit its words")
    _check_leaves(leaves, text, links)
    if elements is not None:
        _check_elements(elements, leaves.size, links)


def _check_leaves(leaves: Leaves, text: int, links: int) -> None:
    size, tokens = leaves.size, len(leaves.tokens)
    first = leaves.first_token
    fits = len(leaves.end) == len(leaves.anchor) == len(leaves.heading) == len(first) - 1 == size
    if not fits or int(first[0]) != 0 or int(first[-1]) != tokens or (np.diff(first) < 0).any():
        raise ValueError("the leaves of a record do not fit together")
    _check_spans("text", leaves.begin, leaves.end, text)
    _check_range("anchor", leaves.anchor, -1, links)
    _check_range("heading", leaves.heading, -1, sys.maxsize)  # headings without text have numbers too
    _check_range("word", leaves.tokens, 0, len(leaves.words))


def _check_elements(elements: Elements, leaves: int, links: int) -> None:
    size = len(elements.parent)
    if not len(elements.first_leaf) == len(elements.end_leaf) == len(elements.tag) == size:
        raise ValueError("the elements of a record do not fit together")
    if len(elements.of_link) != links or (elements.parent >= np.arange(size)).any():
        raise ValueError("the elements of a record are not a tree")
    _check_range("parent", elements.parent, -1, size)
    _check_spans("leaf", elements.first_leaf, elements.end_leaf, leaves)
    _check_range("tag", elements.tag, 0, len(elements.tags))
    _check_range("element", elements.of_link, 0, size)


def _check_spans(name: str, begins: Numbers, ends: Numbers, size: int) -> None:
    _check_range(name, begins, 0, size + 1)
    _check_range(name, ends, 0, size + 1)
    if (begins > ends).any():
        raise ValueError(f"a record with a span of {name} that ends before it begins")


def _check_range(name: str, numbers: Numbers, least: int, end: int) -> None:
    if len(numbers) and (int(numbers.min()) < least or int(numbers.max()) >= end):
        raise ValueError(f"a record with a {name} index out of range")


def numbers_of(column: bytes) -> Numbers:
    return np.frombuffer(column, "<i4")


def _packed(numbers: Any) -> bytes:
    return np.asarray(numbers, dtype="<i4").tobytes()


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
