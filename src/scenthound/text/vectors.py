"""Sparse vectors of terms and the angle between them (sheet 10.2).

While a crawl runs, queries and pages are raw term frequencies. They are integers, so a cosine does not depend on the
order of summation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import mul

from scenthound.text.term_counts import TermCounts


class Counts(dict[str, int]):
    """How often each term occurs, in order of first occurrence. Must not be modified.

    It caches its squared norm, which makes a cosine linear in the smaller vector.
    """

    __slots__ = ("_square",)
    _square: int

    @property
    def square(self) -> int:
        try:
            return self._square
        except AttributeError:
            self._square = sum(map(mul, self.values(), self.values()))
            return self._square


def term_frequencies(terms: Iterable[str]) -> Counts:
    """Count terms.

    >>> term_frequencies(["club", "chess", "club"])
    {'club': 2, 'chess': 1}
    """
    return Counts(Counter(terms))


def square(vector: Mapping[str, float]) -> float:
    """The sum of the squares of a vector's weights."""
    if isinstance(vector, Counts | TermCounts):
        return vector.square
    return sum(weight * weight for weight in vector.values())


def norm(vector: Mapping[str, float]) -> float:
    """Euclidean length.

    >>> norm({"solar": 3, "panel": 4})
    5.0
    """
    return math.sqrt(square(vector))


def dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """The dot product: the sum of the products of weights over the common terms."""
    if len(a) > len(b):
        a, b = b, a
    return sum(weight * other for term, weight in a.items() if (other := b.get(term)))


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """The cosine of the angle [CHAP eq. 1], for non-negative weights: from 0 to 1; 0 if either vector is empty or zero.

    >>> cosine({"solar": 1}, {"solar": 3, "price": 4})
    0.6
    """
    product = dot(a, b)
    if not product:
        return 0.0
    return min(1.0, product / math.sqrt(square(a) * square(b)))
