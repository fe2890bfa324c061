"""Show the progress of a task on stderr: a bar with the time left on a terminal, a plain line elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from scenthound.cli.output import say
from scenthound.formats import printable

REFRESH = 0.1
PLAIN_EVERY = 5.0
AT_ONCE = 0.02  # seconds; items that arrive faster at the start were already done, and are left out of the speed


class TaskProgress:
    """Progress of consecutive tasks. Use it in a `with` block; call it with items done and total (0: unknown)."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
        self._bar: Any = None
        self._task: Any = None
        self._shown = self._last_line = self._last = time.monotonic()
        self._since: tuple[float, int] | None = None
        self._done = self._total = 0

    def __enter__(self) -> TaskProgress:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(40), TextColumn("{task.fields[text]}"), console=console,
                transient=True, auto_refresh=False,
            )  # fmt: skip
            self._task = self._bar.add_task(self.what, total=None, text="")
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop printing progress."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self.quiet = True

    def begin(self, what: str) -> None:
        """Start the next task; does nothing if it is the current one."""
        if what != self.what:
            self.what, self._since, self._done, self._total = what, None, 0, 0
            if self._bar is not None:
                self._bar.update(self._task, description=what, completed=0, total=None, text="")

    def __call__(self, done: int, total: int = 0, note: str = "") -> None:
        now = time.monotonic()
        if self._since is None or (self._since[1] == self._done and now - self._last < AT_ONCE):
            self._since = (now, done)
        self._done, self._total, self._last = done, total, now
        finished = done == total
        if self._bar is not None and (finished or now - self._shown >= REFRESH):
            self._shown = now
            self._bar.update(self._task, completed=done, total=total or None, text=self.line(now, note), refresh=True)
        elif self._bar is None and not self.quiet and now - self._last_line >= PLAIN_EVERY:
            self._last_line = now
            say(f"{self.what}: {self.line(now, note)}")

    def line(self, now: float, note: str = "") -> str:
        """Progress and time left, on one line."""
        parts = [f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}"]
        if left := self._left(now):
            parts.append(left)
        if note:
            parts.append(printable(note, 60))
        return ", ".join(parts)

    def _left(self, now: float) -> str:
        from scenthound.formats import duration

        if self._since is None or not self._total:
            return ""
        begun, before = self._since
        if self._done <= before or self._done >= self._total:
            return ""
        return f"{duration((now - begun) / (self._done - before) * (self._total - self._done))} left"
