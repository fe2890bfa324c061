"""Check that a database has the tables that the schema declares, and that its cells have the declared types.

SQLite stores any type in any column, and a crawl folder may come from a stranger or from a bad disk. So a folder is
checked once, when a crawl is resumed; code that reads it afterwards can rely on the types.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

LARGEST = 2**53
"""The largest integer that a cell may hold: larger ones are not exact as floats."""
LATEST = 253_402_300_799
"""The end of the year 9999."""
SQLITE_PREFIX = "sqlite_"
"""The beginning of the names of SQLite's own tables, which no other table may have."""
_FITS = {
    "INTEGER": f"typeof({{0}}) = 'integer' AND {{0}} BETWEEN {-LARGEST} AND {LARGEST}",
    "REAL": "typeof({0}) IN ('real', 'integer')",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
}
_RULES = {
    "history": f"""time BETWEEN 0 AND {LATEST} AND score IS NOT NULL
        AND (file IS NULL) = (offset IS NULL) AND (file IS NULL) = (length IS NULL)
        AND CASE WHEN kind = 'page' THEN n IS NOT NULL AND similarity IS NOT NULL AND title IS NOT NULL
            AND rank IS NOT NULL ELSE kind IN ('miss', 'retry', 'refused') AND reason IS NOT NULL
            AND detail IS NOT NULL END""",
    "labels": f"time BETWEEN 0 AND {LATEST}",
}
"""Conditions on the rows of a table, in addition to the types."""


class TableColumn(NamedTuple):
    """A column as the schema declares it."""

    name: str
    kind: str
    is_required: bool
    key: int


def columns_of(connection: sqlite3.Connection, table: str) -> list[TableColumn]:
    """The columns of a table; empty if there is no such table."""
    return [
        TableColumn(row[1], row[2], bool(row[3]), row[5]) for row in connection.execute(f"PRAGMA table_info({table})")
    ]


def schema_problem(connection: sqlite3.Connection, schema: str) -> str:
    """How the tables differ from the schema; empty if they do not. Extra columns are allowed."""
    declared = sqlite3.connect(":memory:")
    try:
        declared.executescript(schema)
        for (table,) in declared.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"):
            columns = {column.name: column for column in columns_of(connection, table)}
            for column in columns_of(declared, table):
                if columns.get(column.name) != column:
                    return f"table {table} has no valid column {column.name}" if columns else f"no table {table}"
    finally:
        declared.close()
    extra = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1").fetchone()
    return f"{extra[0]} is neither table nor index" if extra else ""


def misfit(connection: sqlite3.Connection, table: str) -> str:
    """The SQL condition for rows whose cells do not fit the schema."""
    conditions = []
    for column in columns_of(connection, table):
        if (rule := _FITS.get(column.kind)) is None:  # an extra column, which is not ours
            continue
        fits = rule.format(column.name)
        if not column.is_required and not column.key:
            fits = f"{column.name} IS NULL OR {fits}"
        conditions.append(f"({fits})")
    if table in _RULES:
        conditions.append(f"({_RULES[table]})")
    return f"NOT coalesce({' AND '.join(conditions)}, 0)"


def cell_problem(connection: sqlite3.Connection) -> str:
    """The first table with a row that does not fit the schema, as a message; empty if there is none."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    for (table,) in tables:
        if table.startswith(SQLITE_PREFIX):  # such as the statistics of ANALYZE, in columns without types
            continue
        condition = misfit(connection, table)
        if connection.execute(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1").fetchone():  # noqa: S608 - our own names
            return f"a row of {table} has a value of the wrong type"
    return ""
