"""Keep the recent pages of one reader (read, fetched ahead or missing) in memory, and learn the profile from them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scenthound import url as urls
from scenthound.desk.apps.companion.reader_profile import PagesWith, Profile
from scenthound.desk.apps.companion.suggestions import (
    MOST,
    CompanionPage,
    PageLink,
    Suggestion,
    is_other_front_page,
    suggest,
)
from scenthound.errors import BadUsage
from scenthound.model import Url

MOST_PAGES = 1_000
"""Maximum number of pages kept of each kind: read, fetched ahead, missing."""
VISIT = 0.3
"""Weight of a page as soon as it is opened."""
LessonKind = Literal["read", "bookmark", "follow"]
LESSONS: Mapping[LessonKind, float] = {"read": 1.0, "bookmark": 2.0, "follow": 1.0}
"""Additional weight: per minute of reading, for a bookmark, for opening a suggestion."""
LONGEST_READ = 180.0  # seconds; longer reading of one page adds nothing
FRONT = 2.0
"""Score added to the front page of another site, times the share of front pages of other sites among pages opened."""


@dataclass(slots=True)
class _Read:
    """A page that was read, for how long, and the lessons learned from it."""

    page: CompanionPage
    spelling: Mapping[str, str]
    seconds: float = 0.0
    lessons: set[str] = field(default_factory=set)


class Reader:
    """Learns from the pages that one reader opens, and suggests what to read next."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self._read: OrderedDict[Url, _Read] = OrderedDict()
        self._ahead: OrderedDict[Url, CompanionPage] = OrderedDict()
        self._followed: set[Url] = set()
        self._gone: OrderedDict[Url, None] = OrderedDict()
        self._pages_with = PagesWith()
        self._previous: Url | None = None
        self._opened = self._fronts = 0

    def open(self, page: CompanionPage, spelling: Mapping[str, str]) -> bool:
        """Record that a page was opened; return whether it is new. `spelling` maps stems to words of the page."""
        previous_url, self._previous = self._previous, page.url
        earlier = self._read.pop(page.url, None)
        self._read[page.url] = read = _Read(page, spelling)
        if earlier is not None:
            read.seconds, read.lessons = earlier.seconds, earlier.lessons
            return False
        _trim(self._read)
        self._opened += 1
        self._fronts += previous_url is not None and is_other_front_page(page.url, urls.host(previous_url))
        self._pages_with.add(page.words)
        self.profile.fade()
        self._learn(read, VISIT)
        if page.url in self._followed:
            self._followed.discard(page.url)
            self.teach(page.url, "follow")
        return True

    def teach(self, url: Url, lesson: LessonKind, seconds: float = 0.0) -> None:
        """Learn that a page was read for `seconds`, bookmarked, or (before it opens) chosen from the suggestions."""
        if lesson not in LESSONS or not 0.0 <= seconds < math.inf:
            raise BadUsage(f"not a lesson: `{lesson[:40]}`", f"choose one of: {', '.join(LESSONS)}")
        read = self._read.get(url)
        if read is None:
            if lesson == "follow" and len(self._followed) < MOST_PAGES:
                self._followed.add(url)
        elif lesson == "read":
            counted = min(LONGEST_READ, read.seconds + seconds) - min(LONGEST_READ, read.seconds)
            read.seconds += seconds
            self._learn(read, LESSONS[lesson] * counted / 60)
        elif lesson not in read.lessons:
            read.lessons.add(lesson)
            self._learn(read, LESSONS[lesson])

    def _learn(self, read: _Read, weight: float) -> None:
        if weight:
            self.profile.learn(read.page.words, weight, read.spelling)

    # ---- looking ahead

    def add_fetched(self, page: CompanionPage, requested: Url) -> None:
        """Record a page that was fetched ahead; `requested` is the URL before redirects."""
        self._pages_with.add(page.words)
        for url in {page.url, requested}:
            self._ahead.pop(url, None)
            self._ahead[url] = page
        _trim(self._ahead)

    def add_missing(self, url: Url) -> None:
        """Record that there is no page at this URL, so that it is not suggested."""
        self._gone[url] = None
        _trim(self._gone)

    def unseen(self, page: CompanionPage) -> list[PageLink]:
        """The links to fetch ahead from a page: its own, then the links of its linked pages, without known pages."""
        fetched = [self._ahead[link.url] for link in page.links if link.url in self._ahead]
        further = [link for seen in fetched for link in seen.links]
        seen_urls = self._ahead.keys() | self._read.keys() | self._gone.keys()
        return [link for link in (*page.links, *further) if link.url not in seen_urls]

    def latest(self, most: int) -> list[CompanionPage]:
        """The pages fetched ahead most recently."""
        pages: dict[Url, CompanionPage] = {}
        for page in reversed(self._ahead.values()):
            if len(pages) < most:
                pages.setdefault(page.url, page)
        return list(pages.values())

    # ---- queries

    def page(self, url: Url | None) -> CompanionPage | None:
        """The page with this URL, if it was read."""
        read = self._read.get(url) if url is not None else None
        return None if read is None else read.page

    def suggestions(self, page: CompanionPage, most: int = MOST) -> list[Suggestion]:
        """Suggestions for a page, best first, excluding dead links and pages already read."""
        excluded = self._read.keys() | self._gone.keys()
        front = FRONT * self._fronts / max(1, self._opened)
        return suggest(page, self._ahead, self.profile.interest(self._pages_with), excluded, most, front)

    def drop(self, urls: Iterable[Url]) -> None:
        """Forget these pages."""
        for url in urls:
            self._read.pop(url, None)
            self._ahead.pop(url, None)

    def urls(self) -> Iterator[Url]:
        """Yield the URLs of the pages read and fetched ahead."""
        yield from self._read
        yield from self._ahead


def _trim(pages: OrderedDict[Url, Any]) -> None:
    while len(pages) > MOST_PAGES:
        pages.popitem(last=False)
