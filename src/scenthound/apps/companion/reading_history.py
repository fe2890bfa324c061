"""One reader: the pages that were read, what was learned from them, and what was looked at ahead. In memory only."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenthound import url as urls
from scenthound.apps.companion.reader_profile import PagesWith, Profile
from scenthound.apps.companion.suggestions import MOST, SeenLink, SeenPage, Suggestion, is_front, suggest
from scenthound.errors import BadUsage
from scenthound.model import Url

MOST_PAGES = 1_000
"""Pages that are remembered, of each kind."""
VISIT = 0.3
"""What a page counts as soon as it is opened …"""
LESSONS = {"read": 1.0, "bookmark": 2.0, "follow": 1.0}
"""… and what it counts in addition: per minute of reading, for a bookmark, for a suggestion that was followed."""
LONGEST_READ = 180.0  # seconds of one page that count
FRONT = 2.0
"""What the front page of another site gets, times the share of pages that were opened in that way."""


@dataclass(slots=True)
class _Read:
    """A page that was read."""

    page: SeenPage
    spelling: Mapping[str, str]
    seconds: float = 0.0
    lessons: set[str] = field(default_factory=set)


class Reader:
    """Learns from one reader, and suggests what to read next."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self._read: OrderedDict[Url, _Read] = OrderedDict()
        self._ahead: OrderedDict[Url, SeenPage] = OrderedDict()
        self._followed: set[Url] = set()
        self._gone: OrderedDict[Url, None] = OrderedDict()
        self._pages_with = PagesWith()
        self._before: Url | None = None
        self._opened = self._fronts = 0

    def open(self, page: SeenPage, spelling: Mapping[str, str]) -> bool:
        """A page was opened. Returns whether it is new; `spelling` says how the words of its stems are written."""
        came_from, self._before = self._before, page.url
        before = self._read.pop(page.url, None)
        self._read[page.url] = read = _Read(page, spelling)
        if before is not None:
            read.seconds, read.lessons = before.seconds, before.lessons
            return False
        _trim(self._read)
        self._opened += 1
        self._fronts += came_from is not None and is_front(page.url, urls.host(came_from))
        self._pages_with.add(page.words)
        self.profile.fade()
        self._learn(read, VISIT)
        if page.url in self._followed:
            self._followed.discard(page.url)
            self.teach(page.url, "follow")
        return True

    def teach(self, url: Url, lesson: str, seconds: float = 0.0) -> None:
        """A page was read for so long, bookmarked, or followed from a suggestion (perhaps before it is opened)."""
        if lesson not in LESSONS or not 0.0 <= seconds < math.inf:
            raise BadUsage(f"not a lesson: `{lesson[:40]}`", f"there are: {', '.join(LESSONS)}")
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

    def see(self, page: SeenPage, asked: Url) -> None:
        """A page was looked at ahead; `asked` is the address that led there."""
        self._pages_with.add(page.words)
        for url in {page.url, asked}:
            self._ahead.pop(url, None)
            self._ahead[url] = page
        _trim(self._ahead)

    def gone(self, url: Url) -> None:
        """There is no page at this address: it is not suggested."""
        self._gone[url] = None
        _trim(self._gone)

    def unseen(self, page: SeenPage) -> list[SeenLink]:
        """What to look at from a page, breadth-first: links to pages that are not known yet."""
        known = [self._ahead[link.url] for link in page.links if link.url in self._ahead]
        further = [link for seen in known for link in seen.links]
        known_urls = self._ahead.keys() | self._read.keys() | self._gone.keys()
        return [link for link in (*page.links, *further) if link.url not in known_urls]

    def latest(self, most: int) -> list[SeenPage]:
        """The pages that were looked at last."""
        found: dict[Url, SeenPage] = {}
        for page in reversed(self._ahead.values()):
            if len(found) < most:
                found.setdefault(page.url, page)
        return list(found.values())

    # ---- what is asked

    def page(self, url: Url | None) -> SeenPage | None:
        """A page that was read."""
        read = self._read.get(url) if url is not None else None
        return None if read is None else read.page

    def suggestions(self, page: SeenPage, most: int = MOST) -> list[Suggestion]:
        """What is worth following from a page, best first; nothing that was read, and no dead link."""
        unwanted = self._read.keys() | self._gone.keys()
        front = FRONT * self._fronts / max(1, self._opened)
        return suggest(page, self._ahead, self.profile.interest(self._pages_with), unwanted, most, front)

    def drop(self, urls: Iterable[Url]) -> None:
        """Forget these pages."""
        for url in urls:
            self._read.pop(url, None)
            self._ahead.pop(url, None)

    def urls(self) -> Iterator[Url]:
        """All pages that are remembered."""
        yield from self._read
        yield from self._ahead


def _trim(pages: OrderedDict[Url, Any]) -> None:
    while len(pages) > MOST_PAGES:
        pages.popitem(last=False)
