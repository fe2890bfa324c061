"""The interface `SeedSource`. A seed source suggests where a crawl may start.

A source can name pages about a topic, and perhaps pages that link to a URL. Search engines, archives,
sitemaps, bookmarks and our own crawls are sources. Our sources are in `scenthound.sources`, one file each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from scenthound.model import Topic, Url


class FoundUrl(NamedTuple):
    """A URL that a source named. It is an http(s) URL and not a private address; it was not fetched."""

    url: str
    """The URL as the source wrote it."""
    title: str = ""
    """Text from outside, not to be trusted."""


class Asker(Protocol):
    """Sends the requests of a source, within the limits and the politeness of the crawl."""

    async def get(self, url: str, robots: bool = True) -> bytes:
        """The body of a reply with status 200. Raises `SourceFailed` for anything else.

        With `robots` it also raises if robots.txt forbids the request.
        """

    def checked(self, url: object, title: object = "") -> FoundUrl | None:
        """The URL and title from an answer; None if the URL may not be fetched."""


@runtime_checkable
class SeedSource(Protocol):
    """Suggests seeds. It is a dataclass whose fields are parameters; the user writes `address` after its name."""

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        """Up to `most` different pages about a topic, the best first. Raises `SourceFailed`."""


@runtime_checkable
class ReadsFiles(Protocol):
    """A source that reads local files.

    A resumed crawl does not read them again. The crawl folder, and with it the name of the source, may come from a
    stranger, and the URLs in the files would then be sent to the stranger's proxy.
    """

    def place(self) -> Path:
        """The file or folder that it reads."""


@runtime_checkable
class KnowsBackLinks(Protocol):
    """A source that also knows which pages link to a URL."""

    async def back_links(self, url: Url, most: int, asker: Asker) -> Sequence[FoundUrl]:
        """Up to `most` other pages that probably link to a URL. Raises `SourceFailed`."""
