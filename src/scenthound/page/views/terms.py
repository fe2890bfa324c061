"""The terms of a page in the order of its text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.keyword_similarity import Query
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.text.tokens import Analyser

Offsets = npt.NDArray[np.int64]


def token_terms(record: Record, analyser: Analyser) -> Numbers:
    """For every token of the page, the index of its term in `record.counts(analyser).terms`; -1 for a stop word.

    >>> token_terms(record, small).tolist()
    [0, -1, 1, 2, 0, -1, 3]
    """
    of_word = record.analysed(analyser).of_word
    assert of_word is not None
    return of_word.take(record.leaves.tokens)


class TermSequence(NamedTuple):
    """The terms of a page in the order of its tokens."""

    lines: bytes
    """The distinct terms, as `text.term_counts.pack_terms` packs them."""
    of_token: Numbers
    """For every token, the index of its term; -1 for a stop word."""


def term_sequence(record: Record, analyser: Analyser) -> TermSequence:
    """The terms of a page in order, in a form that a prepared bed can keep.

    >>> term_sequence(record, small).lines
    b'\\nclub\\nbest\\nchess\\ntown\\n'
    """
    counts, of_word = record.analysed(analyser)
    assert of_word is not None
    return TermSequence(counts.to_bytes()[0], fixed(of_word.take(record.leaves.tokens)))


class PageTerms:
    """The terms of a page, read by slices of its tokens."""

    def __init__(self, record: Record, analyser: Analyser) -> None:
        self.analyser = analyser
        self.counts = record.analysed(analyser).counts
        self.indices = token_terms(record, analyser)
        self._names = self.counts.terms

    def between(self, begin: int, end: int) -> list[str]:
        """The terms of the tokens from `begin` to `end`, without stop words."""
        names = self._names
        return [names[index] for index in self.indices[begin:end].tolist() if index >= 0]

    def hits(self, query: Query) -> Offsets:
        """The indices of all tokens whose term is in the query."""
        query_terms = [index for term in query.counts if (index := self.counts.index(term)) >= 0]
        return np.flatnonzero(np.isin(self.indices, query_terms)) if query_terms else np.zeros(0, dtype=np.int64)
