"""A pool of worker processes for experiments and for preparing beds. Crawls do not import this module."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from scenthound.processes import safe_path


class ProcessPool(ProcessPoolExecutor):
    """A pool of spawned workers.

    With `make_context`, each worker calls `make_context(*arguments)` once, before its first task; `call` passes the
    result to every task. So a worker opens a bed only once, without a global variable in other modules.
    """

    def __init__(
        self, workers: int, make_context: Callable[..., Any] | None = None, arguments: tuple[Any, ...] = ()
    ) -> None:
        with safe_path():  # creating its locks starts a process: multiprocessing's resource tracker
            super().__init__(workers, get_context("spawn"), _set_context, (make_context, arguments))

    def call(self, task: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run `task(context, *arguments)` in a worker."""
        return self.submit(_call_with_context, task, arguments)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task, as in `Executor`. Workers are started only here, so safe-path mode is set here."""
        with safe_path():
            return super().submit(fn, *args, **kwargs)


_context: Any = None  # in a worker: set by the pool's initializer, which has no other place to keep a value


def _set_context(make_context: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
    global _context
    _context = None if make_context is None else make_context(*arguments)


def _call_with_context(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return task(_context, *arguments)
