"""The files of one cell of an experiment: its trail, what came of it, and the seconds it took.

    trails/<cell>.jsonl     one line a page (docs/concepts/files.md), the same bytes whenever it is run again
    cells/<cell>.json       why it ended, misses, errors; the same bytes as well. Written last: its presence means done
    times/<cell>.json       measured CPU seconds, which never repeat

A cell's name is a readable prefix and a hash of everything that determines it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, NotAUrl
from scenthound.files import write_bytes
from scenthound.formats import full_trail_line
from scenthound.lab.run.run_cell import CellResult
from scenthound.model import Step, Url
from scenthound.url import make

_UNFIT = re.compile(r"[^A-Za-z0-9.=_-]+")
LONGEST_LINE = 1_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One crawl of an experiment. `strategy` is how it was asked for, as `best-n-first:n=64`."""

    key: str
    strategy: str
    topic: str
    seed_number: int = 0
    half: int = 0
    """0: all seeds; 1 and 2: the disjoint halves of them that robustness is measured with."""
    oracle: bool = False

    @property
    def about(self) -> dict[str, Any]:
        """The cell as a line of `cells.jsonl`."""
        return {name: getattr(self, name) for name in Cell.__slots__}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a finished cell says of itself."""

    pages: int
    reason: str
    attempts: int = 0
    misses: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    links_scored: int = 0
    waiting: int = 0
    error: str = ""
    given: tuple[str, ...] = ()
    """What the lab handed to the strategy beyond the topic and seeds, of `handover.KINDS`."""


def cell_key(strategy: str, topic: str, seed_number: int, half: int, determined_by: Any) -> str:
    """The cell's file name: readable, and different for everything that could make its trail differ."""
    shown = [_UNFIT.sub("_", part)[:40] for part in (strategy, topic)]
    shown += [str(seed_number)] + ([f"half{half}"] if half else [])
    text = json.dumps(determined_by, sort_keys=True, ensure_ascii=False, default=str)
    return "--".join(shown) + "-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    )
    fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
    trail = "".join(f"{line(full_trail_line(step))}\n" for step in result.steps)
    write_bytes(folder / "trails" / f"{key}.jsonl", trail.encode())
    seconds = {"rank_seconds": result.rank_seconds, "train_seconds": result.train_seconds}
    write_bytes(folder / "times" / f"{key}.json", (line(seconds) + "\n").encode())
    write_bytes(folder / "cells" / f"{key}.json", (json.dumps(fields, indent=1, sort_keys=True) + "\n").encode())
    return outcome


def load_outcome(folder: Path, key: str) -> Outcome | None:
    """What came of a cell; None while it is not done."""
    try:
        fields = json.loads((folder / "cells" / f"{key}.json").read_bytes())
        return Outcome(**{**fields, "given": tuple(fields.get("given", ()))})
    except (OSError, ValueError, TypeError):
        return None


def load_trail(folder: Path, key: str) -> list[Step]:
    return list(read_trail(folder / "trails" / f"{key}.jsonl"))


def load_seconds(folder: Path, key: str) -> list[float] | None:
    """CPU seconds spent in ranking by each page; None where they were not measured (oracles, strangers)."""
    try:
        seconds = json.loads((folder / "times" / f"{key}.json").read_bytes())["rank_seconds"]
    except (OSError, ValueError, KeyError):
        return None
    return seconds or None


def load_training(folder: Path, key: str) -> float:
    """CPU seconds that a cell's strategy spent in learning before it crawled."""
    try:
        return float(json.loads((folder / "times" / f"{key}.json").read_bytes())["train_seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def line(fields: Mapping[str, Any]) -> str:
    """One line of JSON, ASCII only: nothing in it that a terminal or an editor could obey."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def read_trail(path: Path) -> Iterator[Step]:
    """The pages of a trail, ours or a stranger's: JSON lines with at least a `url` each, made canonical.

    Lines without a number of their own (`"n": null`, misses of ours) are no pages and are left out. Raises
    `BadConfig` that names the line where something is no JSON, or has no URL.
    """
    number = 0
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadConfig(f"the trail {path} can't be read: {error.strerror}") from None
    with file:
        for place, raw in enumerate(_lines(file), 1):
            fields = _fields(raw, path, place)
            if fields is None:
                continue
            number += 1
            yield _step(fields, number, f"{path} line {place}")


def _lines(file: Any) -> Iterator[bytes]:
    while raw := file.readline(LONGEST_LINE):
        if raw.strip():
            yield raw


def _fields(raw: bytes, path: Path, place: int) -> Mapping[str, Any] | None:
    try:
        fields = json.loads(raw)
    except ValueError:
        raise BadConfig(f"{path} line {place} is not JSON", "a trail has one JSON object with a `url` a line") from None
    if isinstance(fields, str):
        return {"url": fields}
    if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
        raise BadConfig(f"{path} line {place} has no `url`", "a trail has one JSON object with a `url` a line")
    return None if "n" in fields and fields["n"] is None else fields


def _step(fields: Mapping[str, Any], number: int, where: str) -> Step:
    try:
        url = make(fields["url"])
        parent, requested = (_url(fields.get(name)) for name in ("parent", "requested"))
    except NotAUrl as error:
        raise BadConfig(f"{where}: {error.message}") from None
    parts = fields.get("parts")
    return Step(
        number,
        url,
        parent,
        _text(fields.get("anchor")),
        _number(fields.get("score")),
        {str(name): _number(value) for name, value in parts.items()} if isinstance(parts, dict) else {},
        _number(fields.get("similarity")),
        int(_number(fields.get("depth"))),
        int(_number(fields.get("status", 200))),
        int(_number(fields.get("bytes"))),
        _number(fields.get("time")),
        _text(fields.get("title")),
        int(_number(fields.get("rank", 1))),
        requested,
    )


def _url(raw: object) -> Url | None:
    return make(raw) if isinstance(raw, str) and raw else None


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _number(raw: object) -> float:
    if isinstance(raw, str) and raw in ("inf", "-inf"):
        return float(raw)
    return float(raw) if isinstance(raw, (int, float)) and math.isfinite(raw) else 0.0


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_bytes(path, "".join(f"{line(row)}\n" for row in rows).encode())


def read_lines(path: Path) -> Sequence[dict[str, Any]]:
    """The JSON objects of a file of ours; none where it is missing."""
    try:
        return [json.loads(raw) for raw in path.read_bytes().splitlines() if raw.strip()]
    except FileNotFoundError:
        return []
    except ValueError:
        raise BadConfig(f"{path} is not a file of JSON lines") from None
