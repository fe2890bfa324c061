"""WACZ 1.1.1 export: the crawl as one file for replay tools (ReplayWeb.page, pywb).

It is a ZIP with the WARC files, their CDXJ index in compressed blocks with an index of the blocks (so that a reader
fetches only what it needs), the list of pages, and the digests of all files. Damaged records are left out and noted in
`CrawlFolder.recovered`.

In a ZIP each file has a header, and an entry in the directory at the end. Both may have a field for sizes over 2 GB
(ZIP64). ReplayWeb.page takes the length of the header from the entry, so a file has the field in both or in none. That
is decided before it is written, so its size must be known.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO

from scenthound.exports import exporter, refuse_columns
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.identity import software
from scenthound.loop.page_rows import EVERYTHING, Selection
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Topic
from scenthound.ports import Where
from scenthound.store.cdxj import lines_of, write_sorted

VERSION = "1.1.1"
BLOCK = 1024  # index lines per block, as in the reference tool
LONGEST_TEXT = 100_000  # characters of a page's text in the list of pages, which replay tools search
_CHUNK = 1 << 20


@exporter("wacz")
def wacz(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """A web archive with an index, and the selected pages with their text, for ReplayWeb.page and pywb."""
    refuse_columns(selection, "wacz")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive, TemporaryDirectory() as scratch:
        package = _Package(archive, Path(scratch))
        # The sizes are read once, since a running crawl appends more.
        files = [_WarcFile(path, path.stat().st_size) for path in folder.repository.files()]
        index = write_sorted(itertools.chain.from_iterable(map(_lines, files)), Path(scratch) / "index.cdxj")
        for file in files:
            if file.left:
                package.add(f"archive/{file.path.name}", file.chunks(), file.left)
        with index.open(encoding="ascii") as lines:
            idx = _index(package, lines)
        package.add("indexes/index.idx", [idx], len(idx), packed=True)
        with index.open(encoding="ascii") as lines:
            urls = dict(map(_record_url, lines))
        by_name = {file.path.name: file for file in files}
        page_list = _PageList()
        pages = page_list.lines(_pages(filter(selection.takes, folder.pages()), urls, by_name))
        package.add_unsized("pages/pages.jsonl", pages, packed=True)
        _note_missing(folder, by_name)
        package.close(folder.request.topic, page_list.first)
    return page_list.count


@dataclass(slots=True)
class _PageList:
    """Writes the list of pages; keeps their number and the first page."""

    count: int = 0
    first: dict[str, Any] | None = None

    def lines(self, pages: Iterable[dict[str, Any]]) -> Iterator[bytes]:
        yield (
            json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "Pages", "hasText": True}).encode() + b"\n"
        )
        for page in pages:
            self.first = self.first or page
            self.count += 1
            yield json.dumps(page).encode() + b"\n"


@dataclass(slots=True)
class _WarcFile:
    """A WARC file as it goes into the archive: up to `end`, without its damaged ranges (`holes`)."""

    path: Path
    end: int
    holes: list[tuple[int, int]] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return sum(length for _, length in self.holes)

    @property
    def left(self) -> int:
        return self.end - self.lost

    def offset_in_archive(self, offset: int) -> int | None:
        """The offset in the archive of the record at `offset`; None if the record is left out."""
        before = 0
        for start, length in self.holes:
            if start <= offset < start + length:
                return None
            before += length if start < offset else 0
        return offset - before

    def chunks(self) -> Iterator[bytes]:
        """The file without its damaged ranges."""
        with self.path.open("rb") as file:
            for start, length in [*self.holes, (self.end, 0)]:
                while (rest := start - file.tell()) > 0 and (chunk := file.read(min(_CHUNK, rest))):
                    yield chunk
                file.seek(start + length)


def _lines(file: _WarcFile) -> Iterator[str]:
    return lines_of(file.path, file.end, file.holes)


def _note_missing(folder: CrawlFolder, files: dict[str, _WarcFile]) -> None:
    missing = sum(_is_missing(where, files) for _, where in folder.history.places())
    lost = sum(file.lost for file in files.values())
    if lost or missing:
        folder.recovered.append(f"{lost:,} damaged bytes and {missing:,} recorded pages are not in the archive")


def _is_missing(where: Where, files: dict[str, _WarcFile]) -> bool:
    """Whether a record is missing; False for a record that a running crawl has just added."""
    file = files.get(where.file)
    if file is None:
        return not files or where.file < max(files)
    return where.offset < file.end and file.offset_in_archive(where.offset) is None


@dataclass(slots=True)
class _Package:
    """The ZIP archive with the digests of its files."""

    archive: zipfile.ZipFile
    scratch: Path
    resources: list[dict[str, Any]] = field(default_factory=list)

    def add(self, path: str, chunks: Iterable[bytes], size: int, packed: bool = False) -> None:
        """Add a file of this size."""
        digest, written = hashlib.sha256(), 0
        entry = zipfile.ZipInfo(path)
        entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        with self.archive.open(entry, "w", force_zip64=size > zipfile.ZIP64_LIMIT) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                written += len(chunk)
        name = path.rpartition("/")[2].lower()
        self.resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": written})

    def add_unsized(self, path: str, chunks: Iterable[bytes], packed: bool = False) -> None:
        """Add a file whose size is not known yet. It is collected on disk first."""
        with TemporaryFile(dir=self.scratch) as collected:
            collected.writelines(chunks)
            size = collected.tell()
            collected.seek(0)
            self.add(path, iter(partial(collected.read, _CHUNK), b""), size, packed)

    def close(self, topic: Topic, first: dict[str, Any] | None) -> None:
        """Write the list of files, and its digest."""
        title = printable(topic.name or topic.keywords, 200)
        about: dict[str, Any] = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "software": software(),
            "title": title,
            "description": printable(topic.description or f"Pages about {topic.keywords}", 2000),
            "metadata": {"title": title},  # where ReplayWeb.page looks for it
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "resources": self.resources,
        }
        if first is not None:
            about |= {"mainPageUrl": first["url"], "mainPageDate": first["ts"]}
        text = json.dumps(about, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(text).hexdigest()}
        self.archive.writestr(zipfile.ZipInfo("datapackage.json"), text)
        self.archive.writestr(zipfile.ZipInfo("datapackage-digest.json"), json.dumps(digest, indent=2))


def _index(package: _Package, lines: Iterator[str]) -> bytes:
    """Add the index as gzip blocks. Returns the index of the blocks."""
    idx = ["!meta 0 " + json.dumps({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}) + "\n"]

    def blocks() -> Iterator[bytes]:
        offset = 0
        while block := list(itertools.islice(lines, BLOCK)):
            packed = _gzipped("".join(block).encode())
            key, stamp, _ = block[0].split(" ", 2)
            digest = "sha256:" + hashlib.sha256(packed).hexdigest()
            entry = {"offset": offset, "length": len(packed), "digest": digest, "filename": "index.cdx.gz"}
            idx.append(f"{key} {stamp} {json.dumps(entry)}\n")
            offset += len(packed)
            yield packed

    package.add_unsized("indexes/index.cdx.gz", blocks())
    return "".join(idx).encode()


def _pages(
    pages: Iterable[StoredPage], urls: dict[tuple[str, int], str], files: dict[str, _WarcFile]
) -> Iterator[dict[str, Any]]:
    """The entries of the page list, each with its URL in the archive, its text, and a flag if it is a seed."""
    for page in pages:
        where = page.where
        file = files.get(where.file) if where is not None else None
        offset = file.offset_in_archive(where.offset) if file is not None and where is not None else None
        url = urls.get((where.file, offset)) if where is not None and offset is not None else None
        if url is not None:
            stamp = page.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            entry = {"id": str(page.n), "url": url, "ts": stamp, "title": printable(page.title, 500) or url}
            seed = {"seed": True} if page.step.parent is None else {}
            yield {**entry, **seed, "text": page.text[:LONGEST_TEXT]}


def _record_url(line: str) -> tuple[tuple[str, int], str]:
    """The file and offset of a record, and its URL, from a line of the index."""
    fields: dict[str, str] = json.loads(line.split(" ", 2)[2])
    return (fields["filename"], int(fields["offset"])), fields["url"]


def _gzipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        file.write(data)
    return out.getvalue()
