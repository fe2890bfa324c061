"""Options that several commands share, and how commands print: data to stdout, messages to stderr.

Text from the web is made printable first: it may contain escape sequences.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scenthound.errors import BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])


def option(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option that takes a value: its names, the placeholder of the value, and its help text."""
    return click.option(*names.split(), metavar=metavar, help=about, **more)


def repeatable(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option that can be repeated."""
    return option(names, metavar, about, multiple=True, **more)


def json_option(command: F) -> F:
    """The `--json` flag of every command."""
    return click.option("--json", "as_json", is_flag=True, help="Print nothing but JSON, for programs.")(command)


def key_value(text: str) -> tuple[str, str]:
    """Split the argument of `--set KEY=VALUE` into key and value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadUsage(f"`--set {text}` is not a pair of key and value", "write it as --set KEY=VALUE")
    return key.strip().replace("-", "_"), value.strip()


def say(message: str) -> None:
    """Print a message to stderr. Text from the web must have been made printable."""
    click.echo(message, err=True)


def emit(document: Any) -> None:
    """Print one JSON document to stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def out() -> Console:
    """A console on stdout for people; plain text if stdout is not a terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)


def print_facts(rows: Iterable[tuple[str, str]], width: int = 12) -> None:
    """Print one line for each fact: its name in bold, then its value."""
    from rich.text import Text

    console = out()
    for name, value in rows:
        console.print(Text(f"{name:>{width}}  ", style="bold") + Text(printable(value)), soft_wrap=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> Table:
    """A plain table. Cells are made printable and never read as markup; columns in `numbers` are right-aligned."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    right, rows = set(numbers), [[printable(str(cell)) for cell in row] for row in rows]
    longest = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    for column, head in enumerate(heads):
        is_right = column in right
        result.add_column(
            head,
            justify="right" if is_right else "left",
            overflow="fold",
            no_wrap=is_right,
            min_width=None if is_right else min(12, longest[column]),  # a name cut into short pieces can't be read
        )
    for row in rows:
        result.add_row(*map(Text, row))
    return result
