"""Discounted rewards of a spider that knows the web: the target values for reinforcement learning (sheet 30.5).

Rennie and McCallum 1999. The spider has fetched one page and may at each step fetch a page that any of its pages links
to. It walks the shortest way to the nearest target that it has not got, again and again, and is paid gamma^t for a
target at step t. That is the best plan on small graphs, and a good one on others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

HORIZON = 10
FAR = 255  # beyond the horizon, or not to be reached
AT_ONCE = 32  # targets whose distances are computed together: bounds the memory to so many bytes a link

Distances = npt.NDArray[np.uint8]


def discounted_rewards(
    links: Sequence[Sequence[int]],
    targets: Collection[int],
    gamma: float,
    starts: Iterable[int],
    horizon: int = HORIZON,
) -> dict[int, float]:
    """Q of each page of `starts`: what the spider collects that begins with it at step 0, up to step `horizon`.

    Pages are numbers, in the order in which ties among fetched pages are broken; `links` of each are in document order.
    """
    wanted = sorted(set(targets))
    away = distances(links, wanted, horizon)
    follow = [np.asarray(to, dtype=np.int64) for to in links]
    return {start: _collected(start, follow, wanted, away, gamma, horizon) for start in starts}


def distances(links: Sequence[Sequence[int]], targets: Sequence[int], horizon: int = HORIZON) -> Distances:
    """How many links from each page (row) to each target (column); `FAR` where it is more than `horizon`."""
    away = np.full((len(links), len(targets)), FAR, dtype=np.uint8)
    away[list(targets), list(range(len(targets)))] = 0
    sources = np.array([page for page, to in enumerate(links) if to], dtype=np.int64)
    if not len(sources) or not len(targets):
        return away
    sizes = np.array([len(links[page]) for page in sources])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ends = np.array([other for to in links for other in to], dtype=np.int64)
    for first in range(0, len(targets), AT_ONCE):
        some = away[:, first : first + AT_ONCE]
        for _ in range(min(horizon, len(links))):
            nearest = np.minimum.reduceat(some[ends], begins, axis=0)
            better = np.minimum(some[sources], np.where(nearest < horizon, nearest + 1, FAR).astype(np.uint8))
            if np.array_equal(better, some[sources]):
                break
            some[sources] = better
    return away


def _collected(
    start: int, follow: Sequence[npt.NDArray[np.int64]], wanted: list[int], away: Distances, gamma: float, horizon: int
) -> float:
    left = np.array([target != start for target in wanted], dtype=bool)
    value = 1.0 if not left.all() else 0.0
    fetched, step = [start], 0
    while left.any():
        near = away[fetched][:, left].min(axis=1)
        steps = int(near.min())
        if steps == FAR or step + steps > horizon:
            break
        page = fetched[int(near.argmin())]  # the first of equals, as a breadth-first search would find it
        for to_go in range(steps - 1, -1, -1):
            ahead = away[follow[page]][:, left].min(axis=1)
            page = int(follow[page][int((ahead == to_go).argmax())])
            insort(fetched, page)
        left[wanted.index(page)] = False
        step += steps
        value += gamma**step
    return value


def distance_bin(value: float, gamma: float, bins: int) -> int:
    """Bin 0 holds values from 1, bin i those from gamma^i to below gamma^(i - 1), the last bin all below.

    >>> [distance_bin(value, 0.5, 3) for value in (1.5, 1.0, 0.6875, 0.5, 0.25, 0.0)]
    [0, 0, 1, 1, 2, 2]
    """
    value = round(value, 12)
    return next((number for number in range(bins - 1) if value >= round(gamma**number, 12)), bins - 1)
