"""The term counts of every page of a prepared bed for one analyser, as columns in memory-mapped files.

For measuring, which needs many pages at once. A fetched page has its own counts in its record.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scenthound.lab.beds.cache import build_folder, load_about, mapped, save_about
from scenthound.page.record import Parts, Record
from scenthound.text.term_counts import Numbering, SharedIds, TermCounts, pack_terms, terms_of
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts

CHUNK = 1 << 20  # numbers read at once
Numbers = npt.NDArray[np.int32]


class TermsWriter:
    """Takes the pages in order and writes the columns.

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
        """Add rows: their terms by number in `vocabulary`, one row after the other, `sizes` terms each."""
        own = [self._numbers.setdefault(term, len(self._numbers)) for term in vocabulary]
        if len(ids):
            self._ids.write(np.array(own, dtype="<i4")[ids].tobytes())
            self._counts.write(counts.astype("<i4").tobytes())
        at = 0
        squares = counts.astype(np.int64) ** 2
        names = list(map(vocabulary.__getitem__, ids.tolist()))
        for size in sizes:
            self._squares.append(int(squares[at : at + size].sum()))
            self._starts.append(self._starts[-1] + size)
            lines = pack_terms(names[at : at + size])
            self._lines.write(lines)
            self._lines_starts.append(self._lines_starts[-1] + len(lines))
            at += size

    def close(self, analyser: Analyser) -> None:
        self._ids.close()
        self._lines.close()
        self._counts.close()
        words = sorted(self._numbers, key=_scattered)
        self._renumber(words)
        np.array(self._starts, dtype="<i8").tofile(self._folder / "starts")
        np.array(self._lines_starts, dtype="<i8").tofile(self._folder / "lines-starts")
        np.array(self._squares, dtype="<i8").tofile(self._folder / "squares")
        (self._folder / "vocabulary").write_bytes("\n".join(words).encode("utf-8", "surrogatepass"))
        save_about(self._folder, {"analyser": analyser.name, "rows": len(self._squares), "terms": len(words)})

    def _renumber(self, words: list[str]) -> None:
        """Replace the numbers assigned while writing by the positions in `words`."""
        final = np.zeros(len(words), dtype="<i4")
        final[[self._numbers[word] for word in words]] = np.arange(len(words), dtype="<i4")
        with (self._folder / "terms").open("r+b") as file:
            while chunk := file.read(4 * CHUNK):
                file.seek(-len(chunk), os.SEEK_CUR)
                file.write(final[np.frombuffer(chunk, "<i4")].tobytes())


class PreparedTerms:
    """Term counts by row. Each call makes a new `Counts`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        about = load_about(folder) or {}
        self._numbering = Numbering(f"{folder.parent.name}/{folder.name}", int(str(about["terms"])))
        self.starts = mapped(folder, "starts", "<i8")
        self.ids = mapped(folder, "terms", "<i4")
        self.frequencies = mapped(folder, "counts", "<i4")
        self.squares = mapped(folder, "squares", "<i8")
        self._starts: list[int] = self.starts.tolist()
        self._squares: list[int] = self.squares.tolist()
        self._lines_starts: list[int] = mapped(folder, "lines-starts", "<i8").tolist()
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
        made = Counts(zip(terms, self.frequencies[begin:end].tolist(), strict=True))
        made._square = self._squares[row]
        return made


def open_terms(folder: Path, analyser: Analyser, records: Callable[[], Iterable[bytes]]) -> PreparedTerms:
    """The terms in `folder`; if missing, computed from the pages' records (one per row, empty for no page)."""
    if load_about(folder) is None:

        def build(aside: Path) -> None:
            writer = TermsWriter(aside)
            for record in records():
                wanted = Parts((analyser,))
                counts = Record.from_bytes(record, wanted).counts(analyser) if record else {}
                names, times = terms_of(counts)
                writer.add(list(names), np.arange(len(names), dtype="<i4"), times, [len(names)])
            writer.close(analyser)

        build_folder(folder, build)
    return PreparedTerms(folder)


def _scattered(word: str) -> tuple[bytes, str]:
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), word


def file_bytes(path: Path) -> mmap.mmap | bytes:
    """A file as bytes whose slices are copies."""
    if not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
