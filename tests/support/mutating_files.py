"""Changes files that stand beside a crawl (index, portal, companion, experiment) and uses them by every command.

Each change is one that damage or a stranger could make: another value, a line less, some bytes. What comes of it must
be a clear refusal or a repair. Used by tests/test_changed_files.py (a few) and benchmarks/bad_state.py (thousands).
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from scenthound.cli.root_command import run
from scenthound.desk.apps.companion import Companion
from scenthound.desk.pairing import Pairings
from scenthound.errors import ScenthoundError
from scenthound.lab.generate.simple_web import generate
from scenthound.ports import Failure
from support.application_webs import CLUB_SEEDS, CLUBS
from support.companion import Extension
from support.desk import WITH_TOKEN, client
from support.html_crawl import html_crawl
from support.mutating import ODD_CELLS, Finding, change_value

SEED = CLUB_SEEDS[0]
LAB = ["--strategies", "breadth-first,best-first", "--topics", "2", "--pages", "5", "--at", "2,5", "--jobs", "1"]
EXTENSION = "chrome-extension://abc"
Command = Sequence[str]
PORTAL: tuple[Command, ...] = (
    ("portal", "{home}/crawl"),
    ("search", "{home}/crawl", "balloons", "--category", "Balloons"),
    ("GET", "/c/crawl/portal", "/c/crawl/search?q=balloons"),
)
INDEX: tuple[Command, ...] = (
    ("search", "{home}/crawl", "balloons"),
    ("search", "{home}/crawl", "--like", SEED),
    ("index", "{home}/crawl"),
    ("GET", "/c/crawl/search?q=balloons", "/api/collections/crawl/search?q=club", f"/c/crawl/search?like={SEED}"),
)
EXPERIMENT: tuple[Command, ...] = (
    ("lab", "report", "{home}/lab", "--jobs", "1"),
    ("lab", "measure", "{home}/lab", "--jobs", "1"),
    ("lab", "compare", "{home}/lab", "--metric", "harvest_rate", "--jobs", "1"),
    ("lab", "run", "{home}/bed", *LAB, "--out", "{home}/lab"),
    ("GET", "/lab/lab", "/api/experiments/lab"),
)
COMPANION: tuple[Command, ...] = (("BROWSE",),)
USES: Mapping[str, tuple[Command, ...]] = {
    "crawl/portal/.portal/read.jsonl": PORTAL,
    "crawl/portal/.portal/files.json": PORTAL,
    "crawl/portal/categories.toml": PORTAL,
    "crawl/index/text.db": INDEX,
    "companion/profile.json": COMPANION,
    "companion/pairings.json": COMPANION,
    "lab/experiment.toml": EXPERIMENT,
    "lab/topics.jsonl": EXPERIMENT,
    "lab/cells.jsonl": EXPERIMENT,
    "lab/measured.json": EXPERIMENT,
    "lab/cells/*.json": EXPERIMENT,
    "lab/times/*.json": EXPERIMENT,
    "lab/trails/*.jsonl": EXPERIMENT,
    "lab/*.parquet": EXPERIMENT,
}
"""Which commands read which file. `GET` asks a desk for pages; `BROWSE` starts a companion and opens a page."""


class Silent:
    """A web that does not answer."""

    async def fetch(self, url: str, most: int | None = None) -> Failure:
        return Failure("timeout")


def prepare(home: Path) -> Path:
    """A crawl with index and portal, a companion that has learned something, and a measured experiment."""
    html_crawl(home / "crawl", CLUBS, CLUB_SEEDS, "hot air balloons")
    generate(home / "bed", pages=60, seed=1, topics=2, page_size=800)
    words = (["index", "{home}/crawl"], ["portal", "{home}/crawl"], ["lab", "report", "{home}/lab", "--jobs", "1"])
    for command in (["lab", "run", "{home}/bed", *LAB, "--out", "{home}/lab"], *words):
        code, said = _run(command, home)
        assert code == 0, said
    assert _browse(home)[0] == 0
    return home


# ---- changes


def change_file(path: Path, luck: random.Random) -> str | None:
    """Change one thing in a file, and say what; None if nothing could be changed."""
    kinds: dict[str, Callable[[Path, random.Random], str | None]] = {
        ".json": _change_json,
        ".jsonl": _change_line,
        ".toml": _change_toml,
        ".db": _change_cell,
    }
    if luck.random() < 0.25 or path.suffix not in kinds:
        return _change_bytes(path, luck)
    return kinds[path.suffix](path, luck)


def _change_json(path: Path, luck: random.Random) -> str | None:
    document = [json.loads(path.read_text())]
    said = change_value(document, luck)
    path.write_text(_as_json(document[0] if document else None))
    return said


def _change_line(path: Path, luck: random.Random) -> str | None:
    lines = path.read_text().splitlines() or ["{}"]
    number = luck.randrange(len(lines))
    document = [json.loads(lines[number])]
    said = change_value(document, luck)
    lines[number : number + 1] = [_as_json(document[0])] if document else []
    path.write_text("\n".join(lines) + "\n")
    return f"line {number + 1}{said}"


def _as_json(value: Any) -> str:
    return json.dumps(value, default=str)  # NaN and Infinity as they are: Python reads them again


def _change_toml(path: Path, luck: random.Random) -> str | None:
    odd = ("-1", "0", "1e308", "inf", "nan", "9" * 400, '""', '"x"', "[]", "[1]", "{}", "true", "1979-05-27", '["x"]')
    lines = path.read_text().splitlines()
    number = luck.choice([n for n, line in enumerate(lines) if " = " in line])
    key = lines[number].split(" = ")[0]
    lines[number] = luck.choice((f"{key} = {luck.choice(odd)}", f"{key} = {luck.choice(odd)}", "", key, f"x{key} = 1"))
    path.write_text("\n".join(lines))
    return lines[number][:100] or f"without {key}"


def _change_bytes(path: Path, luck: random.Random) -> str | None:
    data = bytearray(path.read_bytes())
    if luck.random() < 0.2:
        path.write_bytes(bytes(data[: len(data) // 2]))
        return "cut in half"
    at = luck.randrange(len(data)) if data else 0
    data[at : at + 8] = luck.randbytes(8)
    path.write_bytes(data)
    return f"8 bytes at {at}"


def _change_cell(path: Path, luck: random.Random) -> str | None:
    """A cell of the index, without regard to constraints, or a table that is gone."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = luck.choice([name for name in tables if name != "terms"])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column, value = luck.choice(columns), luck.choice(ODD_CELLS)
        sql = luck.choice(
            (f"UPDATE OR REPLACE {table} SET {column} = ?", f"DROP TABLE {table}", f"DELETE FROM {table}")
        )
        try:
            database.execute("PRAGMA ignore_check_constraints = ON")
            database.execute(sql, (value,) if "?" in sql else ())
        except sqlite3.Error:
            return None
    return f"{sql} {value!r}"[:100]


# ---- what comes of them


def findings(home: Path, count: int, seed: int) -> Iterator[Finding]:
    """Change copies of what `prepare` makes `count` times, a file of each kind in turn, and use each."""
    luck = random.Random(seed)
    made = prepare(home / "whole")
    names = list(USES)
    for number in range(count):
        name = names[number % len(names)]
        copy = home / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(made, copy)
        path = luck.choice(sorted(copy.glob(name)))
        said = change_file(path, luck)
        if said is not None:
            yield _used(name, said, luck.choice(USES[name]), copy)


def _used(name: str, said: str, command: Command, home: Path) -> Finding:
    about = f"{command[0]}: {said}"
    try:
        code, told = _use(command, home)
    except Exception:
        return Finding(name, about, "uncaught", traceback.format_exc())
    if "should not happen" in told or "Traceback" in told:
        return Finding(name, about, "uncaught", told)
    return Finding(name, about, "refused" if code else "fine", told)


def _use(command: Command, home: Path) -> tuple[int, str]:
    if command[0] == "BROWSE":
        return _browse(home)
    return _get(command[1:], home) if command[0] == "GET" else _run(command, home)


def _run(command: Command, home: Path) -> tuple[int, str]:
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        code = run(["--debug", *(word.replace("{home}", str(home)) for word in command)])
    return code, told.getvalue()


def _get(paths: Sequence[str], home: Path) -> tuple[int, str]:
    with client(home / "new", home / "crawl", home / "lab") as http:
        replies = [http.get(path) for path in paths]
    assert all(reply.status_code < 500 for reply in replies), replies
    return max(int(reply.status_code >= 400) for reply in replies), ""


def _browse(home: Path) -> tuple[int, str]:
    """Start a companion, pair an extension, open a page, ask what is known."""
    visit = {"url": SEED, "title": "Balloons", "text": "hot air balloons", "links": [], "private": False}
    try:
        companion, pairings = Companion(home / "companion", fetcher=Silent()), Pairings(home / "companion")
    except ScenthoundError as error:
        return error.exit_code, error.message
    with client(home / "new", companion=companion, pairings=pairings) as http:
        extension = Extension(http, EXTENSION, pairings.new_code(time.time()))
        replies = [
            http.get("/api/companion", headers={"Authorization": "Bearer x"}),
            http.post("/api/companion/visits", json=visit, headers=WITH_TOKEN),
            http.get("/api/companion", headers=WITH_TOKEN),
            http.get(f"/api/companion/suggestions?url={SEED}", headers=WITH_TOKEN),
            extension.pair(),
        ]
    assert [reply.status_code for reply in replies] == [401, 202, 200, 200, 201], [reply.text for reply in replies]
    return 0, ""
