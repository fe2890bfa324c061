"""Sitemaps, if the crawl reads them: which were requested, and what they list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from scenthound import url as urls
from scenthound.loop.messages import SITEMAP, SitemapLanded
from scenthound.model import Candidate, Url


class Sitemaps:
    """Each sitemap is requested once, and at most `most` per host. `folder` stores what `take_asked` returns."""

    def __init__(self, most: int) -> None:
        self.recall: Callable[[str], Sequence[str]] = lambda host: ()
        """Reads what was requested from a host that is not in memory."""
        self._most = most
        self._asked: dict[str, list[str]] = {}

    def wanted(self, spellings: Iterable[str], host: str) -> list[Candidate]:
        """The sitemaps named by a host that are to be requested now: only those on the host itself."""
        found: list[Candidate] = []
        if not self._most:
            return found
        asked = self._asked.get(host)
        if asked is None:
            asked = list(self.recall(host))
        for spelling in spellings:
            if len(asked) >= self._most or urls.host(spelling) != host or spelling in asked:
                continue
            asked.append(spelling)
            found.append(Candidate(Url(spelling), 0.0, {SITEMAP: True}, spelling=spelling))
        if found:
            self._asked[host] = asked
        return found

    @staticmethod
    def listed(listing: SitemapLanded) -> Iterator[Candidate]:
        """The pages of its own host that a sitemap lists, with score 0."""
        source = listing.candidate.url
        host = urls.host(source)
        for url, spelling in listing.urls:
            if urls.host(url) == host:
                yield Candidate(url, 0.0, parent=source, anchor="(sitemap)", depth=1, spelling=spelling)

    # ---- saved with the crawl

    def take_asked(self) -> Mapping[str, list[str]]:
        """Return what was requested since the last call, by host, and clear it: memory stays small."""
        asked, self._asked = self._asked, {}
        return asked

    def save(self) -> dict[str, list[str]]:
        """What is in memory, by host."""
        return {host: list(asked) for host, asked in self._asked.items()}

    def load(self, state: Mapping[str, Sequence[str]]) -> None:
        self._asked = {host: list(asked) for host, asked in state.items()}
