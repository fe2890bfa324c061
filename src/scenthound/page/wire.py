"""What goes between the crawl and a worker: frames of a length, a head in JSON, and the long parts behind it.

Links travel as columns, a line each: no URL, spelling or tidied anchor holds a line break. Terms and their numbers
travel too, so that the crawl need not cut the text again, and stay folded until somebody asks for more than a few.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

from scenthound.model import Candidate, Leaf, Link, Miss, Moved, Page, Response, Url
from scenthound.page.around import COLUMNS, Packer, Told
from scenthound.text.contexts import Around, page_counts
from scenthound.text.folded import checked, numbers_of, words_of
from scenthound.text.tokens import Analyser
from scenthound.web.landing import PageLimits, land
from scenthound.web.parse import HtmlDocument

_LENGTH = struct.Struct("!I")
_NOBODY = Candidate(Url(""), 0.0)
_new = tuple.__new__


def frame(head: Any, *parts: bytes) -> bytes:
    """One message: its length, its head (as JSON, with the lengths of the parts), the parts."""
    said = json.dumps([head, [len(part) for part in parts]], separators=(",", ":")).encode("utf-8", "surrogatepass")
    size = 4 + len(said) + sum(map(len, parts))
    return b"".join((_LENGTH.pack(size), _LENGTH.pack(len(said)), said, *parts))


def opened(message: bytes) -> tuple[Any, list[bytes]]:
    """Head and parts of a message without its first length."""
    at = 4 + _LENGTH.unpack_from(message)[0]
    head, sizes = json.loads(message[4:at].decode("utf-8", "surrogatepass"))
    parts = []
    for size in sizes:
        parts.append(message[at : at + size])
        at += size
    return head, parts


def frames(buffer: bytearray) -> list[bytes]:
    """Take every whole message out of what has arrived so far."""
    found, at = [], 0
    while len(buffer) - at >= 4:
        end = at + 4 + _LENGTH.unpack_from(buffer, at)[0]
        if end > len(buffer):
            break
        found.append(bytes(buffer[at + 4 : end]))
        at = end
    del buffer[:at]
    return found


def ask(response: Response) -> bytes:
    """A reply for a worker to read."""
    return frame([response.url, response.status, response.reason, response.headers], response.body)


def asked(message: bytes) -> Response:
    (url, status, reason, headers), (body,) = opened(message)
    return Response(url, status, reason, tuple((name, value) for name, value in headers), body)


class Wanted(NamedTuple):
    """How a worker is to read pages."""

    limits: PageLimits
    agent: str
    analyser: Analyser
    around: tuple[Around, ...] = ()
    """What the strategy will ask about links, beside their anchors."""
    packer: Packer = Packer()


def answer(response: Response, wanted: Wanted) -> bytes:
    """What a reply means, as bytes. Never raises, whatever the page holds."""
    try:
        result = land(_NOBODY, response, wanted.limits, agent=wanted.agent)
        if isinstance(result, Page):
            return _page(result, wanted)
    except Exception as error:  # as in the crawl's own process: one page must not stop it
        result = Miss(_NOBODY, "unreadable", f"{type(error).__name__}: {error}"[:200], response.status)
    if isinstance(result, Miss):
        return frame(["miss", result.reason, result.detail, result.status, result.size, result.retry_after])
    assert isinstance(result, Moved)
    return frame(["moved", result.url, result.spelling, result.status, result.size])


def _page(page: Page, wanted: Wanted) -> bytes:
    links, document = page.links, page.document
    counts = page_counts(page, wanted.analyser)
    around = [wanted.packer.columns(page, one) for one in wanted.around]
    urls, anchors, spellings, _, nofollow = zip(*links, strict=True) if links else ((), (), (), (), ())
    head = [
        *("page", page.url, page.title, page.status, page.size),
        [number for number, barred in enumerate(nofollow) if barred] if True in nofollow else [],
        *(getattr(document, "noindex", False), len(links), counts.square),
    ]
    return frame(
        head,
        _lines(urls),
        _lines(anchors),
        _lines(spellings) if spellings != urls else b"",
        words_of(counts),
        numbers_of(counts.values()),
        document.text.encode("utf-8", "surrogatepass"),
        *chain.from_iterable(around),
    )


def understood(
    message: bytes,
    candidate: Candidate,
    response: Response,
    wanted: Wanted,
    missed: Callable[[], None],
) -> Page | Miss | Moved:
    """The result that an answer tells of. `missed` is called when somebody asks for the tree, which was not sent."""
    head, parts = opened(message)
    match head:
        case ["miss", reason, detail, status, size, retry_after]:
            return Miss(candidate, reason, detail, status, size, retry_after)
        case ["moved", url, spelling, status, size]:
            return Moved(candidate, Url(url), spelling, status, size)
    _, url, title, status, size, barred, noindex, count, square = head
    urls, anchors, spellings = map(_split, parts[:3])
    if not count:
        urls = anchors = spellings = []
    rows = zip(urls, anchors, spellings if parts[2] else urls, range(count), repeat(False, count), strict=True)
    links = [_new(Link, row) for row in rows]  # as Link(*row) does, without a call of Python's own for each
    for number in barred:
        links[number] = links[number]._replace(nofollow=True)
    document = ReadDocument(title, links, parts[5], bool(noindex), response, wanted.limits, missed)
    page = Page(Url(url), candidate, document, status, size)
    page.know(("counts", wanted.analyser), checked(square, parts[3], parts[4]))
    for number, one in enumerate(wanted.around):
        columns = parts[6 + COLUMNS * number : 6 + COLUMNS * (number + 1)]
        if columns[0]:
            page.know(one, Told(columns, count))
    return page


def _lines(texts: Iterable[str]) -> bytes:
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def _split(part: bytes) -> list[str]:
    return part.decode("utf-8", "surrogatepass").split("\n") if part else [""]


class ReadDocument:
    """A `model.Document` that was read elsewhere: title, text and links are here, the tree is made when asked for."""

    __slots__ = ("_limits", "_missed", "_response", "_text", "_tree", "links", "noindex", "title")

    def __init__(
        self,
        title: str,
        links: Sequence[Link],
        text: bytes,
        noindex: bool,
        response: Response,
        limits: PageLimits,
        missed: Callable[[], None],
    ) -> None:
        self.title, self.links, self.noindex = title, links, noindex
        self._text, self._response, self._limits, self._missed = text, response, limits, missed
        self._tree: HtmlDocument | None = None

    @property
    def text(self) -> str:
        return self._text.decode("utf-8", "surrogatepass")

    @property
    def leaves(self) -> Sequence[Leaf]:
        return self._document().leaves

    def under(self, link: Link, up: int) -> tuple[int, str]:
        return self._document().under(link, up)

    def path(self, link: Link) -> str:
        return self._document().path(link)

    def _document(self) -> HtmlDocument:
        if self._tree is None:
            self._missed()
            again = land(_NOBODY, self._response, self._limits, agent="")
            assert isinstance(again, Page)  # it was one when it was read
            assert isinstance(again.document, HtmlDocument)
            self._tree = again.document
            self._tree.links = self.links  # none, where the page asks that none be followed
        return self._tree
