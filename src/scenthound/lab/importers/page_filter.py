"""Filters the responses of a source: a replay uses HTML pages and redirects, one record for each URL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenthound.errors import BadConfig, NotAUrl
from scenthound.lab.importers.interface import Notes
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page.landing import land
from scenthound.page.read import LIMITS
from scenthound.url import make
from scenthound.web.content_type import extract, is_html
from scenthound.web.decode import Undecodable, decompress


class PageFilter:
    """Keeps responses that a replay can use and counts the rest. Of several records of a URL the first wins."""

    def __init__(self, notes: Notes, without: Sequence[str] = ()) -> None:
        """URLs that start with one of `without` are left out."""
        self.notes, self._without = notes, tuple(without)
        self.pages = self.redirects = 0

    def apply(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Yield the usable responses. Raises `BadConfig` at the end if there was no page."""
        for response in responses:
            if self._is_usable(response):
                yield response
        if not self.pages:
            problems = "; ".join(self.notes.lines()[:5]) or "nothing"
            raise BadConfig("this source contains no HTML page", f"found instead: {problems}")

    def _is_usable(self, response: Response) -> bool:
        try:
            url = make(response.url)
        except NotAUrl:
            return self._skip("skipped, not an http(s) URL", response.url)
        if url.startswith(self._without):
            return self._skip("left out by the option `without`", response.url)
        is_redirect = 300 <= response.status < 400
        reason = _redirect_problem(response, url) if is_redirect else _page_problem(response)
        if reason:
            return self._skip(f"skipped, {reason}", response.url)
        if url in self.notes.kept:
            return self._skip("skipped, a second record of a URL", response.url)
        self.notes.kept.add(url)
        self.pages += not is_redirect
        self.redirects += is_redirect
        return True

    def _skip(self, kind: str, example: str) -> bool:
        self.notes.count(kind, example)
        return False


def _redirect_problem(response: Response, url: Url) -> str:
    """Why a replay can't use this redirect; empty if it can."""
    landed = land(Candidate(url, 0.0, spelling=response.url), response, agent="")
    if isinstance(landed, Miss):
        return f"status {response.status} ({landed.reason})"
    # For example from /index.html to /: both have the same canonical URL, and this record would hide the page.
    return "a redirect to itself" if landed.url == url else ""


def _page_problem(response: Response) -> str:
    """Why a replay can't use this response; empty if it is a page."""
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
