"""Estimate how many relevant pages are left to find, for progress reports and the stopping rule `stop_share`.

    expected = pages left in the budget * mean relevance of the last 300 pages
    left     = expected / (relevance of all pages so far + expected)

Relevance is the judge's rating when the page was fetched, so this works with every strategy. A crawl that takes the
best pages first finds less and less, so the estimate is too high rather than too low; reports say "at most about".
Sums of probabilities tell more than counts of relevant pages: after 300 pages without a relevant one they still
distinguish "hopeless" from "not yet". Seeds do not count as found. benchmarks/stopping.py measures what the rule loses
and saves.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

WINDOW = 300
LITTLE_LEFT = "little left"
"""The reason recorded for a crawl that this rule has stopped."""


class Left(NamedTuple):
    """The expected yield of the rest of a crawl."""

    found: float
    """Relevant pages so far, as a sum of probabilities."""
    expected: float
    """Relevant pages expected in the rest of the budget, as a sum of probabilities."""

    @property
    def share(self) -> float:
        """The expected pages as a share of all relevant pages that the whole crawl would find."""
        whole = self.found + self.expected
        return self.expected / whole if whole > 0 else 1.0


class Forecast:
    """Estimates what is left to find from the relevance of each page.

    >>> forecast = Forecast()
    >>> for n in range(500):
    ...     forecast.page(0.9 if n < 100 else 0.01)
    >>> left = forecast.left(100)
    >>> round(left.found), round(left.expected), round(left.share, 3)
    (94, 1, 0.011)
    """

    __slots__ = ("_recent", "found", "pages")

    def __init__(self, window: int = WINDOW) -> None:
        self.pages, self.found = 0, 0.0
        self._recent: deque[float] = deque(maxlen=window)

    def page(self, relevance: float, is_seed: bool = False) -> None:
        """Count a page."""
        self.pages += 1
        if not is_seed:
            self.found += relevance
            self._recent.append(relevance)

    def left(self, pages: int) -> Left | None:
        """The expected yield of the next `pages` pages; None until the window is full."""
        if len(self._recent) < (self._recent.maxlen or 0):
            return None
        return Left(self.found, max(pages, 0) * math.fsum(self._recent) / len(self._recent))
