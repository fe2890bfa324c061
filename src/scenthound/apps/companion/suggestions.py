"""Which links of a page, and which pages two clicks away, are worth following for this reader, and why.

    score = m(page) + LINK * m(link) + front    of a page that was looked at
    score = UNSEEN * m(link)                    of a link of which only the text is known

m is the match with the profile, a cosine. `front` is for the front page of another site, and 0 for others: such a page
has few words in common with what was read, and readers who change sites go through it. It grows with the share of pages
that this reader opened in that way. Links of the page come first, the best pages two clicks away follow them:
mixed by their scores they took the places of pages that readers opened next (benchmarks/companion.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.apps.companion.reader_profile import ANALYSER, Interest, Vector, vector
from scenthound.model import Url
from scenthound.text.vectors import dot, term_frequencies

UNSEEN = 0.5
LINK = 0.3
LEAST = 0.01
"""A page with a lower score is not worth it."""
MOST = 7
FURTHER = 3
"""So many of the pages two clicks away."""
WORDS = 4


class SeenLink(NamedTuple):
    """A link of a page, with its text and the terms of it."""

    url: Url
    text: str
    spelling: str
    terms: tuple[str, ...]

    @classmethod
    def of(cls, url: Url, text: str, spelling: str) -> SeenLink:
        return cls(url, text, spelling, tuple(ANALYSER.terms(text)))


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What is known of a page: of one that was read, or looked at ahead."""

    url: Url
    title: str
    words: Vector
    links: tuple[SeenLink, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that is worth following."""

    url: str
    title: str
    score: float
    clicks: int
    through: str
    """Of a page two clicks away: the text of the first link."""
    reasons: tuple[str, ...]
    was_looked_at: bool

    def as_plain(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "shown": self.url.partition("://")[2][:80],
            "score": round(self.score, 4),
            "clicks": self.clicks,
            "through": self.through,
            "reasons": list(self.reasons),
            "was_looked_at": self.was_looked_at,
        }


class _Found(NamedTuple):
    score: float
    link: SeenLink
    clicks: int
    through: str


def suggest(
    page: SeenPage,
    ahead: Mapping[Url, SeenPage],
    interest: Interest,
    visited: Collection[Url],
    most: int = MOST,
    front: float = 0.0,
) -> list[Suggestion]:
    """The best links of `page`, best first, then the best pages two clicks away.

    `ahead`: what was looked at. `front`: what the front page of another site gets in addition.
    """
    scores = _Scores(interest.words, ahead, urls.host(page.url), front)
    best: dict[Url, _Found] = {}
    for link, clicks, through in _reachable(page, ahead):
        if link.url == page.url or link.url in visited:
            continue
        score = scores.of(link)
        if score >= LEAST and (link.url not in best or score > best[link.url].score):
            best[link.url] = _Found(score, link, clicks, through)
    ranked = sorted(best.values(), key=lambda found: -found.score)  # of equal ones the first on the page
    near = [found for found in ranked if found.clicks == 1][:most]
    further = [found for found in ranked if found.clicks == 2][:FURTHER]
    host = urls.host(page.url)
    return [_suggestion(found, ahead.get(found.link.url), interest, host) for found in (*near, *further)]


def is_front(url: Url, host: str) -> bool:
    """Whether this is the front page of another site than that of `host`."""
    return urls.is_home(url) and urls.host(url) != host


def _reachable(page: SeenPage, ahead: Mapping[Url, SeenPage]) -> Iterator[tuple[SeenLink, int, str]]:
    first: dict[Url, SeenLink] = {}
    for link in page.links:
        yield link, 1, ""
        first.setdefault(link.url, link)
    for url, link in first.items():
        if url in ahead:
            through = link.text or ahead[url].title or url
            yield from ((further, 2, through) for further in ahead[url].links if further.url not in first)


class _Scores:
    """Scores links for one profile."""

    def __init__(self, profile: Vector, ahead: Mapping[Url, SeenPage], host: str, front: float) -> None:
        self._profile, self._ahead, self._host, self._front = profile, ahead, host, front
        self._pages: dict[Url, float] = {}

    def of(self, link: SeenLink) -> float:
        seen = self._ahead.get(link.url)
        said = self._text(link)
        if seen is None:
            return UNSEEN * said
        return self._page(seen) + LINK * said + (self._front if is_front(seen.url, self._host) else 0.0)

    def _text(self, link: SeenLink) -> float:
        if not any(term in self._profile for term in link.terms):  # of nearly all links
            return 0.0
        return dot(self._profile, vector(term_frequencies(link.terms)))

    def _page(self, page: SeenPage) -> float:
        if page.url not in self._pages:
            self._pages[page.url] = dot(self._profile, page.words)
        return self._pages[page.url]


def _suggestion(found: _Found, seen: SeenPage | None, interest: Interest, host: str) -> Suggestion:
    link = found.link
    return Suggestion(
        link.spelling or link.url,
        (seen.title if seen is not None else "") or link.text or link.url,
        found.score,
        found.clicks,
        found.through,
        tuple(_reasons(link, seen, interest, host)),
        seen is not None,
    )


def _reasons(link: SeenLink, seen: SeenPage | None, interest: Interest, host: str) -> Iterable[str]:
    if seen is not None and (shared := interest.shared(seen.words, WORDS)):
        yield f"like what you read: {', '.join(shared)}"
    elif shared := interest.shared(vector(term_frequencies(link.terms)), WORDS):
        yield f"the link says: {', '.join(shared)}"
    if seen is not None and is_front(seen.url, host):
        yield "the front page of another site"
