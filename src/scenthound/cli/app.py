"""The root of all commands: finds them by name, and turns what goes wrong into a message and an exit code.

0 done, 1 error, 2 usage, 3 disk full, 4 bad configuration, 11 interrupted but resumable.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import click

from scenthound.errors import DiskFull, ScenthoundError

NAME, COMPLETE = "scenthound", "_SCENTHOUND_COMPLETE"
INTERRUPTED = 11
BAD_PLACE = 4
PLACES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR)
"""What is wrong with a path that was asked for, not with us."""
NO_WORDS: tuple[type[click.ClickException], ...] = tuple(
    found
    for found in [getattr(click.exceptions, "NoArgsIsHelpError", None)]
    if found is not None  # click 8.2 and newer
)

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo_command", "See it work: a real crawl of an embedded web, no network needed."),
    "crawl": ("crawl_commands", "Crawl the web for a topic, best pages first."),
    "resume": ("crawl_commands", "Go on with a crawl, whatever ended it."),
    "topic": ("topic_commands", "Make a topic from example pages, or show one."),
    "train": ("train_command", "Let a strategy learn from a known web before it crawls."),
    "label": ("label_command", "Say that a page is on topic or off; a running crawl hears it."),
    "economy": ("economy_command", "Show the richest agents of a trained Hayek economy, and its money balance."),
    "status": ("folder_commands", "Say how a crawl stands: pages, harvest, failures, why it ended."),
    "trail": ("folder_commands", "Print what was fetched, in order, as JSON lines."),
    "explain": ("folder_commands", "Say why a page was fetched, or why it was not."),
    "report": ("folder_commands", "Write report.html anew."),
    "export": ("folder_commands", "Write a crawl as JSONL, CSV, Parquet, WACZ or GEXF."),
    "strategies": ("strategies_command", "List the strategies, or tell all about one."),
    "lab": ("lab", "Measure crawlers: webs with known answers, experiments, reports."),
    "doctor": ("doctor_command", "Say what is installed, what is missing, and what to do."),
    "completion": ("completion_command", "Print the shell completion script."),
}


class Commands(click.Group):
    """A group whose commands live in modules that are imported when they are called."""

    def __init__(self, *words: Any, found_in: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(*words, **settings)
        self.found_in = found_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.found_in)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.found_in:
            return None
        module = importlib.import_module(f"scenthound.cli.{self.found_in[name][0]}")
        command: click.Command = getattr(module, name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.found_in and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.found_in, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(self.found_in)}"
            raise Unmeant(f"no command called `{args[0]}`", hint, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.found_in.items()])


class Unmeant(click.UsageError):
    """A usage error with a hint of its own."""

    def __init__(self, message: str, hint: str, ctx: click.Context | None = None) -> None:
        super().__init__(message, ctx)
        self.hint = hint


def _say_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
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
    cls=Commands,
    found_in=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Show where in the code an unexpected error came from.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="Print the version."
)
def app(debug: bool) -> None:
    """A topical web crawler, and the laboratory that proves it is good."""


def run(arguments: list[str]) -> int:
    """Run one command; gives the exit code."""
    given = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in given
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, NAME, COMPLETE, instruction)
    try:
        with app.make_context(NAME, list(arguments)) as ctx:  # not `app.main`, which has exit codes of its own
            code = app.invoke(ctx)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except ScenthoundError as error:
        return _complain(error.message, error.hint, error.exit_code, as_json)
    except click.ClickException as error:
        if isinstance(error, NO_WORDS):
            click.echo(error.format_message(), err=True)
            return error.exit_code
        return _complain(error.format_message(), _usage_hint(error), error.exit_code, as_json)
    except (click.Abort, KeyboardInterrupt):
        return _complain("stopped", "", 1, as_json)
    except BrokenPipeError:
        return _unheard()
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _complain(f"no room left: {error}", "make room, then run this again", DiskFull.exit_code, as_json)
        if isinstance(error, OSError) and error.errno in PLACES and error.filename:
            return _complain(
                f"{error.filename}: {error.strerror}", "check the path, and whose it is", BAD_PLACE, as_json
            )
        if "--debug" in given:
            import traceback

            traceback.print_exc()
        what = str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        hint = "" if isinstance(error, OSError) else "this should not happen; `scenthound --debug …` shows where"
        return _complain(what, hint, 1, as_json)


def _usage_hint(error: click.ClickException) -> str:
    if isinstance(error, Unmeant):
        return error.hint
    ctx = getattr(error, "ctx", None)
    return f"see `{ctx.command_path} --help`" if ctx is not None else ""


def _complain(message: str, hint: str, code: int, as_json: bool) -> int:
    from scenthound.formats import printable

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
        _unheard()
    return code


def _unheard() -> int:
    """Nobody reads what we print: leave without a word, and let nothing be flushed into the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0
