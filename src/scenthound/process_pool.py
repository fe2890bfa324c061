"""A pool of worker processes, for experiments and for preparing beds. A crawl does not need it, nor what it imports."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from scenthound.processes import safe_path


class ProcessPool(ProcessPoolExecutor):
    """A pool of spawned workers.

    With `make_context`, each worker calls `make_context(*arguments)` once, before its first task; `call` passes the
    result to every task. So a worker opens a bed once and no module needs a global variable for it.
    """

    def __init__(
        self, workers: int, make_context: Callable[..., Any] | None = None, arguments: tuple[Any, ...] = ()
    ) -> None:
        with safe_path():  # the locks of a pool start a process, multiprocessing's resource tracker
            super().__init__(workers, get_context("spawn"), _make_context, (make_context, arguments))

    def call(self, task: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run `task(context, *arguments)` in a worker."""
        return self.submit(_call_with_context, task, arguments)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As in `Executor`. Workers are started only here, so their environment is set here."""
        with safe_path():
            return super().submit(fn, *args, **kwargs)


_context: Any = None  # of this worker process: set by the pool's initializer, which has no other way to keep a value


def _make_context(make_context: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
    global _context
    _context = None if make_context is None else make_context(*arguments)


def _call_with_context(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return task(_context, *arguments)
