"""Reads recorded responses into rows of the prepared tables, in the worker processes.

Responses go through `page.landing`, as live pages do, so a replayed page equals the live page. Only robots meta tags
and `rel=nofollow` are ignored: a replay burdens no server, and the recording crawler followed these links (425 pages of
the schools bed are marked nofollow).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import NotAUrl
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
    """Rows as columns. URLs and terms are numbered within the batch; `prepare_tables` numbers them for the bed."""

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
