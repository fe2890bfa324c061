"""How near a word is to each anchor of a page (sheet 40.1).

    proximity(u) = Σ 1 / distance(u, o)  over the occurrences o of the word

The distance of an occurrence is 1 in the anchor u itself; elsewhere it is 2, plus 1 for each whole anchor in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


def proximities(positions: Iterable[int], anchors: int, reach: int) -> Reals:
    """The proximity of a word to every anchor. Occurrences with more than `reach` anchors in between are ignored.

    A position is 2b + 1 for an occurrence in anchor b, and 2g for one outside anchors with g anchors before it.

    >>> proximities([1, 4], 3, 5).tolist()
    [1.3333333333333333, 1.0, 0.8333333333333333]
    """
    proximity = np.zeros(anchors)
    inside, outside = _inverse_distances(reach)
    for position, times in Counter(positions).items():
        kernel = inside if position % 2 else outside  # both reach as far to the left as to the right
        first = position // 2 - reach - 1
        begin, end = max(0, first), min(anchors, first + len(kernel))
        if begin < end:
            proximity[begin:end] += times * kernel[begin - first : end - first]
    return proximity


@lru_cache(maxsize=64)
def _inverse_distances(reach: int) -> tuple[Reals, Reals]:
    """The inverse distances of the anchors around an occurrence: inside an anchor, and between two anchors."""
    inside = 1.0 / (1 + np.abs(np.arange(-reach - 1, reach + 2)))
    outside = 1.0 / (2 + np.arange(reach + 1))
    return inside, np.concatenate([outside[::-1], outside])
