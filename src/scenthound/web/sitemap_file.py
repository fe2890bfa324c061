"""Read a sitemap file: an optional, untrusted source of candidates.

`read_sitemap` returns the URLs in a file, or the sitemaps that an index names. It reads XML in any namespace or none,
RSS, Atom and plain lines, gzipped or not. From a file that is cut off it returns the first part, from a file that
declares entities nothing. Every limit that was reached is listed in `problems`. The caller decides which URLs to use
(scope, robots), and how deep a chain of index files may be.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from xml.parsers import expat

from scenthound.errors import NotAUrl
from scenthound.url import LONGEST, host, resolve


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """The limits of one file."""

    urls: int = 50_000
    """As in the protocol."""
    unpacked: int = 16 * 1024 * 1024
    """Bytes after decompression; the rest is not read. The protocol allows 50 MB, but a crawl cuts a file that is sent
    plain at 10 MB anyway, and 50,000 addresses of 300 bytes fit in."""
    nesting: int = 100
    """Elements inside each other."""
    elements: int = 2_000_000
    """Elements in total, including the images, videos and translations of pages."""


class SitemapUrl(NamedTuple):
    """A resolved URL, ready to be requested, with the site's metadata about it."""

    url: str
    lastmod: datetime | None = None
    """In UTC."""
    priority: float | None = None
    """From 0 to 1; None if it is missing, which the protocol treats as 0.5."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """One sitemap file, as far as it could be read."""

    urls: list[SitemapUrl] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    """Further sitemaps that an index names, resolved."""
    problems: list[str] = field(default_factory=list)
    """Each at most once: `declarations` (refused), `not-a-sitemap`, `broken-xml`, `broken-gzip`, `bad-ampersand`,
    `bad-encoding`, `bad-url`, `too-large`, `too-many`, `too-deep`."""


LIMITS = SitemapLimits()

_GZIP = b"\x1f\x8b"
_WRAPPINGS = 2  # layers of gzip: a server may compress a .gz file again
_MEMBERS = 10_000  # of one gzip file; most have one
_PIECE = 16 * 1024  # bytes processed at a time
_LONGEST_TAG = 1024 * 1024  # bytes of a tag or comment, which expat parses again with every piece until it is complete
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_TEXT = 4 * LONGEST  # characters of one element; a URL may be padded with white space
_LINE = re.compile(rb"^[ \t]*(https?://[^\s<>]+)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
# An ampersand that does not begin a predefined entity of XML. CDATA is skipped; if unclosed, it lasts to the end.
_AMPERSAND = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)", re.DOTALL
)
_YEAR_OR_MONTH = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")

_ENTRY = {"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "rdf": "item", "feed": "entry"}
_DATES = frozenset({"lastmod", "pubdate", "date", "updated", "published"})


def read_sitemap(body: bytes, base_url: str, *, limits: SitemapLimits = LIMITS) -> Sitemap:
    """The content of the file at `base_url`, in order. Never raises."""
    sitemap = Sitemap()
    body = _unpacked(body, limits.unpacked, sitemap.problems)
    if not body.startswith(_UTF16):
        body = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body.startswith((b"<", *_UTF16)):
        _read_xml(body, base_url, limits, sitemap)
    else:
        _read_lines(body, base_url, limits, sitemap)
    return sitemap


def _unpacked(body: bytes, most: int, problems: list[str]) -> bytes:
    for _ in range(_WRAPPINGS):
        if body.startswith(_GZIP):
            body = _gunzip(body, most, problems)
    if len(body) > most:
        _note(problems, "too-large")
    return body[:most]


def _gunzip(body: bytes, most: int, problems: list[str]) -> bytes:
    """All members of a gzip file, up to one byte more than `most`."""
    unpacked, position = io.BytesIO(), 0  # it gives its bytes away without a copy
    for _ in range(_MEMBERS):
        if unpacked.tell() > most or not body.startswith(_GZIP, position):
            break
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            while not member.eof and unpacked.tell() <= most and position < len(body):
                # In pieces, because a member returns a copy of everything that follows it.
                piece = body[position : position + _PIECE]
                unpacked.write(member.decompress(piece, most + 1 - unpacked.tell()))
                position += _PIECE
        except zlib.error:
            _note(problems, "broken-gzip")
            break
        if not member.eof and unpacked.tell() <= most:
            _note(problems, "broken-gzip")
        position = min(position, len(body)) - len(member.unused_data)
    return unpacked.getvalue()


def _read_lines(body: bytes, base_url: str, limits: SitemapLimits, sitemap: Sitemap) -> None:
    for line in _LINE.finditer(body):
        if len(sitemap.urls) >= limits.urls:
            _note(sitemap.problems, "too-many")
            break
        url = _resolved(line[1].decode("utf-8", "replace"), base_url)
        if url is None:
            _note(sitemap.problems, "bad-url")
        else:
            sitemap.urls.append(SitemapUrl(url))
    if not sitemap.urls:
        _note(sitemap.problems, "not-a-sitemap")


def _read_xml(body: bytes, base_url: str, limits: SitemapLimits, sitemap: Sitemap) -> None:
    """Read an XML file. If it has an error that can be corrected, correct it and read the file again."""
    problem = _XmlReader(base_url, limits, sitemap).read(body)
    if problem == "bad-encoding":  # an unknown encoding: URLs are nearly always ASCII
        _note(sitemap.problems, problem)
        problem = _XmlReader(base_url, limits, sitemap).read(body, "iso-8859-1")
    if problem == "broken-xml":
        most = 4 * limits.urls  # limited, or a file of ampersands would grow fivefold
        corrected = _AMPERSAND.sub(lambda match: match[0] if len(match[0]) > 1 else b"&amp;", body, count=most)
        if len(corrected) != len(body):
            _note(sitemap.problems, "bad-ampersand")
            problem = _XmlReader(base_url, limits, sitemap).read(corrected)
    if problem:
        _note(sitemap.problems, problem)


class _StopError(Exception):
    """Stops reading; its argument is the reason."""


class _XmlReader:
    """Receives elements one by one, keeps only the current entry, and fills `sitemap`."""

    def __init__(self, base_url: str, limits: SitemapLimits, sitemap: Sitemap) -> None:
        self.base_url, self.limits, self.sitemap = base_url, limits, sitemap
        sitemap.urls.clear()
        sitemap.children.clear()
        self.root = self.prefix = ""
        self.depth = self.elements = 0
        self.entry_depth = self.field_depth = 0
        self.field = ""
        self.text: list[str] = []
        self.length = 0
        self.values: dict[str, str] = {}

    def read(self, body: bytes, encoding: str | None = None) -> str:
        """Read a file. Returns why reading stopped early; empty if it did not."""
        try:
            self.parse(body, encoding)
            return ""
        except _StopError as stop:
            return str(stop.args[0])
        except (LookupError, ValueError):  # from pyexpat for an encoding it does not know
            return "bad-encoding" if encoding is None else "broken-xml"

    def parse(self, body: bytes, encoding: str | None) -> None:
        parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.doctype
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        try:
            for position in range(0, len(body), _PIECE):
                parser.Parse(body[position : position + _PIECE], False)
                if position - parser.CurrentByteIndex > _LONGEST_TAG:
                    raise _StopError("too-large")
            # The end is signalled separately, because pyexpat drops buffered text when a call fails.
            parser.Parse(b"", True)
        except expat.ExpatError:
            self.keep_unfinished(body)
            raise _StopError("broken-xml" if self.root else "not-a-sitemap") from None

    def doctype(self, name: str, system_id: str | None, public_id: str | None, has_subset: int) -> None:
        """Refuse an internal subset, which declares entities. No sitemap needs one, but every bomb does.

        An external subset (RSS 0.91 names Netscape's) is never fetched.
        """
        if has_subset:
            raise _StopError("declarations")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.elements > self.limits.elements:
            raise _StopError("too-many")
        if self.depth > self.limits.nesting:
            raise _StopError("too-deep")
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        if self.depth == 1:
            if local not in _ENTRY:
                raise _StopError("not-a-sitemap")
            # The elements of the format have the prefix of the root, except that in RSS 1.0 only the root has one.
            self.root, self.prefix = local, prefix if local != "rdf" else ""
        elif not self.entry_depth:
            if local == _ENTRY[self.root] and prefix == self.prefix:
                self.entry_depth, self.values, self.text, self.length = self.depth, {}, [], 0
        elif not self.field_depth and self.depth == self.entry_depth + 1:
            self.start_field(prefix, local, attributes)

    def start_field(self, prefix: str, local: str, attributes: Mapping[str, str]) -> None:
        if prefix != self.prefix and (prefix, local) != ("dc", "date"):
            local = ""
        if local == "loc" and "loc" in self.values:  # several in one entry: the tags between them are missing
            self.keep()
            self.values = {}
        if local == "link" and self.root == "feed":
            if attributes.get("rel", "alternate") == "alternate":
                self.values.setdefault("loc", attributes.get("href", "")[:_LONGEST_TEXT])
            local = ""
        if local == "guid" and attributes.get("isPermaLink", "true") == "false":
            local = ""
        self.keep_stray_text()
        self.field, self.field_depth, self.text, self.length = local, self.depth, [], 0

    def characters(self, text: str) -> None:
        if self.entry_depth and self.length < _LONGEST_TEXT:
            self.text.append(text[: _LONGEST_TEXT - self.length])
            self.length += len(text)

    def end(self, name: str) -> None:
        if self.depth == self.field_depth:
            self.end_field()
        elif self.depth == self.entry_depth:
            self.keep_stray_text()
            self.keep()
            self.entry_depth = 0
        self.depth -= 1

    def end_field(self) -> None:
        value = "".join(self.text).strip()
        if self.field in _DATES:
            self.values.setdefault("date", value)
        elif self.field in ("loc", "link"):
            self.values.setdefault("loc", value)
        elif self.field == "priority":
            self.values.setdefault("priority", value)
        elif self.field == "guid":
            self.keep_fallback(value)
        self.field_depth, self.text, self.length = 0, [], 0

    def keep_stray_text(self) -> None:
        """Keep the text of the entry itself, which is the URL if `<loc>` is missing."""
        self.keep_fallback("".join(self.text).strip())
        self.text, self.length = [], 0

    def keep_fallback(self, text: str) -> None:
        """Keep text that looks like a URL, in case `loc` or `link` is missing."""
        if text[:8].lower().startswith(("http://", "https://")):
            self.values.setdefault("fallback", text)

    def keep(self) -> None:
        """Add the finished entry: a URL or another sitemap."""
        if len(self.sitemap.urls) + len(self.sitemap.children) >= self.limits.urls:
            raise _StopError("too-many")
        url = _resolved(self.values.get("loc") or self.values.get("fallback") or "", self.base_url)
        if url is None:
            _note(self.sitemap.problems, "bad-url")
        elif self.root == "sitemapindex":
            self.sitemap.children.append(url)
        else:
            date, priority = self.values.get("date", ""), self.values.get("priority", "")
            self.sitemap.urls.append(SitemapUrl(url, _date(date), _priority(priority)))

    def keep_unfinished(self, body: bytes) -> None:
        """Keep the entry in which the file was cut off, if its URL is followed by a tag and therefore complete."""
        if self.entry_depth and self.field_depth and self.field == "loc" and body.rfind(b"<") > body.rfind(b">"):
            self.end_field()
        if self.entry_depth and self.values.get("loc"):
            self.keep()


def _resolved(raw: str, base_url: str) -> str | None:
    if not raw:
        return None
    if raw.startswith(host(base_url) + "/"):  # the scheme is missing
        raw = "//" + raw
    try:
        url = resolve(raw, base_url)
    except NotAUrl:
        return None
    return url if len(url) <= LONGEST else None


def _date(text: str) -> datetime | None:
    """A date of the sitemap protocol (W3C, ISO 8601), Atom or RSS (RFC 822) in UTC; None if it is not a date."""
    if not text or len(text) > 64:
        return None
    coarse = _YEAR_OR_MONTH.fullmatch(text)
    try:
        if coarse:
            return datetime(int(coarse[1]), int(coarse[2] or 1), 1, tzinfo=UTC)
        if text[:4].isdecimal():
            date = datetime.fromisoformat(text)
            return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
        date = parsedate_to_datetime(text)
        return date.astimezone(UTC) if date.tzinfo is not None else None  # RFC 822 dates have a zone
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return priority if 0.0 <= priority <= 1.0 else None


def _note(problems: list[str], problem: str) -> None:
    if problem not in problems:
        problems.append(problem)
