"""Generates docs/reference from the code: settings, strategies, judges, sources, commands, export fields, Python API,
and the names that the crawler offers to its guests.

`--check` writes nothing, and fails if a file is out of date.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import click

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Generated from the code by scripts/reference.py. Change the code, then run `make docs`. -->\n"


def settings() -> str:
    from scenthound.loop.settings import Settings, default_of, shown

    hints = get_type_hints(Settings)
    rows = []
    for field in fields(Settings):
        kind = {"seconds": "time", "bytes": "size"}.get(field.metadata["unit"]) or _kind(hints[field.name])
        rows.append(f"| `{field.name}` | {kind} | `{shown(default_of(field))}` | {_cell(field.metadata['doc'])} |")
    return "\n".join(
        [
            "# Settings of a crawl\n",
            "Set any of them with `--set KEY=VALUE`, in a `--config` file, or as a keyword argument of",
            "`scenthound.crawl`; the common ones have their own options. Times take units (`500 ms`, `2 h`; a bare",
            "number is seconds), and so do sizes (`10 MB`; a bare number is bytes). Lists are TOML lists, or",
            "values separated by commas.\n",
            "| setting | kind | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def strategies() -> str:
    from scenthound.cli.strategies_command import strategy_as_json
    from scenthound.loop.settings import shown
    from scenthound.strategies import STRATEGIES

    parts = [
        "# Strategies\n\nChoose one with `--strategy NAME`, and set its parameters with `--set NAME=VALUE`. A name in",
        "brackets, such as [EXP], is a paper listed below the text; “sheet 20.2” is the section with that number in",
        "[the specification](../spec/README.md).\n",
    ]
    for name, kind in STRATEGIES.items():
        plugin = strategy_as_json(name, kind)
        parts.append(f"## {name}\n\n{plugin['about']}\n\n{plugin['story']}\n")
        if plugin["papers"]:
            parts.append("\n".join(f"* {paper}" for paper in plugin["papers"]) + "\n")
        if plugin["parameters"]:
            rows = [
                f"| `{p['name']}` | {_cell(p['type'])} | `{shown(p['default'])}` | {_cell(p['about'])} |"
                for p in plugin["parameters"]
            ]
            parts.append("\n".join(["| parameter | kind | default | meaning |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def judges() -> str:
    from scenthound.judges import JUDGES

    return _plugins(
        "# Judges\n\nChoose one with `--judge NAME`, or with parameters: `--judge NAME:parameter=value,…`.\n", JUDGES
    )


def sources() -> str:
    from scenthound.sources import SOURCES

    return _plugins(
        "# Seed sources\n\nChoose one with `--source NAME:ADDRESS`, or `NAME:ADDRESS,parameter=value`.\n"
        "[The guide](../guides/seed-sources.md) explains what they are for.\n",
        SOURCES,
    )


def _plugins(title: str, registry: Any) -> str:
    from scenthound.cli.plugin_docs import describe
    from scenthound.loop.settings import shown

    parts = [title]
    for name, kind in registry.items():
        plugin = describe(name, kind)
        parts.append(f"## {name}\n\n{plugin['about']}\n\n{plugin['story']}\n")
        if plugin["papers"]:
            parts.append("\n".join(f"* {paper}" for paper in plugin["papers"]) + "\n")
        rows = [
            f"| `{p['name']}` | {_cell(p['type'])} | `{shown(p['default'])}` | {_cell(p['about'])} |"
            for p in plugin["parameters"]
        ]
        if rows:
            parts.append("\n".join(["| parameter | kind | default | meaning |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def commands() -> str:
    from scenthound.cli.root_command import app

    parts = [
        "# Commands\n\nEvery command takes `--json` and then prints one JSON document (or JSON lines) on stdout and",
        "nothing else. Exit codes: 0 done, 1 error, 2 usage, 3 disk full, 4 bad configuration or folder, 5 I/O error,",
        "11 interrupted, 12 all remaining hosts are resting, 13 only URLs that look like traps are left.",
        "A crawl that ended with 3, 5, 11, 12 or 13 can be resumed.\n",
    ]
    for path, text in _helps(app, None, "scenthound"):
        parts.append(f"## {path}\n\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(parts)


def export_fields() -> str:
    from scenthound.loop.page_rows import COLUMNS, ON_REQUEST

    kinds = {"whole": "whole number", "real": "number", "text": "text", "flag": "true/false", "time": "timestamp"}
    rows = []
    for column in COLUMNS:
        on_request = " (on request)" if column.name in ON_REQUEST else ""
        rows.append(f"| `{column.name}` | {kinds[column.kind]} | {_cell(column.doc)}{on_request} |")
    return "\n".join(
        [
            "# Fields of exports\n",
            "The columns of `scenthound export --to jsonl|csv|parquet` and of `CrawlFolder.to_pandas`. Choose some",
            "with `--fields url,title,text`. CSV and pandas include the texts only if they are named. Times are in",
            "UTC: timestamps in Parquet and pandas, ISO 8601 elsewhere.\n",
            "Each part of a score has its own column of numbers: `part_` and the name of the part in lower case, with",
            "`_` for spaces and signs (`part_words_of_the_link`). All rows of a file have the same columns, and a part",
            "that a page's score does not have is empty. `parts` in `--fields` stands for all of them. A value that is",
            "missing is null in JSON lines and Parquet and an empty cell in CSV.",
            "[Who opens what](../guides/open-exports.md) has more.\n",
            "| field | kind | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


API = (
    ("Crawl", ("crawl", "crawl_async", "stream", "begin", "resume", "train")),
    ("Results", ("CrawlFolder", "StoredPage", "PageStream", "Session")),
    ("The laboratory", ("make_bed", "run_experiment", "measure", "compare", "Experiment")),
    ("Data types", ("Topic", "Step", "Miss", "Event", "Settings", "Watch", "Url")),
    ("For strategies", ("Strategy", "strategy", "Page", "Link", "Candidate")),
    ("Errors", ("ScenthoundError",)),
)
METHODS = {
    "CrawlFolder": ("look", "pages", "open", "to_pandas", "close"),
    "StoredPage": (
        *("n", "url", "title", "host", "time", "relevance", "is_relevant", "text", "main_text", "language", "links"),
        *("headers", "content_type", "last_modified", "digest", "html", "content", "response"),
    ),
    "Session": ("run", "interrupt", "close"),
}


def python() -> str:
    import scenthound

    about = "All names are attributes of `scenthound`. [The guide](../guides/python.md) shows how they are used."
    parts = [f"# Python\n\n{about}\n"]
    for title, names in API:
        parts += [f"## {title}\n", *(_described(name, getattr(scenthound, name)) for name in names)]
    return "\n".join(parts)


def _described(name: str, thing: Any) -> str:
    is_documented = (inspect.isclass(thing) or inspect.isroutine(thing)) and thing.__doc__
    about = inspect.cleandoc(thing.__doc__) if is_documented else ""
    call = f"{name}{_signature(thing)}" if inspect.isroutine(thing) else name
    rows = [_member(member, inspect.getattr_static(thing, member)) for member in METHODS.get(name, ())]
    return "\n".join([f"### {name}\n", f"```python\n{call}\n```\n", about, "", *rows]).rstrip() + "\n"


def _member(name: str, thing: Any) -> str:
    inner = getattr(thing, "__func__", None) or getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    about = inspect.cleandoc(inner.__doc__ or "").replace("\n", " ")
    call = f"{name}{_signature(inner, True)}" if inspect.isfunction(thing) or isinstance(thing, classmethod) else name
    return f"- `{call}`{': ' + about if about else ''}"


def _signature(thing: Any, is_method: bool = False) -> str:
    """The signature, on one line if it is short, else with one line per parameter."""
    signature, shown = inspect.signature(thing), []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        if not (is_method and parameter.name in ("self", "cls")):
            shown.append(str(parameter).replace(f"'{parameter.annotation}'", str(parameter.annotation)))
    end = f") -> {signature.return_annotation}"
    line = f"({', '.join(shown)}{end}"
    return line if len(line) < 90 else "(\n" + "".join(f"    {parameter_text},\n" for parameter_text in shown) + end


def _helps(command: click.Command, parent: click.Context | None, name: str) -> Iterator[tuple[str, str]]:
    settings = dict(command.context_settings) if parent is None else {}
    with click.Context(command, parent=parent, info_name=name, terminal_width=100, **settings) as ctx:
        yield ctx.command_path, "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
        if isinstance(command, click.Group):
            for subname in command.list_commands(ctx):
                subcommand = command.get_command(ctx, subname)
                assert subcommand is not None, f"no module has the command {subname}"
                yield from _helps(subcommand, ctx, subname)


def _kind(hint: Any) -> str:
    return {bool: "true/false", int: "number", float: "number", str: "text"}.get(hint, "list of strings")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


GUESTS = ("papers", "lab", "desk")


def public_names() -> str:
    """The names of the crawler that the other three packages import."""
    source = ROOT / "src" / "scenthound"
    users: dict[tuple[str, str], set[str]] = {}
    for guest in GUESTS:
        for path in sorted((source / guest).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "scenthound":
                    module = (node.module or "").partition(".")[2]
                    if module.partition(".")[0] not in GUESTS:
                        for name in node.names:
                            users.setdefault((module, name.name), set()).add(guest)
    parts = [
        "# Names that the crawler offers to its guests\n",
        "`papers`, `lab` and `desk` import these names of the crawler and no others; so may other packages. A name",
        "that is not listed may change at any time. `make docs` writes this list: a new name shows in the review.\n",
        f"{len(users):,} names of {len({module for module, _ in users}):,} modules.\n",
        "| module | names (p: papers, l: lab, d: desk) |",
        "|---|---|",
    ]
    for module in sorted({module for module, _ in users}):
        names = [
            f"`{name}` {''.join(guest[0] for guest in GUESTS if guest in users[module, name])}"
            for found, name in sorted(users)
            if found == module
        ]
        parts.append(f"| `{module or 'scenthound'}` | {', '.join(names)} |")
    return "\n".join([*parts, ""])


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "strategies.md": strategies,
    "judges.md": judges,
    "sources.md": sources,
    "commands.md": commands,
    "fields.md": export_fields,
    "python.md": python,
    "public-names.md": public_names,
}


def main(arguments: list[str]) -> int:
    stale = []
    for name, write in PAGES.items():
        path, text = FOLDER / name, NOTE + write()
        if "--check" in arguments:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"docs/reference/{name} is stale: run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
