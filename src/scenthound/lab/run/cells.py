"""Read and write the files of one cell of an experiment: its trail, its outcome, and the seconds it took.

    trails/<cell>.jsonl     one line per page (docs/concepts/files.md), the same bytes in every run with the same
                            versions on the same CPU; `requests` is the number of requests made by the time the page
                            was fetched
    cells/<cell>.json       why it ended, misses, errors; also the same bytes. Written last: it marks the cell as done
    times/<cell>.json       measured CPU seconds, which differ from run to run

A cell's name is a readable prefix and a hash of everything that determines it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, FolderBroken, NotAUrl, from_os_error
from scenthound.files import write_bytes
from scenthound.formats import full_trail_line
from scenthound.lab.run.run_cell import CellResult
from scenthound.model import Step, Url
from scenthound.typed_data import from_json, from_plain
from scenthound.url import make

_UNSAFE = re.compile(r"[^A-Za-z0-9.=_-]+")
_LONGEST_LINE = 1_000_000  # bytes
RELEVANT_FROM = 0.1
"""The similarity from which a page is relevant, in trails of crawlers that do not say it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One crawl of an experiment. `strategy` is a label such as `best-n-first:n=64`."""

    key: str
    strategy: str
    topic: str
    seed_number: int = 0
    half: int = 0
    """0: all seeds; 1 and 2: the two disjoint halves of the seeds for measuring robustness."""
    oracle: bool = False

    @property
    def about(self) -> dict[str, Any]:
        """The cell as a line of `cells.jsonl`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a finished cell ended: the content of `cells/<cell>.json`."""

    pages: int
    reason: str
    attempts: int = 0
    misses: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    links_scored: int = 0
    waiting: int = 0
    error: str = ""
    given: tuple[str, ...] = ()
    """What the lab gave the strategy beyond keywords and seeds: some of `handover.KINDS`."""
    polite: Mapping[str, float] = field(default_factory=dict)
    """Figures of a polite replay, as in `CellResult`. Left out of the file for other cells."""
    selected: Mapping[str, int] = field(default_factory=dict)
    """Selected pages of a strategy that fetches more than it selects, as in `CellResult`. Left out if empty."""


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds of a cell: the content of `times/<cell>.json`. Old files lack some of them."""

    rank_seconds: list[float] = field(default_factory=list)
    text_seconds: float = 0.0
    train_seconds: float = 0.0


def cell_key(strategy: str, topic: str, seed_number: int, half: int, determined_by: Any) -> str:
    """The cell's file name: readable, and different whenever the trail could differ."""
    prefix = [_UNSAFE.sub("_", part)[:40] for part in (strategy, topic)]
    prefix += [str(seed_number)] + ([f"half{half}"] if half else [])
    text = json.dumps(determined_by, sort_keys=True, ensure_ascii=False, default=str)
    return "--".join(prefix) + "-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def save_cell(folder: Path, key: str, result: CellResult) -> Outcome:
    """Write the files of a cell, each whole or not at all."""
    outcome = Outcome(
        len(result.steps),
        result.reason,
        result.attempts,
        result.misses,
        result.dropped,
        result.links_scored,
        result.waiting,
        result.error,
        result.given,
        result.polite,
        result.selected,
    )
    lines = zip(map(full_trail_line, result.steps), result.requests, strict=True)
    write_lines(folder / "trails" / f"{key}.jsonl", ({**fields, "requests": requests} for fields, requests in lines))
    times = Times(result.rank_seconds, result.text_seconds, result.train_seconds)
    write_bytes(folder / "times" / f"{key}.json", (_json_line(asdict(times)) + "\n").encode())
    fields = {name: value for name, value in asdict(outcome).items() if name not in ("polite", "selected") or value}
    write_bytes(folder / "cells" / f"{key}.json", (json.dumps(fields, indent=1, sort_keys=True) + "\n").encode())
    return outcome


def load_outcome(folder: Path, key: str) -> Outcome | None:
    """The outcome of a cell; None if the cell is not done."""
    try:
        return from_json((folder / "cells" / f"{key}.json").read_bytes(), Outcome)
    except (FileNotFoundError, ValueError):
        return None


def load_cells(file: Path) -> tuple[Cell, ...]:
    """The cells listed in `cells.jsonl`. Raises `FolderBroken` for a line that is not a cell."""
    cells = []
    for line_number, fields in enumerate(read_lines(file), 1):
        try:
            cells.append(from_plain(fields, Cell))
        except ValueError:
            cells = []
        if not cells or _UNSAFE.search(cells[-1].key):  # the key is used in file names
            raise FolderBroken(
                file, f"does not describe a crawl in line {line_number}", "run the same `scenthound lab run` again"
            )
    return tuple(cells)


def load_trail(folder: Path, key: str) -> list[Step]:
    return list(read_trail(folder / "trails" / f"{key}.jsonl"))


def load_requests(folder: Path, key: str) -> list[int] | None:
    """Requests made by the time each page was fetched; None if not recorded (older versions, other crawlers)."""
    lines = read_lines(folder / "trails" / f"{key}.jsonl")
    counts = [count for line in lines if isinstance(count := line.get("requests"), int) and count > 0]
    return counts if len(counts) == len(lines) else None


def load_seconds(folder: Path, key: str) -> list[float] | None:
    """CPU seconds of ranking by the time each page was fetched; None if not measured (oracles, other crawlers)."""
    return _load_times(folder, key).rank_seconds or None


def load_cpu_seconds(folder: Path, key: str) -> list[float] | None:
    """`load_seconds` plus the text processing that the strategy asked for: what a crawler is charged for (rule 14).

    Runs made before text processing was charged lack its figure; it then counts as 0.
    """
    ranking, text = load_seconds(folder, key), _load_times(folder, key).text_seconds
    return None if ranking is None else [seconds + text * page for page, seconds in enumerate(ranking, 1)]


def load_training(folder: Path, key: str) -> float:
    """CPU seconds that a cell's strategy spent on training."""
    return _load_times(folder, key).train_seconds


def _load_times(folder: Path, key: str) -> Times:
    try:
        return from_json((folder / "times" / f"{key}.json").read_bytes(), Times)
    except (FileNotFoundError, ValueError):
        return Times()


def _json_line(fields: Mapping[str, Any]) -> str:
    """One line of JSON, in ASCII, so that it contains no terminal control codes."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def read_trail(path: Path) -> Iterator[Step]:
    """The pages of a trail, ours or another crawler's: JSON lines with at least a `url`, which is made canonical.

    Lines with `"n": null` are misses and are left out. Raises `BadConfig` for a line that is not JSON or has no URL.
    """
    page_number = 0
    try:
        file = path.open("rb")
    except OSError as error:
        raise from_os_error(error, path, BadConfig(f"the trail {path} can't be read: {error.strerror}")) from None
    with file:
        for line_number, raw in enumerate(_lines(file), 1):
            fields = _fields(raw, f"{path} line {line_number}")
            if fields is not None:
                page_number += 1
                yield _step(fields, page_number, f"{path} line {line_number}")


def _lines(file: Any) -> Iterator[bytes]:
    while raw := file.readline(_LONGEST_LINE):
        if raw.strip():
            yield raw


def _fields(raw: bytes, where: str) -> Mapping[str, Any] | None:
    hint = "a trail has one JSON object with a `url` per line"
    try:
        fields = json.loads(raw)
    except ValueError:
        raise BadConfig(f"{where} is not JSON", hint) from None
    if isinstance(fields, str):
        return {"url": fields}
    if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
        raise BadConfig(f"{where} has no `url`", hint)
    return None if "n" in fields and fields["n"] is None else fields


def _step(fields: Mapping[str, Any], page_number: int, where: str) -> Step:
    try:
        url = make(fields["url"])
        parent, requested = (_url(fields.get(name)) for name in ("parent", "requested"))
    except NotAUrl as error:
        raise BadConfig(f"{where}: {error.message}") from None
    parts = fields.get("parts")
    return Step(
        page_number,
        url,
        parent,
        _text(fields.get("anchor")),
        _score(fields.get("score", 0.0)),
        {str(name): _number(value) for name, value in parts.items()} if isinstance(parts, dict) else {},
        _number(fields.get("similarity")),
        int(_number(fields.get("depth"))),
        int(_number(fields.get("status", 200))),
        int(_number(fields.get("bytes"))),
        _number(fields.get("time")),
        _text(fields.get("title")),
        int(_number(fields.get("rank", 1))),
        requested,
        relevance=_number(fields.get("relevance", fields.get("similarity"))),
        relevant=bool(fields.get("relevant", _number(fields.get("similarity")) >= RELEVANT_FROM)),
    )


def _url(raw: object) -> Url | None:
    return make(raw) if isinstance(raw, str) and raw else None


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _score(raw: object) -> float:
    """A score: null is the infinite score of a seed. Older trails have the text "inf"."""
    if raw is None or raw == "inf":
        return math.inf
    return -math.inf if raw == "-inf" else _number(raw)


def _number(raw: object) -> float:
    return float(raw) if isinstance(raw, (int, float)) and math.isfinite(raw) else 0.0


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_bytes(path, "".join(f"{_json_line(row)}\n" for row in rows).encode())


def read_lines(path: Path) -> Sequence[dict[str, Any]]:
    """The JSON objects of one of our files; none if the file is missing."""
    try:
        lines = [json.loads(raw) for raw in path.read_bytes().splitlines() if raw.strip()]
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError):
        lines = [None]
    if not all(isinstance(fields, dict) for fields in lines):
        raise BadConfig(f"{path} is not a file of JSON objects, one per line", "put the original back")
    return lines
