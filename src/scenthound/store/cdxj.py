"""The CDXJ index of a repository: one line per response, sorted, with which replay tools find it.

A line has the URL with its host reversed (SURT), the time, and a JSON object with the keys that pywb and the WACZ tools
read. Lines are sorted by bytes, in runs that fit into memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from scenthound.files import replacing
from scenthound.ports import Where
from scenthound.store.warc_read import members, response_of
from scenthound.store.warc_repository import Stored, files_of, whole_records

NAME = "index.cdxj"
_RUN = 100_000  # lines sorted at a time: some 40 MB
_WWW = re.compile(r"www\d*\.")
_REQUEST = b"\r\nWARC-Type: request\r\n"
_MIME = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+")


def surt(url: str) -> str:
    """The URL in lower case with its host reversed and its query sorted, without scheme and `www.`.

    >>> surt("https://www.Example.com:8080/A/b/?z=1&a=2#top")
    'com,example:8080)/a/b?a=2&z=1'
    >>> surt("http://127.0.0.1/")
    '1,0,0,127)/'
    """
    scheme, _, rest = url.strip().partition("#")[0].lower().partition("://")
    before, question, query = rest.partition("?")
    authority, _, path = before.partition("/")
    authority = authority.rpartition("@")[2]
    if authority.startswith("["):
        name, _, port = authority.partition("]")
        name, port = name + "]", port.removeprefix(":")
    else:
        name, _, port = authority.partition(":")
        name = _WWW.sub("", name.rstrip("."), count=1) if _WWW.match(name) else name.rstrip(".")
        name = ",".join(reversed(name.split(".")))
    if port and port != {"http": "80", "https": "443"}.get(scheme):
        name = f"{name}:{port}"
    path = "/" + path.rstrip("/") if path.strip("/") else "/"
    if query:
        query = "&".join(sorted(query.split("&")))
    return f"{name}){path}{question if query else ''}{query}".replace(" ", "%20")


def cdxj_line(stored: Stored) -> str:
    """The index line of one response, without the line break."""
    stamp = re.sub(r"\D", "", stored.date)[:14].ljust(14, "0")
    mime = stored.content_type.partition(";")[0].strip().lower()
    file, offset, length = stored.where
    fields = {
        "url": stored.url,
        "mime": mime if _MIME.fullmatch(mime) else "unk",
        "status": str(stored.status),
        "digest": stored.digest,
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    return f"{surt(stored.url)} {stamp} {json.dumps(fields)}"


def refresh(folder: Path, most: int | None = None, written: Iterable[Stored] | None = None) -> Path | None:
    """Update `index.cdxj` in a folder of WARC files; None if there are no files, or more than `most` bytes.

    The index gets the modification time of the newest file, which shows whether it is up to date. `written` is
    the list of all stored responses; if it is given, the files are not read.
    """
    stats = [path.stat() for path in files_of(folder)]
    if not stats or (most is not None and sum(file.st_size for file in stats) > most):
        return None
    index, newest = folder / NAME, max(file.st_mtime_ns for file in stats)
    if not index.exists() or index.stat().st_mtime_ns != newest:
        if written is None:
            write_index(folder)
        else:
            write_sorted((_ascii(cdxj_line(stored)) for stored in written), index)
        os.utime(index, ns=(newest, newest))
    return index


def write_index(folder: Path, path: Path | None = None) -> Path:
    """Index the WARC files of a folder in `index.cdxj` (or `path`), without damaged records."""
    return write_sorted(chain.from_iterable(map(lines_of, files_of(folder))), path or folder / NAME)


def write_sorted(index_lines: Iterable[str], path: Path) -> Path:
    """Write index lines in sorted order, however many there are. The file gets its name only when it is complete."""
    with TemporaryDirectory(dir=path.parent) as scratch, ExitStack() as open_files:
        runs: list[IO[str]] = []
        lines: list[str] = []

        def write_run() -> None:
            run = open_files.enter_context((Path(scratch) / str(len(runs))).open("w+", encoding="utf-8", newline="\n"))
            run.writelines(sorted(lines))  # ASCII only, so this is the order of bytes
            run.seek(0)
            runs.append(run)
            lines.clear()

        for line in index_lines:
            lines.append(line)
            if len(lines) >= _RUN:
                write_run()
        write_run()
        with replacing(path) as index:
            index.writelines(line.encode() for line in merge(*runs))
    return path


def lines_of(path: Path, end: int | None = None, holes: list[tuple[int, int]] | None = None) -> Iterator[str]:
    """The index lines of one WARC file up to `end`, without damaged ranges.

    If `holes` is given, damaged ranges are added to it as (offset, length), and offsets are those of the file without
    its holes.
    """
    skipped = 0
    for member in members(path):
        if end is not None and member.offset + member.length > end:  # still being written
            if holes is not None and member.offset < end:
                holes.append((member.offset, end - member.offset))
            return
        if holes is None and _REQUEST in member.data.partition(b"\r\n\r\n")[0]:
            continue  # not indexed, so not checked either
        try:
            records = whole_records(member)
        except ValueError:
            if holes is not None:
                holes.append((member.offset, member.length))
                skipped += member.length
            continue
        for record in records:
            try:
                response = response_of(record)
            except ValueError:
                continue  # a valid record without HTTP
            if response is not None:
                headers, content_type = record.headers, response.header("content-type")
                where = Where(path.name, member.offset - skipped, member.length)
                date, digest = headers.get("warc-date", ""), headers.get("warc-payload-digest", "")
                yield _ascii(cdxj_line(Stored(where, response.url, date, content_type, response.status, digest)))


def _ascii(line: str) -> str:
    return line.encode("ascii", "backslashreplace").decode() + "\n"
