"""The companion of one reader: takes in what the browser reports, looks ahead, suggests when asked, keeps the words.

On disk are the words of the profile and the excluded sites (`profile.json`). Pages and addresses are in memory only,
and only the latest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.apps.companion.look_ahead import PAGES, Scout
from scenthound.apps.companion.reader_profile import ANALYSER, Kept, load, save, spellings, vector
from scenthound.apps.companion.reading_history import Reader
from scenthound.apps.companion.suggestions import SeenLink, SeenPage, Suggestion
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
    """A page as the browser has it."""

    url: str
    title: str
    text: str
    links: Sequence[tuple[str, str]]
    """As (address, text), in the order of the page."""


class Answer(NamedTuple):
    """What there is to suggest for a page."""

    about: str
    is_looking: bool
    looked_at: int
    """Pages that were looked at for the page in front."""
    suggestions: list[Suggestion]

    def as_plain(self) -> dict[str, Any]:
        return {**self._asdict(), "suggestions": [one.as_plain() for one in self.suggestions]}


class Companion:
    """Belongs to the event loop of the desk."""

    def __init__(self, folder: Path, settings: Settings | None = None, fetcher: Fetcher | None = None) -> None:
        """`settings` are those of the crawls that look ahead. Raises if the folder holds a file that is no profile."""
        make_folder(folder)
        self.folder = folder
        profile, self.excluded = load(folder / FILE)
        self.is_on = True
        self._reader = Reader(profile)
        self._front: Url | None = None
        self._looked_at = 0
        self._scout = Scout(self, settings or Settings(), fetcher)

    # ---- what the browser reports

    async def visit(self, visit: Visit) -> None:
        """A page was opened. Raises `BadUsage` for one that may not be read."""
        url = self.readable(visit.url)
        words = vector(ANALYSER.counts(f"{visit.title}\n{visit.text}"))
        page = SeenPage(url, visit.title, words, _links(url, visit.links))
        if self._reader.open(page, spellings(visit.text)) or url != self._front:
            self._front, self._looked_at = url, 0
            await self._scout.look(self._reader.unseen(page), self.excluded)
        self._save()

    def teach(self, address: str, lesson: str, seconds: float = 0.0) -> None:
        """A page was read for so long, bookmarked, or followed from a suggestion."""
        self._reader.teach(self.readable(address), lesson, seconds)
        self._save()

    def readable(self, address: str) -> Url:
        """The key of a page that may be read. Raises `BadUsage`."""
        try:
            url = urls.make(address)
        except NotAUrl as error:
            raise BadUsage(error.message, "send the address of a page, as https://example.org/") from None
        if not self.is_on:
            raise BadUsage("the companion is switched off at the desk", "switch it on at the desk, page Companion")
        if self._is_excluded(url):
            raise BadUsage(f"{urls.host(url)} is excluded", "excluded sites are listed at the desk, page Companion")
        return url

    def _is_excluded(self, url: Url) -> bool:
        host = urls.host(url)
        return any(host == site or host.endswith(f".{site}") for site in self.excluded)

    def see(self, page: SeenPage, asked: Url) -> None:
        """A page was looked at ahead; `asked` is the address that led there."""
        self._looked_at += 1
        self._reader.see(page, asked)

    def gone(self, url: Url) -> None:
        """There is no page at this address."""
        self._reader.gone(url)

    # ---- what is asked

    def suggestions(self, address: str) -> Answer:
        """What is worth following from a page that was reported."""
        url = self.readable(address)
        page = self._reader.page(url)
        if page is None:
            return Answer("This page was not read yet.", False, 0, [])
        is_looking, found = self._scout.is_busy and url == self._front, self._reader.suggestions(page)
        about = self._scout.failure or _about(found, page, is_looking, self._looked_at)
        return Answer(about, is_looking, self._looked_at, found)

    def state(self) -> dict[str, Any]:
        """All that the companion knows."""
        profile, front = self._reader.profile, self._reader.page(self._front)
        return {
            "on": self.is_on,
            "folder": str(self.folder),
            "profile": {
                "pages": profile.pages,
                "words": [word._asdict() for word in profile.words()],
                "removed": sorted(profile.removed.values()),
            },
            "excluded": list(self.excluded),
            "front": None if front is None else _named(front),
            "looking": self._scout.is_busy,
            "looked_at": [_named(page) for page in self._reader.latest(PAGES)],
        }

    # ---- what people change

    def set_word(self, word: str, weight: float) -> None:
        """Give a word a weight; 0 removes it for good."""
        self._reader.profile.set(word, weight)
        self._save()

    def exclude(self, sites: Sequence[str]) -> None:
        """Never read these sites and their subdomains. Pages of them that are known are dropped."""
        if len(sites) > MOST_SITES:
            raise BadUsage("too many sites", f"exclude at most {MOST_SITES:,}")
        self.excluded = tuple(sorted({_site(site) for site in sites}))
        self._reader.drop([url for url in self._reader.urls() if self._is_excluded(url)])
        self._save()

    async def forget(self) -> None:
        """Forget all that was read and learned. Excluded sites stay."""
        await self._scout.stop()
        self._reader, self._front, self._looked_at = Reader(), None, 0
        self._save()

    async def switch(self, on: bool) -> None:
        """Take in nothing, or begin again."""
        self.is_on = on
        if not on:
            await self._scout.stop()

    def _save(self) -> None:
        save(self.folder / FILE, Kept(self._reader.profile, self.excluded))

    async def close(self) -> None:
        await self._scout.close()


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
            found[url] = SeenLink.of(url, text, spelling)
    return tuple(found.values())


def _named(page: SeenPage) -> dict[str, str]:
    return {"url": page.url, "title": page.title}


def _site(text: str) -> str:
    name = text.strip().lower()
    name = (name.partition("://")[2] or name).partition("/")[0].removeprefix("www.").strip(".")
    if not _SITE.match(name):
        raise BadUsage(f"not a site: `{text[:80]}`", "write it as example.org")
    return name


def _about(found: Sequence[Suggestion], page: SeenPage, is_looking: bool, looked_at: int) -> str:
    looked = f"{looked_at} page{'' if looked_at == 1 else 's'} looked at"
    if is_looking:
        return f"Looking ahead: {looked} so far."
    if not page.links:
        return "This page has no links."
    return f"{looked}." if found else f"Nothing here that fits what you read; {looked}."
