"""Finds traps by what they give: pages that say nothing new, behind URLs of one form.

A host's terms are remembered. A page *says nothing new* if all its terms were on earlier pages of its host, those in
its own URL and in its links aside. That is so for copies (session ids, print versions), for error pages that are sent
as pages, for lists in another order (facets), and for pages that differ in their numbers alone (calendars), which count
if they lead on to more URLs of their form. A page of a maze has some new terms, but nearly all its links lead to new
URLs of its host, the menu that it shares with the page before aside.

Each such page adds to the debt of its pattern (path form and parameter names), of its folder at its depth, of what it
shares with other folders (its first folder, or its parameter names on any path) and of its host; one that says
something new pays off as much as it says. What owes too much is suspended: its URLs are not requested any more. A
pattern most of whose pages say something new outlives its folder and its host. A suspended host also keeps the URLs of
folders that owe nothing, if they were found on a page that owes nothing: a crawl that fell into the trap first gets the
rest. URLs with parameters have a debt apart from the others of their host: their originals are not suspended with them.

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
from scenthound.page.ahead import AheadView, last_term_numbers, last_terms
from scenthound.page.page import Page

REASON = "trap-nothing-new"
SUSPENDED = "suspended"  # the kind of the event
FIRST = 3  # pages of a host before any is compared
PLAINLY_NEW = 0.9  # share of a page's terms from which on nothing else is looked at
NEW = 0.01  # share from which on a page says something new …
MAZE = 0.3  # … and in a maze
UNKNOWN = 0.8  # share of its links, its menu aside, that lead to new URLs of its host, in a maze
LINKS = 3  # such links that a page of a maze has at least
MOST_LINKS = 40  # of a page that are looked at
STEM = 6  # bytes of a term that are looked for in URLs
LEADS_ON = 2  # what a page owes that says nothing new and leads on to more of its kind
COPY = 1  # … that says nothing new, not even a number, and leads nowhere …
TWIN = 3  # … that has the very terms of an earlier page, if these are not few
TWIN_TERMS = 20
REPAYS = 6  # what a page pays off of which a share of MAZE or more is new; another one pays in proportion
PAYS = 3  # pages with something new by which a pattern outlives its folder and its host
PATTERN, FOLDER, HOST = 24, 32, 48  # the debt at which each is suspended
LIMITS = (PATTERN, FOLDER, FOLDER, HOST)
WHOLE_HOST, WITH_PARAMETERS = "the host", "all URLs with parameters"  # apart: copies need not cost the originals

SAVED_FROM = 8  # the debt from which on it is saved

MOST_HOSTS = 2_000  # that are watched
MOST_TERMS = 500_000  # of all hosts together
MOST_PATTERNS = 200  # of one host that owe something
MOST_OWING = 100  # pages of one host that are remembered because they owe something

_DIGITS = re.compile(r"\d+")
_RANDOM = re.compile(r"[0-9a-f]{8,}|(?=[a-z]*\d)[a-z0-9]{10,}", re.IGNORECASE)
_DIGIT = re.compile(rb"\d")


class Suspended(NamedTuple):
    """A pattern, a folder or a host whose URLs are not requested any more."""

    host: str
    pattern: str
    pages: int
    """Pages that said nothing new."""

    def __str__(self) -> str:
        return f"suspended: {self.pages} pages of {self.pattern} had nothing new"


def patterns(url: Url) -> tuple[str, str, str, str]:
    """The pattern of a URL on its host, its folder with its depth, what it shares with other folders, the whole host.

    URLs of all depths share their first folder; those with parameters share the names of these, and are apart from
    the others of the host.

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
        asked = f"?{'&'.join(f'{name}=' for name in names[:12])}"
        return "/".join(["", *folders, file + asked]), folder, f"…{asked}", WITH_PARAMETERS
    _, dot, extension = file.rpartition(".")
    last = "*" + (dot + extension if dot and len(extension) <= 5 else "") if file else ""
    return "/".join(["", *folders, last]), folder, top, WHOLE_HOST


@dataclass(slots=True)
class _Host:
    """What is known of one host."""

    pages: int = 0
    terms: set[int] = field(default_factory=set)
    debts: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """Pages that said nothing new, by pattern."""
    yields: dict[str, int] = field(default_factory=dict)
    """Pages that said something new while something was owed, by pattern."""
    links: frozenset[Url] = frozenset()
    """Those of the last page that was compared; the next one has its menu from there."""
    owing: dict[Url, None] = field(default_factory=dict)
    """The latest pages that owe something."""

    def excuses(self, url: Url, parent: Url | None) -> bool:
        """Whether a URL is worth a request though its host or all of its folder is suspended: neither it nor its parent
        has to do with what is owed."""
        return parent is not None and parent not in self.owing and self.debts.keys().isdisjoint(patterns(url)[:2])

    def pays(self, pattern: str) -> bool:
        """Whether a pattern outlives its folder or host: most of its pages say something new."""
        return self.yields.get(pattern, 0) >= max(PAYS, 1 + self.counts.get(pattern, 0))


@dataclass(slots=True)
class TrapWatch:
    """Watches the pages of every host, and says which URLs are not worth a request."""

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
        host, of_url = self._hosts.get(name) or _Host(), suspended.keys() & set(wider)
        if not of_url or host.pays(pattern):
            return None
        is_close = wider[0] in of_url or (wider[1] in of_url and "?" in url)
        return REASON if is_close or not host.excuses(url, parent) else None

    def learn(self, page: Page, is_known: Callable[[Url], bool]) -> Suspended | None:
        """Take in a fetched page, before its links are. Returns what is suspended because of it."""
        name = urls.host(page.url)
        host = self._host(name)
        host.pages += 1
        terms = frozenset(memoryview(page.view(last_term_numbers)).cast("I"))
        new = terms - host.terms
        text = hash((terms, "?" in page.url))  # an original is no twin of its copies with parameters
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
        """What a page adds to the debts; if it says something new, what it pays off, as a negative number."""
        if len(new) > PLAINLY_NEW * terms:
            return -REPAYS
        inside = _links_inside(page)
        addresses = _addresses(page.url, inside)
        said: list[bytes] = []
        for term in _named(page, new):
            if term[:STEM] not in addresses:
                said.append(term)
                if len(said) > MAZE * terms:
                    return -REPAYS
        words = sum(_DIGIT.search(term) is None for term in said)
        outside_menu, host.links = len(set(inside) - host.links), frozenset(inside)
        if _lead_on(inside, outside_menu, is_known):
            return LEADS_ON
        if words > NEW * terms:
            return -math.ceil(REPAYS * len(said) / (MAZE * terms))
        depth = _depth(page.url)
        if any(_depth(url) == depth and not is_known(url) for url in inside):
            return LEADS_ON
        return 0 if new else COPY

    def _charge(self, name: str, host: _Host, url: Url, owes: int) -> Suspended | None:
        host.owing[url] = None
        if len(host.owing) > MOST_OWING:
            del host.owing[next(iter(host.owing))]
        for pattern, limit in zip(patterns(url), LIMITS, strict=True):
            if pattern not in host.debts and len(host.debts) >= MOST_PATTERNS:
                least = min(host.debts, key=host.debts.__getitem__)
                del host.debts[least], host.counts[least]
            host.debts[pattern] = host.debts.get(pattern, 0) + owes
            host.counts[pattern] = host.counts.get(pattern, 0) + 1
            if host.debts[pattern] >= limit and pattern not in self._suspended.get(name, {}):
                self._suspended.setdefault(name, {})[pattern] = host.counts[pattern]
                return Suspended(name, pattern, host.counts[pattern])
        return None

    def _host(self, name: str) -> _Host:
        host = self._hosts.pop(name, None) or _Host()
        self._hosts[name] = host  # the latest last
        while len(self._hosts) > MOST_HOSTS or (self._terms > MOST_TERMS and len(self._hosts) > 1):
            oldest = next(iter(self._hosts))
            self._terms -= len(self._hosts.pop(oldest).terms)
        return host

    def owes(self, url: Url) -> bool:
        """Whether this page is among the latest of its host that said nothing new."""
        host = self._hosts.get(urls.host(url))
        return host is not None and url in host.owing

    @property
    def hosts(self) -> int:
        """Hosts in memory."""
        return len(self._hosts)

    @property
    def terms(self) -> int:
        """Terms in memory, of all hosts together."""
        return self._terms

    def __iter__(self) -> Iterator[Suspended]:
        """All that is suspended."""
        for host, suspended in self._suspended.items():
            for pattern, pages in suspended.items():
                yield Suspended(host, pattern, pages)

    # ---- saved with the crawl

    def save(self) -> dict[str, Any]:
        """What is suspended and what is owed, as JSON values. Terms are not saved: they are soon learned again."""
        debts: dict[str, dict[str, list[int]]] = {}
        for name, host in self._hosts.items():
            if owed := {of: [debt, host.counts[of]] for of, debt in host.debts.items() if debt >= SAVED_FROM}:
                debts[name] = owed
        yields = {name: dict(self._hosts[name].yields) for name in self._suspended if name in self._hosts}
        suspended = {name: dict(of) for name, of in self._suspended.items()}
        parts = {"suspended": suspended, "debts": debts, "yields": yields}
        return {name: part for name, part in parts.items() if part}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load what `save` returned."""
        self._suspended = {name: dict(of) for name, of in state.get("suspended", {}).items()}
        for name, owed in state.get("debts", {}).items():
            debts, counts = ({of: pair[column] for of, pair in owed.items()} for column in (0, 1))
            self._hosts[name] = _Host(FIRST, set(), debts, counts)
        for name, yields in state.get("yields", {}).items():
            self._hosts.setdefault(name, _Host(FIRST)).yields = dict(yields)


def _links_inside(page: Page) -> list[Url]:
    """The first links of a page to its own host."""
    origin = urls.origin(page.url) + "/"
    return [link.url for link in islice(page.outlinks, MOST_LINKS) if link.url.startswith(origin)]


def _addresses(url: Url, links: list[Url]) -> bytes:
    """The text of some URLs of one host, which is there once. No term contains a slash."""
    start = len(urls.origin(url))
    return " ".join([url, *(link[start:] for link in links)]).lower().encode()


def _named(page: Page, numbers: Set[int]) -> Iterator[bytes]:
    """The last terms of a page with these numbers."""
    every = memoryview(page.view(last_term_numbers)).cast("I")
    return compress(last_terms(page.record), map(numbers.__contains__, every))


def _lead_on(links: list[Url], outside_menu: int, is_known: Callable[[Url], bool]) -> bool:
    """Whether as many of a page's links lead to new URLs as nearly all outside its menu.

    On most pages it takes a few links to see that not.
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


def _repay(host: _Host, url: Url, paid: int) -> None:
    of_url = patterns(url)
    host.yields[of_url[0]] = host.yields.get(of_url[0], 0) + 1
    if len(host.yields) > MOST_PATTERNS:
        del host.yields[min(host.yields, key=host.yields.__getitem__)]
    for pattern in of_url:
        if (debt := host.debts.pop(pattern, 0) - paid) > 0:
            host.debts[pattern] = debt
        else:
            host.counts.pop(pattern, None)
