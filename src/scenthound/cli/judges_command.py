"""`scenthound judges`: list the judges, or describe one."""

from __future__ import annotations

from typing import Any

import click

from scenthound.cli import plugin_docs
from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.cli.shell_words import judges_named


def described(name: str, kind: type[Any]) -> dict[str, Any]:
    """A judge as JSON data: what it does and its parameters."""
    from scenthound.judges import DEFAULT

    return {**plugin_docs.described(name, kind), "is_default": name == DEFAULT}


@click.command()
@click.argument("name", required=False, shell_complete=judges_named)
@json_option
def judges(name: str | None, as_json: bool) -> None:
    """List the judges, which decide what is relevant, or describe one.

    \b
      $ scenthound judges
      $ scenthound judges topic
      $ scenthound crawl bees --seed https://example.org/ --judge keywords:threshold=0.2
    """
    from scenthound.judges import JUDGES

    if name is not None:
        judge = described(name, JUDGES.get(name))
        emit(judge) if as_json else plugin_docs.show(judge, f"--judge {name}:{{}}")
        return
    listed = [described(name, kind) for name, kind in JUDGES.items()]
    if as_json:
        emit(listed)
        return
    rows = [(judge["name"] + (" (default)" if judge["is_default"] else ""), judge["about"]) for judge in listed]
    out().print(table(("judge", "what a page is rated by"), rows))
    say("`scenthound judges NAME` describes one and its parameters.")
