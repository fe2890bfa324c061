"""`scenthound companion`: the desk with a browser extension that looks ahead while you browse."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, print_facts, repeatable, say
from scenthound.cli.shell_words import complete_settings
from scenthound.desk.commands.desk_command import PORT, open_browser, require_desk_packages


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[FOLDER]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port to listen on.  [default: the last one used, or 8770]",
)
@option(
    "--home",
    "DIR",
    "Folder for new crawls of the desk.  [default: the user data folder]",
    type=click.Path(path_type=Path),
)
@click.option("--no-browser", is_flag=True, help="Only print the instructions.")
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@option("--delay", "TIME", "Pause between two requests to a host.  [default: 1 s]")
@repeatable("--allow-private", "NET", "Allow this private network, e.g. `loopback` or `10.0.0.0/8`.")
@repeatable("--set pairs", "KEY=VALUE", "Any crawl setting, used when looking ahead.", shell_complete=complete_settings)
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

    Starts the desk on this machine, and prints where the extension for Chromium and Firefox is, how to load it, and a
    code to copy, which pairs it with the desk. The extension is off until you switch it on. It learns words, which are
    kept in FOLDER, can be seen and deleted at the desk, and never leave this machine.

    \b
      $ scenthound companion
      $ scenthound companion my-profile --no-browser
      $ scenthound companion --port 8080 --contact you@example.org
    """
    require_desk_packages()
    from platformdirs import user_data_path

    from scenthound.desk.apps.companion import Companion
    from scenthound.desk.pairing import Pairings
    from scenthound.desk.web_app import serve
    from scenthound.loop.settings import Settings, read

    values = {name: value for name, value in settings.items() if value} | dict(map(key_value, pairs))
    folder = folder or user_data_path("scenthound") / "companion"
    companion_, pairings = Companion(folder, read(Settings, values)), Pairings(folder)
    home = home or user_data_path("scenthound") / "collections"

    def announce(address: str) -> None:
        base, _, token = address.partition("/#")
        bound_port = int(base.rpartition(":")[2])
        pairings.listen_on(bound_port)
        code = f"{bound_port}-{pairings.new_code(time.time())}"
        _print(f"{base}/companion#{token}", code, len(pairings.origins), as_json)
        if not no_browser:
            open_browser(f"{base}/companion#{token}")

    serve(
        home,
        [],
        "127.0.0.1",
        pairings.port or PORT if port is None else port,
        announce,
        companion=companion_,
        pairings=pairings,
    )


def _print(address: str, code: str, paired: int, as_json: bool) -> None:
    from scenthound.desk.apps.companion import extension_folder

    folder = extension_folder()
    if as_json:
        emit({"address": address, "extension": str(folder), "code": code, "paired": paired})
    else:
        print_facts(
            [
                ("extension", str(folder)),
                (
                    "Chromium",
                    "open chrome://extensions, switch on “Developer mode”, click “Load unpacked”, choose that folder",
                ),
                (
                    "Firefox",
                    "open about:debugging#/runtime/this-firefox, click “Load Temporary Add-on…”, choose manifest.json",
                ),
                ("pair", f"copy {code} into the extension's options within ten minutes"),
                ("then", "open its panel with its toolbar button, and switch it on"),
                ("desk", address),
            ]
        )
        if paired:
            say(f"Already paired: {paired}; no code is needed there.")
        say("Press Ctrl-C to stop.")
    sys.stdout.flush()
