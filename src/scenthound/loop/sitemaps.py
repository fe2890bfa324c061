"""Sitemaps, where they are wanted: which were asked for, and what they offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from scenthound import url as urls
from scenthound.loop.messages import SITEMAP, SitemapLanded
from scenthound.model import Candidate, Url


class Sitemaps:
    """Each is asked for once, and at most so many of a host. Whoever keeps what is `handed_over` sets `recall`."""

    def __init__(self, most: int) -> None:
        self.recall: Callable[[str], Sequence[str]] = lambda host: ()
        """Where to look for what was asked of a host that is not remembered here."""
        self._most = most
        self._asked: dict[str, list[str]] = {}

    def wanted(self, spellings: Iterable[str], host: str) -> list[Candidate]:
        """Those among the sitemaps named by a host that are to be asked for now: a sitemap speaks for its own host."""
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
        """The pages of its own host that a sitemap lists, at score 0."""
        source = listing.candidate.url
        host = urls.host(source)
        for url, spelling in listing.urls:
            if urls.host(url) == host:
                yield Candidate(url, 0.0, parent=source, anchor="(sitemap)", depth=1, spelling=spelling)

    # ---- what survives a restart

    def handed_over(self) -> Mapping[str, list[str]]:
        """What was asked of hosts since this was last called; it is forgotten here, so that it does not grow."""
        asked, self._asked = self._asked, {}
        return asked

    def save(self) -> dict[str, list[str]]:
        """What is remembered here, by host."""
        return {host: list(asked) for host, asked in self._asked.items()}

    def load(self, state: Mapping[str, Sequence[str]]) -> None:
        self._asked = {host: list(asked) for host, asked in state.items()}
