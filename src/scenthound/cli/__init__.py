"""The command line: one file per command group; parse, call, print.

`main` is the entry point. Commands are imported when needed, so that `--help` is quick. Data goes to stdout, messages
to stderr; with `--json` stdout is one JSON document (or JSON lines).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    from scenthound.cli.process_limits import prepare
    from scenthound.cli.root_command import run

    prepare()
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
