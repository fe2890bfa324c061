"""Features of pages and links, as names and as numbers. Not a strategy: `hayek` is. In words they read

    volleyball            a word of the page's text (real: only a fetched page has it)
    scheme:https host:fivb path:events          words of the URL before, in and after its host part
    before:see anchor:results after:from        the 3 words before, the words in, the 3 words after a link to it
    distance:1            known to be so many links from a goal; that it is one is no feature: agents that know goals
                          by our own list of them would learn nothing

What a page says is read into numbers of a register that all economies of a process share; each economy has a lexicon
with numbers of its own, in the order in which it met them, and translates a page's in one go.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link, Page
from scenthound.text.contexts import link_number, page_counts, stream
from scenthound.text.folded import listed
from scenthound.text.lasting import STREAM, Lasting
from scenthound.text.register import Register, fresh
from scenthound.text.tokens import Analyser, tokens

AROUND = 3  # words before and after an anchor [ECON]
FAR = 8
"""The class of pages that are not known to be nearer than this to a goal."""
WORDS_PER_PAGE = 2000
WORDS_PER_ANCHOR = 12
MOST_FEATURES = 1_000_000
REGISTER = Register(1 << 19)
"""Some 65 MB when full, at worst 210 MB of hostile words, besides what lexicons hold anyway. The 5,232 pages of the
schools bed have 378,000 features. It outlives lexicons: what was read of recorded pages is kept for the next crawl, by
these numbers."""

Whole = npt.NDArray[np.int32]
_SPLIT = re.compile(r"[^0-9a-z]+")
_WORDS, _LINKS = Lasting("feature words"), Lasting("feature links")
_KINDS = ("scheme:", "host:", "path:", "before:", "anchor:", "after:", "distance:")


class Lexicon:
    """Features by number. Once it is full no new ones are learned."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self.virtual = bytearray()
        self._epoch = -1
        self._own: Whole = np.zeros(0, dtype=np.int32)  # by number of the register; -1: not met yet
        self.distances = self.add_all(f"distance:{steps}" for steps in range(FAR))
        self.add_all(names)

    def add_all(self, names: Iterable[str]) -> list[int]:
        """The numbers of features, those left out that are new and for which there is no room."""
        _, numbers = REGISTER.of(names)
        self.follow()
        return [own for number in numbers if (own := self.take(number)) >= 0]

    def own(self, numbers: array[int]) -> Whole:
        """Numbers of this lexicon for those of the register, of the epoch that it follows; -1 for what it lacks."""
        found: Whole = self._own[np.frombuffer(numbers, dtype=np.int32)] if numbers else np.zeros(0, dtype=np.int32)
        return found

    def own_all(self, numbers: array[int]) -> Whole:
        """As `own`, of numbers that are all different; what it lacks is learned, in order, as far as there is room."""
        found = self.own(numbers)
        missing = np.flatnonzero(found < 0)[: MOST_FEATURES - len(self.names)]
        if len(missing):
            new = np.frombuffer(numbers, dtype=np.int32)[missing]
            found[missing] = self._own[new] = np.arange(len(self.names), len(self.names) + len(new), dtype=np.int32)
            names = [REGISTER.names[number] for number in new.tolist()]
            self.names += names
            self.virtual += bytes(name.startswith(_KINDS) for name in names)
        return found

    def take(self, number: int) -> int:
        """The number of what has this number in the register, -1 if it is new and there is no room."""
        own = int(self._own[number])
        if own < 0 and len(self.names) < MOST_FEATURES:
            name = REGISTER.names[number]
            own = self._own[number] = len(self.names)
            self.names.append(name)
            self.virtual.append(name.startswith(_KINDS))
        return own

    def follow(self) -> None:
        """Know all numbers that the register has given by now. Its epoch does not end by it."""
        if self._epoch != REGISTER.epoch or not len(self._own):
            numbers = REGISTER.keep(self.names)
            self._epoch, self._own = REGISTER.epoch, np.full(2 * len(REGISTER.names) + 1024, -1, dtype=np.int32)
            self._own[np.array(numbers, dtype=np.intp)] = np.arange(len(self.names), dtype=np.int32)
        elif len(REGISTER.names) > len(self._own):
            more = np.full(2 * len(REGISTER.names) - len(self._own), -1, dtype=np.int32)
            self._own = np.concatenate([self._own, more])

    def __len__(self) -> int:
        return len(self.names)


class Words(NamedTuple):
    """The words of a page, by number of the register, and how often each occurs; the first so many."""

    epoch: int
    numbers: array[int]
    counts: array[int]


class Linked(NamedTuple):
    """What is known of every outlink of a page by its URL and by the words around it, by number of the register."""

    epoch: int
    numbers: array[int]
    starts: array[int]
    """Where in `numbers` the features of a URL and those of its link begin, by turns; and where the last end."""


def words_of(page: Page, analyser: Analyser, lexicon: Lexicon) -> Words:
    """The words of a page in order of first mention; the lexicon knows their numbers."""

    def read() -> Words:
        words, counts = listed(page_counts(page, analyser))
        return Words(*REGISTER.of(words[:WORDS_PER_PAGE]), array("i", counts[:WORDS_PER_PAGE]))

    found = fresh(page, (_WORDS, analyser), read, REGISTER)
    lexicon.follow()
    return found


def links_of(page: Page, analyser: Analyser, lexicon: Lexicon) -> Linked:
    """The features of all outlinks; the lexicon knows their numbers."""

    def read() -> Linked:
        words, spans = stream(page)
        page.forget((STREAM,))  # it is large, and nobody will ask again
        terms = analyser.term_of_each(words)
        places = {link.url: place for place, link in reversed(list(enumerate(page.links)))}
        around = [(link.url, _around(terms, spans[places[link.url]], link, analyser)) for link in page.outlinks]
        epoch = REGISTER.epoch
        pieces = [piece for url, said in around for piece in (_url_numbers(url, epoch), _link_numbers(*said, epoch))]
        starts = array("i", accumulate(map(len, pieces), initial=0))
        if epoch == REGISTER.epoch:
            return Linked(epoch, array("i", chain.from_iterable(pieces)), starts)
        named = (name for url, said in around for name in (*url_features(url), *_named(*said)))
        return Linked(*REGISTER.of(named), starts)  # in one go: piece by piece another epoch might end, without an end

    found = fresh(page, (_LINKS, analyser), read, REGISTER)
    lexicon.follow()
    return found


def url_features(url: str) -> list[str]:
    """
    >>> url_features("https://www.fivb.org/en/events.html")
    ['scheme:https', 'host:www', 'host:fivb', 'host:org', 'path:en', 'path:events', 'path:html']
    """
    scheme, _, rest = url.lower().partition("://")
    host, _, path = rest.partition("/")
    named = [("scheme", scheme), ("host", host), ("path", path[:300])]
    return [f"{kind}:{word}" for kind, text in named for word in _SPLIT.split(text) if word and len(word) < 40]


def link_features(page: Page, link: Link, analyser: Analyser) -> list[str]:
    """The words before, in and after an anchor. Stop words take up no room [D: three words that say something]."""
    words, spans = stream(page)
    return _named(*_around(analyser.term_of_each(words), spans[link_number(page, link)], link, analyser))


_Terms = tuple[str, ...]


def _around(
    terms: Sequence[str | None], span: tuple[int, int], link: Link, analyser: Analyser
) -> tuple[_Terms, _Terms, _Terms]:
    """The terms before, in and after an anchor, from those of all tokens of the page and where it stands."""
    start, end = span
    before = tuple(filter(None, terms[max(0, start - 4 * AROUND) : start]))[-AROUND:]
    if start < end:
        inside = tuple(filter(None, terms[start : min(end, start + 40)]))[:WORDS_PER_ANCHOR]
    else:
        inside = tuple(analyser.terms_of(tokens(link.anchor[:400]))[:WORDS_PER_ANCHOR]) if link.anchor else ()
    return before, inside, tuple(filter(None, terms[end : end + 4 * AROUND]))[:AROUND]


def _named(before: _Terms, inside: _Terms, after: _Terms) -> list[str]:
    return [
        *(f"before:{word}" for word in before),
        *(f"anchor:{word}" for word in inside),
        *(f"after:{word}" for word in after),
    ]


@lru_cache(maxsize=1 << 14)
def _link_numbers(before: _Terms, inside: _Terms, after: _Terms, epoch: int) -> array[int]:
    """Menus stand on all pages of a site."""
    return REGISTER.of(_named(before, inside, after)).numbers


@lru_cache(maxsize=1 << 15)
def _url_numbers(url: str, epoch: int) -> array[int]:
    return REGISTER.of(url_features(url)).numbers
