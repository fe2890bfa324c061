"""Detect crawler traps from their content: URLs of one pattern whose pages say nothing new.

The terms of each host are remembered. A page *says nothing new* if all its terms were on earlier pages of its host,
not counting terms in its own URL and in its links. This is true of copies (session ids, print versions), of error pages
sent with status 200, of lists in another order (facets), and of pages that differ only in their numbers (calendars),
which count if they lead to more URLs of their pattern. A page of a maze has some new terms, but nearly all its links,
except those in the menu that it shares with the previous page, lead to new URLs of its host.

Each such page adds to four debts: those of its pattern (path form and parameter names), its folder at its depth, its
first folder (or its parameter names on any path), and its host. A page that says
something new repays debts in proportion. Where a debt reaches its limit, the URLs are suspended: they are no longer
requested. There are three exceptions:

* A pattern most of whose pages say something new is still requested when its folder or host is suspended.
* On a suspended host, URLs of folders without debt are still requested if they were found on a page without debt. So
  a crawl that ran into the trap first still gets the rest of the host.
* URLs with parameters have a host debt of their own, so that originals are not suspended together with their copies.

The limits were chosen on recorded webs and on webs of traps: docs/decisions/0016-traps.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any, ClassVar, NamedTuple

from scenthound import url as urls
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.page.precomputed_views import AheadView, last_term_numbers, last_terms

REASON = "trap-nothing-new"
SUSPENDED = "suspended"  # the kind of the event
FIRST = 3  # pages of a host that are only remembered, not compared
PLAINLY_NEW = 0.9  # a page with a larger share of new terms says something new, without further checks
NEW = 0.01  # the share of new terms from which a page says something new …
MAZE = 0.3  # … if its links lead to new URLs as in a maze
UNKNOWN = 0.8  # the share of links outside the menu that lead to new URLs of the host, on a page of a maze
LINKS = 3  # the minimum number of such links on a page of a maze
MOST_LINKS = 40  # links of a page that are checked
STEM = 6  # bytes of a term that are searched for in URLs
LEADS_ON = 2  # the debt of a page that says nothing new and leads to more pages of its kind …
COPY = 1  # … of a page that says nothing new, not even a number, and leads nowhere …
TWIN = 3  # … of a page with exactly the terms of an earlier page, at least TWIN_TERMS
TWIN_TERMS = 20
REPAYS = 6  # the debt repaid by a page whose share of new terms is MAZE or more; other pages repay in proportion
PAYS = 3  # pages with something new that a pattern needs to be exempt from the suspension of its folder or host
PATTERN, FOLDER, HOST = 24, 32, 48  # the debt at which each is suspended
LIMITS = (PATTERN, FOLDER, FOLDER, HOST)
WHOLE_HOST, WITH_PARAMETERS = "the host", "all URLs with parameters"  # two debts, so that copies spare the originals

SAVED_FROM = 8  # smaller debts are not saved

MOST_HOSTS = 2_000  # watched at once
MOST_TERMS = 500_000  # remembered, of all hosts together
MOST_PATTERNS = 200  # per host with a debt
MOST_OWING = 100  # pages with a debt remembered per host

_DIGITS = re.compile(r"\d+")
_RANDOM = re.compile(r"[0-9a-f]{8,}|(?=[a-z]*\d)[a-z0-9]{10,}", re.IGNORECASE)
_DIGIT = re.compile(rb"\d")


class Suspended(NamedTuple):
    """A pattern, a folder or a host whose URLs are no longer requested."""

    host: str
    pattern: str
    pages: int
    """The number of pages that said nothing new."""

    def __str__(self) -> str:
        return f"suspended: {self.pages} pages of {self.pattern} had nothing new"


def patterns(url: Url) -> tuple[str, str, str, str]:
    """The pattern of a URL, its folder and depth, what it shares with other folders, and the whole host.

    URLs of any depth share their first folder. URLs with parameters share their parameter names, and have a separate
    entry for the host.

    >>> patterns(Url("http://x.test/news/2024/05.html"))
    ('/news/#/*.html', '/news… at depth 3', '/news…', 'the host')
    >>> patterns(Url("http://x.test/cal?day=7&view=week"))[:3]
    ('/cal?day=&view=', '/cal… at depth 1?', '…?day=&view=')
    """
    path, question, query = url.partition("://")[2].partition("/")[2].partition("?")
    *folders, file = [_DIGITS.sub("#", _RANDOM.sub("*", part)) for part in path.split("/")]
    top = f"/{folders[0] if folders else file if question else ''}…"
    folder = f"{top} at depth {len(folders) + 1}{question}"
    if question:
        names = sorted({_DIGITS.sub("#", part.partition("=")[0]) for part in query.split("&")})
        parameters = f"?{'&'.join(f'{name}=' for name in names[:12])}"
        return "/".join(["", *folders, file + parameters]), folder, f"…{parameters}", WITH_PARAMETERS
    _, dot, extension = file.rpartition(".")
    last = "*" + (dot + extension if dot and len(extension) <= 5 else "") if file else ""
    return "/".join(["", *folders, last]), folder, top, WHOLE_HOST


@dataclass(slots=True)
class _Host:
    """The memory of one host."""

    pages: int = 0
    terms: set[int] = field(default_factory=set)
    debts: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """The number of pages that said nothing new, by pattern."""
    yields: dict[str, int] = field(default_factory=dict)
    """The number of pages that said something new while the host had a debt, by pattern."""
    links: frozenset[Url] = frozenset()
    """The links of the last page compared; those that the next page shares are its menu."""
    owing: dict[Url, None] = field(default_factory=dict)
    """The latest pages with a debt."""

    def excuses(self, url: Url, parent: Url | None) -> bool:
        """Whether to request a URL although its host or first folder is suspended: its pattern, its folder and its
        parent have no debt."""
        return parent is not None and parent not in self.owing and self.debts.keys().isdisjoint(patterns(url)[:2])

    def pays(self, pattern: str) -> bool:
        """Whether a pattern is exempt from the suspension of its folder or host, because most of its pages are new."""
        return self.yields.get(pattern, 0) >= max(PAYS, 1 + self.counts.get(pattern, 0))


@dataclass(slots=True)
class TrapWatch:
    """Watches the pages of every host, and decides which URLs are not worth a request."""

    ahead: ClassVar[tuple[AheadView, ...]] = (last_term_numbers,)
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _suspended: dict[str, dict[str, int]] = field(default_factory=dict)
    _terms: int = 0

    def refuses(self, url: Url, parent: Url | None = None) -> str | None:
        """Why a URL, found on the page `parent`, is not worth a request, or None."""
        name = urls.host(url)
        suspended = self._suspended.get(name)
        if not suspended:
            return None
        pattern, *wider = patterns(url)
        if pattern in suspended:
            return REASON
        host, matches = self._hosts.get(name) or _Host(), suspended.keys() & set(wider)
        if not matches or host.pays(pattern):
            return None
        is_close = wider[0] in matches or (wider[1] in matches and "?" in url)
        return REASON if is_close or not host.excuses(url, parent) else None

    def learn(self, page: Page, is_known: Callable[[Url], bool]) -> Suspended | None:
        """Learn from a fetched page, before its links are added. Returns what is suspended because of it."""
        name = urls.host(page.url)
        host = self._host(name)
        host.pages += 1
        terms = frozenset(memoryview(page.view(last_term_numbers)).cast("I"))
        new = terms - host.terms
        text = hash((terms, "?" in page.url))  # an original and its copies with parameters are not twins
        is_known_text = text in host.terms
        self._terms += len(new) + (not is_known_text)
        host.terms |= new
        host.terms.add(text)
        if host.pages <= FIRST:
            return None
        is_twin = is_known_text and len(terms) >= TWIN_TERMS
        owes = TWIN if is_twin else self._owes(host, page, new, len(terms), is_known)
        if owes < 0 and host.debts:
            _repay(host, page.url, -owes)
        return self._charge(name, host, page.url, owes) if owes > 0 else None

    def _owes(self, host: _Host, page: Page, new: Set[int], terms: int, is_known: Callable[[Url], bool]) -> int:
        """The debt that a page adds; negative if it says something new and repays debts."""
        if len(new) > PLAINLY_NEW * terms:
            return -REPAYS
        links = _links_inside(page)
        url_text = _url_text(page.url, links)
        new_terms: list[bytes] = []
        for term in _terms_of(page, new):
            if term[:STEM] not in url_text:
                new_terms.append(term)
                if len(new_terms) > MAZE * terms:
                    return -REPAYS
        new_words = sum(_DIGIT.search(term) is None for term in new_terms)
        outside_menu, host.links = len(set(links) - host.links), frozenset(links)
        if _is_maze(links, outside_menu, is_known):
            return LEADS_ON
        if new_words > NEW * terms:
            return -math.ceil(REPAYS * len(new_terms) / (MAZE * terms))
        depth = _depth(page.url)
        if any(_depth(url) == depth and not is_known(url) for url in links):
            return LEADS_ON
        return 0 if new else COPY

    def _charge(self, name: str, host: _Host, url: Url, owes: int) -> Suspended | None:
        """Add to the four debts of a URL. Returns what is suspended because of it."""
        host.owing[url] = None
        if len(host.owing) > MOST_OWING:
            del host.owing[next(iter(host.owing))]
        for pattern, limit in zip(patterns(url), LIMITS, strict=True):
            if pattern not in host.debts and len(host.debts) >= MOST_PATTERNS:
                smallest = min(host.debts, key=host.debts.__getitem__)
                del host.debts[smallest], host.counts[smallest]
            host.debts[pattern] = host.debts.get(pattern, 0) + owes
            host.counts[pattern] = host.counts.get(pattern, 0) + 1
            if host.debts[pattern] >= limit and pattern not in self._suspended.get(name, {}):
                self._suspended.setdefault(name, {})[pattern] = host.counts[pattern]
                return Suspended(name, pattern, host.counts[pattern])
        return None

    def _host(self, name: str) -> _Host:
        host = self._hosts.pop(name, None) or _Host()
        self._hosts[name] = host  # at the end: hosts are in the order of their latest page
        while len(self._hosts) > MOST_HOSTS or (self._terms > MOST_TERMS and len(self._hosts) > 1):
            oldest = next(iter(self._hosts))
            self._terms -= len(self._hosts.pop(oldest).terms)
        return host

    def owes(self, url: Url) -> bool:
        """Whether this page is among the latest pages of its host that said nothing new."""
        host = self._hosts.get(urls.host(url))
        return host is not None and url in host.owing

    @property
    def hosts(self) -> int:
        """The number of hosts in memory."""
        return len(self._hosts)

    @property
    def terms(self) -> int:
        """The number of terms in memory, of all hosts together."""
        return self._terms

    def __iter__(self) -> Iterator[Suspended]:
        """Everything that is suspended."""
        for host, suspended in self._suspended.items():
            for pattern, pages in suspended.items():
                yield Suspended(host, pattern, pages)

    # ---- saved with the crawl

    def save(self) -> dict[str, Any]:
        """The suspensions and debts as JSON values. Terms are not saved, because they are soon learned again."""
        debts: dict[str, dict[str, list[int]]] = {}
        for name, host in self._hosts.items():
            if large := {key: [debt, host.counts[key]] for key, debt in host.debts.items() if debt >= SAVED_FROM}:
                debts[name] = large
        yields = {name: dict(self._hosts[name].yields) for name in self._suspended if name in self._hosts}
        suspended = {name: dict(pages) for name, pages in self._suspended.items()}
        parts = {"suspended": suspended, "debts": debts, "yields": yields}
        return {name: part for name, part in parts.items() if part}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load what `save` returned."""
        self._suspended = {name: dict(pages) for name, pages in state.get("suspended", {}).items()}
        for name, saved in state.get("debts", {}).items():
            debts, counts = ({key: pair[column] for key, pair in saved.items()} for column in (0, 1))
            self._hosts[name] = _Host(FIRST, set(), debts, counts)
        for name, yields in state.get("yields", {}).items():
            self._hosts.setdefault(name, _Host(FIRST)).yields = dict(yields)


def _links_inside(page: Page) -> list[Url]:
    """The first links of a page to its own host."""
    origin = urls.origin(page.url) + "/"
    return [link.url for link in islice(page.outlinks, MOST_LINKS) if link.url.startswith(origin)]


def _url_text(url: Url, links: list[Url]) -> bytes:
    """A URL and the paths of its links in one text, to search for terms. The host is the same for all."""
    start = len(urls.origin(url))
    return " ".join([url, *(link[start:] for link in links)]).lower().encode()


def _terms_of(page: Page, numbers: Set[int]) -> Iterator[bytes]:
    """The terms of a page that have these numbers."""
    all_numbers = memoryview(page.view(last_term_numbers)).cast("I")
    return compress(last_terms(page.record), map(numbers.__contains__, all_numbers))


def _is_maze(links: list[Url], outside_menu: int, is_known: Callable[[Url], bool]) -> bool:
    """Whether nearly as many links of a page lead to new URLs as there are links outside its menu.

    On most pages a few links are enough to find out that this is not so.
    """
    spare = len(links) - max(LINKS, UNKNOWN * outside_menu)
    for url in links:
        if spare < 0:
            break
        spare -= is_known(url)
    return spare >= 0


def _depth(url: Url) -> tuple[int, bool]:
    path, question, _ = url.partition("?")
    return path.count("/"), bool(question)


def _repay(host: _Host, url: Url, amount: int) -> None:
    """Reduce the four debts of a URL that says something new."""
    keys = patterns(url)
    host.yields[keys[0]] = host.yields.get(keys[0], 0) + 1
    if len(host.yields) > MOST_PATTERNS:
        del host.yields[min(host.yields, key=host.yields.__getitem__)]
    for pattern in keys:
        if (debt := host.debts.pop(pattern, 0) - amount) > 0:
            host.debts[pattern] = debt
        else:
            host.counts.pop(pattern, None)
