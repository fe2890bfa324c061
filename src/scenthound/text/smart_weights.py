"""SMART term weights over a pool of pages (sheet 10.3). They are used to evaluate finished crawls, not to guide them.

`atc`  augmented tf (0.5 + 0.5 tf / largest tf of the page), times ln(pages / df), cosine-normalised  [BIZ eq. 2-3]
`ltc`  (1 + ln tf), times ln(pages / df), cosine-normalised
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from scenthound.errors import UnknownName

Scheme = Literal["atc", "ltc"]
SCHEMES: tuple[Scheme, ...] = ("atc", "ltc")
_BLOCK = 2000  # pages per step: bounds numpy's temporary arrays to about 30 MB, however large the pool

_FloatArray: TypeAlias = npt.NDArray[np.float64]
_IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Block:
    """A batch of pages as columns: the term ids and frequencies of all pages, concatenated, and per page its number of
    distinct terms and its largest frequency."""

    terms: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int32]
    lengths: _IntArray
    largest: _FloatArray


class Pool:
    """The pages that all crawlers of a topic fetched, as term counts, and the weights of terms among them.

    Only pool pages are counted in df, not a description that is compared with the pool.
    """

    def __init__(self, pages: Sequence[Mapping[str, int]]) -> None:
        self.size = len(pages)
        self._term_ids = _TermIds()
        self._blocks = [self._block(pages[start : start + _BLOCK]) for start in range(0, len(pages), _BLOCK)]
        pages_with = np.zeros(len(self._term_ids), dtype=np.int64)
        for block in self._blocks:
            pages_with += np.bincount(block.terms, minlength=len(pages_with))
        self._df = pages_with
        self._idf: _FloatArray = np.log(self.size / pages_with) if self.size else np.zeros(0)

    def df(self, term: str) -> int:
        """The number of pool pages that contain the term."""
        term_id = self._term_ids.get(term)
        return 0 if term_id is None else int(self._df[term_id])

    def weights(self, counts: Mapping[str, int], scheme: Scheme = "atc") -> dict[str, float]:
        """The weights of the terms of a page or a description, before normalisation.

        Terms that no pool page contains are left out, but are included when the largest frequency is determined.
        """
        _check(scheme)
        largest = max(counts.values(), default=1)
        return {
            term: _tf_weight(scheme, frequency, largest) * float(self._idf[self._term_ids[term]])
            for term, frequency in counts.items()
            if term in self._term_ids
        }

    def similarities(self, description: Mapping[str, int], scheme: Scheme = "atc") -> list[float]:
        """The cosine between the description and every page of the pool, in the pool's order."""
        query = np.zeros(len(self._term_ids))
        for term, weight in self.weights(description, scheme).items():
            query[self._term_ids[term]] = weight
        length = math.sqrt(float(query @ query))
        cosines: list[float] = []
        for block in self._blocks:
            cosines += self._cosines(block, query, length, scheme).tolist()
        return cosines

    def _cosines(self, block: _Block, query: _FloatArray, length: float, scheme: Scheme) -> _FloatArray:
        pages = len(block.lengths)
        rows = np.repeat(np.arange(pages), block.lengths)
        if scheme == "atc":
            tf_weights = 0.5 + 0.5 * block.frequencies / block.largest[rows]
        else:
            tf_weights = 1.0 + np.log(block.frequencies)
        weights = tf_weights * self._idf[block.terms]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=pages)) * length
        products = np.bincount(rows, weights * query[block.terms], minlength=pages)
        cosines = np.divide(products, lengths, out=np.zeros(pages), where=lengths > 0)
        return np.minimum(cosines, 1.0)

    def _block(self, pages: Sequence[Mapping[str, int]]) -> _Block:
        lengths = np.array([len(page) for page in pages], dtype=np.int64)
        total = int(lengths.sum())
        return _Block(
            terms=_column(map(self._term_ids.__getitem__, chain.from_iterable(pages)), total),
            frequencies=_column(chain.from_iterable(page.values() for page in pages), total),
            lengths=lengths,
            largest=np.array([max(page.values(), default=1) for page in pages], dtype=np.float64),
        )


class _TermIds(dict[str, int]):
    """Ids of terms, in order of first occurrence."""

    def __missing__(self, term: str) -> int:
        term_id = self[term] = len(self)
        return term_id


def _tf_weight(scheme: Scheme, frequency: int, largest: int) -> float:
    if scheme == "atc":
        return 0.5 + 0.5 * frequency / largest
    return 1.0 + math.log(frequency)


def _column(numbers: Any, total: int) -> npt.NDArray[np.int32]:
    return np.fromiter(islice(numbers, total), dtype=np.int32, count=total)


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise UnknownName.among("weighting scheme", scheme, SCHEMES)
