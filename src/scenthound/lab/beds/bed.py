"""A bed: a recorded web and topics with known answers, in a folder (docs/concepts/files.md).

`bed.toml` says where it comes from, `*.warc.gz` hold the responses, `topics.jsonl` holds one topic a line.
Opening a bed reads the first and the last; the records are scanned once, when first asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from scenthound.errors import BadConfig, NotAUrl
from scenthound.files import write_text
from scenthound.model import Response, Topic, Url
from scenthound.ports import Where
from scenthound.store.warc import WarcRepository, read_responses
from scenthound.store.warc_decode import LARGEST, MAGIC, member_at, records, response_of
from scenthound.url import make

RECORDED = 1577836800.0  # 2020-01-01, the date of every record we write, so that equal beds are equal bytes
_ONE_MEMBER = "a bed needs each record in a gzip member of its own; `scenthound lab import` makes one of any WARC"
_LISTS = ("seeds", "targets", "examples", "neighbours")


@dataclass(frozen=True, slots=True)
class BedTopic:
    """A topic with its answers. The crawler may see `topic`; the rest is for the lab."""

    id: str
    path: tuple[str, ...]
    keywords: str
    description: str
    seeds: tuple[Url, ...]
    targets: tuple[Url, ...]
    examples: tuple[Url, ...] = ()
    neighbours: tuple[Url, ...] = ()

    @property
    def topic(self) -> Topic:
        """What a crawler is told: nothing made of the answers, so no description, and no example that is a target."""
        answers = set(self.targets)
        return Topic(self.keywords, name=self.id, examples=tuple(url for url in self.examples if url not in answers))


class Web(Protocol):
    """What the lab replays and serves: a bed, or a generated web that was never written down."""

    @property
    def name(self) -> str: ...
    @property
    def topics(self) -> list[BedTopic]: ...
    @property
    def digest(self) -> str: ...
    @property
    def traps(self) -> bool:
        """Whether a server answers the traps of `generate_traps` here. A replay never does."""
        ...

    def get(self, url: Url) -> Response | None: ...
    def responses(self) -> Iterator[Response]: ...


class Bed:
    """An opened bed folder. Safe to read from several threads."""

    def __init__(self, folder: Path, about: Mapping[str, Any], topics: list[BedTopic], faults: list[str]) -> None:
        self.folder, self.about, self.topics = folder, about, topics
        self.faults = faults
        """What was wrong and left out, one line each: URLs that are none, and (after a scan) unreadable records."""
        self._places: dict[Url, Where] | None = None
        self._digest = ""
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> Bed:
        """Open the bed in this folder. Raises `BadConfig` where it is none, naming what is missing or broken."""
        folder = Path(path)
        faults: list[str] = []
        about = _read_about(folder)
        if not _archives(folder):
            raise BadConfig(f"no WARC file in the bed {folder}", "its responses belong into *.warc.gz (or *.warc)")
        return cls(folder, about, read_topics(folder / "topics.jsonl", faults), faults)

    @property
    def name(self) -> str:
        return str(self.about.get("name") or self.folder.name)

    @property
    def traps(self) -> bool:
        return bool(self.about.get("traps", False))

    @property
    def digest(self) -> str:
        """SHA-256 over what is recorded and the topics. Names, order and compression of the files play no part."""
        self.index()
        return self._digest

    def responses(self) -> Iterator[Response]:
        """Every recorded response, as it lies in the files; a URL may come twice."""
        for archive in _archives(self.folder):
            for _, _, response in read_responses(archive):
                yield response

    def index(self) -> Mapping[Url, Where]:
        """Where each URL is recorded. Of several records of one URL a success wins, then the first."""
        with self._lock:
            if self._places is None:
                self._places, self._digest = self._scan()
            return self._places

    def get(self, url: Url) -> Response | None:
        """What was recorded for this canonical URL; None is the bed's way of saying 404."""
        where = self.index().get(url)
        return None if where is None else self._read(where, url)

    def __len__(self) -> int:
        return len(self.index())

    def __contains__(self, url: object) -> bool:
        return url in self.index()

    def _scan(self) -> tuple[dict[Url, Where], str]:
        places: dict[Url, Where] = {}
        succeeded: set[Url] = set()
        prints: list[bytes] = []
        for archive in _archives(self.folder):
            tried = False
            for offset, length, response in read_responses(archive, self.faults):
                prints.append(_print(response))
                try:
                    url = make(response.url)
                except NotAUrl as error:
                    self.faults.append(f"{archive.name} at {offset}: {error.message}")
                    continue
                where = Where(archive.name, offset, length)
                if not tried:
                    self._read(where, url)
                    tried = True
                success = 200 <= response.status < 300
                if url not in places or (success and url not in succeeded):
                    places[url] = where
                if success:
                    succeeded.add(url)
        return places, _digest(prints, self.topics)

    def _read(self, where: Where, url: Url) -> Response:
        """The response with this URL among the records there; a member may hold several."""
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
            raise BadConfig(f"{path} can't be read at {where.offset}: {error}", _ONE_MEMBER) from error
        raise BadConfig(f"{path} holds no record of {url} at {where.offset}", _ONE_MEMBER)


def write_bed(
    folder: str | Path,
    name: str,
    responses: Iterable[Response],
    topics: Iterable[BedTopic],
    **about: str | int | float | bool,
) -> Bed:
    """Write a new bed, taking the responses one at a time. `about` goes into `bed.toml` (title, origin, licence …).

    Equal arguments give equal bytes: the date is fixed and record ids are made of content.
    Raises `BadConfig` where the folder already holds a bed.
    """
    folder = Path(folder)
    if (folder / "bed.toml").exists() or (folder.is_dir() and _archives(folder)):
        raise BadConfig(f"there is a bed in {folder} already", "give a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with WarcRepository(folder, info={"description": name}) as repository:
        for response in responses:
            repository.put(response, RECORDED)
            count += 1
    listed = list(topics)
    write_text(folder / "topics.jsonl", "".join(map(topic_line, listed)))
    digest = Bed(folder, {}, listed, []).digest  # read back, so it is the digest of what is really there
    facts = {"name": name, **about, "pages": count, "topics": len(listed), "digest": digest}
    toml = "".join(f"{key} = {toml_value(value)}\n" for key, value in facts.items())
    write_text(folder / "bed.toml", toml)  # last: a folder without it is no bed
    return Bed.open(folder)


def topic_line(topic: BedTopic) -> str:
    """The topic as a line of `topics.jsonl`; what it lacks is left out."""
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
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BadConfig(f"{path} is missing", "a bed has one topic a line there; the file may be empty") from None
    topics: dict[str, BedTopic] = {}
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{path.name} line {number}"
        try:
            topic = _topic(json.loads(line), place, faults)
        except (ValueError, KeyError, TypeError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise BadConfig(
                f"{path} line {number}: {what}", "each line is a JSON object with id, path, keywords, seeds, targets"
            ) from None
        if topic.id in topics:
            raise BadConfig(f"{path} line {number}: a second topic called `{topic.id}`")
        topics[topic.id] = topic
    return list(topics.values())


def _topic(fields: Any, place: str, faults: list[str]) -> BedTopic:
    if not isinstance(fields, dict):
        raise TypeError("not a JSON object")
    for key in ("id", "keywords"):
        if not isinstance(fields[key], str):
            raise TypeError(f"`{key}` is not text")
    urls = {
        key: _urls(fields[key] if key in ("seeds", "targets") else fields.get(key, []), f"{place}, {key}", faults)
        for key in _LISTS
    }
    path = fields.get("path", [])
    if not isinstance(path, list):
        raise TypeError("`path` is not a list")
    return BedTopic(fields["id"], tuple(map(str, path)), fields["keywords"], str(fields.get("description", "")), **urls)


def _urls(raw: Any, place: str, faults: list[str]) -> tuple[Url, ...]:
    """The canonical URLs among these, each once; what is none is noted and left out."""
    if not isinstance(raw, list):
        raise TypeError(f"{place.rpartition(' ')[2]} is not a list")
    found: dict[Url, None] = {}
    for text in raw:
        try:
            found[make(text if isinstance(text, str) else repr(text))] = None
        except NotAUrl as error:
            faults.append(f"{place}: {error.message}")
    return tuple(found)


def _archives(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.warc.gz"), *folder.glob("*.warc")])


def _print(response: Response) -> bytes:
    """Fingerprint of one response: what a crawler could notice."""
    whole = hashlib.sha256()
    lines = [
        response.url,
        str(response.status),
        *(f"{key.strip().lower()}: {value.strip()}" for key, value in response.headers),
    ]
    whole.update("\n".join(lines).encode("utf-8", "replace"))
    whole.update(b"\n\n" + response.body)
    return whole.digest()


def _digest(prints: Iterable[bytes], topics: Iterable[BedTopic]) -> str:
    whole = hashlib.sha256()
    for part in sorted(prints):
        whole.update(part)
    for line in sorted(map(topic_line, topics)):
        whole.update(line.encode("utf-8", "replace"))
    return whole.hexdigest()


def toml_value(value: Any) -> str:
    """A value as TOML. JSON strings, numbers and booleans are valid TOML, except for the delete character."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
