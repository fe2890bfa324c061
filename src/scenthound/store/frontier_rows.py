"""Convert candidates to rows of the frontier's table, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenthound.errors import FolderBroken
from scenthound.model import NOTHING, Candidate, Url
from scenthound.store.database import SAME, CrawlDatabase, as_json, as_mapping, without_surrogates

ROWS = f"""SELECT number, frontier.url, score, carry, iif(frontier.parts = '{SAME}', parents.parts, frontier.parts),
    parents.url, anchor, depth, spelling, due FROM frontier LEFT JOIN parents ON parents.id = parent"""  # noqa: S608
_AT_ONCE = 500  # rows per query


def read_entries(database: CrawlDatabase, numbers: Sequence[int]) -> Iterator[tuple[int, Candidate]]:
    """The entries with these numbers, lowest number first; a number without a row is left out."""
    candidate_of, numbers = CandidateReader(database.path), sorted(numbers)
    for start in range(0, len(numbers), _AT_ONCE):
        batch = numbers[start : start + _AT_ONCE]
        marks = ",".join("?" * len(batch))
        for row in database.rows(f"{ROWS} WHERE number IN ({marks}) ORDER BY number", batch):
            yield row[0], candidate_of(row)


class CandidateReader:
    """Makes candidates from rows. Links of one page are neighbours, so the values they share are decoded once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parent: Url | None = None
        self._parts: tuple[str | None, Mapping[str, Any]] = (None, NOTHING)
        self._anchors: dict[str, str] = {}

    def __call__(self, row: tuple[Any, ...]) -> Candidate:
        number, url, score, carry, parts, parent, anchor, depth, spelling, due = row
        if not isinstance(score, float) or not isinstance(number, int):
            raise FolderBroken(self._path, f"has an unreadable frontier entry for {url}")
        if parent != self._parent:
            self._parent = parent
        if parts != self._parts[0]:
            self._parts = (parts, as_mapping(parts) or NOTHING)
        if len(self._anchors) > 10_000:
            self._anchors.clear()
        carried = as_mapping(carry) if carry else NOTHING
        text = self._anchors.setdefault(anchor, anchor)
        spelling = url if spelling in (SAME, url) else spelling
        return Candidate(url, score, carried, self._parts[1], self._parent, text, depth, spelling, due)


class RowWriter:
    """Makes rows from candidates. Values that the links of a page share (parts and parent) are encoded once."""

    def __init__(self, database: CrawlDatabase) -> None:
        self._database = database
        self._parents: dict[Url, tuple[Any, ...]] = {}  # id and parts
        self._parts: dict[
            int, str | None
        ] = {}  # keyed by `id(parts)`, which is safe because the candidates keep their parts alive

    def __call__(self, number: int, candidate: Candidate) -> tuple[Any, ...]:
        url, score, carry, parts, parent, anchor, depth, spelling, due, _ = candidate
        if (parts_json := self._parts.get(id(parts), "")) == "":
            parts_json = self._parts[id(parts)] = as_json(parts)
        parent_id = None
        if parent is not None:
            parent_id, parts_of_parent = self._parents.get(parent) or self._add_parent(parent, parts_json)
            parts_json = SAME if parts_json is not None and parts_json == parts_of_parent else parts_json
        carry_json = as_json(carry) if carry else None
        anchor, spelling = without_surrogates(anchor), SAME if spelling == url else without_surrogates(spelling)
        return number, url, float(score), carry_json, parts_json, parent_id, anchor, depth, spelling, due

    def _add_parent(self, url: Url, parts: str | None) -> tuple[Any, ...]:
        """The id and parts of a parent's row; a new row gets the parts of the first link that is written."""
        row = self._database.row("SELECT id, parts FROM parents WHERE url = ?", (url,))
        if row is None:
            added = self._database.execute("INSERT INTO parents (url, parts) VALUES (?, ?)", (url, parts))
            row = (added.lastrowid, parts)
        self._parents[url] = row
        return row
