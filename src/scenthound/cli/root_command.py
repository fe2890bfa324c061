"""The root command: looks up commands by name, and turns errors into messages and exit codes.

Exit codes: 0 done, 1 error, 2 usage, 3 disk full, 4 bad configuration, 5 I/O error, 11 interrupted but resumable, 12
ended because every host with URLs left is resting, 13 ended because only URLs that look like traps are left.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any

import click

from scenthound.errors import PluginFailed, ScenthoundError, from_os_error
from scenthound.formats import printable

NAME, COMPLETE = "scenthound", "_SCENTHOUND_COMPLETE"
INTERRUPTED, RESTING, ONLY_TRAPS = 11, 12, 13
NO_ARGUMENTS: tuple[type[click.ClickException], ...] = tuple(
    kind
    for name, kind in vars(click.exceptions).items()
    if name == "NoArgsIsHelpError"  # click 8.2 and newer
)

Table = Mapping[str, tuple[str, str]]
"""Commands: for each, its module and its summary."""

COMMANDS: Table = {
    "crawl": ("scenthound.cli.crawl_commands", "Crawl the web for a topic, best pages first."),
    "resume": ("scenthound.cli.crawl_commands", "Continue a crawl, however it ended."),
    "label": ("scenthound.cli.label_command", "Label a page as on topic or off topic; a running crawl learns from it."),
    "control": (
        "scenthound.cli.control_command",
        "Pause, continue, stop or steer a crawl, even one in another terminal.",
    ),
    "status": ("scenthound.cli.folder_commands", "Show the state of a crawl: pages, harvest, failures, why it ended."),
    "trail": ("scenthound.cli.folder_commands", "Print what was fetched, in order, as JSON lines."),
    "show": ("scenthound.cli.show_command", "Show a fetched page: its text, links or headers."),
    "explain": ("scenthound.cli.folder_commands", "Explain why a page was fetched or not."),
    "search": ("scenthound.cli.search_command", "Search the text of the pages of a crawl."),
    "index": (
        "scenthound.cli.search_command",
        "Build the full-text index of a crawl, or keep it current while the crawl runs.",
    ),
    "report": ("scenthound.cli.folder_commands", "Regenerate report.html."),
    "export": ("scenthound.cli.folder_commands", "Write a crawl in the format of another program."),
    "strategies": ("scenthound.cli.strategies_command", "List the strategies, or describe one."),
    "judges": (
        "scenthound.cli.judges_command",
        "List the judges (they decide which pages are relevant), or describe one.",
    ),
    "sources": (
        "scenthound.cli.sources_command",
        "List the seed sources (they find pages to start from), or describe one.",
    ),
    "seeds": ("scenthound.cli.sources_command", "List pages that a crawl for a topic could start from."),
    "backlinks": ("scenthound.cli.sources_command", "List pages known to link to a page."),
    "doctor": ("scenthound.cli.doctor_command", "Check the installation: what is missing, and how to fix it."),
    "completion": ("scenthound.cli.completion_command", "Print the shell completion script."),
}
"""The crawler's own commands."""
GROUP = "scenthound.commands"
"""Entry points of this group add such tables: the commands of the desk, the lab and the papers, and anybody's."""


def added_commands() -> tuple[dict[str, Table], dict[str, str]]:
    """The tables of other packages by the name of their entry points, and the error of each that can't be loaded."""
    tables: dict[str, Table] = {}
    broken: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        try:
            tables[point.name] = point.load()
        except Exception as error:  # a broken plug-in must not stop the others
            broken[point.name] = f"{type(error).__name__}: {error}"
    return tables, broken


class Commands(click.Group):
    """A group whose commands are imported only when they are used."""

    def __init__(self, *arguments: Any, modules: Table, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.own = modules

    def tables(self) -> Mapping[str, Table]:
        """The commands by the heading under which `--help` lists them."""
        return {"Commands": self.own}

    @property
    def modules(self) -> Table:
        return {**{name: place for table in self.tables().values() for name, place in table.items()}, **self.own}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for table in self.tables().values() for name in table]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        place = self.own.get(name) or self.modules.get(name)
        if place is None:
            return None
        command: click.Command = getattr(importlib.import_module(place[0]), name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.own and args[0] not in self.modules and not args[0].startswith("-"):
            names = self.list_commands(ctx)
            near = get_close_matches(args[0], names, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"commands: {', '.join(names)}"
            raise UsageErrorWithHint(f"no command called `{args[0]}`", hint, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, table in self.tables().items():
            with formatter.section(heading):
                formatter.write_dl([(name, summary) for name, (_, summary) in table.items()])


class RootCommands(Commands):
    """The crawler's commands, and those that other packages add."""

    def tables(self) -> Mapping[str, Table]:
        return {**super().tables(), **{name.capitalize(): table for name, table in added_commands()[0].items()}}


class UsageErrorWithHint(click.UsageError):
    """A usage error with its own hint."""

    def __init__(self, message: str, hint: str, ctx: click.Context | None = None) -> None:
        super().__init__(message, ctx)
        self.hint = hint


def _print_version(ctx: click.Context, _: click.Parameter, is_requested: bool) -> None:
    if is_requested and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"scenthound {version('scenthound')}")
        ctx.exit()


EPILOG = """\b
Examples:
  $ scenthound demo
  $ scenthound crawl "hot air ballooning" --seed https://example.org/ --pages 500 --out balloons
  $ scenthound status balloons
  $ scenthound COMMAND --help
"""


@click.group(
    cls=RootCommands,
    modules=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def app(debug: bool) -> None:
    """A topical web crawler, and a laboratory that measures how good it is."""


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, NAME, COMPLETE, instruction)
    try:
        with app.make_context(NAME, list(arguments)) as ctx:  # `app.main` has its own exit codes
            code = app.invoke(ctx)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except ScenthoundError as error:
        if "--debug" in options and isinstance(error, PluginFailed):
            import traceback

            traceback.print_exc()
        return _print_error(error.message, error.hint, error.exit_code, as_json)
    except click.ClickException as error:
        if isinstance(error, NO_ARGUMENTS):
            click.echo(error.format_message(), err=True)
            return error.exit_code
        return _print_error(error.format_message(), _usage_hint(error), error.exit_code, as_json)
    except (click.Abort, KeyboardInterrupt):
        return _print_error("stopped", "", 1, as_json)
    except BrokenPipeError:
        return _ignore_closed_pipe()
    except Exception as error:
        if isinstance(error, OSError):
            known_error = from_os_error(error)
            return _print_error(known_error.message, known_error.hint, known_error.exit_code, as_json)
        if "--debug" in options:
            import traceback

            traceback.print_exc()
        hint = "this is a bug; `scenthound --debug …` shows the traceback"
        return _print_error(f"{type(error).__name__}: {error}", hint, 1, as_json)


def _usage_hint(error: click.ClickException) -> str:
    if isinstance(error, UsageErrorWithHint):
        return error.hint
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"see `{ctx.command_path} --help`" if ctx is not None else ""


def _print_error(message: str, hint: str, code: int, as_json: bool) -> int:
    if "@" in message:
        from scenthound.loop.crawl_toml import masked

        message = masked(message)
    try:
        if as_json:
            click.echo(json.dumps({"error": message, "hint": hint, "exit_code": code}))
        else:
            first, *more = [printable(line) for line in message.splitlines()] or ["unknown"]
            click.echo("\n".join([f"error: {first}", *(f"  {line}" for line in more)]), err=True)
            if hint:
                click.echo(f"hint: {printable(hint)}", err=True)
    except BrokenPipeError:
        _ignore_closed_pipe()
    return code


def _ignore_closed_pipe() -> int:
    """Exit without an error when the reader of stdout has closed the pipe; nothing more is flushed into it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0
