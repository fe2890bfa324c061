"""What is left to find: an estimate from the relevance of the pages so far, and a rule that stops when it is little.

    expected = pages left in the budget * mean relevance of the last 300 pages
    left     = expected / (relevance of all pages so far + expected)

Relevance is the judge's when a page was fetched, so this works with every strategy. A crawl that takes the best pages
first finds less and less, so this is rather too much than too little: "at most about". Sums of probabilities say more
than numbers of relevant pages: of 300 pages without a relevant one they still tell "hopeless" from "not yet". Seeds do
not count as finds. benchmarks/stopping.py measures what the rule loses and saves.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

WINDOW = 300
LITTLE_LEFT = "little left"
"""Why a crawl ended that this rule has stopped."""


class Left(NamedTuple):
    """What the rest of a crawl is expected to bring."""

    found: float
    """Relevant pages so far, as the sum of their probabilities."""
    expected: float
    """Relevant pages that the rest of the budget is expected to bring, as a sum of probabilities."""

    @property
    def share(self) -> float:
        """What is expected, as a share of what the whole crawl would find."""
        whole = self.found + self.expected
        return self.expected / whole if whole > 0 else 1.0


class Forecast:
    """Estimates what is left, from one number per page.

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
        """What so many more pages are expected to bring; None while the window is not full."""
        if len(self._recent) < (self._recent.maxlen or 0):
            return None
        return Left(self.found, max(pages, 0) * math.fsum(self._recent) / len(self._recent))
