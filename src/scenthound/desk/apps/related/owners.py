"""Decide which hosts belong to the same organisation.

By default an organisation is a registrable domain. If several seeds are on different hosts of one domain (such as the
projects of a foundation), each host of that domain is its own organisation. Domains where anyone can register a host
(`github.io`) are always split. Two organisations are merged if the home page of one redirects to the other's or names
it as its canonical URL, if both state the same name in structured data, or if they have the same title and nearly the
same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from scenthound import url as urls
from scenthound.desk.apps.related.facts import HomeFacts
from scenthound.model import Url
from scenthound.text.vectors import cosine

SAME_WORDS = 0.95
"""Minimum cosine at which two home pages with the same title are treated as the same organisation."""
SHORTEST_NAME = 3


class Owners:
    """Maps each host to the key of its organisation: a domain or a host."""

    def __init__(self, seeds: Iterable[Url]) -> None:
        hosts = {bare_host(urls.host(seed)) for seed in seeds}
        hosts_per_domain = Counter(urls.domain(name) for name in hosts)
        self._split = frozenset(domain for domain, count in hosts_per_domain.items() if count > 1)
        self._aliases: dict[str, str] = {}

    def unmerged_key(self, host: str) -> str:
        """The key of a host, ignoring aliases."""
        name = bare_host(host)
        domain = urls.domain(name)
        return name if domain in self._split else urls.owner_domain(name)

    def key(self, url: str) -> str:
        """The key of the organisation that a URL belongs to."""
        return self._main(self.unmerged_key(urls.host(url)))

    def _main(self, key: str) -> str:
        while key in self._aliases:
            key = self._aliases[key]
        return key

    def merge(self, alias: str, main: str) -> None:
        """Record that two keys are the same organisation; `main` becomes its key."""
        alias, main = self._main(alias), self._main(main)
        if alias != main:
            self._aliases[alias] = main

    def aliases(self) -> dict[str, list[str]]:
        """Map the key of each organisation that has aliases to the list of its aliases."""
        by_main: dict[str, list[str]] = {}
        for alias in self._aliases:
            by_main.setdefault(self._main(alias), []).append(alias)
        return by_main


def bare_host(host: str) -> str:
    """A host name without `www.`.

    >>> bare_host("www.example.org")
    'example.org'
    """
    return host.removeprefix("www.")


def merge_aliases(
    owners: Owners, homes: Mapping[str, HomeFacts], moved: Mapping[Url, Url], preferred: set[str]
) -> None:
    """Merge keys of the same organisation; a key in `preferred` becomes the main one.

    `homes` maps organisation keys to their home pages.
    """

    def merge(key: str, other: str) -> None:
        owners.merge(*((other, key) if key in preferred else (key, other)))

    for requested, final in moved.items():
        if urls.is_home(requested) and urls.is_home(final):
            merge(owners.unmerged_key(urls.host(requested)), owners.unmerged_key(urls.host(final)))
    by_name: dict[str, str] = {}
    by_title: dict[str, str] = {}
    for key, home in homes.items():
        if home.canonical is not None and urls.is_home(home.canonical):
            merge(key, owners.unmerged_key(urls.host(home.canonical)))
        name, title = home.name.casefold(), home.title.casefold()
        namesake = by_name.setdefault(name, key) if len(name) >= SHORTEST_NAME else key
        if urls.domain(key) != urls.domain(namesake):  # in one domain, both may state the parent organisation's name
            merge(key, namesake)
        namesake = by_title.setdefault(title, key) if title else key
        if namesake != key and cosine(home.words, homes[namesake].words) >= SAME_WORDS:
            merge(key, namesake)
