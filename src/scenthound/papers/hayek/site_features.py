"""Features of a page's site, known before the page is fetched ([ECON], section 4). Off unless `features` names them.

    sites    visits:5 goals:1    pages fetched and goals found at the site so far, in bins 1, 2, 5, 20
    hubs     hub:2               links from its pages to goals so far, in the same bins

Agents can thus learn to leave a site after its goal, or to return to a site that leads to many goals. A feature holds
for one bin only: `visits:5` means 5 to 19.
"""

from __future__ import annotations

from collections import Counter

BINS = (1, 2, 5, 20)
KINDS = {"visits": "sites", "goals": "sites", "hub": "hubs"}
"""The kinds of counts, and the feature class of each."""


def bin_of(count: int) -> int:
    """The lower bound of the bin of a count; 0 below the first bin.

    >>> [bin_of(count) for count in (0, 1, 4, 5, 100)]
    [0, 1, 2, 5, 20]
    """
    return max((start for start in BINS if start <= count), default=0)


class SiteCounts:
    """Counts by host, for the kinds whose feature class is in use."""

    def __init__(self, classes: frozenset[str]) -> None:
        self._counts = {kind: Counter[str]() for kind, feature_class in KINDS.items() if feature_class in classes}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, kind: str, host: str, number: int = 1) -> bool:
        """Add to a count. Returns whether that changes a feature of the host's pages."""
        if not number or kind not in self._counts:
            return False
        old_bin = bin_of(self._counts[kind][host])
        self._counts[kind][host] += number
        return bin_of(self._counts[kind][host]) != old_bin

    def features(self, host: str) -> list[str]:
        """The features of the pages of a host."""
        bins = ((kind, bin_of(counts[host])) for kind, counts in self._counts.items())
        return [f"{kind}:{start}" for kind, start in bins if start]
