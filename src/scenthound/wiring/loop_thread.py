"""Run a coroutine in a thread with its own event loop, for callers that have no event loop or are blocking it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LoopThread(Generic[T]):
    """Runs a coroutine in a new thread, which starts immediately."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(work)
        self._thread = threading.Thread(target=self._run, name="scenthound crawl", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(asyncio.wait({self._task}))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the thread soon; do nothing if the thread has ended."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function)

    def cancel(self) -> None:
        """Cancel the coroutine and wait until it has ended."""
        self.call(self._task.cancel)
        self._thread.join()

    def result(self) -> T:
        """Wait until the coroutine has ended and return its result, or raise its exception."""
        self._thread.join()
        return self._task.result()


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result, even inside a running event loop, as in a notebook.

    `KeyboardInterrupt` cancels the coroutine, waits for its end and is raised again.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    thread = LoopThread(work)
    try:
        return thread.result()
    except KeyboardInterrupt:
        thread.cancel()
        raise
