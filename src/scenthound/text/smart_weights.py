"""SMART weights over a pool of pages (sheet 10.3): for judging when the crawls are over, not for guiding.

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
_BLOCK = 2000  # pages per step: keeps what numpy needs in between at some 30 MB however large the pool

_Floats: TypeAlias = npt.NDArray[np.float64]
_Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Block:
    """Some pages as columns: for each term of each page its number, its frequency and its page's row."""

    terms: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int32]
    lengths: _Whole
    largest: _Floats


class Pool:
    """The pages that all crawlers of a topic brought home, as counts of terms, and what terms are worth there.

    Only pool pages count for df; a description that is compared with the pool is not one of them.
    """

    def __init__(self, pages: Sequence[Mapping[str, int]]) -> None:
        self.size = len(pages)
        self._numbers = _Numbers()
        self._blocks = [self._block(pages[at : at + _BLOCK]) for at in range(0, len(pages), _BLOCK)]
        occurs = np.zeros(len(self._numbers), dtype=np.int64)
        for block in self._blocks:
            occurs += np.bincount(block.terms, minlength=len(occurs))
        self._df = occurs
        self._idf: _Floats = np.log(self.size / occurs) if self.size else np.zeros(0)

    def df(self, term: str) -> int:
        """Pool pages that hold the term."""
        number = self._numbers.get(term)
        return 0 if number is None else int(self._df[number])

    def weights(self, counts: Mapping[str, int], scheme: Scheme = "atc") -> dict[str, float]:
        """The weights of a page or a description, before they are normalised.

        Terms that no pool page holds are left out, after the largest frequency was taken over all.
        """
        _check(scheme)
        largest = max(counts.values(), default=1)
        return {
            term: _local(scheme, frequency, largest) * float(self._idf[self._numbers[term]])
            for term, frequency in counts.items()
            if term in self._numbers
        }

    def similarities(self, description: Mapping[str, int], scheme: Scheme = "atc") -> list[float]:
        """The cosine of the description with every page of the pool, in the pool's order."""
        wanted = np.zeros(len(self._numbers))
        for term, weight in self.weights(description, scheme).items():
            wanted[self._numbers[term]] = weight
        length = math.sqrt(float(wanted @ wanted))
        found: list[float] = []
        for block in self._blocks:
            found += self._cosines(block, wanted, length, scheme).tolist()
        return found

    def _cosines(self, block: _Block, wanted: _Floats, length: float, scheme: Scheme) -> _Floats:
        pages = len(block.lengths)
        rows = np.repeat(np.arange(pages), block.lengths)
        if scheme == "atc":
            local = 0.5 + 0.5 * block.frequencies / block.largest[rows]
        else:
            local = 1.0 + np.log(block.frequencies)
        weights = local * self._idf[block.terms]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=pages)) * length
        products = np.bincount(rows, weights * wanted[block.terms], minlength=pages)
        cosines = np.divide(products, lengths, out=np.zeros(pages), where=lengths > 0)
        return np.minimum(cosines, 1.0)

    def _block(self, pages: Sequence[Mapping[str, int]]) -> _Block:
        lengths = np.array([len(page) for page in pages], dtype=np.int64)
        total = int(lengths.sum())
        return _Block(
            terms=_column(map(self._numbers.__getitem__, chain.from_iterable(pages)), total),
            frequencies=_column(chain.from_iterable(page.values() for page in pages), total),
            lengths=lengths,
            largest=np.array([max(page.values(), default=1) for page in pages], dtype=np.float64),
        )


class _Numbers(dict[str, int]):
    """Numbers for terms, dealt out in the order in which they are met."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


def _local(scheme: Scheme, frequency: int, largest: int) -> float:
    if scheme == "atc":
        return 0.5 + 0.5 * frequency / largest
    return 1.0 + math.log(frequency)


def _column(numbers: Any, total: int) -> npt.NDArray[np.int32]:
    return np.fromiter(islice(numbers, total), dtype=np.int32, count=total)


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise UnknownName.among("weighting scheme", scheme, SCHEMES)
