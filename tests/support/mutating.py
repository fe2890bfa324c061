"""Changes a crawl folder at random, as damage or a stranger may: nothing but a clear error may come of it.

Used by tests/loop/test_bad_state.py (two for each strategy) and benchmarks/bad_state.py (thousands).
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from scenthound.cli.root_command import run
from scenthound.errors import ScenthoundError
from scenthound.store import blobs
from scenthound.wiring import resume
from support.resuming import Recorded, born, step_through

STRATEGIES = (
    "best-first", "infospiders", "hayek-epsilon", "hayek-estimating", "bayes", "focused-soft", "intelligent", "hound",
    "context-graph", "apprentice", "alliance", "cc-bfs", "pagerank", "reinforcement",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, "", "x", -1, 0, 1, 2**31, 2**63 - 1, -(2**63), 1e308, -1e308, float("inf"), float("nan"), True, [], {}, [1],
    {"a": 1}, "http://a.test/", "\x00", "1e999", [[]], [None],
)  # fmt: skip
ODD_CELLS: tuple[Any, ...] = (
    None, "", "x", -1, 0, 2**63 - 1, -(2**63), 1e308, float("inf"), b"", b"\xff\xfe", "[]", "{}", '{"a": null}', "[1,",
    "http://", "nan", "\x00",
)  # fmt: skip
LOOKS = (["status"], ["status", "--json"], ["trail"], ["trail", "--events"], ["report"], ["explain"])


@dataclass
class Finding:
    """What a change led to: `refused` with a clear error, `fine`, or `uncaught`."""

    strategy: str
    change: str
    outcome: str
    detail: str = ""


def prepared(folder: Path, name: str) -> Path:
    """A crawl that was stopped after 60 requests, with a snapshot."""
    session = born(folder / name, name)
    step_through(session, 60)
    session.folder.finish("interrupted", 61.0)
    session.close()
    return folder / name


# ---- changes

Change = Callable[[Path, random.Random], str | None]
"""Changes a folder and says how; None if it could not."""


def change_state(folder: Path, luck: random.Random) -> str | None:
    """A value inside the saved state of the strategy or of the loop."""
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        rows = database.execute("SELECT key, value FROM state").fetchall()
        key, value = luck.choice(rows)
        state = blobs.unpack(value)
        said = change_value(state, luck)
        try:
            packed = blobs.pack(state)
        except ValueError:
            return None
        database.execute("UPDATE state SET value = ? WHERE key = ?", (packed, key))
    return f"state {key}{said}"


def change_value(state: Any, luck: random.Random, path: str = "") -> str:
    """Change one value inside nested dicts and lists, in place."""
    while True:
        keys = list(state) if isinstance(state, dict) else range(len(state))
        if not keys:
            if isinstance(state, dict):
                state["odd"] = luck.choice(ODD)
            else:
                state.append(luck.choice(ODD))
            return f"{path} += something"
        key = luck.choice(list(keys))
        inner = state[key]
        path += f"[{key!r}]"
        if isinstance(inner, dict | list) and luck.random() < 0.8:
            state = inner
            continue
        if luck.random() < 0.2:
            del state[key]
            return f"{path} deleted"
        state[key] = changed_array(inner, luck) if isinstance(inner, numpy.ndarray) else luck.choice(ODD)
        return f"{path} = {state[key]!r}"[:200]


def changed_array(array: Any, luck: random.Random) -> Any:
    match luck.randrange(5):
        case 0:
            return array[: len(array) // 2]
        case 1:
            return array.reshape(-1)
        case 2:
            return array.astype("float32" if array.dtype.kind in "iu" else "int8")
        case 3:
            other = array.copy().reshape(-1)
            if len(other):
                other[luck.randrange(len(other))] = luck.choice((0, 127) if other.dtype.kind == "u" else (-1, 0, 127))
            return other.reshape(array.shape)
    return luck.choice(ODD)


def change_cell(folder: Path, luck: random.Random) -> str | None:
    """A cell of any table, constraints or not."""
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in tables if database.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()]
        table = luck.choice(tables)
        _drop_constraints(folder / "crawl.db", table)
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        column = luck.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
        value = luck.choice(ODD_CELLS)
        count = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        keys = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[5]]
        row = database.execute(
            f"SELECT {', '.join(keys) or 'rowid'} FROM {table} LIMIT 1 OFFSET ?", (luck.randrange(count),)
        ).fetchone()
        where = " AND ".join(f"{key} IS ?" for key in keys) or "rowid IS ?"
        if luck.random() < 0.2:
            where, row = "1", ()
        try:
            database.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {where}", (value, *row))
        except sqlite3.Error:
            return None
    return f"{table}.{column} = {value!r} where {where} {row}"[:200]


def _drop_constraints(path: Path, table: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = ?", (table,))
        database.execute("PRAGMA writable_schema = OFF")


def change_schema(folder: Path, luck: random.Random) -> str | None:
    """A table or a column that is gone or has another name."""
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        table = luck.choice([row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")])
        column = luck.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
        sql = luck.choice(
            (
                f"DROP TABLE {table}",
                f"ALTER TABLE {table} RENAME TO other",
                f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                f"ALTER TABLE {table} DROP COLUMN {column}",
                f"DELETE FROM {table}",
                "DROP INDEX history_url",
                f"CREATE TRIGGER odd AFTER INSERT ON {table} BEGIN SELECT RAISE(FAIL, 'odd'); END",
            )
        )
        try:
            database.execute(sql)
        except sqlite3.Error:
            return None
    return sql


def change_toml(folder: Path, luck: random.Random) -> str | None:
    """A line of crawl.toml."""
    path = folder / "crawl.toml"
    lines = path.read_text().splitlines()
    lines += [f"{name} = 1" for name in ("delay", "pages", "frontier", "warc_roll", "snapshot")]
    number = luck.choice([n for n, line in enumerate(lines) if " = " in line])
    key = lines[number].split(" = ")[0]
    odd = ("-1", "0", "1e308", "inf", "nan", "9" * 30, '""', '"x"', "[]", "[1]", "{}", "true", "1979-05-27", '["x"]')
    lines[number] = luck.choice((f"{key} = {luck.choice(odd)}", f"{key} = {luck.choice(odd)}", "", key, f"x{key} = 1"))
    path.write_text("\n".join(lines))
    return f"crawl.toml: {lines[number]}"


def change_bytes(folder: Path, luck: random.Random) -> str | None:
    """Some bytes of the database."""
    path = folder / "crawl.db"
    data = bytearray(path.read_bytes())
    at = luck.choice((luck.randrange(100), luck.randrange(len(data)), luck.randrange(len(data))))
    data[at : at + 8] = luck.randbytes(len(data[at : at + 8]))
    path.write_bytes(data)
    return f"crawl.db at {at}"


def change_model(folder: Path, luck: random.Random) -> str | None:
    """A value in the model, with digests that fit."""
    about, state = folder / "model" / "model.toml", folder / "model" / "model.json"
    if not about.is_file():
        return None
    value = json.loads(state.read_text())
    said = change_value(value, luck)
    data = json.dumps(value).encode()
    state.write_bytes(data)
    text = about.read_text()
    text = re.sub(r'(name = "model.json"\nbytes = )\d+(\nsha256 = ")\w+', rf"\g<1>{len(data)}\g<2>{_sha(data)}", text)
    about.write_text(text)
    toml = folder / "crawl.toml"
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        if luck.random() < 0.7:  # so that the model counts
            database.execute("DELETE FROM state WHERE key = 'strategy'")
    from scenthound.store.model_folder import load_model

    try:
        digest = load_model(folder / "model").digest
    except ScenthoundError:
        return f"model {said}"
    toml.write_text(re.sub(r'(?m)^model = ".*"$', f'model = "{digest}"', toml.read_text()))
    return f"model {said}"


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


CHANGES: tuple[Change, ...] = (
    change_state, change_state, change_cell, change_cell, change_schema, change_toml, change_bytes, change_model,
)  # fmt: skip


# ---- what comes of them


def findings(folder: Path, count: int, seed: int, strategies: tuple[str, ...] = STRATEGIES) -> Iterator[Finding]:
    """Change copies of stopped crawls `count` times, and resume or look at each."""
    luck = random.Random(seed)
    made: dict[str, Path] = {}
    for number in range(count):
        name = strategies[number % len(strategies)]
        if name not in made:
            made[name] = prepared(folder, name)
        copy = folder / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(made[name], copy)
        said = luck.choice(CHANGES)(copy, luck)
        if said is not None:
            use = _looked if luck.random() < 0.2 else _resumed
            yield use(copy, name, said, luck)


def _resumed(folder: Path, name: str, said: str, luck: random.Random) -> Finding:
    try:
        session = resume(folder, fetcher=Recorded(), clock=lambda: 100.0)
        try:
            session.crawl.pause_until(0.0)
            step_through(session, 12, 3)
            session.folder.finish("pages", 200.0)
        finally:
            session.close()
    except ScenthoundError as error:
        return Finding(name, said, "refused", str(error))
    except AssertionError as error:
        if "Wait(" in str(error):
            return Finding(name, said, "fine", "everything rests")
        return Finding(name, said, "uncaught", traceback.format_exc())
    except Exception:
        return Finding(name, said, "uncaught", traceback.format_exc())
    return Finding(name, said, "fine")


def _looked(folder: Path, name: str, said: str, luck: random.Random) -> Finding:
    command = luck.choice(LOOKS)
    with closing(sqlite3.connect(folder / "crawl.db")) as database:
        try:
            row = database.execute("SELECT url FROM history WHERE kind = 'page' ORDER BY random() LIMIT 1").fetchone()
        except sqlite3.Error:
            row = None
    more = [str(row[0])] if command == ["explain"] and row else ["http://a.test/"] if command == ["explain"] else []
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["--debug", command[0], str(folder), *more, *command[1:]])
    if "should not happen" in err.getvalue() + out.getvalue():
        return Finding(name, f"{command[0]}: {said}", "uncaught", err.getvalue())
    return Finding(name, f"{command[0]}: {said}", "fine" if code == 0 else "refused", err.getvalue())
