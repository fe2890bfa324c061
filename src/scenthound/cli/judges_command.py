"""`scenthound judges`: list the judges, or describe one."""

from __future__ import annotations

from typing import Any

import click

from scenthound.cli import plugin_docs
from scenthound.cli.output import json_option
from scenthound.cli.shell_words import complete_judges


def judge_as_json(name: str, kind: type[Any]) -> dict[str, Any]:
    """A judge as JSON data: what it does and its parameters."""
    from scenthound.judges import DEFAULT

    return {**plugin_docs.describe(name, kind), "is_default": name == DEFAULT}


@click.command()
@click.argument("name", required=False, shell_complete=complete_judges)
@json_option
def judges(name: str | None, as_json: bool) -> None:
    """List the judges (they decide which pages are relevant), or describe one.

    \b
      $ scenthound judges
      $ scenthound judges topic
      $ scenthound crawl bees --seed https://example.org/ --judge keywords:threshold=0.2
    """
    from scenthound.judges import JUDGES

    listing = plugin_docs.PluginList(
        "judges",
        judge_as_json,
        lambda judge: plugin_docs.show(judge, f"--judge {judge['name']}:{{}}"),
        ("judge", "how it rates a page"),
        lambda judge: (judge["name"] + (" (default)" if judge["is_default"] else ""), judge["about"]),
    )
    listing.run(JUDGES, name, as_json)
