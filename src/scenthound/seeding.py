"""The port `SeedSource`: where a crawl may start, asked of something that knows pages already.

A source answers one question or two: which pages are about a topic, and which pages link to a URL. Search engines,
archives, sitemaps, bookmarks and our own crawls are sources. `scenthound.sources` has ours, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from scenthound.model import Topic, Url


class FoundUrl(NamedTuple):
    """A URL that a source named. It was checked to be an http(s) URL and no private address, and not fetched."""

    url: str
    """As the source wrote it."""
    title: str = ""
    """Text from outside: not to be trusted."""


class Asker(Protocol):
    """Sends the requests of a source, within the limits and manners of the crawl."""

    async def get(self, url: str, robots: bool = True) -> bytes:
        """The body of a reply with status 200. Raises `SourceFailed` for anything else.

        `robots`: raise it also where robots.txt forbids the request.
        """

    def checked(self, url: object, title: object = "") -> FoundUrl | None:
        """An address of an answer with its title; None if it is none that may be fetched."""


@runtime_checkable
class SeedSource(Protocol):
    """A dataclass whose fields are its parameters; `address` is what is written behind its name."""

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        """Up to `most` pages about a topic, the best first, each once. Raises `SourceFailed`."""


@runtime_checkable
class ReadsFiles(Protocol):
    """A source that reads files of this machine. A resumed crawl does not ask it again: the folder, and so the name of
    the source, may come from somebody else, and the addresses in the files would go to his proxy."""

    def place(self) -> Path:
        """The file or folder that it reads."""


@runtime_checkable
class KnowsBackLinks(Protocol):
    """A source that also knows links."""

    async def back_links(self, url: Url, most: int, asker: Asker) -> Sequence[FoundUrl]:
        """Up to `most` pages that are likely to link to a URL, never itself. Raises `SourceFailed`."""
