"""Detect crawler traps from what their pages say: URLs of one pattern whose pages say nothing new.

The words of each host are remembered. A page *says something new* if it has words or numbers that no earlier page of
its host had, or, when a host has used up its words, phrases of four words that no earlier page had; words in the
page's own URL and in its links do not count. Phrases alone are not enough on a page that leads on and whose URL is
made of parts of earlier URLs: facets and sort orders show the same items side by side in ever new ways. So a page says
nothing new if it is a copy (session ids, print versions), an error page sent with status 200, a list in another order,
or a page that only has another date (calendars). The random text of a maze is new in this sense, but nearly all links
of its pages, except those in the menu that it shares with the previous page, lead to URLs that no other page linked to.
On a site of finite size links meet: if three links of a pattern do and the birthday estimate of its size is small, it
is no maze.

A page that says nothing new and leads to more URLs adds to four debts: those of its pattern (path form and parameter
names), its folder at its depth, its first folder (or its parameter names on any path), and its host. So does a copy.
A page that says something new repays them, and what the pages that led to it added. A page that the judge finds
relevant adds to no debt if a third of its phrases are new, and half if only its links are those of a maze. Where a debt
reaches its limit, the URLs are suspended: they wait behind all others (`suspended_urls`), and a few of them are fetched
as samples. If pages with something new repay half of the debt, the suspension ends. There are three exceptions to it:

* A pattern most of whose pages say something new is requested when its folder or host is suspended.
* On a suspended host, URLs of folders without debt are requested if they were found on a page without debt. So a
  crawl that ran into the trap first still gets the rest of the host.
* URLs with parameters have a host debt of their own, so that originals are not suspended together with their copies.

URLs whose path repeats itself (a loop of relative links) are suspended until pages of their pattern say something new.

The limits were chosen on webs of traps and on sites without any: docs/decisions/0016-traps.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, compress, islice, pairwise
from typing import Any, ClassVar, NamedTuple

from scenthound import url as urls
from scenthound.model import Url
from scenthound.page.page import AheadView, Page, last_term_numbers, last_terms

SUSPENDED, REINSTATED = "suspended", "reinstated"  # the kinds of the events
FIRST = 3  # pages of a host that are only remembered, not compared
PLAINLY_NEW = 0.9  # a page with a larger share of new terms says something new, without further checks
NEW = 0.03  # the share of new words from which a page says something new …
NEW_NUMBERS = 0.1  # … or of new numbers, because a date or a counter is on many pages …
NEW_PHRASES = 0.5  # … or of new pairs of words, if there is no new word …
PHRASE = 4  # words in a phrase
A_FEW_PHRASES = 0.3  # … or of new pairs on a page that leads nowhere, or has a new word or number
ON_TOPIC = 0.35  # the share of new phrases from which a relevant page with a URL of its own adds to no debt
LEAST_PHRASES = 10  # a shorter text counts as one of this length
MAZE = 0.3  # a page with a larger share of new terms is not part of a maze
UNKNOWN = 0.8  # the share of links outside the menu that lead to new URLs of the host, on a page of a maze
LINKS = 3  # the minimum number of such links on a page of a maze
MEETINGS = 3  # links that met from which the number of pages of a host is estimated …
FINITE = 5_000  # … and at most this many pages are no maze
MOST_LINKS = 40  # links of a page that are checked
STEM = 6  # bytes of a term that are searched for in URLs
LEADS_ON = 2  # the debt of a page that says nothing new and leads to more pages …
COPY = 1  # … of a page that says nothing new, not even a number, and leads nowhere, or of a relevant page of a maze …
TWIN = 3  # … of a page with exactly the terms of an earlier page, at least TWIN_TERMS (if it is long: the same text)
TWIN_TERMS = 20
REPAYS = 6  # the debt repaid by a page whose share of new terms is MAZE or more; other pages repay in proportion
REPAYS_HOST = 2  # the most that it repays of its host's debt, so that good pages do not pay for a trap beside them
REPAYS_PHRASES = 2  # the debt repaid by a page with new pairs of words only
PAYS = 3  # pages with something new that a pattern needs to be exempt from the suspension of its folder or host
PATTERN, FOLDER, HOST = 16, 20, 30  # the debt at which each is suspended; at half of it, the suspension ends
LIMITS = (PATTERN, FOLDER, FOLDER, HOST)
WHOLE_HOST, WITH_PARAMETERS = "the host", "all URLs with parameters"  # two debts, so that copies spare the originals
REPEATS = 3  # this many repetitions of a path part, or of a pair of parts, indicate a loop of relative links

SAVED_FROM = 8  # the debts of a host are saved if one of them is at least this large
MOST_SAVED = 20  # debts saved per host, the largest
RELEARNED = 12  # pages of a host after a restart that repay nothing, because its terms are not saved

MOST_HOSTS = 2_000  # watched at once
MOST_TERMS = 500_000  # remembered, of all hosts together
MOST_PHRASES = 20_000  # remembered of one host; then the older half is forgotten
MOST_UNREAD = 30  # texts per host whose pairs of words are taken only if they are needed …
MOST_CHARACTERS = 8_000_000  # … and of all hosts together
MOST_PARTS = 20_000  # words and numbers of URLs per host
MOST_PATTERNS = 200  # per host with a debt
MOST_OWING = 300  # pages with a debt remembered per host
READ = 6_000  # characters of a page whose pairs of words are compared …
TEMPLATE = 100_000  # … after the beginning that it shares with the page before, of at most this length …
OVERLAP = 60  # … but for its last words, with which the first new phrases begin

_DIGITS = re.compile(r"\d+")
_RANDOM = re.compile(r"[0-9a-f]{8,}|(?=[a-z]*\d)[a-z0-9]{10,}", re.IGNORECASE)
_DIGIT = re.compile(rb"\d")
_WORD = re.compile(r"(?<![.,\d])\d+[.,]\d+(?![.,]?\d)|[^\W_]{1,12}")  # in scripts without spaces, a piece of a clause


class Suspended(NamedTuple):
    """A pattern, a folder or a host whose URLs wait behind all others."""

    host: str
    pattern: str
    pages: int
    """The number of pages that said nothing new."""

    def __str__(self) -> str:
        return f"suspended: {self.pages} pages of {self.pattern} had nothing new"


class Lesson(NamedTuple):
    """What the watch learned from a page."""

    says_new: bool = True
    is_text_new: bool = True
    """Whether its text is new although it says nothing new, because it belongs to a maze."""
    suspended: Suspended | None = None
    """What is suspended because of it."""
    reinstated: tuple[Suspended, ...] = ()
    """What is no longer suspended because of it."""
    forgiven: tuple[Url, ...] = ()
    """Pages with a debt that led to it."""


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


@lru_cache(maxsize=4096)
def repeats_itself(path: str) -> bool:
    """Whether a path looks like a loop of relative links.

    >>> repeats_itself("/a/b/a/b/a/b/"), repeats_itself("/news/2024/05/05.html")
    (True, False)
    """
    parts = [part for part in path.partition("?")[0].split("/") if part]
    if len(parts) < 2 * REPEATS:
        return len(parts) >= REPEATS and any(parts[i : i + REPEATS] == [parts[i]] * REPEATS for i in range(len(parts)))
    most = Counter(parts).most_common(1)[0][1]
    pairs = Counter(pairwise(parts)).most_common(1)[0][1]
    return most > REPEATS or pairs >= REPEATS


@dataclass(slots=True)
class _Host:
    """The memory of one host."""

    pages: int = 0
    terms: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    """The words and numbers in the URLs of its pages."""
    phrases: set[int] = field(default_factory=set)
    older_phrases: set[int] = field(default_factory=set)
    frame: frozenset[int] = frozenset()
    """The pairs of at least half of its first pages: menu, foot, labels."""
    unread: list[str] = field(default_factory=list)
    """The latest texts whose pairs were not needed yet."""
    before: str = ""
    """The text of the last page with a long text, without its title."""
    debts: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """The number of pages that said nothing new, by pattern."""
    yields: dict[str, int] = field(default_factory=dict)
    """The number of pages that said something new, by pattern."""
    links: frozenset[Url] = frozenset()
    """The links of the last page compared; those that the next page shares are its menu."""
    meetings: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For patterns with a page that looked like a maze: the number of links of its pages to new URLs, and of those to
    URLs of the pattern that another page had linked to and that were not fetched yet."""
    owing: dict[Url, Url | None] = field(default_factory=dict)
    """The latest pages with a debt, and the pages that led to them."""
    relearns: int = 0
    """Pages left until its terms are known again after a restart."""

    def excuses(self, url: Url, parent: Url | None) -> bool:
        """Whether to request a URL although its host or first folder is suspended: its pattern, its folder and its
        parent have no debt."""
        return parent is not None and parent not in self.owing and self.debts.keys().isdisjoint(patterns(url)[:2])

    def take_ancestors(self, parent: Url | None) -> Iterator[Url]:
        """The pages with a debt that led to a page. They have no debt any more."""
        while parent is not None and parent in self.owing:
            yield parent
            parent = self.owing.pop(parent)

    def pays(self, pattern: str) -> bool:
        """Whether a pattern is exempt from the suspension of its folder or host, because most of its pages are new."""
        return self.yields.get(pattern, 0) >= max(PAYS, 1 + self.counts.get(pattern, 0))

    def takes_parts(self, url: Url) -> bool:
        """Remember the words and numbers of a page's URL, and return whether one is new.

        The URLs of facets, sort orders and calendars are made of the same parts again and again. Paths that had
        parameters are remembered too.
        """
        parts = set(map(hash, _WORD.findall(url[len(urls.origin(url)) :].lower())))
        is_new = not parts <= self.parts
        if len(self.parts) > MOST_PARTS:
            self.parts.clear()
        self.parts |= parts
        path, question, _ = url.partition("?")
        if question:
            self.parts.add(hash(path + question))
        return is_new

    def read_kept_texts(self) -> None:
        """Take the pairs of the texts that were kept."""
        pages_with = Counter(chain.from_iterable(map(_phrases, self.unread)))
        if not self.frame and len(self.unread) >= FIRST:
            self.frame = frozenset(pair for pair, pages in pages_with.items() if 2 * pages >= len(self.unread))
        self.phrases.update(pages_with)
        for text in self.unread:
            self.phrases.update(_phrases(text).values())
        self.unread.clear()

    def count_links(
        self, pattern: str, links: list[Url], is_known: Callable[[Url], bool], is_fetched: Callable[[Url], bool]
    ) -> None:
        """Count how many of these links of a page lead to new URLs, and how many met another link."""
        known = [link for link in links if is_known(link)]
        met = sum(not is_fetched(link) and patterns(link)[0] == pattern for link in known)
        unknown_before, met_before = self.meetings.pop(pattern, (0, 0))
        self.meetings[pattern] = (unknown_before + len(links) - len(known), met_before + met)
        if len(self.meetings) > MOST_PATTERNS:
            del self.meetings[next(iter(self.meetings))]

    def is_finite(self, pattern: str) -> bool:
        """Whether the links of a pattern met so often that it has a limited number of pages.

        This is the birthday estimate: of n links to N pages, n² / 2N meet.
        """
        unknown, met = self.meetings.get(pattern, (0, 0))
        return met >= MEETINGS and unknown**2 <= 2 * FINITE * met


@dataclass(slots=True)
class TrapWatch:
    """Watches the pages of every host, and decides which URLs have to wait behind all others."""

    ahead: ClassVar[tuple[AheadView, ...]] = (last_term_numbers,)
    is_on: bool = True
    """False if a person has asked for URLs that look like traps."""
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _suspended: dict[str, dict[str, int]] = field(default_factory=dict)
    _terms: int = 0
    _unread: int = 0

    def suspends(self, url: Url, parent: Url | None = None) -> bool:
        """Whether a URL, found on the page `parent`, has to wait behind all others."""
        name = urls.host(url)
        suspended = self._suspended.get(name)
        if url.count("/") > 5 and self.is_on and repeats_itself(url[len(urls.origin(url)) :]):
            return not (self._hosts.get(name) or _Host()).pays(patterns(url)[0])
        if not suspended or not self.is_on:
            return False
        pattern, *wider = patterns(url)
        if pattern in suspended:
            return True
        host, matches = self._hosts.get(name) or _Host(), suspended.keys() & set(wider)
        if not matches or host.pays(pattern):
            return False
        is_close = wider[0] in matches or (wider[1] in matches and "?" in url)
        return is_close or not host.excuses(url, parent)

    def learn(
        self,
        page: Page,
        is_known: Callable[[Url], bool],
        is_fetched: Callable[[Url], bool] = lambda url: False,
        is_relevant: bool = False,
    ) -> Lesson:
        """Learn from a fetched page, before its links are added."""
        if not self.is_on:
            return Lesson()
        name = urls.host(page.url)
        host = self._host(name)
        host.pages += 1
        has_own_url = host.takes_parts(page.url)
        terms = frozenset(memoryview(page.view(last_term_numbers)).cast("I"))
        new = terms - host.terms
        long_text = page.text if len(page.text) > READ else ""  # of few words, it may have all that others have
        text = hash((terms, long_text, "?" in page.url))  # an original and its copies with parameters are not twins
        is_known_text = text in host.terms
        self._terms += len(new) + (not is_known_text)
        host.terms |= new
        host.terms.add(text)
        if host.pages <= FIRST:
            self._keep_unread(host, page)
            return Lesson()
        if is_known_text and len(terms) >= TWIN_TERMS:
            owes, is_text_new = TWIN, False
        else:
            owes, is_text_new = self._owes(host, page, new, len(terms), is_known, is_fetched, has_own_url, is_relevant)
            if owes > 0 and hash(page.url + "?") in host.parts:
                owes = 0  # it is the original of copies that came first
        if host.relearns:
            host.relearns -= 1
            owes = max(owes, self._presumed(host, page, is_known))
        if owes < 0:
            reinstated = self._repay(name, host, page.url, -owes)
            forgiven = tuple(host.take_ancestors(page.candidate.parent))
            for url in forgiven:
                reinstated += self._repay(name, host, url, LEADS_ON)
            return Lesson(True, True, None, reinstated, forgiven)
        return Lesson(owes == 0, is_text_new, self._charge(name, host, page, owes) if owes else None)

    def _presumed(self, host: _Host, page: Page, is_known: Callable[[Url], bool]) -> int:
        """The debt of a page whose host was watched before a restart: like that of the pages of its pattern."""
        pattern = patterns(page.url)[0]
        in_debt = host.debts.get(pattern, 0) >= PATTERN / 2 and not host.pays(pattern)
        return LEADS_ON if in_debt and not all(map(is_known, _links_inside(page))) else 0

    def _owes(
        self,
        host: _Host,
        page: Page,
        new: Set[int],
        terms: int,
        is_known: Callable[[Url], bool],
        is_fetched: Callable[[Url], bool],
        has_own_url: bool,
        is_relevant: bool,
    ) -> tuple[int, bool]:
        """The debt of a page, negative if it says something new and repays debts, and whether its text is new."""
        if len(new) > PLAINLY_NEW * terms:
            self._keep_unread(host, page)
            return -REPAYS, True
        links = _links_inside(page)
        url_text = _url_text(page.url, links)
        new_terms: list[bytes] = []
        for term in _terms_of(page, new):
            if term[:STEM] not in url_text:
                new_terms.append(term)
                if len(new_terms) > MAZE * terms:
                    self._keep_unread(host, page)
                    return -REPAYS, True
        new_words = sum(_DIGIT.search(term) is None for term in new_terms)
        outside_menu, host.links = [link for link in links if link not in host.links], frozenset(links)
        is_maze = _is_maze(links, len(outside_menu), is_known)
        pattern = patterns(page.url)[0]
        if is_maze or pattern in host.meetings:
            host.count_links(pattern, outside_menu, is_known, is_fetched)
        if is_maze:
            if not host.is_finite(pattern):
                is_text_new = self._new_phrases(host, page, url_text)[0] > NEW_PHRASES
                return (COPY if is_relevant and is_text_new else LEADS_ON), is_text_new
        elif new_words > NEW * terms or len(new_terms) - new_words > NEW_NUMBERS * terms:
            self._keep_unread(host, page)
            return -max(REPAYS_PHRASES, math.ceil(REPAYS * len(new_terms) / (MAZE * terms))), True
        new_phrases, has_new_word = self._new_phrases(host, page, url_text)
        leads_on = not all(map(is_known, links))
        is_plain = "?" not in page.url
        needed = A_FEW_PHRASES if (has_new_word and is_plain and not is_maze) or not leads_on else NEW_PHRASES
        if new_phrases >= needed and (has_own_url or has_new_word or (is_plain and not leads_on)):
            return -REPAYS_PHRASES, True
        if is_relevant and has_own_url and is_plain and new_phrases >= ON_TOPIC:
            return 0, False
        if leads_on:
            return LEADS_ON, False
        return (0 if new or new_phrases else COPY), False

    def _keep_unread(self, host: _Host, page: Page) -> None:
        """Keep the text of a page, in case later pages have to be compared with it."""
        host.unread.append(self._text_read(host, page))
        self._unread += len(host.unread[-1])
        if len(host.unread) > MOST_UNREAD:
            self._unread -= len(host.unread.pop(0))
        if self._unread > MOST_CHARACTERS:
            for other in self._hosts.values():  # the host without a page for longest first
                self._unread -= sum(map(len, other.unread)) + len(other.before)
                other.unread.clear()
                other.before = ""
                if self._unread <= MOST_CHARACTERS // 2:
                    break

    def _text_read(self, host: _Host, page: Page) -> str:
        """The text of a page that is compared: its beginning, or what follows a menu too long for that."""
        if len(page.text) <= READ:
            return page.text
        text = page.text[len(page.title) :] if page.text.startswith(page.title) else page.text
        start, before = max(0, _same_beginning(host.before, text) - OVERLAP), len(host.before)
        host.before = text[:TEMPLATE]
        self._unread += len(host.before) - before
        return text[start : start + READ]

    def _new_phrases(self, host: _Host, page: Page, url_text: bytes) -> tuple[float, bool]:
        """The share of a page's pairs of neighbouring words that its host did not have, and whether a word is new.

        Its frame does not count.
        """
        before = len(host.phrases)
        if host.unread:
            self._unread -= sum(map(len, host.unread))
            host.read_kept_texts()
        pairs = _phrases(self._text_read(host, page), frozenset(_WORD.findall(url_text.decode())))
        own = pairs.keys() - host.frame
        new = own - host.phrases - host.older_phrases
        words = {pairs[pair] for pair in new}
        has_new_word = not words <= host.phrases and not words <= host.older_phrases
        host.phrases |= new | words
        self._terms += len(host.phrases) - before
        if len(host.phrases) > MOST_PHRASES // 2:
            self._terms -= len(host.older_phrases)
            host.older_phrases, host.phrases = host.phrases, set()
        return len(new) / max(len(own), LEAST_PHRASES), has_new_word

    def _charge(self, name: str, host: _Host, page: Page, owes: int) -> Suspended | None:
        """Add to the four debts of a page. Returns what is suspended because of it."""
        url = page.url
        host.owing[url] = page.candidate.parent
        if len(host.owing) > MOST_OWING:
            del host.owing[next(iter(host.owing))]
        suspended = self._suspended.get(name, {})
        for pattern, limit in zip(patterns(url), LIMITS, strict=True):
            if pattern not in host.debts and len(host.debts) >= MOST_PATTERNS:
                smallest = min(host.debts, key=host.debts.__getitem__)
                del host.debts[smallest], host.counts[smallest]
            host.debts[pattern] = min(host.debts.get(pattern, 0) + owes, limit + TWIN)
            host.counts[pattern] = host.counts.get(pattern, 0) + 1
            if host.debts[pattern] >= limit and pattern not in suspended:
                self._suspended.setdefault(name, {})[pattern] = host.counts[pattern]
                return Suspended(name, pattern, host.counts[pattern])
        return None

    def _repay(self, name: str, host: _Host, url: Url, amount: int) -> tuple[Suspended, ...]:
        """Reduce the four debts of a URL that says something new. Returns what is no longer suspended."""
        keys = patterns(url)
        host.yields[keys[0]] = host.yields.get(keys[0], 0) + 1
        if len(host.yields) > MOST_PATTERNS:
            del host.yields[min(host.yields, key=host.yields.__getitem__)]
        if not host.debts:
            return ()
        reinstated = []
        suspended = self._suspended.get(name, {})
        for pattern, limit in zip(keys, LIMITS, strict=True):
            debt = host.debts.pop(pattern, 0) - (min(amount, REPAYS_HOST) if limit == HOST else amount)
            if debt <= limit / 2 and pattern in suspended:
                reinstated.append(Suspended(name, pattern, suspended.pop(pattern)))
            if debt > 0:
                host.debts[pattern] = debt
            else:
                host.counts.pop(pattern, None)
        if not suspended:
            self._suspended.pop(name, None)
        return tuple(reinstated)

    def _host(self, name: str) -> _Host:
        host = self._hosts.pop(name, None) or _Host()
        self._hosts[name] = host  # at the end: hosts are in the order of their latest page
        while len(self._hosts) > MOST_HOSTS or (self._terms > MOST_TERMS and len(self._hosts) > 1):
            oldest = self._hosts.pop(next(iter(self._hosts)))
            self._terms -= len(oldest.terms) + len(oldest.phrases) + len(oldest.older_phrases)
            self._unread -= sum(map(len, oldest.unread)) + len(oldest.before)
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
        """The suspensions and debts as JSON values. Terms are not saved: they would be large."""
        debts: dict[str, dict[str, list[int]]] = {}
        yields: dict[str, dict[str, int]] = {}
        for name, host in self._hosts.items():
            if name not in self._suspended and max(host.debts.values(), default=0) < SAVED_FROM:
                continue
            largest = sorted(host.debts, key=host.debts.__getitem__, reverse=True)[:MOST_SAVED]
            debts[name] = {key: [host.debts[key], host.counts[key]] for key in largest}
            most = sorted(host.yields, key=host.yields.__getitem__, reverse=True)[:MOST_SAVED]
            yields[name] = {key: host.yields[key] for key in most}
        suspended = {name: dict(pages) for name, pages in self._suspended.items()}
        parts = {"suspended": suspended, "debts": debts, "yields": yields}
        return {name: part for name, part in parts.items() if part}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load what `save` returned."""
        self._suspended = {name: dict(pages) for name, pages in state.get("suspended", {}).items()}
        for name, saved in state.get("debts", {}).items():
            debts, counts = ({key: pair[column] for key, pair in saved.items()} for column in (0, 1))
            self._hosts[name] = _Host(FIRST, debts=debts, counts=counts, relearns=RELEARNED)
        for name, yields in state.get("yields", {}).items():
            self._hosts.setdefault(name, _Host(FIRST, relearns=RELEARNED)).yields = dict(yields)


def _same_beginning(one: str, other: str) -> int:
    """The number of characters that two texts begin with alike.

    >>> _same_beginning("menu, first page", "menu, other page"), _same_beginning("", "text")
    (6, 0)
    """
    least, most = 0, min(len(one), len(other))
    while least < most:  # comparing halves is much faster than a loop over characters
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _phrases(text: str, without: Set[str] = frozenset()) -> dict[int, int]:
    """The phrases of four words of a text, each with its last word, after the words `without` were left out."""
    words = [word for word in _WORD.findall(text.lower()) if word not in without]
    parts = [words[start:] for start in range(min(PHRASE, max(len(words), 1)))]
    return dict(zip(map(hash, zip(*parts, strict=False)), map(hash, parts[-1]), strict=False))


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
