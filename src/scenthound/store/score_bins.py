"""Bins for counting scores, so that the rank of a score can be estimated without looking at every candidate."""

from __future__ import annotations

from math import inf

BINS = 1000


def bin_of(score: float) -> int:
    """The bin a score is counted in: steps of 1/850 from 0 to 1, coarser outside, the last for infinity.

    >>> [bin_of(score) for score in (-inf, -1.0, 0.0, 0.5, 0.999, 1.0, 2.0, 1e9, inf)]
    [0, 25, 50, 475, 899, 900, 949, 997, 999]
    """
    if score >= 1.0:
        return 999 if score == inf else 900 + int(98 * (1 - 1 / score))
    if score >= 0.0:
        return 50 + int(score * 850)
    return min(49, int(50 / (1 - score)))


def upper_edge(bin_number: int) -> float:
    """An upper bound for the scores in this bin and in lower ones.

    >>> all(score <= upper_edge(bin_of(score)) for score in (-inf, -1e9, -0.1, 0.0, 0.3, 0.999, 1.0, 2.0, 1e9, inf))
    True
    """
    if bin_number >= 996:
        return inf
    if bin_number >= 900:
        return 1 / (1 - (bin_number - 899) / 98) + 1e-9
    return (bin_number - 49) / 850 + 1e-9 if bin_number >= 50 else 1 - 50 / (bin_number + 1) + 1e-9
