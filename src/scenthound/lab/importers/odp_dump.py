"""Reading ODP/DMOZ dumps (`structure.rdf.u8`, `content.rdf.u8`), plain or gzip, as a stream of records.

These dumps are almost XML: control characters, invalid UTF-8 and bare ampersands occur, and a strict parser stops at
the first. They are also flat, so a scanner for tags can read them: it holds one record and a buffer, takes linear time,
and knows only the five XML entities and character numbers. CDATA sections, which no dump has, are skipped. A dump that
declares its own entities is refused. One that is cut gives what could be read, and a `Problem`.
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
LONGEST_GAP = 1 << 21  # characters without a tag that are buffered
LONGEST_TEXT = 20_000  # characters of a title or description; the longest real ones have some 2,000
LONGEST_PATH = 2_000
MOST_LINKS = 200_000  # of one category


class Problem(NamedTuple):
    """Something wrong with a source: a kind, how often, and where."""

    kind: str
    times: int
    source: str
    detail: str = ""


class Category(NamedTuple):
    """A `Topic` record: its path, its sub-categories, the raw URLs it links to."""

    path: str
    children: tuple[str, ...]
    links: tuple[str, ...]


class Listing(NamedTuple):
    """An `ExternalPage` record: a raw URL and what an editor wrote about it."""

    raw: str
    title: str
    description: str
    category: str


Record = Category | Listing


@dataclass(slots=True)
class Problems:
    """Counts what goes wrong while sources are read."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    details: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, source: str, detail: str = "") -> None:
        """Count a problem; the first detail is shown."""
        self.counts[kind, source] += 1
        self.details.setdefault((kind, source), detail)

    def all(self) -> tuple[Problem, ...]:
        return tuple(
            Problem(kind, count, source, self.details[kind, source]) for (kind, source), count in self.counts.items()
        )


def records(path: Path, problems: Problems) -> Iterator[Record]:
    """The records of a dump in order; what is wrong with it goes to `problems`.

    Raises `Unreadable` for a dump that declares entities, and `OSError` as `open` does.
    """
    reader = _RecordBuilder()
    number = 0
    for token in _tokens(_text(path, problems), path.name, problems):
        record = reader.take(token)
        if record is not None:
            number += 1
            yield record
    if not reader.ended:
        last = f"after {number} records" if number else "before the first record"
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
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        with gzip.GzipFile(fileobj=plain) if packed else plain as file:
            while True:
                try:
                    chunk = file.read1(CHUNK)  # not `read`, which loses what it had when a gzip file ends early
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    problems.add("broken-gzip", path.name, str(error))
                    return
                yield _CONTROL.sub(" ", decode(chunk, not chunk))
                if not chunk:
                    return


def _tokens(chunks: Iterable[str], source: str, problems: Problems) -> Iterator[_Token]:
    """The tags of a text that comes in chunks, the last one empty. What is not a tag is skipped."""
    buffer = ""
    until = ""  # what ends the comment or section we are in
    for chunk in chunks:
        buffer += chunk
        # A tag holds no `<`, so all but the last one in the buffer are complete.
        limit = max(buffer.rfind("<"), 0) if chunk else len(buffer)
        at = 0
        while True:
            if until:
                end = buffer.find(until, at)
                if end < 0:
                    at = max(at, len(buffer) - len(until) + 1)
                    break
                at, until = end + len(until), ""
            match = _TAG.search(buffer, at, limit)
            if match is None:
                at = max(at, limit)
                break
            at = match.end()
            if match["special"]:
                until = _ending(match["special"], buffer[match.start() : match.start() + 8], source)
            else:
                yield _Token(
                    bool(match["closing"]), match["name"], match["attributes"], bool(match["empty"]), match["text"]
                )
        buffer = buffer[at:]
        if len(buffer) > LONGEST_GAP:
            problems.add("oversized", source, "a tag or text of more than a megabyte was passed over")
            buffer = ""


def _ending(special: str, opening: str, source: str) -> str:
    """The end of a part that is not a tag; empty for a declaration, which may contain others."""
    if opening.upper() == "<!ENTITY":
        raise Unreadable(f"{source} declares entities of its own", "no ODP dump does; such a file is refused", source)
    return {"!--": "-->", "![CDATA[": "]]>", "?": "?>"}.get(special, "")


class _RecordBuilder:
    """Builds records from tags. A record that is not closed ends where the next one starts."""

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
        """Take the next tag. Returns the record that it completes."""
        name = token.name.rpartition(":")[2]
        if name in ("Topic", "ExternalPage"):
            record = self._record()
            self._reset()
            if not token.closing:
                attributes = _attributes(token.attributes)
                self.kind = name
                self.name = attributes.get("id" if name == "Topic" else "about", "")[:LONGEST_PATH]
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
                self.texts[name] = unescape(token.text[:LONGEST_TEXT]).strip()
        elif kind == "narrow":
            self.children.append(_attributes(token.attributes).get("resource", "")[:LONGEST_PATH])
        elif kind == "link" and len(self.links) < MOST_LINKS:
            self.links.append(_attributes(token.attributes).get("resource", ""))

    def _record(self) -> Record | None:
        if self.kind == "Topic":
            below = self.name + "/"
            children = tuple(child for child in self.children if child.startswith(below))
            return Category(self.name, children, tuple(filter(None, self.links)))
        if self.kind == "ExternalPage" and self.name and self.texts.get("type", "").lower() not in _NOT_PAGES:
            texts = self.texts
            return Listing(self.name, texts.get("Title", ""), texts.get("Description", ""), texts.get("topic", ""))
        return None


def unescape(text: str) -> str:
    """Replace the five XML entities and character numbers; every other ampersand stays.

    >>> unescape("A &amp; B & C&copy=1 &#233;&#xD800;")
    'A & B & C&copy=1 é\N{REPLACEMENT CHARACTER}'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    named, decimal, hexadecimal = reference.groups()
    if named:
        return _NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code < 32 or 0x7F <= code < 0xA0:
        return " "
    return chr(code) if code < 0xD800 or 0xE000 <= code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"


def _attributes(raw: str) -> dict[str, str]:
    """The attributes by name without prefix."""
    return {name.rpartition(":")[2]: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(raw)}
