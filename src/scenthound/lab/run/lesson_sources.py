"""Open the web that a strategy learns from: a bed, a crawl folder, a folder of HTML, or the generated web.

All of them are prepared like beds, so lessons deal with only one kind of web.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed, Web
from scenthound.lab.beds.cache import digest_of
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.importers.html import HtmlOptions
from scenthound.lab.importers.html import html as html_files
from scenthound.lab.importers.interface import Notes
from scenthound.lab.importers.warc import check_start, responses_in
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response, Url
from scenthound.store.warc_repository import files_of
from scenthound.topic_list import BedTopic

GENERATED = "generated"
_HINT = "name a bed, a crawl folder or a folder of HTML pages; or `generated` for scenthound's generated web"


@dataclass(frozen=True, slots=True)
class Source:
    """A known web, and the labels of its pages."""

    kind: str
    """`bed`, `crawl`, `pages`, `generated`, or `live`: fetched from the web for this training."""
    name: str
    digest: str
    bed: ReplayBed
    topics: tuple[BedTopic, ...] = ()
    labels: Mapping[Url, bool] = field(default_factory=dict)
    """Pages of a crawl that a person labelled as on or off topic."""
    likely: frozenset[Url] = frozenset()
    """Pages that the crawl's own judge called relevant; they can't be used as counter-examples."""
    leading: frozenset[Url] = frozenset()
    """Pages that were gathered because they lead to the examples. They are not counter-examples: who learns that they
    are off topic never gets past them."""

    @property
    def is_made_up(self) -> bool:
        return self.kind == "generated"


def open_source(path: str | Path, jobs: int = 2, progress: Callable[[int], None] | None = None) -> Source:
    """Open and prepare the source in a folder. Raises `BadConfig` if there is none."""
    if str(path) == GENERATED:
        web = GeneratedWeb(pages=1500, seed=1)
        return Source("generated", web.name, web.digest, prepare(web, None, jobs, progress), tuple(web.topics))
    folder = Path(path)
    if not folder.is_dir():
        raise BadConfig(f"there is no folder {folder}", _HINT)
    if (folder / "bed.toml").is_file():
        bed = Bed.open(folder)
        return Source("bed", bed.name, digest_of(bed), prepare(bed, None, jobs, progress), tuple(bed.topics))
    if (folder / "crawl.toml").is_file():
        return _crawl(folder, jobs, progress)
    files = _RecordedWeb(folder.resolve().name, lambda: _html(folder))
    prepared = prepare(files, None, jobs, progress)
    if not len(prepared):
        raise BadConfig(f"there are no pages in {folder}", _HINT)
    return Source("pages", files.name, files.digest, prepared)


def _crawl(folder: Path, jobs: int, progress: Callable[[int], None] | None) -> Source:
    with CrawlFolder.look(folder) as opened:
        likely = frozenset(step.url for step in opened.history.trail() if step.relevant)
        labels = opened.database.labels()
        if not len(opened.history):
            raise BadConfig(f"the crawl in {folder} has no pages", "there is nothing to learn from yet")
    files = [path for path in files_of(folder / "pages") if check_start(path)]
    web = _RecordedWeb(folder.resolve().name, lambda: responses_in(files, Notes()))
    return Source("crawl", web.name, web.digest, prepare(web, None, jobs, progress), (), labels, likely)


def recorded_source(kind: str, name: str, responses: Sequence[Response], jobs: int = 1) -> Source:
    """A source made of responses in memory."""
    web = _RecordedWeb(name, lambda: iter(responses))
    return Source(kind, name, web.digest, prepare(web, None, jobs))


def _html(folder: Path) -> Iterator[Response]:
    yield from html_files(folder, HtmlOptions(), Notes()).responses or ()


class _RecordedWeb:
    """A web of responses that can be read repeatedly, which the lab can prepare."""

    topics: list[BedTopic] = []  # noqa: RUF012 - always empty
    traps = False

    def __init__(self, name: str, read: Callable[[], Iterator[Response]]) -> None:
        self.name, self._read = name, read

    @cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(f"{self.name}\n".encode("utf-8", "replace"))
        for response in self._read():
            headers = "".join(map(response.header, ("content-type", "content-encoding", "location")))
            head = f"{response.url}\n{response.status}\n{headers}\n{len(response.body)}\n"
            digest.update(head.encode("utf-8", "replace") + response.body)
        return digest.hexdigest()

    def responses(self) -> Iterator[Response]:
        return self._read()

    def get(self, url: Url) -> Response | None:
        return next((response for response in self._read() if response.url == url), None)


_: type[Web] = _RecordedWeb
