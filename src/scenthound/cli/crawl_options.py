"""Options shared by the commands that crawl."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from scenthound.cli.output import option, repeatable
from scenthound.cli.shell_words import complete_settings, complete_sources
from scenthound.looking_for import CHOICES

F = TypeVar("F", bound=Callable[..., Any])


def _together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Combine several options into one decorator, in the order in which `--help` lists them."""
    return lambda command: reduce(lambda decorated, add: add(decorated), reversed(options), command)


def start_options(command: F) -> F:
    """Options for where a crawl starts: `--seed`, `--seeds`, `--source`."""
    return _together(
        repeatable("--seed seeds", "URL", "Start here; can be repeated."),
        repeatable(
            "--seeds seed_files", "FILE", "Start from the URLs in FILE: one per line, or bookmarks; - is stdin."
        ),
        repeatable(
            "--source sources",
            "NAME:ADDRESS",
            "Find seeds with this source if none are given, e.g. searxng:https://…; see `scenthound sources`.",
            shell_complete=complete_sources,
        ),
    )(command)


def looking_for_option(command: F) -> F:
    """The option `--looking-for`."""
    about = "Pages about the topic, or whole sites, of which only home pages count as found.  [default: pages]"
    return click.option("--looking-for", type=click.Choice(CHOICES), help=about)(command)


def set_option(command: F) -> F:
    """The option `--set KEY=VALUE`."""
    return repeatable(
        "--set pairs",
        "KEY=VALUE",
        "Any setting, or a parameter of the strategy; can be repeated.",
        shell_complete=complete_settings,
    )(command)


def pdf_option(command: F) -> F:
    """The option `--pdf`."""
    about = "Fetch PDF files too, and read their text; needs the extra `pdf`."
    return click.option("--pdf", is_flag=True, default=None, help=about)(command)


def fetch_options(command: F) -> F:
    """Options for how pages are fetched: `--contact`, `--delay`, `--proxy`, `--allow-private`."""
    return _together(
        option("--contact", "MAIL", "Address for site owners, sent in the User-Agent."),
        option("--delay", "TIME", "Pause between two requests to a host.  [default: 1 s]"),
        option("--proxy", "URL", "Fetch through this proxy (http://, socks5://)."),
        repeatable("--allow-private", "NET", "Allow this private network, e.g. `loopback` or `10.0.0.0/8`."),
    )(command)
