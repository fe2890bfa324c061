"""Options that several commands share, and how commands print: data to stdout, messages to stderr.

Text from the web is made printable first: it may hold escape sequences.
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
    """An option with a value: its names, what the value is called, and what it does."""
    return click.option(*names.split(), metavar=metavar, help=about, **more)


def repeatable(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option that may be given several times."""
    return option(names, metavar, about, multiple=True, **more)


def json_option(command: F) -> F:
    """The `--json` that every command has."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs, and nothing else.")(command)


def key_value(text: str) -> tuple[str, str]:
    """Key and value of `--set KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadUsage(f"`--set {text}` sets nothing", "write it as --set KEY=VALUE")
    return key.strip().replace("-", "_"), value.strip()


def say(message: str) -> None:
    """Print a message to stderr. Text from the web in it must be printable."""
    click.echo(message, err=True)


def emit(document: Any) -> None:
    """Print one JSON document to stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def out() -> Console:
    """A console on stdout for people; plain where stdout is no terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)


def print_facts(rows: Iterable[tuple[str, str]], width: int = 12) -> None:
    """Print names in bold, each with its value on the same line."""
    from rich.text import Text

    console = out()
    for name, value in rows:
        console.print(Text(f"{name:>{width}}  ", style="bold") + Text(printable(value)), soft_wrap=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> Table:
    """A plain table; every cell is made printable and none is read as markup. `numbers`: columns flush right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    right, rows = set(numbers), [[printable(str(cell)) for cell in row] for row in rows]
    longest = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    for column, head in enumerate(heads):
        is_right = column in right
        made.add_column(
            head,
            justify="right" if is_right else "left",
            overflow="fold",
            no_wrap=is_right,
            min_width=None if is_right else min(12, longest[column]),  # a name cut into syllables can't be read
        )
    for row in rows:
        made.add_row(*map(Text, row))
    return made
