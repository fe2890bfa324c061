"""Prepares a bed: parses and tokenises every page once, in several processes, into memory-mapped columns.

    rows        kind, status, size and URL number of each response as four int32, in the order of recording
    urls        all URLs, recorded or only linked to, one per line; `row-of-url` has the row of each, or -1
    heads       for a row without a page: the redirect target, or why there is no page
    records     the record of each page (`page.record`)
    links       the URLs that each page links to, by number; `outlinks` has the positions of those that count
    terms-…/    term counts for an analyser (`replay_bed.PreparedTerms`)

The files `…-starts` hold the offset of each row.

The worker processes read responses into rows. Responses go through `page.landing`, as live pages do, so a replayed page
equals the live page. Only robots meta tags and `rel=nofollow` are ignored: a replay burdens no server, and the
recording crawler followed these links (425 pages of the schools bed are marked nofollow).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import NotAUrl
from scenthound.lab.beds.bed import Web
from scenthound.lab.beds.cache import save_about
from scenthound.lab.beds.replay_bed import TermsWriter
from scenthound.lab.process_pool import ProcessPool
from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import LIMITS
from scenthound.page.record import Record
from scenthound.text.term_counts import terms_of
from scenthound.text.tokens import Analyser
from scenthound.url import LONGEST, make

PAGE, MOVED, MISS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of a page is read. Each cut of a bed is prepared separately."""

    page_bytes: int = 0
    """Number of bytes of a page that are parsed; 0: all. [EXP] uses 100 KB, [BIZ] 10 KB."""
    url_length: int = LONGEST
    """Links to longer URLs are ignored; 256 in the papers."""


class Row(NamedTuple):
    """One response of the bed. `head` has two lines: redirect target and spelling, or reason and detail of a miss."""

    url: Url
    kind: int
    status: int
    size: int
    head: str
    record: Record | None = None
    links: tuple[Url, ...] = ()
    outlinks: tuple[int, ...] = ()
    """Positions of the links that count (rule 6): the first to each URL, without links to the page itself."""


class Batch(NamedTuple):
    """Rows as columns. URLs and terms are numbered within the batch; the main process numbers them for the bed."""

    rows: list[tuple[Url, int, int, int]]
    heads: list[bytes]
    records: list[bytes]
    links: list[int]
    outlinks: list[int]
    terms: list[int]
    """Number of terms of each row."""
    urls: list[Url]
    link_urls: npt.NDArray[np.int32]
    outlink_positions: npt.NDArray[np.int32]
    vocabulary: list[str]
    term_ids: npt.NDArray[np.int32]
    term_counts: npt.NDArray[np.int32]
    faults: list[str]


def read_batch(responses: Sequence[Response], cut: Cut, analyser: Analyser) -> Batch:
    """Read responses into rows. Responses without a valid URL are reported in `faults`."""
    urls: dict[Url, int] = {}
    vocabulary: dict[str, int] = {}
    link_urls: list[int] = []
    term_ids: list[int] = []
    term_counts: list[int] = []
    rows: list[Row] = []
    terms: list[int] = []
    faults: list[str] = []
    for response in responses:
        try:
            row = read_response(response, cut)
        except NotAUrl as error:
            faults.append(error.message)
            continue
        rows.append(row)
        link_urls += [urls.setdefault(url, len(urls)) for url in row.links]
        names, counts = terms_of({} if row.record is None else row.record.counts(analyser))
        term_ids += [vocabulary.setdefault(term, len(vocabulary)) for term in names]
        term_counts += counts.tolist()
        terms.append(len(names))
    return Batch(
        [(row.url, row.kind, row.status, row.size) for row in rows],
        [row.head.encode("utf-8", "surrogatepass") for row in rows],
        [b"" if row.record is None else row.record.to_bytes() for row in rows],
        [len(row.links) for row in rows],
        [len(row.outlinks) for row in rows],
        terms,
        list(urls),
        np.array(link_urls, dtype="<i4"),
        np.array([position for row in rows for position in row.outlinks], dtype="<i4"),
        list(vocabulary),
        np.array(term_ids, dtype="<i4"),
        np.array(term_counts, dtype="<i4"),
        faults,
    )


def read_response(response: Response, cut: Cut) -> Row:
    """One response as a row. Raises `NotAUrl` if its URL is invalid."""
    url = make(response.url)
    candidate = Candidate(url, 0.0, spelling=response.url)
    unpacked = cut.page_bytes or LIMITS.unpacked
    limits = replace(LIMITS, unpacked=unpacked, url_length=cut.url_length, nofollow=False)
    landed = land(candidate, response, limits, agent="")
    match landed:
        case Page():
            return _page_row(url, landed)
        case Moved():
            return Row(url, MOVED, landed.status, landed.size, f"{landed.url}\n{landed.spelling}")
        case Miss():
            detail = " ".join(landed.detail.split())
            return Row(url, MISS, landed.status, landed.size, f"{landed.reason}\n{detail}")
    raise TypeError(f"unexpected {type(landed).__name__} from landing")


def _page_row(url: Url, page: Page) -> Row:
    record = page.record
    outlinks = tuple(link.position for link in record.outlinks)
    return Row(url, PAGE, page.status, page.size, "", record, tuple(link.url for link in record.links), outlinks)


BATCH = 64  # pages per task: about 2 MB of HTML
FEW = 256  # responses; up to this number, starting processes takes longer than the work
AHEAD = 3  # pending batches per process: enough to keep them busy, with bounded memory

Progress = Callable[[int], None]
"""Called with the number of responses read so far."""


def write_tables(web: Web, folder: Path, cut: Cut, jobs: int, progress: Progress | None = None) -> None:
    """Fill `folder` with the tables of this web."""
    analyser = Analyser()
    tables = _Tables(folder, analyser)
    for batch in _batches(web.responses(), cut, analyser, jobs):
        tables.add(batch)
        if progress is not None:
            progress(tables.responses)
    tables.close(web.name)


def terms_folder(folder: Path, analyser: Analyser) -> Path:
    return folder / f"terms-{analyser.name}"


def _batches(responses: Iterable[Response], cut: Cut, analyser: Analyser, jobs: int) -> Iterator[Batch]:
    """The batches in order, read by one or several processes."""
    responses = iter(responses)
    groups = iter(lambda: list(islice(responses, BATCH)), [])
    first = list(islice(groups, FEW // BATCH + 1))
    if jobs < 2 or len(first) * BATCH <= FEW:
        for group in chain(first, groups):
            yield read_batch(group, cut, analyser)
        return
    with ProcessPool(jobs) as pool:
        pending: deque[Future[Batch]] = deque()
        for group in chain(first, groups):
            pending.append(pool.submit(read_batch, group, cut, analyser))
            while len(pending) >= jobs * AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class _Tables:
    """The tables being written, and the URL numbers assigned so far."""

    def __init__(self, folder: Path, analyser: Analyser) -> None:
        self._folder, self._analyser = folder, analyser
        self._terms = TermsWriter(terms_folder(folder, analyser))
        self._urls: dict[Url, int] = {}
        self._rows: list[tuple[int, int, int, int]] = []
        self._row_of_url: dict[int, int] = {}
        self._starts: dict[str, list[int]] = {name: [0] for name in ("heads", "records", "links", "outlinks")}
        self._files: dict[str, BinaryIO] = {
            name: (folder / name).open("wb") for name in ("heads", "records", "links", "outlinks")
        }
        self._faults: list[str] = []
        self.responses = 0

    def add(self, batch: Batch) -> None:
        self.responses += len(batch.rows) + len(batch.faults)
        self._faults += batch.faults
        url_numbers = np.array([self._urls.setdefault(url, len(self._urls)) for url in batch.urls], dtype="<i4")
        for url, kind, status, size in batch.rows:
            number = self._urls.setdefault(url, len(self._urls))
            row = len(self._rows)
            self._rows.append((kind, status, size, number))
            earlier = self._row_of_url.get(number)
            if earlier is None or (_succeeded(status) and not _succeeded(self._rows[earlier][1])):
                self._row_of_url[number] = row
        for name, parts in (("heads", batch.heads), ("records", batch.records)):
            for part in parts:
                self._files[name].write(part)
                self._starts[name].append(self._starts[name][-1] + len(part))
        for name, sizes in (("links", batch.links), ("outlinks", batch.outlinks)):
            for size in sizes:
                self._starts[name].append(self._starts[name][-1] + size)
        if len(batch.link_urls):
            self._files["links"].write(url_numbers[batch.link_urls].tobytes())
        self._files["outlinks"].write(batch.outlink_positions.tobytes())
        self._terms.add(batch.vocabulary, batch.term_ids, batch.term_counts, batch.terms)

    def close(self, name: str) -> None:
        for file in self._files.values():
            file.close()
        for column, starts in self._starts.items():
            np.array(starts, dtype="<i8").tofile(self._folder / f"{column}-starts")
        np.array(self._rows, dtype="<i4").reshape(-1, 4).tofile(self._folder / "rows")
        row_of_url = np.full(len(self._urls), -1, dtype="<i4")
        for number, row in self._row_of_url.items():
            row_of_url[number] = row
        row_of_url.tofile(self._folder / "row-of-url")
        (self._folder / "urls").write_bytes("\n".join(self._urls).encode("utf-8", "surrogatepass"))
        self._terms.close(self._analyser)
        save_about(
            self._folder,
            {"name": name, "rows": len(self._rows), "urls": len(self._urls), "faults": self._faults[:1000]},
        )


def _succeeded(status: int) -> bool:
    return 200 <= status < 300
