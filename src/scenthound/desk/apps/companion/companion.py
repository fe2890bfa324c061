"""The browsing companion of one reader.

It receives page visits from the browser, fetches linked pages ahead, suggests links and saves the reader's profile.

Only the words of the profile and the excluded sites are written to disk (`profile.json`). Pages and URLs are kept in
memory, and only the most recent ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.desk.apps.companion.look_ahead import PAGES, Scout
from scenthound.desk.apps.companion.reader_profile import ANALYSER, SavedProfile, load, save, spellings, vector
from scenthound.desk.apps.companion.reading_history import LessonKind, Reader
from scenthound.desk.apps.companion.suggestions import CompanionPage, PageLink, Suggestion
from scenthound.errors import BadUsage, NotAUrl
from scenthound.files import make_folder
from scenthound.loop.settings import Settings
from scenthound.model import Url
from scenthound.ports import Fetcher

FILE = "profile.json"
MOST_LINKS = 500
MOST_SITES = 1_000
_SITE = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\Z")


class Visit(NamedTuple):
    """A page as reported by the browser."""

    url: str
    title: str
    text: str
    links: Sequence[tuple[str, str]]
    """(URL, text) pairs in document order."""


class SuggestionList(NamedTuple):
    """The suggestions for a page."""

    about: str
    """Status message for the reader."""
    is_looking: bool
    looked_at: int
    """Number of pages fetched ahead for the active page."""
    suggestions: list[Suggestion]

    def as_plain(self) -> dict[str, Any]:
        return {**self._asdict(), "suggestions": [suggestion.as_plain() for suggestion in self.suggestions]}


class Companion:
    """State and operations of the companion. Not thread-safe: use it only in the event loop of the desk."""

    def __init__(self, folder: Path, settings: Settings | None = None, fetcher: Fetcher | None = None) -> None:
        """`settings` apply to the crawls that look ahead. Raises if the folder has an invalid `profile.json`."""
        make_folder(folder)
        self.folder = folder
        profile, self.excluded = load(folder / FILE)
        self.is_on = True
        self._reader = Reader(profile)
        self._active_url: Url | None = None
        self._looked_at = 0
        self._scout = Scout(self, settings or Settings(), fetcher)

    # ---- reports from the browser

    async def visit(self, visit: Visit) -> None:
        """Record that a page was opened and look ahead from it. Raises `BadUsage` if the page may not be read."""
        url = self.checked_url(visit.url)
        words = vector(ANALYSER.counts(f"{visit.title}\n{visit.text}"))
        page = CompanionPage(url, visit.title, words, _links(url, visit.links))
        if self._reader.open(page, spellings(visit.text)) or url != self._active_url:
            self._active_url, self._looked_at = url, 0
            await self._scout.look(self._reader.unseen(page), self.excluded)
        self._save()

    def teach(self, address: str, lesson: LessonKind, seconds: float = 0.0) -> None:
        """Learn that a page was read for `seconds`, bookmarked, or opened from a suggestion; see `LESSONS`."""
        self._reader.teach(self.checked_url(address), lesson, seconds)
        self._save()

    def checked_url(self, address: str) -> Url:
        """Return the canonical URL of a page. Raises `BadUsage` if it may not be read."""
        try:
            url = urls.make(address)
        except NotAUrl as error:
            raise BadUsage(error.message, "send the URL of a page, such as https://example.org/") from None
        if not self.is_on:
            raise BadUsage("the companion is turned off", "turn it on at the desk, on the Companion page")
        if self._is_excluded(url):
            raise BadUsage(
                f"{urls.host(url)} is excluded", "edit the excluded sites at the desk, on the Companion page"
            )
        return url

    def _is_excluded(self, url: Url) -> bool:
        host = urls.host(url)
        return any(host == site or host.endswith(f".{site}") for site in self.excluded)

    def add_fetched(self, page: CompanionPage, requested: Url) -> None:
        """Record a page that was fetched ahead; `requested` is the URL before redirects."""
        self._looked_at += 1
        self._reader.add_fetched(page, requested)

    def add_missing(self, url: Url) -> None:
        """Record that there is no page at this URL."""
        self._reader.add_missing(url)

    # ---- queries

    def suggestions(self, address: str) -> SuggestionList:
        """Return the suggestions for a page that was reported with `visit`."""
        url = self.checked_url(address)
        page = self._reader.page(url)
        if page is None:
            return SuggestionList("This page has not been read yet.", False, 0, [])
        is_looking = self._scout.is_busy and url == self._active_url
        suggestions = self._reader.suggestions(page)
        about = self._scout.failure or _about(suggestions, page, is_looking, self._looked_at)
        return SuggestionList(about, is_looking, self._looked_at, suggestions)

    def state(self) -> dict[str, Any]:
        """Return the settings, the profile and the most recent pages, as JSON data."""
        profile, front = self._reader.profile, self._reader.page(self._active_url)
        return {
            "on": self.is_on,
            "folder": str(self.folder),
            "profile": {
                "pages": profile.pages,
                "words": [word._asdict() for word in profile.words()],
                "removed": sorted(profile.removed.values()),
            },
            "excluded": list(self.excluded),
            "front": None if front is None else _summary(front),
            "looking": self._scout.is_busy,
            "looked_at": [_summary(page) for page in self._reader.latest(PAGES)],
        }

    # ---- changes made by the reader

    def set_word(self, word: str, weight: float) -> None:
        """Set the weight of a word; 0 removes it permanently."""
        self._reader.profile.set(word, weight)
        self._save()

    def exclude(self, sites: Sequence[str]) -> None:
        """Never read these sites and their subdomains; forget their pages. Replaces the previous list."""
        if len(sites) > MOST_SITES:
            raise BadUsage("too many sites", f"exclude at most {MOST_SITES:,}")
        self.excluded = tuple(sorted({_site(site) for site in sites}))
        self._reader.drop([url for url in self._reader.urls() if self._is_excluded(url)])
        self._save()

    async def forget(self) -> None:
        """Forget everything that was read and learned. Excluded sites are kept."""
        await self._scout.stop()
        self._reader, self._active_url, self._looked_at = Reader(), None, 0
        self._save()

    async def set_enabled(self, on: bool) -> None:
        """Turn the companion on or off. While it is off, nothing is read."""
        self.is_on = on
        if not on:
            await self._scout.stop()

    def _save(self) -> None:
        save(self.folder / FILE, SavedProfile(self._reader.profile, self.excluded))

    async def close(self) -> None:
        await self._scout.close()


def _links(page: Url, pairs: Sequence[tuple[str, str]]) -> tuple[PageLink, ...]:
    """One link per URL, with the first text that is not empty."""
    links: dict[Url, PageLink] = {}
    for address, text in pairs[:MOST_LINKS]:
        try:
            original_url = urls.resolve(address)
            url = urls.canonical(original_url)
        except NotAUrl:
            continue
        if url != page and (url not in links or not links[url].text):
            links[url] = PageLink.of(url, text, original_url)
    return tuple(links.values())


def _summary(page: CompanionPage) -> dict[str, str]:
    return {"url": page.url, "title": page.title}


def _site(text: str) -> str:
    name = text.strip().lower()
    name = (name.partition("://")[2] or name).partition("/")[0].removeprefix("www.").strip(".")
    if not _SITE.match(name):
        raise BadUsage(f"`{text[:80]}` is not a host name", "write it like example.org")
    return name


def _about(suggestions: Sequence[Suggestion], page: CompanionPage, is_looking: bool, looked_at: int) -> str:
    checked = f"{looked_at} page{'' if looked_at == 1 else 's'} checked"
    if is_looking:
        return f"Looking ahead: {checked} so far."
    if not page.links:
        return "This page has no links."
    return f"{checked}." if suggestions else f"Nothing here matches your interests; {checked}."
