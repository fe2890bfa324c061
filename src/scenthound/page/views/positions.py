"""The positions of every term of a page, counted in anchors (for InfoSpiders)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.anchors import Span, anchor_tokens
from scenthound.page.views.terms import Offsets, token_terms
from scenthound.text.term_counts import find_term, pack_terms
from scenthound.text.tokens import Analyser


class TermPositions(NamedTuple):
    """The occurrences of every term of a page, counted in anchors. Occurrences in `alt` texts come last."""

    lines: bytes
    """The terms, as `text.term_counts.pack_terms` packs them."""
    starts: Numbers
    """Where in `where` the occurrences of each term begin, and where the last ones end."""
    where: Numbers
    """2b + 1: in anchor b. 2g: outside anchors, with g anchors before it."""

    def of(self, term: str) -> list[int]:
        """The positions of a term, in document order."""
        index = find_term(self.lines, term)
        return [] if index < 0 else self.where[self.starts[index] : self.starts[index + 1]].tolist()


def term_positions(record: Record, analyser: Analyser) -> TermPositions:
    """The positions of every term.

    >>> positions = term_positions(record, small)
    >>> positions.of("club"), positions.of("best"), positions.of("town"), positions.of("golf")
    ([0, 1], [0], [2], [3])
    """
    names, every = record.analysed(analyser).counts.terms, token_terms(record, analyser)
    spans = anchor_tokens(record)
    offsets = np.flatnonzero(every >= 0)
    owners, where = every[offsets], _where(offsets, spans)
    term_ids = {name: index for index, name in enumerate(names)}
    in_alt_texts = [
        (2 * link.position + 1, term_ids.setdefault(term, len(term_ids)))
        for link, (start, end) in zip(record.links, spans, strict=True)
        if start == end and link.anchor
        for term in analyser.terms(link.anchor)
    ]
    if in_alt_texts:
        where = np.concatenate([where, np.array([position for position, _ in in_alt_texts], dtype=np.int64)])
        owners = np.concatenate([owners, np.array([term for _, term in in_alt_texts], dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(len(term_ids) + 1)).astype(np.int32)
    return TermPositions(pack_terms(term_ids), fixed(starts), fixed(where[order].astype(np.int32)))


def _where(offsets: Offsets, spans: Sequence[Span]) -> Offsets:
    if not spans:
        return np.zeros(len(offsets), dtype=np.int64)
    starts, ends = np.array(spans, dtype=np.int64).T
    anchors = np.searchsorted(np.maximum.accumulate(starts), offsets, side="right") - 1
    is_inside = (anchors >= 0) & (offsets < ends[anchors])
    return np.asarray(2 * anchors + np.where(is_inside, 1, 2))
