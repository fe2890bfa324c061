"""A bed made ready for replay: what `fetch` gives is what the live driver would have given, only sooner.

    bed = prepare(Bed.open("beds/schools"))
    replay(crawl, bed.fetch)

The tables lie in the user's cache folder (`prepared_cache`), are shared by all processes that read them, and are
built anew when the bed or the code that reads pages has changed. A strategy never meets this object: the pages it
is handed hold their own record and nothing of others (`prepared_document`). What follows from a page alone is worked
out once in a process and handed to the next crawl that comes by.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any

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
    mapped,
    prune,
    used,
)
from scenthound.lab.beds.prepare_pages import MISS, MOVED, PAGE, Cut
from scenthound.lab.beds.prepare_tables import Progress, terms_folder, write_tables
from scenthound.lab.beds.prepared_document import PreparedDocument, PreparedPage
from scenthound.lab.beds.terms import PreparedTerms, file_bytes, open_terms
from scenthound.lab.beds.unchangeable import own_counts
from scenthound.model import Candidate, Link, Miss, Moved, Page, Url
from scenthound.text.lasting import WHOLE
from scenthound.text.terms import Terms
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts

RECALLED = 6_000  # pages of which is known what was derived: a bed like schools fits
REMEMBERED = 400_000  # links kept ready between visits: some 60 MB; a bed like schools fits
HOPS = 10  # redirects followed when a recorded URL is asked for its page, as in the loop

Numbers = npt.NDArray[np.int32]
_Links = tuple[str, tuple[Link, ...], tuple[Link, ...]]


def prepare(web: Web, cut: Cut | None = None, jobs: int = 2, progress: Progress | None = None) -> PreparedBed:
    """The prepared form of a bed or a generated web; built now, by `jobs` processes, unless it is in the cache."""
    cut = cut or Cut()
    folder = cache_folder() / "prepared" / f"{digest_of(web)[:20]}-{fingerprint(cut)[:20]}"
    if load_about(folder) is None:
        build_folder(folder, lambda aside: write_tables(web, aside, cut, jobs, progress))
    if load_about(folder) is None:  # somebody's remains stand in the way: a folder that lost some of its files
        _move_aside(folder)
        build_folder(folder, lambda aside: write_tables(web, aside, cut, jobs, progress))
    used(folder)
    prune(folder)
    return PreparedBed(folder)


class PreparedBed:
    """An open prepared bed. `analysers` are those whose counts every fetched page brings along."""

    def __init__(self, folder: Path, analysers: Sequence[Analyser] = (Analyser(),)) -> None:
        about = load_about(folder)
        if about is None:
            raise FolderBroken(f"no prepared bed in {folder}", "it is made again when the bed is opened next")
        self.folder, self.name = folder, str(about["name"])
        faults = about["faults"]
        self.faults: list[str] = faults if isinstance(faults, list) else []
        """Records that could not be used, one line each."""
        blob = (folder / "urls").read_bytes().decode("utf-8", "surrogatepass")
        self.urls: list[Url] = list(map(Url, blob.split("\n"))) if blob else []
        """Every URL that is recorded or linked to, by number."""
        rows = mapped(folder, "rows", "<i4").reshape(-1, 4)
        self._kinds, self._statuses, self._sizes, self._numbers = rows.T.tolist()
        self._row_of_url = mapped(folder, "row-of-url", "<i4")
        self._rows = {self.urls[n]: row for n, row in enumerate(self._row_of_url.tolist()) if row >= 0}
        self._starts = {
            name: mapped(folder, f"{name}-starts", "<i8") for name in ("heads", "records", "links", "outlinks")
        }
        self._heads_at, self._records_at, self._links_at, self._outlinks_at = (
            s.tolist() for s in self._starts.values()
        )
        self._link_urls = mapped(folder, "links", "<i4")
        self._flags = mapped(folder, "flags", "u1")
        self._outlinks = mapped(folder, "outlinks", "<i4")
        self._heads, self._records = file_bytes(folder / "heads"), file_bytes(folder / "records")
        self._terms: dict[Analyser, PreparedTerms] = {}
        self._ready: dict[int, _Links] = {}
        self._ready_links = 0
        self._found_out: dict[int, dict[Hashable, Any]] = {}
        self.bring(*analysers)

    # ---- what a driver asks

    def bring(self, *analysers: Analyser, numbered: Sequence[Analyser] = (), owner: type | None = None) -> None:
        """From now on pages come with their counts by these analysers and no others; by some with numbers as well.
        What strategies work out about a page is kept for those of the same class: the `owner` from now on."""
        self._owner = owner
        self._brought = [
            (("counts", analyser), (WHOLE, analyser), self.terms(analyser)) for analyser in dict.fromkeys(analysers)
        ]
        self._numbered = [
            (("numbered", analyser), analyser, self.terms(analyser)) for analyser in dict.fromkeys(numbered)
        ]

    def fetch(self, candidate: Candidate) -> Page | Miss | Moved:
        """What the web answered; a URL that the bed lacks is a 404."""
        row = self._rows.get(candidate.url)
        if row is None:
            return Miss(candidate, "http-404", status=404)
        kind, status, size = self._kinds[row], self._statuses[row], self._sizes[row]
        if kind == PAGE:
            title, links, outlinks = self._ready.get(row) or self._make_ready(row)
            record = self._records[self._records_at[row] : self._records_at[row + 1]]
            known = self._recall(row)
            memo: dict[Hashable, Any] = {"outlinks": outlinks}
            for key, whole, terms in self._brought:
                if whole in known and key not in known:  # somebody looked at every word: soon somebody will again
                    known[key] = terms.counts(row)
                memo[key] = own_counts(known[key]) if key in known else terms.folded(row)
            placed: dict[Analyser, tuple[Terms, bytes]] = {}
            for key, analyser, terms in self._numbered:
                memo[key], places = terms.numbered(row)
                placed[analyser] = (memo[key].terms, places)
            shared = (known, title, links, outlinks, record, placed, self._owner)
            document = PreparedDocument(title, links, record, shared, placed)
            return PreparedPage(self.urls[self._numbers[row]], candidate, document, status, size, 0.0, memo)
        first, second = self._head(row)[:2]
        if kind == MOVED:
            return Moved(candidate, Url(first), second, status, size)
        return Miss(candidate, first, second, status, size)

    def _recall(self, row: int) -> dict[Hashable, Any]:
        """What was found out about a page on earlier visits; of the pages seen longest ago it is forgotten."""
        known = self._found_out.pop(row, None)
        if known is None:
            known = {}
            if len(self._found_out) >= RECALLED:
                del self._found_out[next(iter(self._found_out))]
        self._found_out[row] = known
        return known

    def _make_ready(self, row: int) -> _Links:
        head = self._head(row)
        begin, end = self._links_at[row : row + 2]
        size = end - begin
        urls = list(map(self.urls.__getitem__, self._link_urls[begin:end].tolist()))
        spelled = head[size + 1 :]
        spellings = [spelling or url for spelling, url in zip(spelled, urls, strict=True)] if spelled else urls
        flags = map(bool, self._flags[begin:end].tolist())
        fields = zip(urls, head[1 : size + 1], spellings, range(size), flags, strict=True)
        links = tuple(map(tuple.__new__, repeat(Link), fields))
        begin, end = self._outlinks_at[row : row + 2]
        made = (head[0], links, tuple(map(links.__getitem__, self._outlinks[begin:end].tolist())))
        if self._ready_links > REMEMBERED:
            self._ready.clear()
            self._ready_links = 0
        self._ready[row] = made
        self._ready_links += size
        return made

    def _head(self, row: int) -> list[str]:
        return self._heads[self._heads_at[row] : self._heads_at[row + 1]].decode("utf-8", "surrogatepass").split("\n")

    # ---- what the judge asks

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
        """The URLs of all pages; a page's place here is its number."""
        return [self.urls[self._numbers[row]] for row in self.page_rows]

    @cached_property
    def _page_numbers(self) -> dict[Url, int]:
        return {url: number for number, url in enumerate(self.pages)}

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """The recorded redirects: URL to where it leads."""
        return {str(url): self._head(row)[0] for url, row in self._rows.items() if self._kinds[row] == MOVED}

    def number(self, url: str) -> int | None:
        """The number of the page that a request for this URL ends at."""
        for _ in range(HOPS + 1):
            if url not in self.aliases:
                break
            url = self.aliases[url]
        return self._page_numbers.get(Url(url))

    def terms(self, analyser: Analyser) -> PreparedTerms:
        """Term counts of all rows, computed once per bed and analyser."""
        if analyser not in self._terms:
            self._terms[analyser] = open_terms(terms_folder(self.folder, analyser), analyser, self._all_records)
        return self._terms[analyser]

    def counts(self, url: Url, analyser: Analyser) -> Counts | None:
        """The term counts of the page that this URL ends at."""
        number = self.number(url)
        return None if number is None else self.terms(analyser).counts(self.page_rows[number])

    @cached_property
    def outgoing(self) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The page numbers that each page leads to, in document order of first mention: starts, and all numbers.

        Redirects are followed, so two links of a page may lead to one page; links out of the bed are left out.
        """
        leads = np.full(len(self.urls), -1, dtype=np.int32)
        for place, url in enumerate(self.urls):
            if url in self._rows and (number := self.number(url)) is not None:
                leads[place] = number
        starts, found = [0], []
        for row in self.page_rows:
            places = self._outlinks[self._outlinks_at[row] : self._outlinks_at[row + 1]]
            linked = leads[self._link_urls[self._links_at[row] + places]]
            found.append(linked[linked >= 0])
            starts.append(starts[-1] + len(found[-1]))
        return np.array(starts), np.concatenate(found) if found else np.zeros(0, dtype=np.int32)

    def links(self, url: Url) -> list[Url]:
        """The distinct URLs a page links to (rule 6), in the bed or not; nothing for what is no page."""
        row = self._rows.get(url)
        if row is None or self._kinds[row] != PAGE:
            return []
        begin = self._links_at[row]
        places = self._outlinks[self._outlinks_at[row] : self._outlinks_at[row + 1]]
        return [self.urls[number] for number in self._link_urls[begin + places].tolist()]

    @cached_property
    def graph(self) -> LinkGraph:
        """The links among the bed's pages, redirects followed."""
        starts, targets = self.outgoing
        sources = np.repeat(np.arange(len(self.pages)), np.diff(starts))
        return numbered_graph(self.pages, sources, targets)

    def misses(self) -> dict[str, int]:
        """Recorded answers that are no pages and lead nowhere, by reason."""
        found: dict[str, int] = {}
        for row in self._rows.values():
            if self._kinds[row] == MISS:
                reason = self._head(row)[0]
                found[reason] = found.get(reason, 0) + 1
        return found

    def _all_records(self) -> Iterator[bytes]:
        for begin, end in zip(self._records_at, self._records_at[1:], strict=False):
            yield self._records[begin:end]


def _move_aside(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
