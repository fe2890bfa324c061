"""WACZ 1.1.1: the crawl as one file that replay tools open (ReplayWeb.page, pywb).

A ZIP with the WARCs stored as they are, their CDXJ index in compressed blocks with an index of the
blocks (so that a reader fetches only what it needs), the list of pages, and the digest of everything.
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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from scenthound.crawl.folder import CrawlFolder
from scenthound.exports import exporter
from scenthound.exports.clean import clean
from scenthound.store.cdxj import write_index

VERSION = "1.1.1"
BLOCK = 1024  # index lines of a block, as the reference tool has it
_CHUNK = 1 << 20


@exporter("wacz")
def wacz(folder: CrawlFolder, out: BinaryIO) -> int:
    """A web archive with index and list of pages, for ReplayWeb.page, pywb and their kin."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive, TemporaryDirectory() as room:
        package = _Package(archive)
        sizes = {path.name: path.stat().st_size for path in folder.repository.files()}
        index = write_index(folder.path / "pages", Path(room) / "index.cdxj")
        for name, length in sizes.items():  # a running crawl may have added more since: what it had then
            package.add(f"archive/{name}", _bytes_of(folder.path / "pages" / name, length))
        with index.open(encoding="ascii") as lines:
            idx = _index(package, (line for line in lines if _is_inside(line, sizes)))
        package.add("indexes/index.idx", [idx], packed=True)
        with index.open(encoding="ascii") as lines:
            urls = {place: url for place, url in map(_place, lines) if place[0] in sizes}
        pages = [*_pages(folder, urls)]
        head = {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
        package.add("pages/pages.jsonl", (json.dumps(page).encode() + b"\n" for page in [head, *pages]), packed=True)
        package.close(clean(folder.asked.topic.name or folder.asked.topic.keywords, 200), pages)
    return len(pages)


@dataclass(slots=True)
class _Package:
    """The files put in so far, each with its digest."""

    archive: zipfile.ZipFile
    resources: list[dict[str, Any]] = field(default_factory=list)

    def add(self, path: str, chunks: Iterable[bytes], packed: bool = False) -> None:
        digest, size = hashlib.sha256(), 0
        entry = zipfile.ZipInfo(path)
        entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        with self.archive.open(entry, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        name = path.rpartition("/")[2].lower()
        self.resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def close(self, title: str, pages: list[dict[str, Any]]) -> None:
        """Write what the package holds, and the digest of that."""
        about: dict[str, Any] = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "software": "scenthound",
            "title": title,
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "resources": self.resources,
        }
        if pages:
            about |= {"mainPageUrl": pages[0]["url"], "mainPageDate": pages[0]["ts"]}
        text = json.dumps(about, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(text).hexdigest()}
        self.archive.writestr(zipfile.ZipInfo("datapackage.json"), text)
        self.archive.writestr(zipfile.ZipInfo("datapackage-digest.json"), json.dumps(digest, indent=2))


def _index(package: _Package, lines: Iterator[str]) -> bytes:
    """Put the index in as gzip blocks; gives back the index of the blocks."""
    idx = ["!meta 0 " + json.dumps({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}) + "\n"]

    def blocks() -> Iterator[bytes]:
        offset = 0
        while block := list(itertools.islice(lines, BLOCK)):
            packed = _zipped("".join(block).encode())
            key, stamp, _ = block[0].split(" ", 2)
            digest = "sha256:" + hashlib.sha256(packed).hexdigest()
            place = {"offset": offset, "length": len(packed), "digest": digest, "filename": "index.cdx.gz"}
            idx.append(f"{key} {stamp} {json.dumps(place)}\n")
            offset += len(packed)
            yield packed

    package.add("indexes/index.cdx.gz", blocks())
    return "".join(idx).encode()


def _pages(folder: CrawlFolder, urls: dict[tuple[str, int], str]) -> Iterator[dict[str, Any]]:
    """The pages of the trail, under the URL by which the archive has them."""
    places = dict(folder.history.places())
    for step in folder.history.trail():
        where = places.get(step.url)
        url = urls.get((where.file, where.offset)) if where is not None else None
        if url is not None:
            stamp = datetime.fromtimestamp(step.time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            yield {"id": str(step.n), "url": url, "ts": stamp, "title": clean(step.title, 500) or url}


def _fields(line: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(line.split(" ", 2)[2])
    return found


def _place(line: str) -> tuple[tuple[str, int], str]:
    fields = _fields(line)
    return (fields["filename"], int(fields["offset"])), fields["url"]


def _is_inside(line: str, sizes: dict[str, int]) -> bool:
    fields = _fields(line)
    return int(fields["offset"]) + int(fields["length"]) <= sizes.get(fields["filename"], 0)


def _bytes_of(path: Path, length: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while length > 0 and (chunk := file.read(min(_CHUNK, length))):
            length -= len(chunk)
            yield chunk


def _zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        file.write(data)
    return out.getvalue()
