"""The commands that show what a strategy of the literature has learned.

`COMMANDS` is how the crawler's command line finds them (entry points of the group `scenthound.commands`).
`economy_command` has `scenthound economy`, which shows the agents of a Hayek economy. It is imported only when the
command is used.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "economy": (
        "scenthound.papers.commands.economy_command",
        "Show the richest agents of a trained Hayek economy, and its money balance.",
    ),
}
"""For each command, its module and its summary."""
