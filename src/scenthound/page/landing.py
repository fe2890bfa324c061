"""Interpret a response as a page, a miss or a redirect. A pure function of the response, which never raises.

The standards leave two things open. A `<meta http-equiv=refresh>` without delay is a redirect here; with a delay the
page is meant to be read first, so it is a page, and the target is one more link. `noindex` only sets a
flag of the record: the links of such a page may be followed, and the repository decides whether to keep it. `nofollow`
bars the links of the document, unless the limits say otherwise.
"""

from __future__ import annotations

import re
from datetime import UTC

from scenthound import url as urls
from scenthound.errors import NotAUrl
from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page.page import Page
from scenthound.page.pdf import as_html
from scenthound.page.read import LIMITS, PageLimits, read
from scenthound.page.record import EVERYTHING, Parts
from scenthound.ports import Failure
from scenthound.text.term_counts import TermNumbers
from scenthound.web.content_type import decode, detect, extract, is_html
from scenthound.web.decode import Undecodable, decompress
from scenthound.web.guard import Shape
from scenthound.web.html_document import HtmlDocument, parse_html, tidy
from scenthound.web.robots import directives, meta_refresh

LONGEST_WAIT = 86_400.0  # seconds: the longest delay that a server may demand for a URL

_MAY_RECOVER = frozenset((408, 425, 429, 500, 502, 503, 504))
_MAY_SAY_WHEN = frozenset((429, 503))
_RAW_BYTE = re.compile("[\udc80-\udcff]")


def land(
    candidate: Candidate,
    response: Response,
    limits: PageLimits = LIMITS,
    parts: Parts = EVERYTHING,
    *,
    now: float = 0.0,
    agent: str = "scenthound",
    numbers: TermNumbers | None = None,
) -> Page | Miss | Moved:
    """The page, miss or redirect that a response represents.

    A date in `Retry-After` is compared with `now`. Meta robots and X-Robots-Tag are read for the product token `agent`;
    if it is empty they are ignored. With `numbers` the page's terms are numbered. Reasons of a miss: `http-404` and the
    like, `bad-redirect`, `not-modified`, `no-content`, `not-html`; `bomb`, `coding` and `damaged` for a body that can't
    be unpacked.
    """
    status, size = response.status, len(response.body)
    if 300 <= status < 400 and status != 304:
        return _redirect(candidate, response, limits)
    if status == 304:
        return Miss(candidate, "not-modified", status=status, size=size)
    if not 200 <= status < 300:
        wait = _wait(response, now) if status in _MAY_RECOVER else None
        return Miss(candidate, f"http-{status}", tidy(response.reason[:100]), status, size, wait)
    if status in (204, 205):
        return Miss(candidate, "no-content", status=status, size=size)
    return _page(candidate, response, limits, parts, agent, numbers)


def _redirect(candidate: Candidate, response: Response, limits: PageLimits) -> Moved | Miss:
    status, size = response.status, len(response.body)
    locations = {value.strip() for key, value in response.headers if key.lower() == "location"}
    if len(locations) != 1:
        detail = "no Location" if not locations else "several Locations"
        return Miss(candidate, "bad-redirect", detail, status, size)
    try:
        spelling = urls.resolve(_percent_encoded(locations.pop()), response.url)
        return Moved(candidate, urls.canonical(spelling, limits.url_rules), spelling, status, size)
    except NotAUrl as error:
        return Miss(candidate, "bad-redirect", error.message, status, size)


def _percent_encoded(raw: str) -> str:
    """A header's text with bytes that are not UTF-8 as percent codes, as a browser would send them."""
    return _RAW_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", raw)


def _wait(response: Response, now: float) -> float:
    """Seconds until an overloaded server may be requested again; 0 if it does not tell."""
    retry_after = response.header("retry-after").strip() if response.status in _MAY_SAY_WHEN else ""
    if not retry_after:
        return 0.0
    if retry_after.isascii() and retry_after.isdigit():
        return float(min(int(retry_after[:9]), LONGEST_WAIT))
    from email.utils import parsedate_to_datetime  # rarely needed, and a tenth of a worker's start-up time

    try:
        date = parsedate_to_datetime(retry_after[:100])
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now  # HTTP dates are in UTC
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _page(
    candidate: Candidate,
    response: Response,
    limits: PageLimits,
    parts: Parts,
    agent: str,
    numbers: TermNumbers | None,
) -> Page | Miss | Moved:
    status, size = response.status, len(response.body)
    html_response = as_html(response, limits)
    if isinstance(html_response, Failure):
        return Miss(candidate, html_response.reason, html_response.detail, status, size)
    response = html_response
    mime = extract(value for key, value in response.headers if key.lower() == "content-type")
    if mime is not None and not is_html(mime, b"<p>"):  # known without unpacking it
        return Miss(candidate, "not-html", mime.essence, status, size)
    coding = ",".join(value for key, value in response.headers if key.lower() == "content-encoding")
    try:
        body = decompress(response.body, coding, limit=limits.unpacked, ratio=limits.ratio).data
    except Undecodable as error:
        return Miss(candidate, error.reason, error.message, status, size)
    if not is_html(mime, body):
        return Miss(candidate, "not-html", "no Content-Type", status, size)
    document = _document(body, str(mime or ""), response.url, limits)
    address = _address(response, candidate)
    if (refreshed := _refreshed(document, limits)) is not None and refreshed[2] != address:
        delay, spelling, url = refreshed
        if delay == 0:
            return Moved(candidate, url, spelling, status, size)
        document.add_link(url, spelling)
    if not limits.nofollow and any(link.nofollow for link in document.links):
        document.mark_links(nofollow=False)
    if agent:
        headers = [value for key, value in response.headers if key.lower() == "x-robots-tag"]
        robots = directives(document.metas, headers, agent)
        document.noindex, document.nofollow = robots.noindex, robots.nofollow and limits.nofollow
        if document.nofollow:
            document.mark_links(nofollow=True)
    return Page(address, candidate, read(document, address, parts, numbers), status, size)


def stored_document(response: Response, limits: PageLimits = LIMITS) -> HtmlDocument | None:
    """A stored response as a document; None if it is neither HTML nor a PDF file, or can't be read."""
    html_response = as_html(response, limits)
    if isinstance(html_response, Failure):
        return None
    response = html_response
    mime = extract(value for key, value in response.headers if key.lower() == "content-type")
    coding = ",".join(value for key, value in response.headers if key.lower() == "content-encoding")
    try:
        body = decompress(response.body, coding, limit=limits.unpacked, ratio=limits.ratio).data
    except Undecodable:
        return None
    return _document(body, str(mime or ""), response.url, limits) if is_html(mime, body) else None


def _document(body: bytes, content_type: str, url: str, limits: PageLimits) -> HtmlDocument:
    shape = Shape(tags=limits.tags, nesting=limits.nesting, attributes=limits.attributes)
    # The text is not kept in a variable: the parser replaces it by a shorter one.
    return parse_html(
        decode(body, detect(body, content_type).name, shape.characters),
        url,
        max_links=limits.links,
        url_rules=limits.url_rules,
        shape=shape,
    )


def _refreshed(document: HtmlDocument, limits: PageLimits) -> tuple[float, str, Url] | None:
    """Delay, spelling and URL of the page's meta refresh, if it has one. An invalid target counts as a refused link."""
    refresh = meta_refresh(document.refresh) if document.refresh else None
    if refresh is None or not refresh[1]:
        return None
    target = document.resolved(refresh[1], limits.url_rules)
    if isinstance(target, str):
        document.refused[target] += 1
        return None
    return refresh[0], *target


def _address(response: Response, candidate: Candidate) -> Url:
    try:
        return urls.make(response.url)
    except NotAUrl:
        return candidate.url
