"""`scenthound strategies`: list the strategies, or describe one."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.cli.papers import papers_cited
from scenthound.cli.shell_words import strategies_named


def described(name: str, kind: type[Any]) -> dict[str, Any]:
    """A strategy as JSON data: what it does, its papers, its parameters."""
    from scenthound.parameters import describe_parameters
    from scenthound.ports import declaration_of

    declared = declaration_of(kind())
    module = sys.modules.get(kind.__module__)
    story = inspect.cleandoc(module.__doc__ or "") if module else ""
    return {
        "name": name,
        "about": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        "story": story,
        "score_parts": dict(declared.score_parts),
        "oracle_modes": list(declared.oracle_modes),
        "papers": papers_cited(story),
        "sheets": list(dict.fromkeys(re.findall(r"[Ss]heet (\d\d(?:\.\d+)?)", story))),
        "parameters": describe_parameters(kind),
    }


def key_to_sheets(sheets: list[str]) -> str:
    """What "sheet 20.2" stands for."""
    several = len(sheets) > 1
    return (
        f"Sheet{'s' if several else ''} {', '.join(sheets)}: the section{'s' if several else ''} of that number in "
        "docs/spec, where the formulas are written out."
    )


@click.command()
@click.argument("name", required=False, shell_complete=strategies_named)
@json_option
def strategies(name: str | None, as_json: bool) -> None:
    """List the strategies, or describe one.

    \b
      $ scenthound strategies
      $ scenthound strategies hound
    """
    from scenthound.strategies import STRATEGIES

    if name is not None:
        _show(described(name, STRATEGIES.get(name)), as_json)
        return
    listed = [described(name, kind) for name, kind in STRATEGIES.items()]
    if as_json:
        emit(listed)
        return
    out().print(table(("strategy", "what it does"), [(strategy["name"], strategy["about"]) for strategy in listed]))
    say("`scenthound strategies NAME` describes one and its parameters.")


def _show(strategy: dict[str, Any], as_json: bool) -> None:
    from scenthound.loop.settings import shown

    if as_json:
        emit(strategy)
        return
    console = out()
    console.print(f"{strategy['name']}: {strategy['about']}\n")
    console.print(strategy["story"] + "\n")
    for paper in strategy["papers"]:
        console.print(f"  {paper}")
    if strategy["sheets"]:
        console.print(f"  {key_to_sheets(strategy['sheets'])}")
    if strategy["score_parts"]:
        console.print(table(("part of a score", "what it is"), list(strategy["score_parts"].items())))
    if not strategy["parameters"]:
        console.print("It has no parameters.")
        return
    rows = [(p["name"], p["type"], shown(p["default"]), p["about"]) for p in strategy["parameters"]]
    console.print(table(("parameter", "type", "default", "meaning"), rows))
    for mode in strategy["oracle_modes"]:
        console.print(f"An oracle, for the laboratory only and marked there: {mode}")
    first = strategy["parameters"][0]
    console.print(f"Set one with: --set {first['name']}={shown(first['default']).strip(chr(34))}")
