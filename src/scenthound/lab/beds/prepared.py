"""A bed prepared for replay: `fetch` returns the same pages as a live crawl of the bed, only faster.

    bed = prepare(Bed.open("beds/schools"))
    replay(crawl, bed.fetch)

The tables are in the user's cache folder (`cache`), shared by all processes that read them, and rebuilt when the bed or
the code that reads pages has changed. A strategy never sees this object: each page that it gets has its own copy of its
record and no access to other pages. Page views are kept for the next crawl in the same process (`replay_bed`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from weakref import ref

import numpy as np
import numpy.typing as npt

from scenthound.errors import FolderBroken
from scenthound.graph.link_graph import LinkGraph, numbered_graph
from scenthound.lab.beds.bed import Web
from scenthound.lab.beds.cache import (
    build_folder,
    cache_folder,
    digest_of,
    fingerprint,
    load_about,
    mark_used,
    memory_map,
    prune,
)
from scenthound.lab.beds.prepare_bed import MISS, MOVED, PAGE, Cut, Progress, terms_folder, write_tables
from scenthound.lab.beds.replay_bed import PageViews, PreparedTerms, Views, file_bytes, open_terms, portable
from scenthound.lab.generate.on_the_fly import GeneratedBed, OnTheFlyBed
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Layout, Parts, Record, read_layout
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts

KEPT_PAGES = 6_000  # pages whose views are kept between crawls: a bed like schools fits
KEPT_LINKS = 400_000  # links kept between visits: about 60 MB; a bed like schools fits
STORED = Analyser()  # the analyser whose term counts are part of the records
HOPS = 10  # redirects followed from a recorded URL to its page, as in the loop

Numbers = npt.NDArray[np.int32]


def open_for_replay(
    web: Web, cut: Cut | None = None, jobs: int = 2, progress: Progress | None = None
) -> PreparedBed | OnTheFlyBed:
    """A bed for replay: its prepared form, unless its pages are generated on the fly."""
    return web.for_replay(cut or Cut()) if isinstance(web, GeneratedBed) else prepare(web, cut, jobs, progress)


def prepare(web: Web, cut: Cut | None = None, jobs: int = 2, progress: Progress | None = None) -> PreparedBed:
    """The prepared form of a bed or a generated web; built by `jobs` processes unless it is in the cache."""
    cut = cut or Cut()
    folder = cache_folder() / "prepared" / f"{digest_of(web)[:20]}-{fingerprint(cut)[:20]}"
    if load_about(folder) is None:
        build_folder(folder, lambda temporary: write_tables(web, temporary, cut, jobs, progress))
    if load_about(folder) is None:  # a folder that lost some of its files is in the way
        shutil.rmtree(folder, ignore_errors=True)
        build_folder(folder, lambda temporary: write_tables(web, temporary, cut, jobs, progress))
    mark_used(folder)
    prune(folder)
    return PreparedBed(folder)


class PreparedBed:
    """An open prepared bed, which is a `ReplayBed`."""

    has_terms = True

    def __init__(self, folder: Path) -> None:
        about = load_about(folder)
        if about is None:
            raise FolderBroken(folder, "has no prepared bed", "it will be rebuilt when the bed is opened next")
        self.folder, self.name = folder, str(about["name"])
        faults = about["faults"]
        self.faults: list[str] = faults if isinstance(faults, list) else []
        """Records that could not be used, one line each."""
        blob = (folder / "urls").read_bytes().decode("utf-8", "surrogatepass")
        self.urls: list[Url] = list(map(Url, blob.split("\n"))) if blob else []
        """Every URL that is recorded or linked to, by number."""
        rows = memory_map(folder, "rows", "<i4").reshape(-1, 4)
        self._kinds, self._statuses, self._sizes, self._numbers = rows.T.tolist()
        self._row_of_url = memory_map(folder, "row-of-url", "<i4")
        self._rows = {self.urls[n]: row for n, row in enumerate(self._row_of_url.tolist()) if row >= 0}
        starts = {
            name: memory_map(folder, f"{name}-starts", "<i8") for name in ("heads", "records", "links", "outlinks")
        }
        self._head_starts, self._record_starts, self._link_starts, self._outlink_starts = (
            column.tolist() for column in starts.values()
        )
        self._link_urls = memory_map(folder, "links", "<i4")
        self._outlinks = memory_map(folder, "outlinks", "<i4")
        self._heads, self._records = file_bytes(folder / "heads"), file_bytes(folder / "records")
        self._terms: dict[Analyser, PreparedTerms] = {}
        self._stored_terms = self.terms(STORED)
        self._parts = EVERYTHING
        self._more_terms: dict[Hashable, PreparedTerms] = {}  # by analyser key
        self._layouts: dict[int, Layout] = {}
        self._link_count = 0
        self._views: dict[int, Views] = {}

    @property
    def key(self) -> str:
        return self.folder.name

    @property
    def reopen(self) -> Callable[[], PreparedBed]:
        return partial(PreparedBed, self.folder)

    # ---- for drivers

    def read_parts(self, parts: Parts) -> None:
        """Read pages with exactly these parts from now on. Analysers of a plug-in's own class are ignored."""
        counts = tuple(copy for analyser in parts.counts if (copy := portable(analyser)) is not None)
        self._parts = Parts(counts, bool(parts.leaves), bool(parts.elements))
        self._more_terms = {analyser.key: self.terms(analyser) for analyser in counts if analyser != STORED}

    def fetch(self, candidate: Candidate) -> Page | Miss | Moved:
        """The recorded response; a 404 if the bed has no such URL."""
        row = self._rows.get(candidate.url)
        if row is None:
            return Miss(candidate, "http-404", status=404)
        kind, status, size = self._kinds[row], self._statuses[row], self._sizes[row]
        if kind == PAGE:
            record = self.read(row)
            return Page(record.url, candidate, record, status, size, PageViews(ref(self), row))
        first, second = self._head(row)[:2]
        if kind == MOVED:
            return Moved(candidate, Url(first), second, status, size)
        return Miss(candidate, first, second, status, size)

    def read(self, row: int) -> Record:
        """The record of a page, with its own copy of the bytes, so that it gives no access to the rest of the bed."""
        more = {key: terms.packed(row) for key, terms in self._more_terms.items()}
        shared = {STORED.key: self._stored_terms.shared_ids(row)}
        return Record.from_file(
            self._records, self._layouts.get(row) or self._read_layout(row), self._parts, more, shared
        )

    def _read_layout(self, row: int) -> Layout:
        begin, end = self._link_starts[row : row + 2]
        urls = list(map(self.urls.__getitem__, self._link_urls[begin:end].tolist()))
        outlinks = self._outlinks[self._outlink_starts[row] : self._outlink_starts[row + 1]].tolist()
        layout = read_layout(self._records, self._record_starts[row], urls, outlinks)
        if self._link_count > KEPT_LINKS:
            self._layouts.clear()
            self._link_count = 0
        self._layouts[row] = layout
        self._link_count += len(urls)
        return layout

    def views(self, row: int) -> Views:
        """The views of a page from earlier visits; least recently visited pages lose theirs."""
        views = self._views.pop(row, None)
        if views is None:
            views = {}
            if len(self._views) >= KEPT_PAGES:
                del self._views[next(iter(self._views))]
        self._views[row] = views
        return views

    def _head(self, row: int) -> list[str]:
        return (
            self._heads[self._head_starts[row] : self._head_starts[row + 1]]
            .decode("utf-8", "surrogatepass")
            .split("\n")
        )

    # ---- for judges and measures

    def __contains__(self, url: object) -> bool:
        """Whether the bed has a page for this URL, directly or behind redirects."""
        return isinstance(url, str) and self.number(url) is not None

    def __len__(self) -> int:
        return len(self.pages)

    @cached_property
    def page_rows(self) -> list[int]:
        """The row of each page, by the page's number."""
        return [row for row in self._rows.values() if self._kinds[row] == PAGE]

    @cached_property
    def pages(self) -> list[Url]:
        """The URLs of all pages, by the page's number."""
        return [self.urls[self._numbers[row]] for row in self.page_rows]

    @cached_property
    def _page_numbers(self) -> dict[Url, int]:
        return {url: number for number, url in enumerate(self.pages)}

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """The recorded redirects, from URL to target."""
        return {str(url): self._head(row)[0] for url, row in self._rows.items() if self._kinds[row] == MOVED}

    def number(self, url: str) -> int | None:
        """The number of the page at this URL, after redirects."""
        for _ in range(HOPS + 1):
            if url not in self.aliases:
                break
            url = self.aliases[url]
        return self._page_numbers.get(Url(url))

    def terms(self, analyser: Analyser) -> PreparedTerms:
        """The term counts of all rows, computed once per bed and analyser."""
        if analyser not in self._terms:
            self._terms[analyser] = open_terms(terms_folder(self.folder, analyser), analyser, self._all_records)
        return self._terms[analyser]

    def counts(self, url: Url, analyser: Analyser) -> Counts | None:
        """The term counts of the page at this URL, after redirects."""
        number = self.number(url)
        return None if number is None else self.terms(analyser).counts(self.page_rows[number])

    @cached_property
    def outgoing(self) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The link targets of all pages: where those of each page start, and the page numbers, in document order.

        Redirects are followed, so two links of a page may lead to the same page; links out of the bed are left out.
        """
        page_of_url = np.full(len(self.urls), -1, dtype=np.int32)
        for index, url in enumerate(self.urls):
            if url in self._rows and (number := self.number(url)) is not None:
                page_of_url[index] = number
        starts, targets = [0], []
        for row in self.page_rows:
            positions = self._outlinks[self._outlink_starts[row] : self._outlink_starts[row + 1]]
            linked = page_of_url[self._link_urls[self._link_starts[row] + positions]]
            targets.append(linked[linked >= 0])
            starts.append(starts[-1] + len(targets[-1]))
        return np.array(starts), np.concatenate(targets) if targets else np.zeros(0, dtype=np.int32)

    def links(self, url: Url) -> list[Url]:
        """The distinct URLs that a page links to (rule 6), in the bed or not; empty if the URL is not a page."""
        row = self._rows.get(url)
        if row is None or self._kinds[row] != PAGE:
            return []
        begin = self._link_starts[row]
        positions = self._outlinks[self._outlink_starts[row] : self._outlink_starts[row + 1]]
        return [self.urls[number] for number in self._link_urls[begin + positions].tolist()]

    @cached_property
    def graph(self) -> LinkGraph:
        """The links between the bed's pages, after redirects."""
        starts, targets = self.outgoing
        sources = np.repeat(np.arange(len(self.pages)), np.diff(starts))
        return numbered_graph(self.pages, sources, targets)

    def misses(self) -> dict[str, int]:
        """Number of recorded responses that are neither pages nor redirects, by reason."""
        misses: dict[str, int] = {}
        for row in self._rows.values():
            if self._kinds[row] == MISS:
                reason = self._head(row)[0]
                misses[reason] = misses.get(reason, 0) + 1
        return misses

    def _all_records(self) -> Iterator[bytes]:
        for begin, end in zip(self._record_starts, self._record_starts[1:], strict=False):
            yield self._records[begin:end]
