"""`scenthound companion`: looks ahead while you browse, with an extension of your browser."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from scenthound.cli.desk_command import PORT, check_desk, open_browser
from scenthound.cli.output import emit, json_option, key_value, option, print_facts, repeatable, say
from scenthound.cli.shell_words import settings_named


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[FOLDER]")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", help="Listen here.  [default: as last time, or 8770]"
)
@option(
    "--home", "DIR", "Where new crawls of the desk go.  [default: your data folder]", type=click.Path(path_type=Path)
)
@click.option("--no-browser", is_flag=True, help="Only print what to do.")
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@option("--delay", "TIME", "Pause between two requests to a host.  [default: 1 s]")
@repeatable("--allow-private", "NET", "A private network that may be looked at: `loopback`, `10.0.0.0/8`.")
@repeatable("--set pairs", "KEY=VALUE", "Any setting of a crawl, for looking ahead.", shell_complete=settings_named)
@json_option
def companion(
    folder: Path | None,
    port: int | None,
    home: Path | None,
    no_browser: bool,
    pairs: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Look ahead while you browse: the side panel shows which links are worth following, and why.

    Prints where the extension for Chromium and Firefox is, how to load it, and a code that pairs it with the desk,
    which is started on this machine. The extension is off until you switch it on. What it learns are words; they are
    kept in FOLDER, can be seen and deleted at the desk, and never leave the machine.

    \b
      $ scenthound companion
      $ scenthound companion my-profile --no-browser
      $ scenthound companion --port 8080 --contact you@example.org
    """
    check_desk()
    from platformdirs import user_data_path

    from scenthound.apps.companion import Companion
    from scenthound.desk.pairing import Pairings
    from scenthound.desk.web_app import serve
    from scenthound.loop.settings import Settings, read

    given = {name: value for name, value in settings.items() if value} | dict(map(key_value, pairs))
    folder = folder or user_data_path("scenthound") / "companion"
    made, pairings = Companion(folder, read(Settings, given)), Pairings(folder)
    home = home or user_data_path("scenthound") / "collections"

    def ready(address: str) -> None:
        base, _, token = address.partition("/#")
        number = int(base.rpartition(":")[2])
        pairings.listen_on(number)
        code = f"{number}-{pairings.new_code(time.time())}"
        _print(f"{base}/companion#{token}", code, len(pairings.origins), as_json)
        if not no_browser:
            open_browser(f"{base}/companion#{token}")

    serve(
        home, [], "127.0.0.1", pairings.port or PORT if port is None else port, ready, companion=made, pairings=pairings
    )


def _print(address: str, code: str, paired: int, as_json: bool) -> None:
    from scenthound.apps.companion import extension_folder

    folder = extension_folder()
    if as_json:
        emit({"address": address, "extension": str(folder), "code": code, "paired": paired})
    else:
        print_facts(
            [
                ("extension", str(folder)),
                ("Chromium", "open chrome://extensions, switch on “Developer mode”, “Load unpacked”: that folder"),
                ("Firefox", "open about:debugging#/runtime/this-firefox, “Load Temporary Add-on…”: its manifest.json"),
                ("pair", f"type {code} in the extension's options, within ten minutes"),
                ("then", "open its panel with its button, and switch it on"),
                ("desk", address),
            ]
        )
        if paired:
            say(f"{paired} paired already: nothing to type in {'it' if paired == 1 else 'them'}.")
        say("Press Ctrl-C to end.")
    sys.stdout.flush()
