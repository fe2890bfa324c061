"""A bed: a recorded web and topics with known answers, in a folder (docs/concepts/files.md).

`bed.toml` states its origin, `*.warc.gz` hold the responses, `topics.jsonl` holds one topic per line. Opening a bed
reads `bed.toml` and the topics; the responses are scanned once, when they are first needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from scenthound.errors import PATH_ERRORS, BadConfig, IoFailed, NotAUrl
from scenthound.files import write_text
from scenthound.formats import toml_value
from scenthound.looking_for import PAGES
from scenthound.model import Response, Url
from scenthound.ports import Where
from scenthound.store.warc_read import LARGEST, MAGIC, member_at, records, response_of
from scenthound.store.warc_repository import WarcRepository, read_responses
from scenthound.topic_list import BedTopic, parse_topic
from scenthound.url import make

RECORD_DATE = 1577836800.0  # 2020-01-01: the date of every record we write, so that equal beds have equal bytes
_ONE_MEMBER = "a bed needs each record in its own gzip member; `scenthound lab import` makes a bed from any WARC"


class Web(Protocol):
    """A web that the lab replays and serves: a bed, or a generated web that is not on disk."""

    @property
    def name(self) -> str: ...
    @property
    def topics(self) -> list[BedTopic]: ...
    @property
    def digest(self) -> str: ...
    @property
    def traps(self) -> bool:
        """Whether a server has the traps of `simple_pages`. A replay never has them."""
        ...

    def get(self, url: Url) -> Response | None: ...
    def responses(self) -> Iterator[Response]: ...


class Bed:
    """An opened bed folder. Safe to read from several threads."""

    def __init__(self, folder: Path, about: Mapping[str, Any], topics: list[BedTopic], faults: list[str]) -> None:
        self.folder, self.about, self.topics = folder, about, topics
        self.faults = faults
        """The problems found, one line each: invalid URLs and (after a scan) unreadable records, which are skipped."""
        self._index: dict[Url, Where] | None = None
        self._digest = ""
        self._lock = threading.Lock()

    @staticmethod
    def open(path: str | Path) -> Bed:
        """Open the bed in this folder. Raises `BadConfig` if something is missing or broken."""
        folder = Path(path)
        faults: list[str] = []
        about = _read_about(folder)
        if "made" in about:
            from scenthound.lab.generate.on_the_fly import GeneratedBed  # imports this module

            return GeneratedBed(folder, about, read_topics(folder / "topics.jsonl", faults), faults)
        if not _archives(folder):
            raise BadConfig(f"no WARC file in the bed {folder}", "its responses belong in *.warc.gz (or *.warc)")
        return Bed(folder, about, read_topics(folder / "topics.jsonl", faults), faults)

    @property
    def name(self) -> str:
        return str(self.about.get("name") or self.folder.name)

    @property
    def traps(self) -> bool:
        return bool(self.about.get("traps", False))

    @property
    def digest(self) -> str:
        """SHA-256 of the responses and topics, regardless of the names, order and compression of the files."""
        self.index()
        return self._digest

    def responses(self) -> Iterator[Response]:
        """Every recorded response, in the order of the files; a URL may occur more than once."""
        for archive in _archives(self.folder):
            for _, _, response in read_responses(archive):
                yield response

    def index(self) -> Mapping[Url, Where]:
        """The location of each URL's record. If there are several, the first success wins, or else the first."""
        with self._lock:
            if self._index is None:
                self._index, self._digest = self._scan()
            return self._index

    def get(self, url: Url) -> Response | None:
        """The response recorded for this canonical URL; None means 404."""
        where = self.index().get(url)
        return None if where is None else self._read(where, url)

    def __len__(self) -> int:
        return len(self.index())

    def __contains__(self, url: object) -> bool:
        return url in self.index()

    def _scan(self) -> tuple[dict[Url, Where], str]:
        index: dict[Url, Where] = {}
        succeeded: set[Url] = set()
        fingerprints: list[bytes] = []
        for archive in _archives(self.folder):
            before = -1
            for offset, length, response in read_responses(archive, self.faults):
                if offset == before or not length:
                    raise BadConfig(f"{archive} has several responses in the gzip member at {offset}", _ONE_MEMBER)
                before = offset
                fingerprints.append(_fingerprint(response))
                try:
                    url = make(response.url)
                except NotAUrl as error:
                    self.faults.append(f"{archive.name} at {offset}: {error.message}")
                    continue
                where = Where(archive.name, offset, length)
                success = 200 <= response.status < 300
                if url not in index or (success and url not in succeeded):
                    index[url] = where
                if success:
                    succeeded.add(url)
        return index, _digest(fingerprints, self.topics)

    def _read(self, where: Where, url: Url) -> Response:
        """The response for this URL; a gzip member may hold several records."""
        path = self.folder / where.file
        try:
            with path.open("rb") as file:
                data = os.pread(file.fileno(), min(where.length, LARGEST), where.offset)
            inflated = member_at(data, 0).data if data.startswith(MAGIC) else data
            for record in records(inflated):
                response = response_of(record)
                if response is not None and make(response.url) == url:
                    return response
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in PATH_ERRORS:
                raise IoFailed.of(error, path) from error
            raise BadConfig(f"{path} can't be read at {where.offset}: {error}", _ONE_MEMBER) from error
        raise BadConfig(f"{path} has no record of {url} at {where.offset}", _ONE_MEMBER)


def write_bed(
    folder: str | Path,
    name: str,
    responses: Iterable[Response],
    topics: Iterable[BedTopic],
    **about: str | int | float | bool,
) -> Bed:
    """Write a new bed, one response at a time. `about` goes into `bed.toml` (title, origin, licence …).

    Equal arguments give equal bytes: the date is fixed and record ids are hashes of the content. Raises `BadConfig` if
    the folder already holds a bed.
    """
    folder = Path(folder)
    if (folder / "bed.toml").exists() or (folder.is_dir() and _archives(folder)):
        raise BadConfig(f"{folder} already contains a bed", "give a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with WarcRepository(folder, info={"description": name}) as repository:
        for response in responses:
            repository.put(response, RECORD_DATE)
            count += 1
    topics = list(topics)
    write_text(folder / "topics.jsonl", "".join(map(topic_line, topics)))
    digest = Bed(folder, {}, topics, []).digest  # of the files as they are on disk
    facts = {"name": name, **about, "pages": count, "topics": len(topics), "digest": digest}
    toml = "".join(f"{key} = {toml_value(value)}\n" for key, value in facts.items())
    write_text(folder / "bed.toml", toml)  # last: a folder without it is not a bed
    return Bed.open(folder)


def topic_line(topic: BedTopic) -> str:
    """The topic as a line of `topics.jsonl`, without empty lists."""
    fields: dict[str, Any] = {
        "id": topic.id,
        "path": topic.path,
        "keywords": topic.keywords,
        "description": topic.description,
        "seeds": topic.seeds,
        "targets": topic.targets,
    }
    if topic.examples:
        fields["examples"] = topic.examples
    if topic.neighbours:
        fields["neighbours"] = topic.neighbours
    if topic.looking_for != PAGES:  # so that lines without it, and the digests of their beds, stay as they were
        fields["looking_for"] = topic.looking_for
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _read_about(folder: Path) -> Mapping[str, Any]:
    path = folder / "bed.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BadConfig(
            f"no bed in {folder}: bed.toml is missing", "make one with `scenthound lab generate` or `lab import`"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} is not TOML: {error}") from None


def read_topics(path: Path, faults: list[str]) -> list[BedTopic]:
    """The topics of a bed. Invalid URLs are skipped and reported in `faults`; any other error raises `BadConfig`."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BadConfig(f"{path} is missing", "it has one topic per line; the file may be empty") from None
    topics: dict[str, BedTopic] = {}
    for line_number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue

        def bad_url(key: str, text: object, error: NotAUrl, line_number: int = line_number) -> None:
            faults.append(f"{path.name} line {line_number}, {key}: {error.message}")

        try:
            topic = parse_topic(json.loads(line), bad_url)
        except (ValueError, TypeError) as error:
            raise BadConfig(
                f"{path} line {line_number}: {error}",
                "each line is a JSON object with id, path, keywords, seeds, targets",
            ) from None
        if topic.id in topics:
            raise BadConfig(f"{path} line {line_number}: a second topic called `{topic.id}`")
        topics[topic.id] = topic
    return list(topics.values())


def valid_urls(texts: Iterable[str]) -> list[Url]:
    """The URLs among these texts; a topic's examples may be either."""
    urls = []
    for text in texts:
        try:
            urls.append(make(text))
        except NotAUrl:
            continue
    return urls


def new_response(
    url: str, content_type: str, body: bytes, status: int = 200, reason: str = "OK", location: str = ""
) -> Response:
    """A response that an importer or a generator makes up."""
    headers = (("Content-Type", content_type), ("Content-Length", str(len(body))))
    return Response(url, status, reason, (*headers, ("Location", location)) if location else headers, body)


def _archives(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.warc.gz"), *folder.glob("*.warc")])


def _fingerprint(response: Response) -> bytes:
    """A hash of all parts of a response that a crawler can see."""
    lines = [
        response.url,
        str(response.status),
        *(f"{key.strip().lower()}: {value.strip()}" for key, value in response.headers),
    ]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace") + b"\n\n" + response.body).digest()


def _digest(fingerprints: Iterable[bytes], topics: Iterable[BedTopic]) -> str:
    lines = (line.encode("utf-8", "replace") for line in sorted(map(topic_line, topics)))
    return hashlib.sha256(b"".join([*sorted(fingerprints), *lines])).hexdigest()
