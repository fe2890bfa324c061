"""Several anchors of a page may lead to one URL; a crawler offers it once, at the best of them (rule 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.record import Numbers, Record, fixed


class OutlinkAnchors(NamedTuple):
    """The links to each of a page's outlinks."""

    positions: Numbers
    """The positions of the links, one outlink after the other."""
    starts: Numbers
    """Where in `positions` each outlink begins, and where the last one ends."""


def outlink_anchors(record: Record) -> OutlinkAnchors:
    """All links, by the outlink that they lead to; those to the page itself left out.

    >>> from scenthound.testing import page_of
    >>> page = page_of("<a href=/x>one</a> <a href=/y>two</a> <a href=/>home</a> <a href=/x>three</a>")
    >>> [column.tolist() for column in outlink_anchors(page.record)]
    [[0, 3, 1], [0, 2, 3]]
    """
    numbers = {link.url: number for number, link in enumerate(record.outlinks)}
    owners = np.array([numbers.get(link.url, -1) for link in record.links], dtype=np.int32)
    positions = np.argsort(owners, kind="stable")[int(np.count_nonzero(owners < 0)) :].astype(np.int32)
    starts = np.searchsorted(owners[positions], np.arange(len(numbers) + 1)).astype(np.int32)
    return OutlinkAnchors(fixed(positions), fixed(starts))


def first_anchors(anchors: OutlinkAnchors) -> Numbers:
    """For each outlink the position of the first link to it."""
    return np.asarray(anchors.positions[anchors.starts[:-1]])


def best_anchors(anchors: OutlinkAnchors, worth: Sequence[float] | npt.NDArray[np.float64]) -> Numbers:
    """For each outlink the position of the link to it that is worth most, the first of equals. `worth`: of every link.

    >>> from scenthound.testing import page_of
    >>> page = page_of("<a href=/x>one</a> <a href=/y>two</a> <a href=/x>three</a>")
    >>> best_anchors(outlink_anchors(page.record), [0.5, 0.0, 0.7]).tolist()
    [2, 1]
    """
    positions, starts = anchors
    if len(positions) == len(starts) - 1:  # one link to each
        return first_anchors(anchors)
    values, sizes = np.asarray(worth)[positions], np.diff(starts)
    best = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, starts[:-1]), sizes))
    chosen = np.zeros(len(sizes), dtype=np.int32)
    owners = np.repeat(np.arange(len(sizes)), sizes)[best]
    chosen[owners[::-1]] = positions[best[::-1]]  # of several the last that is written stays: the first of the best
    return chosen
