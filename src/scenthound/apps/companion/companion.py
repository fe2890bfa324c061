"""The companion of one reader: takes in what is read, learns from it, looks ahead, and suggests when asked.

On disk are the words of the profile and the excluded sites (`profile.json`). Pages and addresses are in memory only,
and only the latest.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.apps.companion.look_ahead import PAGES, Scout
from scenthound.apps.companion.profile import ANALYSER, Kept, Profile, load, save, spellings, vector
from scenthound.apps.companion.suggestions import SeenLink, SeenPage, Suggestion, suggest
from scenthound.errors import BadUsage, NotAUrl
from scenthound.files import make_folder
from scenthound.loop.settings import Settings
from scenthound.model import Url
from scenthound.ports import Fetcher

FILE = "profile.json"
MOST_PAGES = 1_000
"""Pages that are remembered while the desk runs."""
MOST_LINKS = 500
MOST_SITES = 1_000
VISIT = 0.3
"""What a page counts as soon as it is opened …"""
LESSONS = {"read": 1.0, "bookmark": 2.0, "follow": 1.0}
"""… and what it counts in addition: per minute of reading, for a bookmark, for a suggestion that was followed."""
LONGEST_READ = 180.0  # seconds of one page that count
_SITE = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\Z")


class Visit(NamedTuple):
    """A page as the browser has it."""

    url: str
    title: str
    text: str
    links: Sequence[tuple[str, str]]
    """As (address, text), in the order of the page."""


@dataclass(slots=True)
class _Read:
    """A page that was read: how its words are written, and for how long it was looked at."""

    page: SeenPage
    spelling: Mapping[str, str]
    seconds: float = 0.0
    lessons: set[str] = field(default_factory=set)


class Answer(NamedTuple):
    """What there is to suggest for a page."""

    about: str
    is_looking: bool
    looked_at: int
    suggestions: list[Suggestion]

    def as_plain(self) -> dict[str, Any]:
        return {**self._asdict(), "suggestions": [one.as_plain() for one in self.suggestions]}


class Companion:
    """Belongs to the event loop of the desk: its methods return at once, apart from `visit`, `forget` and `close`."""

    def __init__(self, folder: Path, settings: Settings | None = None, fetcher: Fetcher | None = None) -> None:
        """`settings` are those of the crawls that look ahead. Raises if the folder holds a file that is no profile."""
        make_folder(folder)
        self.folder = folder
        self.profile, self.excluded = load(folder / FILE)
        self.is_on = True
        self._read: OrderedDict[Url, _Read] = OrderedDict()
        self._ahead: OrderedDict[Url, SeenPage] = OrderedDict()
        self._followed: set[Url] = set()
        self._front: Url | None = None
        self._scout = Scout(self._see, settings or Settings(), fetcher)
        self._looked_at = 0

    # ---- what is read

    async def visit(self, visit: Visit) -> None:
        """A page was opened. Raises `BadUsage` for one that may not be read."""
        url = self.readable(visit.url)
        page = SeenPage(
            url, visit.title, vector(ANALYSER.counts(f"{visit.title}\n{visit.text}")), _links(url, visit.links)
        )
        before = self._read.get(url)
        read = _Read(page, spellings(visit.text)) if before is None else _Read(page, *_rest(before))
        self._read[url] = read
        self._read.move_to_end(url)
        if before is None:
            self.profile.fade()
            self._learn(read, VISIT)
            if url in self._followed:
                self._followed.discard(url)
                self.teach(url, "follow")
        if url != self._front or before is None:
            self._front, self._looked_at = url, 0
            await self._scout.look(self._to_look_at(page), self.excluded)
        _trim(self._read)
        self.save()

    def teach(self, address: str, lesson: str, seconds: float = 0.0) -> None:
        """A page was read for so long, bookmarked, or followed from a suggestion (perhaps before it is opened)."""
        url = self.readable(address)
        if lesson not in LESSONS or not 0.0 <= seconds < math.inf:
            raise BadUsage(f"not a lesson: `{lesson[:40]}`", f"there are: {', '.join(LESSONS)}")
        read = self._read.get(url)
        if read is None:
            if lesson == "follow":
                self._followed.add(url)
            return
        if lesson == "read":
            minutes = (min(LONGEST_READ, read.seconds + seconds) - min(LONGEST_READ, read.seconds)) / 60
            read.seconds += seconds
            self._learn(read, LESSONS["read"] * minutes)
        elif lesson not in read.lessons:
            read.lessons.add(lesson)
            self._learn(read, LESSONS[lesson])
        self.save()

    def readable(self, address: str) -> Url:
        """The key of a page that may be read. Raises `BadUsage`."""
        try:
            url = urls.make(address)
        except NotAUrl as error:
            raise BadUsage(error.message, "send the address of a page, as https://example.org/") from None
        if not self.is_on:
            raise BadUsage("the companion is switched off at the desk", "switch it on at the desk, page Companion")
        if _is_in(url, self.excluded):
            raise BadUsage(f"{urls.host(url)} is excluded", "the list of excluded sites is at the desk, page Companion")
        return url

    def _learn(self, read: _Read, weight: float) -> None:
        if weight:
            self.profile.learn(read.page.words, weight, read.spelling)

    # ---- looking ahead

    def _see(self, page: SeenPage, asked: Url) -> None:
        self._looked_at += 1
        for url in {page.url, asked}:
            self._ahead[url] = page
            self._ahead.move_to_end(url)
        _trim(self._ahead)

    def _to_look_at(self, page: SeenPage) -> list[SeenLink]:
        """Links in breadth-first order, without pages that are known."""
        known = [self._ahead[link.url] for link in page.links if link.url in self._ahead]
        further = [link for seen in known for link in seen.links]
        return [link for link in (*page.links, *further) if link.url not in self._ahead and link.url not in self._read]

    # ---- what is asked

    def suggestions(self, address: str) -> Answer:
        """What is worth following from a page that was reported."""
        url = self.readable(address)
        read = self._read.get(url)
        if read is None:
            return Answer("This page was not read yet.", False, 0, [])
        is_looking = self._scout.is_busy and url == self._front
        looked_at = sum(link.url in self._ahead for link in read.page.links)
        found = suggest(read.page, self._ahead, self.profile, self._read)
        return Answer(_about(found, len(read.page.links), is_looking, self._looked_at), is_looking, looked_at, found)

    def state(self) -> dict[str, Any]:
        """All that the companion knows."""
        front = self._read.get(self._front) if self._front is not None else None
        return {
            "on": self.is_on,
            "folder": str(self.folder),
            "profile": {
                "pages": self.profile.pages,
                "words": [word._asdict() for word in self.profile.words()],
                "removed": sorted(self.profile.removed.values()),
            },
            "excluded": list(self.excluded),
            "front": None if front is None else {"url": front.page.url, "title": front.page.title},
            "looking": self._scout.is_busy,
            "looked_at": [{"url": page.url, "title": page.title} for page in self._latest()],
        }

    def _latest(self) -> list[SeenPage]:
        latest: dict[Url, SeenPage] = {}
        for page in reversed(self._ahead.values()):
            latest.setdefault(page.url, page)
            if len(latest) == PAGES:
                break
        return list(latest.values())

    # ---- what is changed

    def set_word(self, word: str, weight: float) -> None:
        self.profile.set(word, weight)
        self.save()

    def exclude(self, sites: Sequence[str]) -> None:
        """Never read these sites and their subdomains. Pages of them that are known are dropped."""
        if len(sites) > MOST_SITES:
            raise BadUsage("too many sites", f"exclude at most {MOST_SITES:,}")
        self.excluded = tuple(sorted({_site(site) for site in sites}))
        for pages in (self._read, self._ahead):
            for url in [url for url in pages if _is_in(url, self.excluded)]:
                del pages[url]
        self.save()

    async def forget(self) -> None:
        """Forget all that was read and learned. Excluded sites stay."""
        await self._scout.stop()
        self.profile, self._front, self._looked_at = Profile(), None, 0
        for known in (self._read, self._ahead, self._followed):
            known.clear()
        self.save()

    async def switch(self, on: bool) -> None:
        self.is_on = on
        if not on:
            await self._scout.stop()

    def save(self) -> None:
        save(self.folder / FILE, Kept(self.profile, self.excluded))

    async def close(self) -> None:
        await self._scout.close()


def _rest(before: _Read) -> tuple[Mapping[str, str], float, set[str]]:
    return before.spelling, before.seconds, before.lessons


def _links(page: Url, given: Sequence[tuple[str, str]]) -> tuple[SeenLink, ...]:
    """One link for each address, at its first text."""
    found: dict[Url, SeenLink] = {}
    for address, text in given[:MOST_LINKS]:
        try:
            spelling = urls.resolve(address)
            url = urls.canonical(spelling)
        except NotAUrl:
            continue
        if url != page and (url not in found or not found[url].text):
            found[url] = SeenLink(url, text, spelling)
    return tuple(found.values())


def _site(text: str) -> str:
    name = text.strip().lower()
    name = (name.partition("://")[2] or name).partition("/")[0].removeprefix("www.").strip(".")
    if not _SITE.match(name):
        raise BadUsage(f"not a site: `{text[:80]}`", "write it as example.org")
    return name


def _is_in(url: Url, sites: Sequence[str]) -> bool:
    host = urls.host(url)
    return any(host == site or host.endswith(f".{site}") for site in sites)


def _about(found: Sequence[Suggestion], links: int, is_looking: bool, looked_at: int) -> str:
    looked = f"{looked_at} page{'' if looked_at == 1 else 's'} looked at"
    if is_looking:
        return f"Looking ahead: {looked} so far."
    if not links:
        return "This page has no links."
    if not found:
        return f"Nothing here that fits what you read; {looked}."
    return f"{looked[0].upper()}{looked[1:]}."


def _trim(pages: OrderedDict[Url, Any]) -> None:
    while len(pages) > MOST_PAGES:
        pages.popitem(last=False)
