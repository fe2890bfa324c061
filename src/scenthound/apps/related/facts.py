"""What is read of the pages of a crawl: links to other hosts with what stands around them, and home pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from scenthound import url as urls
from scenthound.errors import FolderBroken
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response, Url
from scenthound.page.landing import stored_document
from scenthound.store import live_queries
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.web.charset import decode, detect
from scenthound.web.decode import Undecodable, decompress
from scenthound.web.html_document import HtmlDocument
from scenthound.web.link_context import contexts
from scenthound.web.site_names import stated_name
from scenthound.wiring import page_limits

MOST_MENTIONS = 2_000
TEXT_KEPT = 10_000  # characters of a home page
ANALYSER = Analyser()


class Mention(NamedTuple):
    """The first link of a page to another host, and what stands around it."""

    url: Url
    anchor: str
    heading: str
    passage: str


@dataclass(frozen=True, slots=True)
class ListFacts:
    """A page that names other hosts."""

    title: str
    mentions: Mapping[str, Mention]
    """By host."""


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """A home page: its title, the name that its structured data state, its words, and the address it claims."""

    title: str
    name: str
    words: Counts
    text: str = ""
    """The beginning of its text, for the spelling of words."""
    canonical: Url | None = None


class CrawledWeb(Protocol):
    """What a crawl has seen, as far as this application asks."""

    @property
    def pages(self) -> Mapping[Url, int]:
        """Fetched pages and their numbers, in order."""
        ...

    @property
    def moved(self) -> Mapping[Url, Url]:
        """Requested URLs that redirects led away from."""
        ...

    def links(self) -> Iterator[tuple[Url, Sequence[Url]]]:
        """Fetched pages and all their links."""
        ...

    def list_facts(self, url: Url) -> ListFacts | None: ...

    def home_facts(self, url: Url) -> HomeFacts | None: ...


def list_facts(document: HtmlDocument) -> ListFacts:
    """The hosts that a page names, each with the link that names it first."""
    own, first = urls.host(document.url), dict[str, int]()
    for place, link in enumerate(document.links):
        other = urls.host(link.url)
        if other != own and len(first) < MOST_MENTIONS:
            first.setdefault(other, place)
    around = contexts(document, first.values())
    mentions = {
        name: Mention(document.links[place].url, document.links[place].anchor, *around.get(place, ("", "")))
        for name, place in first.items()
    }
    return ListFacts(document.title, mentions)


def home_facts(document: HtmlDocument, html: str) -> HomeFacts:
    """What a home page says about its owner."""
    words, beginning = ANALYSER.counts(document.text), document.text[:TEXT_KEPT]
    return HomeFacts(document.title, stated_name(html), words, beginning, document.canonical)


def html_of(response: Response, limit: int, ratio: int) -> str:
    """The source of a stored page as text."""
    coding = ",".join(value for key, value in response.headers if key.lower() == "content-encoding")
    try:
        body = decompress(response.body, coding, limit=limit, ratio=ratio).data
    except Undecodable:
        return ""
    return decode(body, detect(body, response.header("content-type")).name)


class FolderWeb:
    """The pages of a crawl folder."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder

    @cached_property
    def pages(self) -> Mapping[Url, int]:
        return {mark.url: mark.n for mark in self._folder.history.marks()}

    @cached_property
    def moved(self) -> Mapping[Url, Url]:
        return live_queries.redirects(self._folder.database)

    def links(self) -> Iterator[tuple[Url, Sequence[Url]]]:
        return self._folder.database.links()

    def list_facts(self, url: Url) -> ListFacts | None:
        document = self._document(url)
        return None if document is None else list_facts(document)

    def home_facts(self, url: Url) -> HomeFacts | None:
        document, response = self._document(url), self._response(url)
        if document is None or response is None:
            return None
        settings = self._folder.request.settings
        return home_facts(document, html_of(response, settings.page_bytes, settings.unpack_ratio))

    def _response(self, url: Url) -> Response | None:
        where = self._folder.history.where(url)
        try:
            return None if where is None else self._folder.repository.get(where)
        except FolderBroken:  # a record that can't be read is a page that says nothing
            return None

    def _document(self, url: Url) -> HtmlDocument | None:
        response = self._response(url)
        return None if response is None else stored_document(response, page_limits(self._folder.request.settings))
