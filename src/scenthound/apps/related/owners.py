"""Which hosts belong to one organisation.

A host belongs to its registrable domain. If seeds are different hosts of one domain, as projects of a foundation are,
each host of that domain stands for itself. Domains under which anybody can have a host (`github.io`) are always split.
Organisations are one if the home page of one redirects to the other's or names it as its canonical address, or if both
state the same name in structured data, or have the same title and nearly the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from scenthound import url as urls
from scenthound.apps.related.facts import HomeFacts
from scenthound.model import Url
from scenthound.text.vectors import cosine

SAME_WORDS = 0.95
"""Cosine of two home pages with the same title that are one organisation."""
SHORTEST_NAME = 3


class Owners:
    """The organisation of each host, by a key: a domain or a host."""

    def __init__(self, seeds: Iterable[Url]) -> None:
        bare = {bare_host(urls.host(seed)) for seed in seeds}
        counted = Counter(urls.domain(name) for name in bare)
        self._split = frozenset(name for name, times in counted.items() if times > 1)
        self._aliases: dict[str, str] = {}

    def own_key(self, host: str) -> str:
        """The key of a host before aliases are merged."""
        name = bare_host(host)
        domain = urls.domain(name)
        return name if domain in self._split else urls.owner_domain(name)

    def key(self, url: str) -> str:
        """The key of the organisation that a URL belongs to."""
        return self._main(self.own_key(urls.host(url)))

    def _main(self, key: str) -> str:
        while key in self._aliases:
            key = self._aliases[key]
        return key

    def merge(self, alias: str, main: str) -> None:
        """Two keys are one organisation; the second stays."""
        alias, main = self._main(alias), self._main(main)
        if alias != main:
            self._aliases[alias] = main

    def aliases(self) -> dict[str, list[str]]:
        """Other keys of each organisation that has some."""
        found: dict[str, list[str]] = {}
        for alias in self._aliases:
            found.setdefault(self._main(alias), []).append(alias)
        return found


def bare_host(host: str) -> str:
    """A host name without `www.`.

    >>> bare_host("www.example.org")
    'example.org'
    """
    return host.removeprefix("www.")


def merge_aliases(owners: Owners, homes: Mapping[str, HomeFacts], moved: Mapping[Url, Url], first: set[str]) -> None:
    """Merge the organisations that are one. `homes` are by key; of two keys one among `first` stays."""

    def merge(one: str, other: str) -> None:
        owners.merge(*((other, one) if one in first else (one, other)))

    for requested, final in moved.items():
        if urls.is_home(requested) and urls.is_home(final):
            merge(owners.own_key(urls.host(requested)), owners.own_key(urls.host(final)))
    by_name: dict[str, str] = {}
    by_title: dict[str, str] = {}
    for key, home in homes.items():
        if home.canonical is not None and urls.is_home(home.canonical):
            merge(key, owners.own_key(urls.host(home.canonical)))
        name, title = home.name.casefold(), home.title.casefold()
        known = by_name.setdefault(name, key) if len(name) >= SHORTEST_NAME else key
        if urls.domain(key) != urls.domain(known):  # else it is the name of what both are part of
            merge(key, known)
        known = by_title.setdefault(title, key) if title else key
        if known != key and cosine(home.words, homes[known].words) >= SAME_WORDS:
            merge(key, known)
