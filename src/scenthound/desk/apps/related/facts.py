"""Extract facts from the pages of a crawl: the other hosts a page links to, and the name and words of a home page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from scenthound import url as urls
from scenthound.desk import live_queries
from scenthound.desk.apps.related.link_context import contexts
from scenthound.desk.apps.related.site_names import stated_name
from scenthound.errors import FolderBroken
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response, Url
from scenthound.page.landing import stored_document
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.web.content_type import decode, detect
from scenthound.web.decode import Undecodable, decompress
from scenthound.web.html_document import HtmlDocument
from scenthound.wiring import page_limits

MOST_MENTIONS = 2_000
TEXT_KEPT = 10_000  # characters of a home page
ANALYSER = Analyser()


class Mention(NamedTuple):
    """The first link from a page to another host, with its heading and the surrounding text."""

    url: Url
    anchor: str
    heading: str
    passage: str


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A page's title and term counts, and the other hosts it links to."""

    title: str
    mentions: Mapping[str, Mention]
    """Host -> first link to it."""
    words: Counts = field(default_factory=Counts)


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """A home page: title, name stated in its structured data, term counts and canonical URL."""

    title: str
    name: str
    words: Counts
    text: str = ""
    """The beginning of the text, used to spell out stemmed terms."""
    canonical: Url | None = None
    url: Url | None = None


class CrawledWeb(Protocol):
    """The crawl data that this application needs."""

    @property
    def pages(self) -> Mapping[Url, int]:
        """Fetched pages with their page numbers, in fetch order."""
        ...

    @property
    def moved(self) -> Mapping[Url, Url]:
        """Redirects: requested URL -> final URL."""
        ...

    def links(self) -> Iterator[tuple[Url, Sequence[Url]]]:
        """Yield each fetched page with all its links."""
        ...

    def page_facts(self, url: Url) -> PageFacts | None: ...

    def home_facts(self, url: Url) -> HomeFacts | None: ...


def page_facts(document: HtmlDocument) -> PageFacts:
    """Extract the facts from any page."""
    own_host, first_links = urls.host(document.url), dict[str, int]()
    for index, link in enumerate(document.links):
        host = urls.host(link.url)
        if host != own_host and len(first_links) < MOST_MENTIONS:
            first_links.setdefault(host, index)
    context_by_link = contexts(document, first_links.values())
    mentions = {
        host: Mention(document.links[index].url, document.links[index].anchor, *context_by_link.get(index, ("", "")))
        for host, index in first_links.items()
    }
    return PageFacts(document.title, mentions, ANALYSER.counts(document.text))


def home_facts(document: HtmlDocument, html: str) -> HomeFacts:
    """Extract the facts from a home page."""
    words, beginning = ANALYSER.counts(document.text), document.text[:TEXT_KEPT]
    return HomeFacts(document.title, stated_name(html), words, beginning, document.canonical, Url(document.url))


def html_of(response: Response, limit: int, ratio: int) -> str:
    """Return the decoded HTML source of a stored page; empty if it can't be decompressed."""
    coding = ",".join(value for key, value in response.headers if key.lower() == "content-encoding")
    try:
        body = decompress(response.body, coding, limit=limit, ratio=ratio).data
    except Undecodable:
        return ""
    return decode(body, detect(body, response.header("content-type")).name)


class FolderWeb:
    """A `CrawledWeb` backed by a crawl folder."""

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

    def page_facts(self, url: Url) -> PageFacts | None:
        document = self._document(url)
        return None if document is None else page_facts(document)

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
        except FolderBroken:  # treat an unreadable record as an empty page
            return None

    def _document(self, url: Url) -> HtmlDocument | None:
        response = self._response(url)
        return None if response is None else stored_document(response, page_limits(self._folder.request.settings))
