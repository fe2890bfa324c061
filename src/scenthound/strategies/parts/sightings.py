"""Waiting links and the pages they were seen on: for crawlers that learn from a link once its page has arrived.

`intelligent` and `apprentice` use it. A page is kept as long as one of its links waits. Of the pages that a link was
seen on the first few are remembered, and of all waiting links the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar

from scenthound.model import NOTHING, Candidate, Url

P = TypeVar("P")
LINK = "link"
"""What a candidate carries: the number of its link, by which it is known even where a redirect led elsewhere."""
MOST_SIGHTINGS = 8  # of one link: a site's menu is on all of its pages, and says the same on each


class WaitingLink:
    """A link that was offered and whose result is not known yet. `more` belongs to the strategy."""

    __slots__ = ("carry", "more", "seen", "url")

    def __init__(self, url: Url, number: int, more: Any = None, seen: Sequence[Sequence[int]] = ()) -> None:
        self.url, self.more = url, more
        self.carry: Mapping[str, int] = {LINK: number}
        """What its candidates carry."""
        self.seen: list[tuple[int, ...]] = [tuple(sighting) for sighting in seen]
        """Of every sighting the number of the page, and whatever else its strategy noted."""


class WaitingLinks(Generic[P]):
    """Waiting links by number, and what is remembered of the pages that link to them."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.links: dict[int, WaitingLink] = {}
        self.pages: dict[int, P] = {}
        self.done: set[Url] = set()
        """URLs whose result is known: nothing can be learned from links to them."""
        self._numbers: dict[Url, int] = {}
        self._children: dict[int, int] = {}  # how many sightings name a page
        self._next = 0

    def number(self, url: Url, more: Any = None) -> int:
        """The number of a waiting link; a new number for a new link."""
        number = self._numbers.get(url)
        if number is None:
            number = self._numbers[url] = self._next
            self._next += 1
            self.links[number] = WaitingLink(url, number, more)
        return number

    def add_page(
        self,
        page: int,
        sightings: Iterable[tuple[Url, tuple[int, ...]]],
        more: Callable[[list[Url]], Iterable[Any]] | None = None,
    ) -> list[WaitingLink]:
        """The waiting links of a page, each with this sighting added: the page's number and what follows it.

        `more` gets the URLs that are new and returns what to note of each.
        """
        links, numbers, added = self.links, self._numbers, list[WaitingLink]()
        if more is not None:
            sightings = list(sightings)
            new = [url for url, _ in sightings if url not in numbers]
            for url, noted in zip(new, more(new), strict=True):
                self.number(url, noted)
        count = 0
        for url, sighting in sightings:
            number = numbers.get(url)
            link = links[self.number(url) if number is None else number]
            if len(link.seen) < MOST_SIGHTINGS:
                link.seen.append((page, *sighting))
                count += 1
            added.append(link)
        if count:
            self._children[page] = self._children.get(page, 0) + count
        return added

    def keep(self, number: int, page: P) -> None:
        """Remember a page after its links were added; if there are too many links, forget the oldest."""
        if number in self._children:
            self.pages[number] = page
        while len(self.links) > self.memory:
            oldest = self.links.pop(next(iter(self.links)))
            del self._numbers[oldest.url]
            self.release(oldest)

    def arrived(self, candidate: Candidate, url: Url) -> WaitingLink | None:
        """The link that led to a URL, which no longer waits. Its pages stay until it is released."""
        asked: Any = candidate.carry.get(LINK)
        number = asked if isinstance(asked, int) and asked in self.links else self._numbers.get(candidate.url)
        link = None if number is None else self.links.pop(number)
        if link is not None:
            del self._numbers[link.url]
            self.done.add(link.url)
        other = self._numbers.pop(url, None)
        if other is not None:
            self.release(self.links.pop(other))
        self.done.add(url)
        return link

    def forget(self, candidate: Candidate) -> None:
        """Drop the link to a page that could not be fetched."""
        link = self.arrived(candidate, candidate.url)
        if link is not None:
            self.release(link)

    def release(self, link: WaitingLink) -> None:
        """Nothing more is to be learned from this link."""
        for page, *_ in link.seen:
            self._children[page] -= 1
            if not self._children[page]:
                del self._children[page]
                self.pages.pop(page, None)

    # ---- what survives a restart

    def save(self) -> dict[str, Any]:
        """Everything but the pages, which only the strategy can save."""
        links = [
            [number, link.url, link.more, [list(seen) for seen in link.seen]] for number, link in self.links.items()
        ]
        return {"links": links, "next": self._next, "done": sorted(self.done)}

    def load(self, state: Any, pages: dict[int, P]) -> None:
        self.links = {number: WaitingLink(Url(url), number, more, seen) for number, url, more, seen in state["links"]}
        self._numbers = {link.url: number for number, link in self.links.items()}
        self._children = {}
        for link in self.links.values():
            for page, *_ in link.seen:
                self._children[page] = self._children.get(page, 0) + 1
        self.pages, self._next, self.done = pages, state["next"], set(map(Url, state["done"]))


_MADE: Callable[..., Candidate] = tuple.__new__


def new_scores(urls: Iterable[Url], scores: Iterable[float], parts: Iterable[Mapping[str, float]]) -> list[Candidate]:
    """Candidate(url, score, parts=parts, rescored=True) for each, but faster: there are tens of thousands."""
    rest = (repeat(None), repeat(""), repeat(0), repeat(""), repeat(0.0), repeat(True))
    return list(map(_MADE, repeat(Candidate), zip(urls, scores, repeat(NOTHING), parts, *rest, strict=False)))
