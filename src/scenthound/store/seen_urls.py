"""The URLs that were requested: an exact set of which only the latest are in memory.

Of the others a few bits of a hash are kept, 8 bytes a URL. A URL whose hash is not among them was not requested; for
one whose hash is, the database has the answer. So a long crawl takes 8 bytes a page, and no answer is ever a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scenthound.store.url_index import NO_PAIRS, Pairs, UrlIndex

LATEST = 50_000
"""URLs in memory at most."""


class SeenUrls:
    """Add URLs, and ask for them. `is_stored` asks the database; whoever adds a URL stores it before the next call."""

    def __init__(self, urls: Iterable[str], is_stored: Callable[[str], bool], latest: int = LATEST) -> None:
        self._most, self._is_stored = latest, is_stored
        self.latest: set[str] = set()
        self.is_partial = False
        """Others than the latest were added, so a URL that is not among the latest has to be asked for."""
        self._others = UrlIndex()
        for url in urls:
            self.add(url)

    def add(self, url: str) -> None:
        if len(self.latest) >= self._most:
            self._forget_latest()
        self.latest.add(url)

    def discard(self, url: str) -> None:
        """To be called after it was deleted from the database."""
        self.latest.discard(url)

    def __contains__(self, url: str) -> bool:
        if url in self.latest:
            return True
        is_seen = self.is_partial and bool(self._others.find(url)) and self._is_stored(url)
        if is_seen:
            self.add(url)  # pages of a site link to the same few: the next will ask for it again
        return is_seen

    def _forget_latest(self) -> None:
        new = [url for url in self.latest if not self._others.find(url)]
        self._others.change(Pairs.of(new, [0] * len(new), len(new)), NO_PAIRS)
        self.is_partial = True
        self.latest.clear()
