"""Describe plug-ins (strategies, judges, seed sources) from their docstrings, as JSON data or for the terminal."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenthound.cli.cited_papers import papers_cited
from scenthound.cli.output import emit, out, say, table
from scenthound.plugins import Registry


@dataclass(frozen=True, slots=True)
class PluginList:
    """A command that lists the plug-ins of one kind, or describes one."""

    command: str
    describe: Callable[[str, type[Any]], dict[str, Any]]
    show: Callable[[dict[str, Any]], None]
    heads: tuple[str, ...]
    row: Callable[[Mapping[str, Any]], tuple[str, ...]]

    def run(self, registry: Registry[Any], name: str | None, as_json: bool) -> None:
        if name is not None:
            plugin = self.describe(name, registry.get(name))
            emit(plugin) if as_json else self.show(plugin)
            return
        plugins = [self.describe(name, kind) for name, kind in registry.items()]
        if as_json:
            emit(plugins)
            return
        out().print(table(self.heads, [self.row(plugin) for plugin in plugins]))
        say(f"`scenthound {self.command} NAME` shows one of them with its parameters.")


def describe(name: str, kind: type[Any]) -> dict[str, Any]:
    """A plug-in as JSON data: what it does, its papers, its parameters."""
    from scenthound.parameters import describe_parameters

    module = sys.modules.get(kind.__module__)
    story = inspect.cleandoc(module.__doc__ or "") if module else ""
    return {
        "name": name,
        "about": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        "story": story,
        "papers": papers_cited(story),
        "parameters": describe_parameters(kind),
    }


def show(plugin: dict[str, Any], how_to_set: str) -> None:
    """Print a plug-in; `how_to_set` shows how its first parameter is set, with `{}` for `name=value`."""
    from scenthound.loop.settings import shown

    console = out()
    console.print(f"{plugin['name']}: {plugin['about']}\n")
    console.print(plugin["story"] + "\n")
    for paper in plugin["papers"]:
        console.print(f"  {paper}")
    if not plugin["parameters"]:
        console.print("It has no parameters.")
        return
    rows = [(p["name"], p["type"], shown(p["default"]), p["about"]) for p in plugin["parameters"]]
    console.print(table(("parameter", "type", "default", "meaning"), rows))
    first = next((p for p in plugin["parameters"] if p["name"] != "address"), None)
    if first is not None:
        console.print(
            "Set a parameter with: " + how_to_set.format(f"{first['name']}={shown(first['default']).strip(chr(34))}")
        )
