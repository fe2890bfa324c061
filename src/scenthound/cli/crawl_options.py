"""Options that the commands which crawl have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from scenthound.cli.output import option, repeatable
from scenthound.cli.shell_words import settings_named, sources_named

F = TypeVar("F", bound=Callable[..., Any])


def _together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Combine several options into one decorator, in the order in which `--help` lists them."""
    return lambda command: reduce(lambda decorated, add: add(decorated), reversed(options), command)


def start_options(command: F) -> F:
    """Where a crawl starts: `--seed`, `--seeds`, `--source`."""
    return _together(
        repeatable("--seed seeds", "URL", "Start here; can be repeated."),
        repeatable(
            "--seeds seed_files", "FILE", "Start from the URLs in FILE: one per line, or bookmarks; - is stdin."
        ),
        repeatable(
            "--source sources",
            "NAME:ADDRESS",
            "Find seeds with this source if none are given, e.g. searxng:https://…; see `scenthound sources`.",
            shell_complete=sources_named,
        ),
    )(command)


def set_option(command: F) -> F:
    """`--set KEY=VALUE`."""
    return repeatable(
        "--set pairs",
        "KEY=VALUE",
        "Any setting, or a parameter of the strategy; can be repeated.",
        shell_complete=settings_named,
    )(command)


def pdf_option(command: F) -> F:
    """`--pdf`."""
    about = "Fetch PDF files too, and read their text; needs the extra `pdf`."
    return click.option("--pdf", is_flag=True, default=None, help=about)(command)


def fetch_options(command: F) -> F:
    """How pages are fetched: `--contact`, `--delay`, `--proxy`, `--allow-private`."""
    return _together(
        option("--contact", "MAIL", "Address for site owners, sent in the User-Agent."),
        option("--delay", "TIME", "Pause between two requests to a host.  [default: 1 s]"),
        option("--proxy", "URL", "Fetch through this proxy (http://, socks5://)."),
        repeatable("--allow-private", "NET", "Allow this private network, e.g. `loopback` or `10.0.0.0/8`."),
    )(command)
