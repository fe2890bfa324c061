"""The `scenthound` command that the desk runs, and a parser for the errors it prints with `--json`."""

from __future__ import annotations

import json

from scenthound.errors import OurFault
from scenthound.processes import module_command

COMMAND = tuple(module_command("scenthound"))


def error_in(output: str) -> OurFault:
    """Parse the error printed by a command with `--json`."""
    try:
        document = json.loads(output[output.index("{") :])
        return OurFault(str(document["error"]), str(document.get("hint", "")))
    except (ValueError, KeyError, TypeError):
        return OurFault(output[-300:] or "the command failed", "run `scenthound doctor`")
