"""`ReplayBed`, the interface of beds for replays and measures, prepared or generated on the fly; and what a prepared
bed keeps: the term counts of its pages, and views of pages.

Term counts are columns in memory-mapped files, one set for each analyser. Measures use them, since they need many pages
at once; a fetched page has its own counts in its record.

Views are kept for the next crawl in the same process. A strategy could modify whatever it can reach, so it never gets
the kept objects: they are computed from the bed's copy of the record, with the bed's copy of the analyser, and every
visit gets new arrays. A page has only a weak reference to the bed, as in `run.handover`.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from weakref import ref

import numpy as np
import numpy.typing as npt

from scenthound.graph.link_graph import LinkGraph
from scenthound.lab.beds.cache import build_folder, load_about, memory_map, save_about
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.link_text import link_text
from scenthound.page.page import Page
from scenthound.page.record import Parts, Record
from scenthound.page.views import KEPT
from scenthound.text.term_counts import Numbering, SharedIds, TermCounts, pack_terms, terms_of
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts


class ReplayBed(Protocol):
    """A bed that is ready for replay. Pages are numbered from 0; redirects are not pages."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str:
        """A key for everything that determines the results of `fetch`."""
        ...

    @property
    def reopen(self) -> Callable[[], ReplayBed]:
        """A function that opens this bed in another process."""
        ...

    @property
    def has_terms(self) -> bool:
        """Whether `terms` is available, which requires that all pages have been read."""
        ...

    def read_parts(self, parts: Parts) -> None: ...
    def fetch(self, candidate: Candidate) -> Page | Miss | Moved: ...
    def __contains__(self, url: object) -> bool: ...
    def __len__(self) -> int: ...
    @property
    def pages(self) -> Sequence[Url]: ...
    @property
    def page_rows(self) -> Sequence[int]:
        """The row of each page in `terms`, by the page's number."""
        ...

    @property
    def aliases(self) -> Mapping[str, str]: ...
    def number(self, url: str) -> int | None: ...
    def terms(self, analyser: Analyser) -> PreparedTerms: ...
    def counts(self, url: Url, analyser: Analyser) -> Counts | None: ...
    @property
    def outgoing(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    def links(self, url: Url) -> list[Url]: ...
    @property
    def graph(self) -> LinkGraph: ...


CHUNK = 1 << 20  # term ids renumbered at a time
Numbers = npt.NDArray[np.int32]


class TermsWriter:
    """Writes the columns, page by page.

    Term ids depend on the words of the bed, not on the order of its pages.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._numbers: dict[str, int] = {}
        self._starts = [0]
        self._squares: list[int] = []
        self._ids = (folder / "terms").open("wb")
        self._lines = (folder / "lines").open("wb")
        self._lines_starts = [0]
        self._counts = (folder / "counts").open("wb")

    def add(self, vocabulary: list[str], ids: Numbers, counts: Numbers, sizes: list[int]) -> None:
        """Add rows, one after the other: `sizes` are their numbers of terms, `ids` are indices into `vocabulary`."""
        bed_ids = [self._numbers.setdefault(term, len(self._numbers)) for term in vocabulary]
        if len(ids):
            self._ids.write(np.array(bed_ids, dtype="<i4")[ids].tobytes())
            self._counts.write(counts.astype("<i4").tobytes())
        start = 0
        squares = counts.astype(np.int64) ** 2
        names = list(map(vocabulary.__getitem__, ids.tolist()))
        for size in sizes:
            self._squares.append(int(squares[start : start + size].sum()))
            self._starts.append(self._starts[-1] + size)
            lines = pack_terms(names[start : start + size])
            self._lines.write(lines)
            self._lines_starts.append(self._lines_starts[-1] + len(lines))
            start += size

    def close(self, analyser: Analyser) -> None:
        self._ids.close()
        self._lines.close()
        self._counts.close()
        words = sorted(self._numbers, key=_hash_order)
        self._renumber(words)
        np.array(self._starts, dtype="<i8").tofile(self._folder / "starts")
        np.array(self._lines_starts, dtype="<i8").tofile(self._folder / "lines-starts")
        np.array(self._squares, dtype="<i8").tofile(self._folder / "squares")
        (self._folder / "vocabulary").write_bytes("\n".join(words).encode("utf-8", "surrogatepass"))
        save_about(self._folder, {"analyser": analyser.name, "rows": len(self._squares), "terms": len(words)})

    def _renumber(self, words: list[str]) -> None:
        """Replace the ids assigned while writing by the positions in `words`."""
        final = np.zeros(len(words), dtype="<i4")
        final[[self._numbers[word] for word in words]] = np.arange(len(words), dtype="<i4")
        with (self._folder / "terms").open("r+b") as file:
            while chunk := file.read(4 * CHUNK):
                file.seek(-len(chunk), os.SEEK_CUR)
                file.write(final[np.frombuffer(chunk, "<i4")].tobytes())


class PreparedTerms:
    """Term counts by row. Each call of `counts` returns a new object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        about = load_about(folder) or {}
        self._numbering = Numbering(f"{folder.parent.name}/{folder.name}", int(str(about["terms"])))
        self.starts = memory_map(folder, "starts", "<i8")
        self.ids = memory_map(folder, "terms", "<i4")
        self.frequencies = memory_map(folder, "counts", "<i4")
        self.squares = memory_map(folder, "squares", "<i8")
        self._starts: list[int] = self.starts.tolist()
        self._squares: list[int] = self.squares.tolist()
        self._lines_starts: list[int] = memory_map(folder, "lines-starts", "<i8").tolist()
        self._lines, self._counts, self._ids = (file_bytes(folder / name) for name in ("lines", "counts", "terms"))

    @cached_property
    def vocabulary(self) -> list[str]:
        """Every term of the bed, by id."""
        words = (self._folder / "vocabulary").read_bytes().decode("utf-8", "surrogatepass")
        return words.split("\n") if words else []

    def packed(self, row: int) -> TermCounts:
        """The row's counts in the form of a record."""
        begin, end = self._starts[row : row + 2]
        first, last = self._lines_starts[row : row + 2]
        return TermCounts(self._lines[first:last], self._counts[4 * begin : 4 * end], self.shared_ids(row))

    def shared_ids(self, row: int) -> SharedIds:
        """The ids of the row's terms, in the numbering of the bed."""
        ids = self._ids[4 * self._starts[row] : 4 * self._starts[row + 1]]
        return SharedIds(ids, self._numbering, self._squares[row])

    def counts(self, row: int) -> Counts:
        """The row's counts; the strings are shared by all rows."""
        begin, end = self._starts[row], self._starts[row + 1]
        terms = map(self.vocabulary.__getitem__, self.ids[begin:end].tolist())
        counts = Counts(zip(terms, self.frequencies[begin:end].tolist(), strict=True))
        counts._square = self._squares[row]
        return counts


def open_terms(folder: Path, analyser: Analyser, records: Callable[[], Iterable[bytes]]) -> PreparedTerms:
    """The terms in `folder`; if missing, computed from the pages' records (one per row, empty without a page)."""
    if load_about(folder) is None:

        def build(temporary: Path) -> None:
            writer, parts = TermsWriter(temporary), Parts((analyser,))
            for record in records():
                names, counts = terms_of(Record.from_bytes(record, parts).counts(analyser) if record else {})
                writer.add(list(names), np.arange(len(names), dtype="<i4"), counts, [len(names)])
            writer.close(analyser)

        build_folder(folder, build)
    return PreparedTerms(folder)


def _hash_order(word: str) -> tuple[bytes, str]:
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), word


def file_bytes(path: Path) -> mmap.mmap | bytes:
    """The bytes of a file, mapped into memory; slices are copies."""
    if not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


Key = tuple[Callable[..., Any], str, bool]
"""The function, the name of the stop list, and whether words are stemmed."""
Views = dict[Key, Any]


class KeepsViews(Protocol):
    """A bed that keeps views, by the rows of its pages."""

    def read(self, row: int) -> Record: ...
    def views(self, row: int) -> Views: ...


class PageViews:
    """Access to the kept views of one page, held by the page."""

    __slots__ = ("_bed", "_row")

    def __init__(self, bed: ref[KeepsViews], row: int) -> None:
        self._bed, self._row = bed, row

    def key(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Key | None:
        """The key of a view; None unless it is one of `page.views.KEPT` with one of our analysers."""
        analyser = portable(arguments[0]) if len(arguments) == 1 else None
        if analyser is None or not isinstance(analyser.stop_words, str):
            return None
        # Not `in`: a plug-in's function may claim to be equal to one of them.
        is_kept = any(function is view for view in (*KEPT, link_text))
        return (function, analyser.stop_words, analyser.stem) if is_kept else None

    def find(self, key: Key) -> Any | None:
        """The view from an earlier visit; None if there is none."""
        bed = self._bed()
        view = None if bed is None else bed.views(self._row).get(key)
        return None if view is None else view._make(map(_opened, view))

    def make(self, key: Key) -> Any | None:
        """Compute the view and keep it; None if the bed is gone."""
        bed = self._bed()
        if bed is None:
            return None
        function, stop_words, stem = key
        view = function(bed.read(self._row), Analyser(stop_words, stem))
        kept = bed.views(self._row)[key] = view._make(map(_packed, view))
        return kept._make(map(_opened, kept))


def portable(analyser: object) -> Analyser | None:
    """A private copy of the analyser; None if it has another class, which may compute any terms."""
    if type(analyser) is not Analyser or type(analyser.stem) is not bool:
        return None
    words = analyser.stop_words
    is_plain = type(words) is str or (type(words) is frozenset and all(type(word) is str for word in words))
    return Analyser(words, analyser.stem) if is_plain else None


class _Column(NamedTuple):
    """A column of numbers as it is kept. An array over these bytes is read-only, but its shape can be changed; so every
    visit gets a new array, and all arrays share the bytes."""

    data: bytes
    shape: tuple[int, ...]


def _packed(part: Any) -> Any:
    return _Column(part.tobytes(), part.shape) if isinstance(part, np.ndarray) else part


def _opened(part: Any) -> Any:
    match part:
        case _Column(data, shape):
            return np.frombuffer(data, np.int32).reshape(shape)
        case MappingProxyType():
            return MappingProxyType(dict(part))
    return part
