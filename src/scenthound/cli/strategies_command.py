"""`scenthound strategies`: list the strategies, or describe one."""

from __future__ import annotations

import re
from typing import Any

import click

from scenthound.cli import plugin_docs
from scenthound.cli.output import json_option, out, table
from scenthound.cli.shell_words import complete_strategies


def strategy_as_json(name: str, kind: type[Any]) -> dict[str, Any]:
    """A strategy as JSON data: what it does, its papers, its parameters."""
    from scenthound.ports import declaration_of

    declared = declaration_of(kind())
    plain = plugin_docs.describe(name, kind)
    return {
        **plain,
        "score_parts": dict(declared.score_parts),
        "oracle_modes": list(declared.oracle_modes),
        "topic_examples": declared.topic_examples,
        "sheets": list(dict.fromkeys(re.findall(r"[Ss]heet (\d\d(?:\.\d+)?)", plain["story"]))),
    }


def explain_sheets(sheets: list[str]) -> str:
    """A sentence that explains what "sheet 20.2" refers to."""
    names, sections = (
        ("Sheets", "sections with these numbers") if len(sheets) > 1 else ("Sheet", "section with this number")
    )
    return f"{names} {', '.join(sheets)}: the {sections} in docs/spec, which gives the formulas."


@click.command()
@click.argument("name", required=False, shell_complete=complete_strategies)
@json_option
def strategies(name: str | None, as_json: bool) -> None:
    """List the strategies, or describe one.

    \b
      $ scenthound strategies
      $ scenthound strategies hound
    """
    from scenthound.strategies import STRATEGIES

    listing = plugin_docs.PluginList(
        "strategies",
        strategy_as_json,
        _show,
        ("strategy", "what it does"),
        lambda strategy: (strategy["name"], strategy["about"]),
    )
    listing.run(STRATEGIES, name, as_json)


def _show(strategy: dict[str, Any]) -> None:
    from scenthound.loop.settings import shown

    console = out()
    console.print(f"{strategy['name']}: {strategy['about']}\n")
    console.print(strategy["story"] + "\n")
    for paper in strategy["papers"]:
        console.print(f"  {paper}")
    if strategy["sheets"]:
        console.print(f"  {explain_sheets(strategy['sheets'])}")
    if strategy["score_parts"]:
        console.print(table(("part of a score", "what it is"), list(strategy["score_parts"].items())))
    if strategy["topic_examples"]:
        console.print("It uses the topic's examples while it crawls; reports of the laboratory mark that.")
    if not strategy["parameters"]:
        console.print("It has no parameters.")
        return
    rows = [(p["name"], p["type"], shown(p["default"]), p["about"]) for p in strategy["parameters"]]
    console.print(table(("parameter", "type", "default", "meaning"), rows))
    for mode in strategy["oracle_modes"]:
        console.print(f"Oracle mode, for the laboratory only and marked in its reports: {mode}")
    first = strategy["parameters"][0]
    console.print(f"Set a parameter with: --set {first['name']}={shown(first['default']).strip(chr(34))}")
