"""Start child processes in safe-path mode, so that no module is imported from the working directory.

A crawl folder may come from a stranger, and people run `scenthound resume .` inside it. Without safe-path mode Python
would put that directory first on the `sys.path` of a child and execute, for example, a `pickle.py` in it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"
_environment_lock = threading.Lock()


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs one of our modules in a child process."""
    return [sys.executable, "-P", "-m", module, *arguments]


@contextmanager
def safe_path() -> Iterator[None]:
    """Set safe-path mode for children started in the block, in the environment, as multiprocessing requires."""
    with _environment_lock:
        before = os.environ.get(SAFE_PATH)
        os.environ[SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[SAFE_PATH]
            else:
                os.environ[SAFE_PATH] = before
