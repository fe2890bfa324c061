"""The set of requested URLs: exact, although only the latest URLs are in memory.

Of older URLs only a hash is kept, 8 bytes each. A URL whose hash is not among them was not requested; otherwise the
database is queried. So a long crawl takes 8 bytes per page, and every answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scenthound.store.url_index import NO_PAIRS, Pairs, UrlIndex

LATEST = 50_000
"""The maximum number of URLs in memory."""


class SeenUrls:
    """A set of URLs. `is_stored` queries the database, so store an added URL there before the next call."""

    def __init__(self, urls: Iterable[str], is_stored: Callable[[str], bool], latest: int = LATEST) -> None:
        self._most, self._is_stored = latest, is_stored
        self.latest: set[str] = set()
        self.is_partial = False
        """Whether URLs outside `latest` were added: if so, a URL that is not in `latest` needs a full lookup."""
        self._others = UrlIndex()
        for url in urls:
            self.add(url)

    def add(self, url: str) -> None:
        if len(self.latest) >= self._most:
            self._forget_latest()
        self.latest.add(url)

    def discard(self, url: str) -> None:
        """Forget a URL. Call this after deleting it from the database."""
        self.latest.discard(url)

    def __contains__(self, url: str) -> bool:
        if url in self.latest:
            return True
        is_seen = self.is_partial and bool(self._others.find(url)) and self._is_stored(url)
        if is_seen:
            self.add(url)  # pages of a site link to the same few URLs, so it will soon be looked up again
        return is_seen

    def _forget_latest(self) -> None:
        new = [url for url in self.latest if not self._others.find(url)]
        self._others.change(Pairs.of(new, [0] * len(new), len(new)), NO_PAIRS)
        self.is_partial = True
        self.latest.clear()
