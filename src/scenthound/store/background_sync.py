"""`fsync` without waiting: in a thread of its own, since it may take longer than a hundred pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence


class BackgroundSync:
    """Runs some calls of `fsync`, one after the other. An error stops it, and is raised by `result`."""

    def __init__(self, calls: Sequence[Callable[[], None]]) -> None:
        self._calls = calls
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> None:
        self._thread.join()

    def result(self) -> None:
        """Wait for the end; raises its error."""
        self.wait()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            for call in self._calls:
                call()
        except OSError as error:
            self._error = error
