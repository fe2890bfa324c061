"""A stored page of a crawl: its text, links, headers and bytes, each read on first use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property

from scenthound import url as urls
from scenthound.loop.replies import page_limits
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Link, Response, Step, Url
from scenthound.page.landing import land
from scenthound.page.main_text import language_of, main_text
from scenthound.page.page import Page
from scenthound.page.pdf import as_html
from scenthound.page.record import Parts
from scenthound.ports import Failure, Repository, Where
from scenthound.store.warc_write import digest_of
from scenthound.web.content_type import decode, detect
from scenthound.web.decode import Undecodable, decompress


class StoredPage:
    """A fetched page. `step` says how the crawl found it; the content is read from the WARC file on first use.

    A page whose author asks not to be archived (`noindex`) is not stored, so its text and HTML are empty.
    """

    def __init__(self, step: Step, where: Where | None, repository: Repository, settings: Settings) -> None:
        self.step, self.where = step, where
        """Its entry in the history, and the location of the response in `pages/`; None if it is not stored."""
        self._repository, self._settings = repository, settings

    @property
    def source(self) -> tuple[Repository, Settings]:
        """The repository from which it is read, and the settings used to read it."""
        return self._repository, self._settings

    def __repr__(self) -> str:
        return f"<StoredPage {self.n}: {self.url}>"

    @property
    def n(self) -> int:
        """Its number in the crawl; the first page is 1."""
        return self.step.n

    @property
    def url(self) -> Url:
        return self.step.url

    @property
    def title(self) -> str:
        return self.step.title

    @property
    def host(self) -> str:
        return urls.host(self.step.url)

    @property
    def time(self) -> datetime:
        """When it was fetched, in UTC."""
        return datetime.fromtimestamp(self.step.time, UTC)

    @property
    def relevance(self) -> float:
        """How relevant it is, from 0 to 1."""
        return self.step.relevance

    @property
    def is_relevant(self) -> bool:
        return self.step.relevant

    @cached_property
    def response(self) -> Response | None:
        """The stored HTTP response; None if it is not stored. Raises `FolderBroken` if it can't be read."""
        return None if self.where is None else self._repository.get(self.where)

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        return () if self.response is None else self.response.headers

    @property
    def content_type(self) -> str:
        return "" if self.response is None else self.response.header("content-type").strip()

    @property
    def last_modified(self) -> datetime | None:
        """The `Last-Modified` header in UTC; None if it is missing or invalid."""
        header = "" if self.response is None else self.response.header("last-modified")
        try:
            date = parsedate_to_datetime(header[:100])
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None

    @property
    def digest(self) -> str:
        """The SHA-1 digest of the stored body, as in WARC and CDXJ; empty if it is not stored."""
        return "" if self.response is None else digest_of(hashlib.sha1(self.response.body))  # noqa: S324

    @cached_property
    def content(self) -> bytes:
        """The decompressed body; empty if it is not stored or can't be decompressed."""
        if self.response is None:
            return b""
        coding = ",".join(value for key, value in self.response.headers if key.lower() == "content-encoding")
        try:
            return decompress(
                self.response.body, coding, limit=self._settings.page_bytes, ratio=self._settings.unpack_ratio
            ).data
        except Undecodable:
            return b""

    @cached_property
    def _as_html(self) -> Response | None:
        """The response, or the text of a PDF file as HTML; None if there is none or it can't be read."""
        response = None if self.response is None else as_html(self.response, page_limits(self._settings))
        return None if isinstance(response, Failure) else response

    @property
    def html(self) -> str:
        """The HTML source of the page; for a PDF file, its text and reference list as HTML."""
        if self._as_html is not self.response:
            return "" if self._as_html is None else self._as_html.body.decode("utf-8", "replace")
        return decode(self.content, detect(self.content, self.content_type).name) if self.content else ""

    @cached_property
    def _page(self) -> Page | None:
        if self._as_html is None:
            return None
        landed = land(Candidate(self.url, 0.0), self._as_html, page_limits(self._settings), Parts(), agent="")
        return landed if isinstance(landed, Page) else None

    @property
    def text(self) -> str:
        """All visible text of the page."""
        return "" if self._page is None else self._page.text

    @property
    def links(self) -> Sequence[Link]:
        """All links in document order."""
        return () if self._page is None else self._page.links

    @cached_property
    def main_text(self) -> str:
        """The text without menus and footers. Raises `BadUsage` without the extra `text`."""
        return main_text(self.html)

    @cached_property
    def language(self) -> str:
        """The language code, such as `en`; empty if uncertain. Raises `BadUsage` without the extra `text`."""
        return language_of(self.text)
