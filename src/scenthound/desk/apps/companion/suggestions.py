"""Rank the links of a page, and pages two clicks away, by how well they match the reader's profile, with reasons.

    score = m(page) + LINK_WEIGHT * m(link) + front    for a page that was fetched ahead
    score = UNFETCHED_WEIGHT * m(link)                 for a link whose page was not fetched

m(x) is the cosine of x and the profile. `front` applies only to the front page of another site: such a page has few
words in common with the pages read, but readers who move to another site pass through it. `front` is proportional to
the share of such pages among the pages this reader opened. Links of the page come first, then the best pages two clicks
away; when both were ranked together, the latter displaced links that readers opened next (benchmarks/companion.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.desk.apps.companion.reader_profile import ANALYSER, Interest, Vector, vector
from scenthound.model import Url
from scenthound.text.vectors import dot, term_frequencies

UNFETCHED_WEIGHT = 0.5
LINK_WEIGHT = 0.3
LEAST = 0.01
"""Pages with a lower score are not suggested."""
MOST = 7
MOST_TWO_CLICKS = 3
"""How many pages two clicks away to suggest."""
MOST_REASON_WORDS = 4


class PageLink(NamedTuple):
    """A link of a page, with its text and the terms of that text."""

    url: Url
    text: str
    original_url: str
    """The URL as written in the page, which is the one to request."""
    terms: tuple[str, ...]

    @classmethod
    def of(cls, url: Url, text: str, original_url: str) -> PageLink:
        return cls(url, text, original_url, tuple(ANALYSER.terms(text)))


@dataclass(frozen=True, slots=True)
class CompanionPage:
    """The data kept about a page that was read or fetched ahead."""

    url: Url
    title: str
    words: Vector
    links: tuple[PageLink, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page suggested to the reader."""

    url: str
    title: str
    score: float
    clicks: int
    through: str
    """Text of the first link, for a page two clicks away."""
    reasons: tuple[str, ...]
    was_looked_at: bool

    def as_plain(self) -> dict[str, Any]:
        return {**asdict(self), "shown": self.url.partition("://")[2][:80], "score": round(self.score, 4)}


class _Option(NamedTuple):
    """A link that may be suggested."""

    score: float
    link: PageLink
    clicks: int
    through: str


def suggest(
    page: CompanionPage,
    ahead: Mapping[Url, CompanionPage],
    interest: Interest,
    visited: Collection[Url],
    most: int = MOST,
    front: float = 0.0,
) -> list[Suggestion]:
    """The best links of `page`, best first, then the best pages two clicks away.

    `ahead` holds the pages fetched ahead; `front` is added to the score of front pages of other sites.
    """
    scores = _Scores(interest.words, ahead, urls.host(page.url), front)
    best: dict[Url, _Option] = {}
    for link, clicks, through in _reachable(page, ahead):
        if link.url == page.url or link.url in visited:
            continue
        score = scores.of(link)
        if score >= LEAST and (link.url not in best or score > best[link.url].score):
            best[link.url] = _Option(score, link, clicks, through)
    ranked = sorted(best.values(), key=lambda option: -option.score)  # stable: ties stay in document order
    near = [option for option in ranked if option.clicks == 1][:most]
    further = [option for option in ranked if option.clicks == 2][:MOST_TWO_CLICKS]
    host = urls.host(page.url)
    return [_suggestion(option, ahead.get(option.link.url), interest, host) for option in (*near, *further)]


def is_other_front_page(url: Url, host: str) -> bool:
    """Whether this is the front page of a site other than `host`."""
    return urls.is_home(url) and urls.host(url) != host


def _reachable(page: CompanionPage, ahead: Mapping[Url, CompanionPage]) -> Iterator[tuple[PageLink, int, str]]:
    """Yield (link, clicks, text of the first link) for all links one and two clicks away."""
    first: dict[Url, PageLink] = {}
    for link in page.links:
        yield link, 1, ""
        first.setdefault(link.url, link)
    for url, link in first.items():
        if url in ahead:
            through = link.text or ahead[url].title or url
            yield from ((further, 2, through) for further in ahead[url].links if further.url not in first)


class _Scores:
    """Computes the scores of links for one profile."""

    def __init__(self, profile: Vector, ahead: Mapping[Url, CompanionPage], host: str, front: float) -> None:
        self._profile, self._ahead, self._host, self._front = profile, ahead, host, front
        self._page_matches: dict[Url, float] = {}

    def of(self, link: PageLink) -> float:
        seen = self._ahead.get(link.url)
        link_match = self._match_link(link)
        if seen is None:
            return UNFETCHED_WEIGHT * link_match
        front = self._front if is_other_front_page(seen.url, self._host) else 0.0
        return self._match_page(seen) + LINK_WEIGHT * link_match + front

    def _match_link(self, link: PageLink) -> float:
        if not any(term in self._profile for term in link.terms):  # early exit for nearly all links
            return 0.0
        return dot(self._profile, vector(term_frequencies(link.terms)))

    def _match_page(self, page: CompanionPage) -> float:
        if page.url not in self._page_matches:
            self._page_matches[page.url] = dot(self._profile, page.words)
        return self._page_matches[page.url]


def _suggestion(option: _Option, seen: CompanionPage | None, interest: Interest, host: str) -> Suggestion:
    link = option.link
    return Suggestion(
        link.original_url or link.url,
        (seen.title if seen is not None else "") or link.text or link.url,
        option.score,
        option.clicks,
        option.through,
        tuple(_reasons(link, seen, interest, host)),
        seen is not None,
    )


def _reasons(link: PageLink, seen: CompanionPage | None, interest: Interest, host: str) -> Iterable[str]:
    if seen is not None and (shared := interest.shared(seen.words, MOST_REASON_WORDS)):
        yield f"matches your interests: {', '.join(shared)}"
    elif shared := interest.shared(vector(term_frequencies(link.terms)), MOST_REASON_WORDS):
        yield f"link text: {', '.join(shared)}"
    if seen is not None and is_other_front_page(seen.url, host):
        yield "front page of another site"
