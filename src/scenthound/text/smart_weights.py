"""SMART weights over a pool of pages (sheet 10.3): for evaluating finished crawls, not for guiding them.

`atc`  augmented tf (0.5 + 0.5 tf / largest tf of the page), times ln(pages / df), cosine  [BIZ eq. 2-3]
`ltc`  (1 + ln tf), times ln(pages / df), cosine
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

_Floats: TypeAlias = npt.NDArray[np.float64]
_Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Block:
    """Some pages as columns: id and frequency of each term of each page; length and largest frequency of each page."""

    terms: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int32]
    lengths: _Whole
    largest: _Floats


class Pool:
    """The pages that all crawlers of a topic fetched, as term counts, and the weights of terms among them.

    Only pool pages count for df; a description that is compared with the pool does not.
    """

    def __init__(self, pages: Sequence[Mapping[str, int]]) -> None:
        self.size = len(pages)
        self._term_ids = _TermIds()
        self._blocks = [self._block(pages[start : start + _BLOCK]) for start in range(0, len(pages), _BLOCK)]
        pages_with = np.zeros(len(self._term_ids), dtype=np.int64)
        for block in self._blocks:
            pages_with += np.bincount(block.terms, minlength=len(pages_with))
        self._df = pages_with
        self._idf: _Floats = np.log(self.size / pages_with) if self.size else np.zeros(0)

    def df(self, term: str) -> int:
        """The number of pool pages that contain the term."""
        term_id = self._term_ids.get(term)
        return 0 if term_id is None else int(self._df[term_id])

    def weights(self, counts: Mapping[str, int], scheme: Scheme = "atc") -> dict[str, float]:
        """The weights of a page or a description, before they are normalised.

        Terms that no pool page contains are left out, but count for the largest frequency.
        """
        _check(scheme)
        largest = max(counts.values(), default=1)
        return {
            term: _local(scheme, frequency, largest) * float(self._idf[self._term_ids[term]])
            for term, frequency in counts.items()
            if term in self._term_ids
        }

    def similarities(self, description: Mapping[str, int], scheme: Scheme = "atc") -> list[float]:
        """The cosine of the description with every page of the pool, in the pool's order."""
        query = np.zeros(len(self._term_ids))
        for term, weight in self.weights(description, scheme).items():
            query[self._term_ids[term]] = weight
        length = math.sqrt(float(query @ query))
        cosines: list[float] = []
        for block in self._blocks:
            cosines += self._cosines(block, query, length, scheme).tolist()
        return cosines

    def _cosines(self, block: _Block, query: _Floats, length: float, scheme: Scheme) -> _Floats:
        pages = len(block.lengths)
        rows = np.repeat(np.arange(pages), block.lengths)
        if scheme == "atc":
            local = 0.5 + 0.5 * block.frequencies / block.largest[rows]
        else:
            local = 1.0 + np.log(block.frequencies)
        weights = local * self._idf[block.terms]
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


def _local(scheme: Scheme, frequency: int, largest: int) -> float:
    if scheme == "atc":
        return 0.5 + 0.5 * frequency / largest
    return 1.0 + math.log(frequency)


def _column(numbers: Any, total: int) -> npt.NDArray[np.int32]:
    return np.fromiter(islice(numbers, total), dtype=np.int32, count=total)


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise UnknownName.among("weighting scheme", scheme, SCHEMES)
