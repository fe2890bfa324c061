"""`scenthound desk`: the web interface, to start, watch, steer and search crawls in the browser."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, option, repeatable, say
from scenthound.errors import BadConfig
from scenthound.extras import require
from scenthound.wiring import check_sources

PORT = 8770


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]…")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", help="Port to listen on.  [default: 8770, or any free one]"
)
@option(
    "--host",
    "ADDRESS",
    "Address to listen on. If it is not a loopback address, reading requires the token too.",
    default="127.0.0.1",
)
@option("--home", "DIR", "Folder for new crawls.  [default: the user data folder]", type=click.Path(path_type=Path))
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@repeatable("--set pairs", "KEY=VALUE", "A setting for every crawl started here.")
@repeatable("--source sources", "NAME:ADDRESS", "A seed source to offer on the start page, e.g. searxng:https://…")
@json_option
def desk(
    folders: tuple[Path, ...],
    port: int | None,
    host: str,
    home: Path | None,
    no_browser: bool,
    pairs: tuple[str, ...],
    sources: tuple[str, ...],
    as_json: bool,
) -> None:
    """Start, watch, steer and search crawls in the browser, and compare experiments.

    Opens the browser and prints the address. FOLDER is a crawl folder (running or not), an experiment of the
    laboratory, or a folder that contains several of these. Crawls started at the desk keep running when it is closed.

    \b
      $ scenthound desk
      $ scenthound desk balloons runs/first --no-browser
      $ scenthound desk --port 8080
      $ scenthound desk --source searxng:https://search.example.org/
    """
    require_desk_packages()
    check_sources(sources)
    options = tuple(argument for pair in pairs for argument in ("--set", pair))
    open_desk(list(folders), host, port, home, options, sources, no_browser=no_browser, as_json=as_json)


def require_desk_packages() -> None:
    """Raise `BadConfig` if the packages that the desk needs are missing."""
    require("desk", "the desk")


def open_desk(
    folders: list[Path],
    host: str = "127.0.0.1",
    port: int | None = None,
    home: Path | None = None,
    options: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
    *,
    no_browser: bool = False,
    as_json: bool = False,
) -> None:
    """Print the address of the desk, open the browser, and serve until interrupted."""
    from scenthound.desk.web_app import listening_socket, serve

    if home is None:
        from platformdirs import user_data_path

        home = user_data_path("scenthound") / "collections"
    if port is None:
        try:
            listening_socket(host, PORT).close()
            port = PORT
        except BadConfig:
            port = 0

    def announce(address: str) -> None:
        if as_json:
            emit({"address": address})
        else:
            click.echo(address)
        sys.stdout.flush()
        say("Press Ctrl-C to close the desk; crawls keep running.")
        if not no_browser:
            open_browser(address)

    serve(home, folders, host, port, announce, options, sources)


def open_browser(address: str) -> None:
    """Open a temporary file that redirects to the address. On a command line other users could read its token."""
    import webbrowser

    from scenthound.desk.page_templates import render

    descriptor, name = tempfile.mkstemp(suffix=".html", prefix="scenthound-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(render("redirect.html", target=address))
    webbrowser.open(Path(name).as_uri())
