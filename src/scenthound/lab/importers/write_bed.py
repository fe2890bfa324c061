"""Writes the content of an imported source as a bed, completely or not at all, and filters its responses: a replay uses
HTML pages and redirects, one record for each URL.

The bed is written into a temporary folder beside the target and renamed when it is complete.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, DiskFull, NotAUrl, from_os_error
from scenthound.files import new_folder, write_text
from scenthound.lab.beds.bed import topic_line, write_bed
from scenthound.lab.importers.interface import ImportReport, Notes, Options, Progress, Reader
from scenthound.loop.settings import read
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page.landing import land
from scenthound.page.read import LIMITS
from scenthound.topic_list import BedTopic, read_topics
from scenthound.url import make
from scenthound.web.content_type import extract, is_html
from scenthound.web.decode import Undecodable, decompress


class PageFilter:
    """Keeps responses that a replay can use and counts the rest. Of several records of a URL the first wins."""

    def __init__(self, notes: Notes, without: Sequence[str] = ()) -> None:
        """URLs that start with one of `without` are left out."""
        self.notes, self._without = notes, tuple(without)
        self.pages = self.redirects = 0

    def apply(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Yield the usable responses. Raises `BadConfig` at the end if there was no page."""
        for response in responses:
            if self._is_usable(response):
                yield response
        if not self.pages:
            problems = "; ".join(self.notes.lines()[:5]) or "nothing"
            raise BadConfig("this source contains no HTML page", f"found instead: {problems}")

    def _is_usable(self, response: Response) -> bool:
        try:
            url = make(response.url)
        except NotAUrl:
            return self._skip("skipped, not an http(s) URL", response.url)
        if url.startswith(self._without):
            return self._skip("left out by the option `without`", response.url)
        is_redirect = 300 <= response.status < 400
        reason = _redirect_problem(response, url) if is_redirect else _page_problem(response)
        if reason:
            return self._skip(f"skipped, {reason}", response.url)
        if url in self.notes.kept:
            return self._skip("skipped, a second record of a URL", response.url)
        self.notes.kept.add(url)
        self.pages += not is_redirect
        self.redirects += is_redirect
        return True

    def _skip(self, kind: str, example: str) -> bool:
        self.notes.count(kind, example)
        return False


def _redirect_problem(response: Response, url: Url) -> str:
    """Why a replay can't use this redirect; empty if it can."""
    landed = land(Candidate(url, 0.0, spelling=response.url), response, agent="")
    if isinstance(landed, Miss):
        return f"status {response.status} ({landed.reason})"
    # For example from /index.html to /: both have the same canonical URL, and this record would hide the page.
    return "a redirect to itself" if landed.url == url else ""


def _page_problem(response: Response) -> str:
    """Why a replay can't use this response; empty if it is a page."""
    if not 200 <= response.status < 300 or response.status in (204, 205):
        return f"status {response.status}"
    mime = extract(value for name, value in response.headers if name.lower() == "content-type")
    if is_html(mime, b"<p>" if mime is not None else _start(response)):
        return ""
    return f"not HTML ({mime.essence[:60] if mime is not None else 'no media type'})"


def _start(response: Response) -> bytes:
    """The first bytes of the page, decompressed, to detect HTML without a media type."""
    coding = ",".join(value for name, value in response.headers if name.lower() == "content-encoding")
    try:
        return decompress(response.body, coding, limit=4096, ratio=LIMITS.ratio).data
    except Undecodable:
        return b""


def write_imported(
    name: str,
    reader: Reader,
    options_class: type[Options],
    source: Path,
    bed: Path,
    option_values: Mapping[str, Any],
    progress: Progress | None = None,
) -> ImportReport:
    """Import `source` into the new folder `bed`. If it fails, nothing is left behind."""
    options = read(options_class, option_values, what=f"option of `{name}`")
    _check_paths(source, bed)
    notes = Notes() if progress is None else Notes(progress)
    content = reader(source, options, notes)
    topics = content.topics
    if options.topics:
        topics = read_topics(Path(options.topics), notes.count)
    page_filter = PageFilter(notes, options.without)
    written_topics: list[BedTopic] = []
    with _bed_folder(bed) as folder:
        if content.responses is None:
            written_topics.extend(topics)
            write_text(folder / "topics.jsonl", "".join(map(topic_line, written_topics)))
        else:
            about = {
                "title": options.title,
                "origin": options.origin or content.origin,
                "licence": options.licence or content.licence or "unknown",
                "imported": name,
            }
            facts = {key: value for key, value in about.items() if value}
            checked_topics = _check_topics(topics, notes, written_topics)
            bed_name = options.name or bed.resolve().name
            write_bed(folder, bed_name, page_filter.apply(content.responses), checked_topics, **facts)
    return ImportReport(bed, page_filter.pages, page_filter.redirects, len(written_topics), notes.lines())


def _check_topics(topics: Iterable[BedTopic], notes: Notes, written: list[BedTopic]) -> Iterator[BedTopic]:
    """Yield the topics unchanged, note their pages that are not in the bed, and append each topic to `written`."""
    for topic in topics:
        if not topic.targets:
            notes.count("topics without targets", topic.id)
        if not topic.seeds:
            notes.count("topics without seeds", topic.id)
        for what, urls in (("seeds", topic.seeds), ("targets", topic.targets)):
            for url in urls:
                if url not in notes.kept:
                    notes.count(f"{what} that are not in the bed", f"{url} ({topic.id})")
        written.append(topic)
        yield topic


def _check_paths(source: Path, bed: Path) -> None:
    if not source.exists():
        raise BadConfig(f"{source} does not exist", "give the file or folder to import")
    if bed.exists() and (not bed.is_dir() or any(bed.iterdir())):
        raise BadConfig(f"{bed} exists and is not empty", "give a new folder for the bed")
    if source.is_dir() and bed.resolve().is_relative_to(source.resolve()):
        raise BadConfig(f"the bed {bed} would be inside its own source", "give a folder elsewhere")


@contextmanager
def _bed_folder(target: Path) -> Iterator[Path]:
    """A temporary folder, which is renamed to `target` if nothing fails."""
    new_parents = _missing_parents(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(target) as folder:
            yield folder
        new_parents = []
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(target, "make room and import again") from error
        name = error.filename or target
        bad_path = BadConfig(f"{name} can't be read or written: {error.strerror or error}")
        raise from_os_error(error, target, bad_path) from error
    finally:
        for folder in new_parents:
            try:
                folder.rmdir()
            except OSError:  # it was never created, or it is not empty
                break


def _missing_parents(target: Path) -> list[Path]:
    """The folders above the target that do not exist yet, innermost first."""
    missing: list[Path] = []
    for folder in target.absolute().parents:
        if folder.exists():
            break
        missing.append(folder)
    return missing
