"""The command line: one file per command group; parse, call, print.

`main` is the entry point. Commands are imported when they are asked for, so that `--help` is quick.
Data goes to stdout, talk to stderr; `--json` makes stdout one JSON document (or JSON lines).
"""

from __future__ import annotations

import contextlib
import gc
import resource
import sys
from collections.abc import Sequence
from typing import NoReturn

FILES = 65_536


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    from scenthound.cli.app import run

    gc.set_threshold(50_000, 20, 100)  # a frontier is many small tuples and no cycles: a tenth of a crawl otherwise
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # connections are files, and 1,024 of them are soon used up
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(files, FILES if most == resource.RLIM_INFINITY else min(most, FILES)), most)
        )
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
