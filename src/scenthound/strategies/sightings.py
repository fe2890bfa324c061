"""Waiting links and the pages they were seen on, for strategies that learn from a link once its page has arrived.

`intelligent` and `apprentice` use it. A page is kept as long as one of its links waits. Memory is bounded: the first
few pages that a link was seen on, and the newest waiting links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar

from scenthound.model import NOTHING, Candidate, Url

P = TypeVar("P")
LINK = "link"
"""Key in `Candidate.carry` for the number of its link, which identifies the link even after a redirect."""
MOST_SIGHTINGS = 8  # per link: a site's menu is the same on all of its pages


class WaitingLink:
    """A link that was offered and not yet fetched. `more` is whatever the strategy wants to remember about it."""

    __slots__ = ("carry", "more", "seen", "url")

    def __init__(self, url: Url, number: int, more: Any = None, seen: Sequence[Sequence[int]] = ()) -> None:
        self.url, self.more = url, more
        self.carry: Mapping[str, int] = {LINK: number}
        """The `carry` of its candidates."""
        self.seen: list[tuple[int, ...]] = [tuple(sighting) for sighting in seen]
        """For each sighting, the number of the page, followed by the strategy's own details."""


class WaitingLinks(Generic[P]):
    """Waiting links by number, and the pages that link to them."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.links: dict[int, WaitingLink] = {}
        self.pages: dict[int, P] = {}
        self.done: set[Url] = set()
        """URLs already fetched or failed: nothing more can be learned from links to them."""
        self._numbers: dict[Url, int] = {}
        self._children: dict[int, int] = {}  # number of sightings on each page
        self._next = 0

    def number(self, url: Url, more: Any = None) -> int:
        """The number of the waiting link to a URL, which is added if it is new."""
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
        """Add one sighting for each link of a page, given as (URL, details), and return the waiting links.

        `more` is called with the new URLs and returns the strategy's data for each.
        """
        links, numbers, added = self.links, self._numbers, list[WaitingLink]()
        if more is not None:
            sightings = list(sightings)
            new = [url for url, _ in sightings if url not in numbers]
            for url, data in zip(new, more(new), strict=True):
                self.number(url, data)
        count = 0
        for url, details in sightings:
            number = numbers.get(url)
            link = links[self.number(url) if number is None else number]
            if len(link.seen) < MOST_SIGHTINGS:
                link.seen.append((page, *details))
                count += 1
            added.append(link)
        if count:
            self._children[page] = self._children.get(page, 0) + count
        return added

    def keep(self, number: int, page: P) -> None:
        """Remember a page whose links were added. If there are too many waiting links, forget the oldest."""
        if number in self._children:
            self.pages[number] = page
        while len(self.links) > self.memory:
            oldest = self.links.pop(next(iter(self.links)))
            del self._numbers[oldest.url]
            self.release(oldest)

    def arrived(self, candidate: Candidate, url: Url) -> WaitingLink | None:
        """Remove and return the waiting link that led to a URL. Its pages stay until it is released."""
        carried: Any = candidate.carry.get(LINK)
        number = carried if isinstance(carried, int) and carried in self.links else self._numbers.get(candidate.url)
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
        """Drop the sightings of a link, and the pages that no other waiting link needs."""
        for page, *_ in link.seen:
            self._children[page] -= 1
            if not self._children[page]:
                del self._children[page]
                self.pages.pop(page, None)

    # ---- saved state

    def save(self) -> dict[str, Any]:
        """The state without the pages, which only the strategy can save."""
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


_new: Callable[..., Candidate] = tuple.__new__


def new_scores(urls: Iterable[Url], scores: Iterable[float], parts: Iterable[Mapping[str, float]]) -> list[Candidate]:
    """`Candidate(url, score, parts=parts, rescored=True)` for each URL, but faster: there are tens of thousands."""
    rest = (repeat(None), repeat(""), repeat(0), repeat(""), repeat(0.0), repeat(True))
    return list(map(_new, repeat(Candidate), zip(urls, scores, repeat(NOTHING), parts, *rest, strict=False)))
