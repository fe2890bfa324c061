"""Filters the responses of a source: a replay needs HTML pages and redirects, each URL once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenthound.errors import BadConfig, NotAUrl
from scenthound.lab.importers.interface import Notes
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page.landing import land
from scenthound.page.page_limits import LIMITS
from scenthound.url import make
from scenthound.web.decode import Undecodable, decompress
from scenthound.web.mime import extract, is_html


class PageFilter:
    """Keeps what a replay can use and counts the rest. Of several records of a URL the first wins."""

    def __init__(self, notes: Notes, without: Sequence[str] = ()) -> None:
        """URLs that begin with one of `without` are left out."""
        self.notes, self._without = notes, tuple(without)
        self.pages = self.redirects = 0

    def kept(self, responses: Iterable[Response]) -> Iterator[Response]:
        """The usable responses. Raises `BadConfig` at the end if there was no page."""
        for response in responses:
            if self._is_usable(response):
                yield response
        if not self.pages:
            seen = "; ".join(self.notes.lines()[:5]) or "it is empty"
            raise BadConfig("there is no HTML page in this source", f"found instead: {seen}")

    def _is_usable(self, response: Response) -> bool:
        try:
            url = make(response.url)
        except NotAUrl:
            return self._skip("skipped, not an http(s) URL", response.url)
        if url.startswith(self._without):
            return self._skip("left out as asked", response.url)
        is_redirect = 300 <= response.status < 400
        refused = _refused_redirect(response, url) if is_redirect else _refused_page(response)
        if refused:
            return self._skip(f"skipped, {refused}", response.url)
        if url in self.notes.kept:
            return self._skip("skipped, a second record of a URL", response.url)
        self.notes.kept.add(url)
        self.pages += not is_redirect
        self.redirects += is_redirect
        return True

    def _skip(self, kind: str, example: str) -> bool:
        self.notes.count(kind, example)
        return False


def _refused_redirect(response: Response, url: Url) -> str:
    landed = land(Candidate(url, 0.0, spelling=response.url), response, agent="")
    if isinstance(landed, Miss):
        return f"status {response.status} ({landed.reason})"
    # As from /index.html to /: both have one canonical URL, and this record would hide the page.
    return "a redirect to itself" if landed.url == url else ""


def _refused_page(response: Response) -> str:
    if not 200 <= response.status < 300 or response.status in (204, 205):
        return f"status {response.status}"
    mime = extract(value for name, value in response.headers if name.lower() == "content-type")
    if is_html(mime, b"<p>" if mime is not None else _start(response)):
        return ""
    return f"not HTML ({mime.essence[:60] if mime is not None else 'no media type'})"


def _start(response: Response) -> bytes:
    """The first bytes of the page, decompressed, to detect HTML without a media type."""
    coding = ",".join(value for name, value in response.headers if name.lower() == "content-encoding")
    try:
        return decompress(response.body, coding, limit=4096, ratio=LIMITS.ratio).data
    except Undecodable:
        return b""
