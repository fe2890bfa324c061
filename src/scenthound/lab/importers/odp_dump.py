"""Reads ODP/DMOZ dumps (`structure.rdf.u8`, `content.rdf.u8`), plain or gzip, as a stream of records.

These dumps are almost XML: they contain control characters, invalid UTF-8 and bare ampersands, and a strict parser
stops at the first. They are also flat, so a scanner for tags can read them: it holds one record and a buffer, takes
linear time, and knows only the five XML entities and numeric references. CDATA sections, which no dump has, are
skipped. A dump that declares its own entities is refused. A truncated dump yields the records before its end, and a
`DumpProblem`.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import Unreadable

CHUNK = 1 << 20
MAX_BUFFER = 1 << 21  # characters without a complete tag
MAX_TEXT = 20_000  # characters of a title or description; the longest real ones have about 2,000
MAX_PATH = 2_000
MAX_LINKS = 200_000  # of one category


class DumpProblem(NamedTuple):
    """A kind of problem in a source, how often it occurs, and the detail of its first occurrence."""

    kind: str
    times: int
    source: str
    detail: str = ""


class Category(NamedTuple):
    """A `Topic` record: its path, its subcategories, and the raw URLs that it links to."""

    path: str
    children: tuple[str, ...]
    links: tuple[str, ...]


class Listing(NamedTuple):
    """An `ExternalPage` record: a raw URL, and an editor's title and description."""

    raw: str
    title: str
    description: str
    category: str


Record = Category | Listing


@dataclass(slots=True)
class Problems:
    """Counts the problems found while sources are read."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    details: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, source: str, detail: str = "") -> None:
        """Count a problem; for each kind and source, the first detail is kept."""
        self.counts[kind, source] += 1
        self.details.setdefault((kind, source), detail)

    def all(self) -> tuple[DumpProblem, ...]:
        return tuple(
            DumpProblem(kind, count, source, self.details[kind, source])
            for (kind, source), count in self.counts.items()
        )


def records(path: Path, problems: Problems) -> Iterator[Record]:
    """The records of a dump, in order; its problems are added to `problems`.

    Raises `Unreadable` for a dump that declares entities, and `OSError` as `open` does.
    """
    builder = _RecordBuilder()
    count = 0
    for token in _tokens(_text(path, problems), path.name, problems):
        record = builder.take(token)
        if record is not None:
            count += 1
            yield record
    if not builder.ended:
        last = f"after {count} records" if count else "before the first record"
        problems.add("cut", path.name, f"no </RDF>: it ends {last}")


class _Token(NamedTuple):
    """A tag and the text after it, up to the next tag."""

    closing: bool
    name: str
    attributes: str
    empty: bool
    text: str


_TAG = re.compile(
    r"""<(?: (?P<special>!--|!\[CDATA\[|![A-Za-z]|\?)
         | (?P<closing>/?) (?P<name>[A-Za-z_][\w:.\-]*+)
           (?P<attributes>(?:\s++[\w:.\-]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))*+) \s*+
           (?P<empty>/?)> (?P<text>[^<]*+) )""",
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([\w:.\-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_NOT_PAGES = frozenset(("pdf", "rss", "atom"))


def _text(path: Path, problems: Problems) -> Iterator[str]:
    """The file as text without control characters; invalid UTF-8 becomes U+FFFD."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    with path.open("rb") as plain:
        is_gzip = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        with gzip.GzipFile(fileobj=plain) if is_gzip else plain as file:
            while True:
                try:
                    chunk = file.read1(CHUNK)  # not `read`, which loses data when a gzip file ends early
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    problems.add("broken-gzip", path.name, str(error))
                    return
                yield _CONTROL.sub(" ", decode(chunk, not chunk))
                if not chunk:
                    return


def _tokens(chunks: Iterable[str], source: str, problems: Problems) -> Iterator[_Token]:
    """The tags of a text that comes in chunks, the last chunk empty. Everything else is skipped."""
    buffer = ""
    until = ""  # the end mark of the current comment or section
    for chunk in chunks:
        buffer += chunk
        # A tag contains no `<`, so all tags but the last in the buffer are complete.
        limit = max(buffer.rfind("<"), 0) if chunk else len(buffer)
        start = 0
        while True:
            if until:
                end = buffer.find(until, start)
                if end < 0:
                    start = max(start, len(buffer) - len(until) + 1)
                    break
                start, until = end + len(until), ""
            match = _TAG.search(buffer, start, limit)
            if match is None:
                start = max(start, limit)
                break
            start = match.end()
            if match["special"]:
                until = _ending(match["special"], buffer[match.start() : match.start() + 8], source)
            else:
                yield _Token(
                    bool(match["closing"]), match["name"], match["attributes"], bool(match["empty"]), match["text"]
                )
        buffer = buffer[start:]
        if len(buffer) > MAX_BUFFER:
            problems.add("oversized", source, "a tag or text of more than two million characters was skipped")
            buffer = ""


def _ending(special: str, opening: str, source: str) -> str:
    """The end mark of a comment, section or instruction; empty for a declaration, which may contain tags."""
    if opening.upper() == "<!ENTITY":
        raise Unreadable(f"{source} declares its own entities", "use a dump without them; no ODP dump has any", source)
    return {"!--": "-->", "![CDATA[": "]]>", "?": "?>"}.get(special, "")


class _RecordBuilder:
    """Builds records from tags. A record that is not closed ends where the next record starts."""

    def __init__(self) -> None:
        self.ended = False
        self._reset()

    def _reset(self) -> None:
        self.kind = ""
        self.name = ""
        self.children: list[str] = []
        self.links: list[str] = []
        self.texts: dict[str, str] = {}

    def take(self, token: _Token) -> Record | None:
        """Process the next tag, and return the record that it completes, if any."""
        name = token.name.rpartition(":")[2]
        if name in ("Topic", "ExternalPage"):
            record = self._record()
            self._reset()
            if not token.closing:
                attributes = _attributes(token.attributes)
                self.kind = name
                self.name = attributes.get("id" if name == "Topic" else "about", "")[:MAX_PATH]
            return record
        if name == "RDF" and token.closing:
            self.ended = True
            record = self._record()
            self._reset()
            return record
        if self.kind and not token.closing:
            self._inside(name.rstrip("0123456789"), name, token)
        return None

    def _inside(self, kind: str, name: str, token: _Token) -> None:
        if self.kind == "ExternalPage":
            if name in ("Title", "Description", "topic", "type") and name not in self.texts:
                self.texts[name] = unescape(token.text[:MAX_TEXT]).strip()
        elif kind == "narrow":
            self.children.append(_attributes(token.attributes).get("resource", "")[:MAX_PATH])
        elif kind == "link" and len(self.links) < MAX_LINKS:
            self.links.append(_attributes(token.attributes).get("resource", ""))

    def _record(self) -> Record | None:
        if self.kind == "Topic":
            prefix = self.name + "/"
            children = tuple(child for child in self.children if child.startswith(prefix))
            return Category(self.name, children, tuple(filter(None, self.links)))
        if self.kind == "ExternalPage" and self.name and self.texts.get("type", "").lower() not in _NOT_PAGES:
            texts = self.texts
            return Listing(self.name, texts.get("Title", ""), texts.get("Description", ""), texts.get("topic", ""))
        return None


def unescape(text: str) -> str:
    """Replace the five XML entities and numeric references; leave every other ampersand.

    >>> unescape("A &amp; B & C&copy=1 &#233;&#xD800;")
    'A & B & C&copy=1 é\N{REPLACEMENT CHARACTER}'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    entity, decimal, hexadecimal = reference.groups()
    if entity:
        return _NAMED[entity]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code < 32 or 0x7F <= code < 0xA0:
        return " "
    return chr(code) if code < 0xD800 or 0xE000 <= code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"


def _attributes(raw: str) -> dict[str, str]:
    """The attributes by their names without prefix."""
    return {name.rpartition(":")[2]: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(raw)}
