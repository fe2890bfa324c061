"""Child processes. Each starts in safe-path mode, so that no module is imported from the working directory.

A crawl folder may come from a stranger, and people run `scenthound resume .` inside it. Without safe-path mode Python
puts that directory first on `sys.path` of a child, and a file `pickle.py` in it is executed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

SAFE_PATH = "PYTHONSAFEPATH"
_environment_lock = threading.Lock()


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours in a child process."""
    return [sys.executable, "-P", "-m", module, *arguments]


class ProcessPool(ProcessPoolExecutor):
    """A pool of spawned workers.

    With `make_context`, each worker calls `make_context(*arguments)` once, before its first task; `call` passes the
    result to every task. So a worker opens a bed once and no module needs a global variable for it.
    """

    def __init__(
        self, workers: int, make_context: Callable[..., Any] | None = None, arguments: tuple[Any, ...] = ()
    ) -> None:
        with _safe_path():  # the locks of a pool start a process, multiprocessing's resource tracker
            super().__init__(workers, get_context("spawn"), _make_context, (make_context, arguments))

    def call(self, task: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run `task(context, *arguments)` in a worker."""
        return self.submit(_call_with_context, task, arguments)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As in `Executor`. Workers are started only here, so their environment is set here."""
        with _safe_path():
            return super().submit(fn, *args, **kwargs)


_context: Any = None  # of this worker process: set by the pool's initializer, which has no other way to keep a value


def _make_context(make_context: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
    global _context
    _context = None if make_context is None else make_context(*arguments)


def _call_with_context(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return task(_context, *arguments)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Set the variable for children started inside: multiprocessing takes no option and no environment for them."""
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
