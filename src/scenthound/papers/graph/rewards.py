"""Discounted rewards of a spider that knows the whole web: the target values for reinforcement learning (sheet 30.5).

Source: Rennie and McCallum 1999. The spider has fetched one page, and at each step may fetch a page that any of its
pages links to. It repeatedly takes the shortest path to the nearest target that it has not fetched, and receives
gamma^t for a target at step t. This is optimal on small graphs, and a good plan on others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

HORIZON = 10
FAR = 255  # beyond the horizon, or unreachable
AT_ONCE = 32  # targets whose distances are computed together: bounds the memory to 32 bytes per link

Distances = npt.NDArray[np.uint8]


def discounted_rewards(
    links: Sequence[Sequence[int]],
    targets: Collection[int],
    gamma: float,
    starts: Iterable[int],
    horizon: int = HORIZON,
) -> dict[int, float]:
    """Q of each page in `starts`: the reward of a spider that has fetched it at step 0, up to step `horizon`.

    Pages are numbers; ties among fetched pages go to the lower number. The `links` of a page are in document order.
    """
    sorted_targets = sorted(set(targets))
    distance = distances(links, sorted_targets, horizon)
    linked = [np.asarray(to, dtype=np.int64) for to in links]
    return {start: _reward(start, linked, sorted_targets, distance, gamma, horizon) for start in starts}


def distances(links: Sequence[Sequence[int]], targets: Sequence[int], horizon: int = HORIZON) -> Distances:
    """The number of links from each page (row) to each target (column); `FAR` if it is more than `horizon`."""
    distance = np.full((len(links), len(targets)), FAR, dtype=np.uint8)
    distance[list(targets), list(range(len(targets)))] = 0
    sources = np.array([page for page, linked in enumerate(links) if linked], dtype=np.int64)
    if not len(sources) or not len(targets):
        return distance
    sizes = np.array([len(links[page]) for page in sources])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ends = np.array([other for linked in links for other in linked], dtype=np.int64)
    for first in range(0, len(targets), AT_ONCE):
        batch = distance[:, first : first + AT_ONCE]
        for _ in range(min(horizon, len(links))):
            nearest = np.minimum.reduceat(batch[ends], begins, axis=0)
            shorter = np.minimum(batch[sources], np.where(nearest < horizon, nearest + 1, FAR).astype(np.uint8))
            if np.array_equal(shorter, batch[sources]):
                break
            batch[sources] = shorter
    return distance


def _reward(
    start: int,
    linked: Sequence[npt.NDArray[np.int64]],
    sorted_targets: list[int],
    distance: Distances,
    gamma: float,
    horizon: int,
) -> float:
    is_left = np.array([target != start for target in sorted_targets], dtype=bool)
    value = 1.0 if not is_left.all() else 0.0
    fetched, step = [start], 0
    while is_left.any():
        nearest = distance[fetched][:, is_left].min(axis=1)
        steps = int(nearest.min())
        if steps == FAR or step + steps > horizon:
            break
        page = fetched[int(nearest.argmin())]  # the first of equals, as in a breadth-first search
        for to_go in range(steps - 1, -1, -1):
            from_here = distance[linked[page]][:, is_left].min(axis=1)
            page = int(linked[page][int((from_here == to_go).argmax())])
            insort(fetched, page)
        is_left[sorted_targets.index(page)] = False
        step += steps
        value += gamma**step
    return value


def distance_bin(value: float, gamma: float, bins: int) -> int:
    """The bin of a value: bin 0 for at least 1, bin i for gamma^i up to gamma^(i - 1), the last bin for the rest.

    >>> [distance_bin(value, 0.5, 3) for value in (1.5, 1.0, 0.6875, 0.5, 0.25, 0.0)]
    [0, 0, 1, 1, 2, 2]
    """
    value = round(value, 12)
    return next((bin_number for bin_number in range(bins - 1) if value >= round(gamma**bin_number, 12)), bins - 1)
