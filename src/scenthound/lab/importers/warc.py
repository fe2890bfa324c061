"""Imports WARC files from any tool: responses, resources, and revisits with the payload that they refer to.

A revisit refers to an earlier record, which may be in any of the files. So the files are read once for everything else
and, if unresolved revisits remain, a second time for their originals.
"""

from __future__ import annotations

import re
import zlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha1
from pathlib import Path

from scenthound.errors import BadConfig, NotAUrl, from_os_error
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Notes, Options, SourceContent
from scenthound.model import Response
from scenthound.store.warc_read import (
    CUT_SHORT,
    MAGIC,
    TOO_LARGE,
    UNREAD,
    Problem,
    WarcRecord,
    read_records,
    response_of,
)
from scenthound.url import make

MAX_REVISITS = 5_000_000  # about 500 bytes of each are kept until the files are read again
_IGNORED = frozenset(("warcinfo", "request"))  # expected beside responses, so not reported
_OTHER_KINDS = frozenset(("metadata", "conversion", "continuation"))
_START = re.compile(rb"WARC/[0-9]\.[0-9]{1,2}\r?\n")
_OTHER_FORMATS = {
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd; decompress it first",
    b"\x04\x22\x4d\x18": "it is compressed with lz4; decompress it first",
    b"filedesc:": "it is an ARC file, the format before WARC; convert it first",
    b"PK\x03\x04": "it is a zip archive (WACZ?); its WARC files are in the folder `archive` inside",
}


@importer("warc")
def warc(source: Path, options: Options, notes: Notes) -> SourceContent:
    """WARC files of any tool: a file, or a folder with *.warc and *.warc.gz."""
    files = warc_files([source, *map(Path, options.also)], notes)
    names = ", ".join(file.name for file in files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    return SourceContent(responses_in(files, notes), origin=f"WARC: {names}")


def check_start(path: Path) -> bool:
    """Return False if the file is empty. Raises `BadConfig` if it is not a WARC file."""
    try:
        with path.open("rb") as file:
            raw = file.read(1 << 18)
    except OSError as error:
        raise from_os_error(error, path, BadConfig(f"{path} can't be read: {error.strerror or error}")) from None
    if not raw:
        return False
    start = raw
    if raw.startswith(MAGIC):
        try:
            start = zlib.decompressobj(31).decompress(raw, 1 << 16)
        except zlib.error:
            start = b""
    if _START.match(start.lstrip(b"\r\n")) is None:
        hint = next(
            (hint for magic, hint in _OTHER_FORMATS.items() if raw.startswith(magic) or start.startswith(magic)), ""
        )
        raise BadConfig(f"{path} is not a WARC file", hint or "such a file, decompressed, begins with `WARC/1.`")
    return True


def warc_files(sources: Iterable[Path], notes: Notes) -> list[Path]:
    """The WARC files of these sources, without duplicates. Raises `BadConfig` for a file that is not WARC."""
    paths: dict[Path, None] = {}
    for source in sources:
        if source.is_dir():
            inside = sorted(path for path in source.rglob("*.warc*") if path.name.endswith((".warc", ".warc.gz")))
            if not inside:
                raise BadConfig(f"{source} contains no WARC file", "their names end in .warc or .warc.gz")
            paths.update(dict.fromkeys(path for path in inside if path.is_file()))
        elif source.exists():
            paths[source] = None
        else:
            raise BadConfig(f"{source} does not exist", "give a WARC file or a folder of them")
    files: list[Path] = []
    for path in paths:
        if check_start(path):
            files.append(path)
        else:
            notes.count("empty WARC files", path.name)
    return files


def responses_in(files: Sequence[Path], notes: Notes) -> Iterator[Response]:
    """All responses in the order of the files, then the revisits of other URLs with their originals' payload."""
    total = sum(path.stat().st_size for path in files)
    revisits = _Revisits()
    for record in _all_records(files, notes, total):
        if record.kind == "revisit":
            redirect = _redirect(record)
            if redirect is not None:
                yield redirect
            else:
                revisits.add(record, notes)
        elif record.kind in ("response", "resource"):
            response = _response(record, notes)
            if response is not None:
                yield response
        elif record.kind not in _IGNORED:
            kind = record.kind if record.kind in _OTHER_KINDS else "unknown"
            notes.count(f"skipped, {kind} records", record.target)
    if revisits.drop_kept(notes):
        for record in _all_records(files, Notes(notes.progress), total):
            yield from revisits.resolved_by(record)
        for url in revisits.pending:
            notes.count("skipped, revisits whose original is missing", url)


def _all_records(files: Sequence[Path], notes: Notes, total: int) -> Iterator[WarcRecord]:
    before = 0
    for path in files:
        for placed in read_records(path, partial(_note, notes, path.name)):
            notes.progress(before + placed.read_to, total)
            yield placed.record
        before += path.stat().st_size


def _note(notes: Notes, name: str, problem: Problem) -> None:
    if problem.what == CUT_SHORT:
        notes.count("WARC files cut short", name)
    elif problem.what == UNREAD:
        notes.count("damaged WARC files not read to the end", name)
    elif problem.what == TOO_LARGE:
        notes.count(TOO_LARGE, problem.target)
    else:
        notes.count(f"damaged parts of {name} ({problem.what.partition(':')[0]})")


def _response(record: WarcRecord, notes: Notes) -> Response | None:
    if record.headers.get("warc-segment-number"):
        notes.count("skipped, responses in several segments", record.target)
        return None
    try:
        response = response_of(record)
    except ValueError:
        notes.count("skipped, records without an HTTP response", record.target)
        return None
    if response is None:
        notes.count("skipped, not an http(s) URL", record.target)
    return response


@dataclass(slots=True)
class _Revisits:
    """Revisits whose originals have not been found yet."""

    pending: dict[str, WarcRecord] = field(default_factory=dict)
    """The revisits by target URL."""
    by_original: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The target URLs by each key that may identify the original."""

    def add(self, record: WarcRecord, notes: Notes) -> None:
        if record.target in self.pending or len(self.pending) >= MAX_REVISITS:
            notes.count("skipped, a second record of a URL", record.target)
        else:
            self.pending[record.target] = WarcRecord(record.headers, record.block[: 64 << 10])

    def drop_kept(self, notes: Notes) -> bool:
        """Drop revisits of pages that were kept already. Return whether any revisits remain."""
        for target, record in list(self.pending.items()):
            try:
                is_kept = make(target) in notes.kept
            except NotAUrl:
                notes.count("skipped, not an http(s) URL", target)
                del self.pending[target]
                continue
            if is_kept:
                notes.count("skipped, revisits of pages that were kept", target)
                del self.pending[target]
                continue
            for key in _keys_of_original(record):
                self.by_original.setdefault(key, []).append(target)
        return bool(self.pending)

    def resolved_by(self, record: WarcRecord) -> Iterator[Response]:
        """The responses of the revisits that have this record as their original."""
        if record.kind not in ("response", "resource") or not self.pending:
            return
        try:
            original = response_of(record)
        except ValueError:
            return
        if original is None:
            return
        for key in _keys_of_record(record, original):
            for target in self.by_original.pop(key, ()):
                revisit = self.pending.pop(target, None)
                if revisit is not None:
                    yield _resolved(revisit, original)


def _keys_of_original(revisit: WarcRecord) -> Iterator[tuple[str, str]]:
    """The keys that identify this revisit's original."""
    headers = revisit.headers
    if digest := headers.get("warc-payload-digest"):
        yield "digest", digest.lower()
    if name := headers.get("warc-refers-to"):
        yield "id", name
    uri = headers.get("warc-refers-to-target-uri", "").strip("<>")
    if uri and (date := headers.get("warc-refers-to-date")):
        yield "uri and date", f"{uri} {date}"
    elif uri and not digest:
        yield "uri", uri


def _keys_of_record(record: WarcRecord, original: Response) -> Iterator[tuple[str, str]]:
    """The keys that a revisit may use to refer to this record."""
    headers = record.headers
    digest = headers.get("warc-payload-digest") or f"sha1:{b32encode(sha1(original.body).digest()).decode()}"  # noqa: S324
    yield "digest", digest.lower()
    yield "id", headers.get("warc-record-id", "")
    yield "uri and date", f"{record.target} {headers.get('warc-date', '')}"
    yield "uri", record.target


def _head(revisit: WarcRecord) -> Response | None:
    """The revisit's own HTTP head, if it has one that is not "304 Not Modified"."""
    if not revisit.block.strip():
        return None
    try:
        head = response_of(WarcRecord({**revisit.headers, "warc-type": "response"}, revisit.block))
    except ValueError:
        return None
    return head if head is not None and head.status != 304 else None


def _redirect(revisit: WarcRecord) -> Response | None:
    """The response of a revisit that is a redirect, which needs no payload; None if it is not."""
    head = _head(revisit)
    is_redirect = head is not None and 300 <= head.status < 400 and head.header("location")
    return replace(head, body=b"") if head is not None and is_redirect else None


def _resolved(revisit: WarcRecord, original: Response) -> Response:
    """The revisit's own head with the original's body and content encoding."""
    head = _head(revisit)
    if head is None:
        return replace(original, url=revisit.target)
    headers = [(name, value) for name, value in head.headers if name.lower() != "content-encoding"]
    headers += [(name, value) for name, value in original.headers if name.lower() == "content-encoding"]
    return replace(head, headers=tuple(headers), body=original.body, truncated=original.truncated)
