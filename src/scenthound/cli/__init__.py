"""The command line: each command parses its arguments, calls a function elsewhere, and prints the result.

`main` is the entry point of the `scenthound` program. `root_command` looks up commands by name and turns errors into
messages and exit codes. A command is in the module named after it or its group (`show_command`, `folder_commands`),
which is imported only when the command is used, so that `--help` is quick. The desk, the lab and the papers add their
own commands through entry points.

The other modules are shared: `crawl_options` (options of all commands that crawl), `crawl_request` (command line and
configuration file to a crawl request), `output` (tables, JSON, messages), `progress` (progress on stderr),
`plugin_docs` and `cited_papers` (descriptions of plug-ins), `shell_words` (shell completion), and `process_limits`
(garbage collection, open files).

Data goes to stdout, messages to stderr; with `--json` stdout is one JSON document, or JSON lines.
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
