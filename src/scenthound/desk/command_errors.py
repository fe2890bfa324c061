"""The command that the desk starts, and the error that it prints with `--json`."""

from __future__ import annotations

import json

from scenthound.errors import OurFault
from scenthound.processes import module_command

COMMAND = tuple(module_command("scenthound"))


def error_in(said: str) -> OurFault:
    """The error that a command with `--json` printed."""
    try:
        document = json.loads(said[said.index("{") :])
        return OurFault(str(document["error"]), str(document.get("hint", "")))
    except (ValueError, KeyError, TypeError):
        return OurFault(said[-300:] or "the command failed", "see what `scenthound doctor` says")
