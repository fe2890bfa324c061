"""`scenthound judges`: list the judges, or describe one."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.cli.papers import papers_cited
from scenthound.cli.shell_words import judges_named


def described(name: str, kind: type[Any]) -> dict[str, Any]:
    """A judge as JSON data: what it does and its parameters."""
    from scenthound.judges import DEFAULT
    from scenthound.parameters import describe_parameters

    module = sys.modules.get(kind.__module__)
    story = inspect.cleandoc(module.__doc__ or "") if module else ""
    return {
        "name": name,
        "is_default": name == DEFAULT,
        "about": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        "story": story,
        "papers": papers_cited(story),
        "parameters": describe_parameters(kind),
    }


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
        emit(judge) if as_json else _show(judge)
        return
    listed = [described(name, kind) for name, kind in JUDGES.items()]
    if as_json:
        emit(listed)
        return
    rows = [(judge["name"] + (" (default)" if judge["is_default"] else ""), judge["about"]) for judge in listed]
    out().print(table(("judge", "what a page is rated by"), rows))
    say("`scenthound judges NAME` describes one and its parameters.")


def _show(judge: dict[str, Any]) -> None:
    from scenthound.loop.settings import shown

    console = out()
    console.print(f"{judge['name']}: {judge['about']}\n")
    console.print(judge["story"] + "\n")
    for paper in judge["papers"]:
        console.print(f"  {paper}")
    if not judge["parameters"]:
        console.print("It has no parameters.")
        return
    rows = [(p["name"], p["type"], shown(p["default"]), p["about"]) for p in judge["parameters"]]
    console.print(table(("parameter", "type", "default", "meaning"), rows))
    first = judge["parameters"][0]
    console.print(f"Set one with: --judge {judge['name']}:{first['name']}={shown(first['default']).strip(chr(34))}")
