"""What commands say: data to stdout, talk to stderr, and never an escape sequence that came from the web."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scenthound.exports.clean import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """The `--json` that every command has."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs, and nothing else.")(command)


def say(message: str) -> None:
    """A line of talk on stderr. The message is ours; texts from the web in it must have been cleaned."""
    click.echo(message, err=True)


def emit(document: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def out() -> Console:
    """A console on stdout for people; plain where stdout is no terminal or NO_COLOR is set."""
    from rich.console import Console

    wide = {} if sys.stdout.isatty() else {"width": 120}
    return Console(highlight=False, markup=False, emoji=False, **wide)  # type: ignore[arg-type]


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> Table:
    """A plain table; every cell is cleaned and none is read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    right = set(numbers)
    for place, head in enumerate(heads):
        made.add_column(head, justify="right" if place in right else "left", overflow="fold", no_wrap=place in right)
    for row in rows:
        made.add_row(*(Text(clean(str(cell))) for cell in row))
    return made


def shown_url(url: str, most: int = 100) -> str:
    return clean(url, most)
