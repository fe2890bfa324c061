"""The commands of the laboratory, and those that need it: `topic` and `train`.

`COMMANDS` is how the crawler's command line finds them (entry points of the group `scenthound.commands`). A command is
in the module named after it or its group, which is imported only when the command is used. `lab` has the group
`scenthound lab` and lists the modules of its subcommands; `lab_progress` shows the progress of experiments on stderr.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "topic": ("scenthound.lab.commands.topic_commands", "Make a topic from example pages, or show one."),
    "train": ("scenthound.lab.commands.train_command", "Train a strategy before it crawls."),
    "lab": ("scenthound.lab.commands.lab", "Measure crawlers: webs with known answers, experiments, reports."),
}
"""For each command, its module and its summary."""
