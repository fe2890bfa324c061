"""From recorded responses to rows of the prepared tables: what each worker process of the preparer does.

Responses go through `web.landing`, the same door that live pages come through, so a replayed page says what
the live one would have said. One thing is left out: what a page asks of robots. Nobody is asked for anything in a
replay, and a bed records pages whose links somebody was free to follow (425 of schools' pages say nofollow).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import NotAUrl
from scenthound.lab.beds.prepared_document import Written, pack, places_of, summed
from scenthound.model import Candidate, Miss, Moved, Page, Response, Url
from scenthound.text.tokens import Analyser, tokens
from scenthound.url import LONGEST, make
from scenthound.web.landing import LIMITS, land
from scenthound.web.parse import HtmlDocument

PAGE, MOVED, MISS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a page is read at all: part of what a prepared bed is made from, so each cut is prepared on its own."""

    page_bytes: int = 0
    """Only the first so many bytes of a page are parsed; 0: all. [EXP] 100 KB, [BIZ] 10 KB."""
    url_length: int = LONGEST
    """Links to longer URLs are refused; 256 in the papers."""


class Row(NamedTuple):
    """One answer of the bed. `head` is lines: title and anchors, or where it moved, or why there is no page."""

    url: Url
    kind: int
    status: int
    size: int
    head: str
    record: bytes = b""
    links: tuple[Url, ...] = ()
    nofollow: bytes = b""
    outlinks: tuple[int, ...] = ()
    """Places of the links that count (rule 6): the first to each URL, none to the page itself."""
    words: Sequence[str] = ()
    counts: Sequence[int] = ()


class Batch(NamedTuple):
    """Rows as columns. URLs and terms are numbered within the batch; `prepare_tables` numbers them for the bed."""

    rows: list[tuple[Url, int, int, int]]
    heads: list[bytes]
    records: list[bytes]
    links: list[int]
    outlinks: list[int]
    terms: list[int]
    """How many each row has."""
    urls: list[Url]
    link_urls: npt.NDArray[np.int32]
    link_flags: bytes
    outlink_places: npt.NDArray[np.int32]
    vocabulary: list[str]
    term_ids: npt.NDArray[np.int32]
    term_counts: npt.NDArray[np.int32]
    tokens: list[int]
    """How many distinct ones each row has."""
    token_terms: npt.NDArray[np.int32]
    """Of each distinct token the place of its term among those of the row, -1 for none."""
    faults: list[str]


def read_batch(responses: Sequence[Response], cut: Cut, analyser: Analyser) -> Batch:
    """The rows of some responses. What has no usable URL is named in `faults`."""
    urls: dict[Url, int] = {}
    vocabulary: dict[str, int] = {}
    link_urls: list[int] = []
    term_ids: list[int] = []
    term_counts: list[int] = []
    rows: list[Row] = []
    terms: list[int] = []
    token_terms: list[int] = []
    faults: list[str] = []
    for response in responses:
        try:
            row = read_response(response, cut)
        except NotAUrl as error:
            faults.append(error.message)
            continue
        rows.append(row)
        link_urls += [urls.setdefault(url, len(urls)) for url in row.links]
        counted = summed(analyser, row.words, row.counts)
        term_ids += [vocabulary.setdefault(term, len(vocabulary)) for term in counted]
        term_counts += counted.values()
        terms.append(len(counted))
        token_terms += places_of(analyser, row.words)[1]
    return Batch(
        [(row.url, row.kind, row.status, row.size) for row in rows],
        [row.head.encode("utf-8", "surrogatepass") for row in rows],
        [row.record for row in rows],
        [len(row.links) for row in rows],
        [len(row.outlinks) for row in rows],
        terms,
        list(urls),
        np.array(link_urls, dtype="<i4"),
        b"".join(row.nofollow for row in rows),
        np.array([place for row in rows for place in row.outlinks], dtype="<i4"),
        list(vocabulary),
        np.array(term_ids, dtype="<i4"),
        np.array(term_counts, dtype="<i4"),
        [len(row.words) for row in rows],
        np.array(token_terms, dtype="<i4"),
        faults,
    )


def read_response(response: Response, cut: Cut) -> Row:
    """One response as a row; raises `NotAUrl` where it was recorded under something that is no URL."""
    url = make(response.url)
    candidate = Candidate(url, 0.0, spelling=response.url)
    unpacked = cut.page_bytes or LIMITS.unpacked
    limits = replace(LIMITS, unpacked=unpacked, url_length=cut.url_length)
    landed = land(candidate, response, limits, agent="")
    match landed:
        case Page(document=HtmlDocument() as document):
            return _page_row(url, landed, document)
        case Moved():
            return Row(url, MOVED, landed.status, landed.size, f"{landed.url}\n{landed.spelling}")
        case Miss():
            detail = " ".join(landed.detail.split())
            return Row(url, MISS, landed.status, landed.size, f"{landed.reason}\n{detail}")
    raise TypeError(f"landing gave a {type(landed).__name__}")


def _page_row(url: Url, page: Page, document: HtmlDocument) -> Row:
    links = document.links
    record, words, counts = pack(written(document))
    first: dict[Url, int] = {}
    for place, link in enumerate(links):
        first.setdefault(link.url, place)
    first.pop(url, None)
    lines = [document.title, *(link.anchor for link in links)]
    spellings = ["" if link.spelling == link.url else link.spelling for link in links]
    if any(spellings):
        lines += spellings
    return Row(
        url,
        PAGE,
        page.status,
        page.size,
        "\n".join(lines),
        record,
        tuple(link.url for link in links),
        bytes(link.nofollow for link in links),
        tuple(first.values()),
        words,
        counts,
    )


def written(document: HtmlDocument) -> Written:
    """Where the leaves and the elements around the links stand in the page's text.

    Looks into the parser's tree, which the `Document` interface does not show: all text under an element is a
    run of leaves, so two numbers an element are enough to answer `under` for ever.
    """
    nodes = [document.nodes[link.node] for link in document.links]
    known, parents, steps = _around(document, nodes)
    first, behind = [0] * len(known), [0] * len(known)
    numbers = {node.mem_id: number for number, node in enumerate(nodes)}
    if document.root is not None:
        numbers.pop(document.root.mem_id, None)  # a link that stands for the whole page holds none of its text
    titled = document.headings()
    pieces: list[tuple[str, int, int]] = []
    anchors, holders, headings = [-1], [0], [-1]
    node = following = document.root
    while node is not None:
        if node.is_text_node:
            if piece := (node.text_content or "").strip():
                pieces.append((piece, anchors[-1], headings[-1]))
        else:
            name = node.mem_id
            element = known.get(name)
            if element is not None:
                first[element] = len(pieces)
            if (child := node.first_child) is not None:
                if name in numbers:
                    anchors.append(numbers[name])
                    holders.append(name)
                elif name in titled:
                    headings.append(titled[name])
                node = child
                continue
            if element is not None:
                behind[element] = len(pieces)
        while node is not None and (following := node.next) is None:
            node = node.parent
            if node is not None:
                name = node.mem_id
                if name in known:
                    behind[known[name]] = len(pieces)
                if name == holders[-1]:
                    holders.pop()
                    anchors.pop()
                elif name in titled:
                    headings.pop()
        node = following if node is not None else None
    text, spots = _placed(document.text, [piece for piece, *_ in pieces])
    elements = []
    for element, (parent, step) in enumerate(zip(parents, steps, strict=True)):
        one, other = first[element], behind[element]
        span = (spots[one][0], spots[other - 1][1]) if other > one else (0, 0)
        elements.append((parent, *span, one, other, step))
    leaves = [(*spot, anchor, heading) for spot, (_, anchor, heading) in zip(spots, pieces, strict=True)]
    return Written(
        text,
        leaves,
        [tokens(piece) for piece, *_ in pieces],
        elements,
        [known[node.mem_id] for node in nodes],
        document.spare,
    )


def _around(document: HtmlDocument, nodes: Sequence[object]) -> tuple[dict[int, int], list[int], list[str]]:
    """The links' elements and all above them: their numbers, their parents, their steps of the tag path."""
    known: dict[int, int] = {}
    parents: list[int] = []
    steps: list[str] = []
    for link, start in zip(document.links, nodes, strict=True):
        chain: list[int] = []
        node = start
        while node is not None and node.is_element_node and node.mem_id not in known:  # type: ignore[attr-defined]
            chain.append(node.mem_id)  # type: ignore[attr-defined]
            node = node.parent  # type: ignore[attr-defined]
        if not chain:
            continue
        parent = known.get(node.mem_id, -1) if node is not None else -1  # type: ignore[attr-defined]
        for name, step in zip(reversed(chain), document.path(link).split("/")[-len(chain) :], strict=True):
            known[name] = len(parents)
            parents.append(parent)
            steps.append(step)
            parent = known[name]
    return known, parents, steps


def _placed(text: str, pieces: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Where each leaf stands in the text. Should the two ever disagree, the leaves are right and the text is theirs."""
    spots: list[tuple[int, int]] = []
    cursor, size = 0, len(text)
    for piece in pieces:
        while cursor < size and text[cursor].isspace():
            cursor += 1
        if not text.startswith(piece, cursor):
            break
        spots.append((cursor, cursor + len(piece)))
        cursor += len(piece)
    if len(spots) == len(pieces):
        return text, spots
    spots, cursor = [], 0
    for piece in pieces:
        spots.append((cursor, cursor + len(piece)))
        cursor += len(piece) + 1
    return " ".join(pieces), spots
