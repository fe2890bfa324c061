"""Which links of a page, and which pages two clicks away, are worth following for this reader, and why.

    score = m(page)             a page that was looked at
    score = UNSEEN * m(link)    a link of which only the text is known

m is the match with the profile (its cosine). The text of a link of a page that was looked at adds `LINK` of its match.
A page two clicks away counts `FURTHER` of its score: the reader has to find the second link.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scenthound.apps.companion.profile import ANALYSER, Profile, Vector, vector
from scenthound.model import Url

UNSEEN = 0.5
LINK = 0.3
FURTHER = 0.7
LEAST = 0.03
"""A page with a lower score is not worth it."""
MOST = 10
WORDS = 4


class SeenLink(NamedTuple):
    """A link of a page, with its text."""

    url: Url
    text: str
    spelling: str = ""


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
    link: SeenLink
    clicks: int
    through: str


def suggest(
    page: SeenPage, ahead: Mapping[Url, SeenPage], profile: Profile, visited: Collection[Url], most: int = MOST
) -> list[Suggestion]:
    """The best pages one or two clicks from `page`, best first. `ahead` are the pages that were looked at."""
    best: dict[Url, Suggestion] = {}
    for found in _reachable(page, ahead):
        url = found.link.url
        if url == page.url or url in visited:
            continue
        one = _weighed(found, ahead.get(url), profile)
        if one.score >= LEAST and (url not in best or one.score > best[url].score):
            best[url] = one
    return sorted(best.values(), key=lambda one: -one.score)[:most]  # of equal ones the first on the page


def _reachable(page: SeenPage, ahead: Mapping[Url, SeenPage]) -> Iterator[_Found]:
    for link in page.links:
        yield _Found(link, 1, "")
    first: dict[Url, SeenLink] = {}
    for link in page.links:
        first.setdefault(link.url, link)
    for url, link in first.items():
        if url in ahead:
            through = link.text or ahead[url].title or url
            yield from (_Found(further, 2, through) for further in ahead[url].links if further.url not in first)


def _weighed(found: _Found, seen: SeenPage | None, profile: Profile) -> Suggestion:
    words = vector(ANALYSER.counts(found.link.text))
    of_link = profile.match(words)
    score = UNSEEN * of_link if seen is None else profile.match(seen.words) + LINK * of_link
    return Suggestion(
        found.link.spelling or found.link.url,
        (seen.title if seen is not None else "") or found.link.text or found.link.url,
        score * (FURTHER if found.clicks == 2 else 1.0),
        found.clicks,
        found.through,
        tuple(_reasons(found.link, words, seen, profile)),
        seen is not None,
    )


def _reasons(link: SeenLink, words: Vector, seen: SeenPage | None, profile: Profile) -> Iterable[str]:
    if seen is not None and (shared := profile.shared(seen.words, WORDS)):
        yield f"it is about {_list(shared)}, as what you read"
    elif shared := profile.shared(words, WORDS):
        yield f"its link says {_list(shared)}; it was not looked at yet"


def _list(words: list[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]
