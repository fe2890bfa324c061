"""`scenthound completion`: print the completion script for a shell."""

from __future__ import annotations

import click

from scenthound.cli.output import emit, json_option

INSTALL = {
    "bash": "scenthound completion bash >> ~/.bashrc",
    "zsh": "scenthound completion zsh >> ~/.zshrc",
    "fish": "scenthound completion fish > ~/.config/fish/completions/scenthound.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(sorted(INSTALL)))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print the shell completion script.

    \b
      $ scenthound completion bash >> ~/.bashrc
      $ scenthound completion zsh >> ~/.zshrc
      $ scenthound completion fish > ~/.config/fish/completions/scenthound.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from scenthound.cli.root_command import COMPLETE, NAME, app

    kind = {"bash": BashComplete, "fish": FishComplete, "zsh": ZshComplete}[shell]
    completion = kind(app, {}, NAME, COMPLETE)
    script = completion.source_template % completion.source_vars()  # `source()` would run bash to get its version
    emit({"shell": shell, "script": script, "install": INSTALL[shell]}) if as_json else click.echo(script)
