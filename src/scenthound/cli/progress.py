"""Show the progress of a crawl on stderr: a panel on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from scenthound.cli.output import say
from scenthound.formats import printable
from scenthound.report.crawl_facts import outlook, pages_per_second

if TYPE_CHECKING:
    from rich.console import RenderableType

    from scenthound.loop.figures import Left
    from scenthound.wiring import Session

REFRESH = 0.25
PLAIN_EVERY = 5.0
BEST_SHOWN = 5
DOUBTS_FIRST, DOUBTS_EVERY = 50, 500  # pages before the first report of the judge's doubts, and between reports


class Progress:
    """Progress of one crawl. Use it in a `with` block, and pass `tick` to `Session.run`."""

    def __init__(
        self, session: Session, title: str = "", quiet: bool = False, resumable: bool = True, doubts: bool = True
    ) -> None:
        """`doubts`: whether to print what the judge is unsure about."""
        self.session, self.title, self.quiet, self.resumable = session, title, quiet, resumable
        self._shows_doubts = doubts
        self._live: Any = None
        self._started = time.monotonic()
        self._shown = float("-inf")
        self._last_line = self._started
        self._interrupt_reported = False
        self._silence_reported = False
        self._doubts: list[str] = []
        self._next_doubts = DOUBTS_FIRST

    def __enter__(self) -> Progress:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._live = Live(self._panel(), console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def tick(self) -> None:
        now = time.monotonic()
        if self.session.crawl.end_reason == "interrupted" and not self._interrupt_reported:
            self._interrupt_reported = True
            resume = "; the crawl can be resumed either way" if self.resumable else ""
            self._note(f"Finishing the requests in flight. Press Ctrl-C again to stop now{resume}.")
        if now - self._shown < REFRESH:
            return
        self._shown = now
        self._report_silence()
        self._report_doubts()
        if self._live is not None:
            self._live.update(self._panel(), refresh=True)
        elif not self.quiet and now - self._last_line >= PLAIN_EVERY:
            self._last_line = now
            say(self.line())

    def _report_silence(self) -> None:
        """Print once, while there are no pages, that no server answers, and why."""
        crawl, failures = self.session.crawl, self.session.failures
        if self._silence_reported or crawl.figures.pages or not crawl.figures.dropped["no-network"]:
            return
        self._silence_reported = True
        worst = max(failures, key=lambda reason: failures[reason][0], default="")
        about = f" ({printable(worst)}: {printable(failures[worst][1], 120)})" if worst else ""
        check = "--proxy" if worst == "proxy" else "the network"
        self._note(f"note: no server answers{about}; still trying. Check {check}, or stop with Ctrl-C.")

    def _report_doubts(self) -> None:
        """Print what the judge is unsure about when that changes, at most every `DOUBTS_EVERY` pages."""
        pages = self.session.crawl.figures.pages
        if self.quiet or not self._shows_doubts or pages < self._next_doubts:
            return
        self._next_doubts = pages + DOUBTS_EVERY
        doubts = self.session.crawl.judging.doubts()
        for doubt in doubts:
            if doubt not in self._doubts:
                self._note(f"note: {printable(doubt, 400)}")
        self._doubts = doubts

    def line(self) -> str:
        """The figures on one line, as in the final summary."""
        figures, crawl = self.session.crawl.figures, self.session.crawl
        recent = figures.harvest_recent
        prefix = f"{self.title}: " if self.title else ""
        paused = "paused, " if self.session.steering.is_paused else ""
        return (
            f"{prefix}{paused}{figures.pages:,} of {crawl.limits.pages:,} pages, {self._speed():.1f}/s, "
            f"harvest {figures.harvest:.1%} (last 100: {recent:.1%}), {self._expected()}"
            f"frontier {self.session.waiting:,}, hosts {self.session.hosts:,}, errors {sum(figures.misses.values()):,}"
        )

    def _left(self) -> Left | None:
        crawl = self.session.crawl
        return crawl.figures.left(crawl.limits.pages)

    def _expected(self) -> str:
        """The forecast for the rest of the budget, as part of the line; empty while unknown, and at the end."""
        left, pages = self._left(), self.session.crawl.limits.pages - self.session.crawl.pages
        if left is None or pages <= 0:
            return ""
        return f"at most about {left.expected:,.0f} more relevant in the {pages:,} pages left, "

    def _note(self, message: str) -> None:
        if self._live is not None:
            self._live.console.print(message)
        else:
            say(message)

    def _speed(self) -> float:
        return pages_per_second(self.session.crawl.figures.pages, self.session.seconds)

    def _panel(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        session, crawl, figures = self.session, self.session.crawl, self.session.crawl.figures
        began, _ = session.folder.runs[-1]
        head = Text(printable(self.title or self.session.folder.request.topic.keywords, 60), style="bold")
        if self.session.steering.is_paused:
            head += Text("  paused")
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=crawl.limits.pages, completed=figures.pages, width=40),
            Text(
                f"{figures.pages:,} of {crawl.limits.pages:,} pages · {self._speed():.1f}/s for "
                f"{self.session.seconds:.0f} s · now {figures.speed(session.clock(), began):.1f}/s"
            ),
        )
        grid = Table.grid(padding=(0, 3))
        grid.add_row("harvest", f"{figures.harvest:.1%}", "last 100", f"{figures.harvest_recent:.1%}")
        left = crawl.limits.pages - crawl.pages
        grid.add_row("expected", outlook(self._left(), left))
        grid.add_row("frontier", f"{self.session.waiting:,}", "hosts", f"{self.session.hosts:,}")
        worst = ", ".join(f"{printable(reason)} {times:,}" for reason, times in figures.misses.most_common(3))
        grid.add_row("in flight", f"{crawl.in_flight:,}", "errors", f"{sum(figures.misses.values()):,}  {worst}")
        best = Table.grid(padding=(0, 2))
        for relevance, _, url, title in sorted(figures.best, reverse=True)[:BEST_SHOWN]:
            best.add_row(
                Text(f"{relevance:.3f}"),
                Text(printable(title, 50) or "(no title)"),
                Text(printable(url, 60), style="dim"),
            )
        return Group(head, bar, grid, Text("best so far", style="bold"), best)
