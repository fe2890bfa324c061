"""Watch one crawl through its folder; its figures are updated incrementally from new events.

A `Watch` belongs to one thread. The whole history is read once when a crawl is opened; after that, the cost of an
update depends only on the number of new events.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenthound import looking_for
from scenthound.desk import live_queries
from scenthound.loop.admission import HOST_FAILURES
from scenthound.loop.folder import LOOKING_FOR, CrawlFolder
from scenthound.loop.link_balance import LinkBalance
from scenthound.loop.selection import ALL_RESTS
from scenthound.report.causes import NO_HITS, why_nothing
from scenthound.report.crawl_facts import (
    FINAL,
    StoredFigures,
    ending_in_words,
    failed,
    frontier_length,
    gather,
    link_balance,
    outlook,
    saved_state,
    state_of,
)
from scenthound.report.long_rests import long_rests
from scenthound.report.wording import balance_in_words, in_words
from scenthound.store.order_table import Orders

WORKING = 10.0  # seconds; a host that delivered a page in this time counts as working


class Watch:
    """The figures of one crawl, as of its last committed transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = CrawlFolder.look(path)
        self._sentence = ("", "")
        self._counted = StoredFigures(self.folder.request.topic.looking_for)
        self.links = LinkBalance()

    def close(self) -> None:
        self.folder.close()

    def refresh(self) -> int:
        """Read new events and return the number of new pages."""
        if not self._counted.last_event:  # a crawl that has just started has no database yet, or one without tables
            self._look_again()
        elif self._has_changed_target():  # other pages are relevant now
            self._look_again()
            self._counted = StoredFigures(self.folder.request.topic.looking_for)
        before = self._counted.figures.pages
        with self.folder.database.snapshot():
            saved = saved_state(self.folder)
            self._counted.read(self.folder.history, saved)
            self.links = link_balance(self._counted.figures, frontier_length(self.folder, saved))
        return self._counted.figures.pages - before

    def _look_again(self) -> None:
        old, self.folder = self.folder, CrawlFolder.look(self.path)
        old.close()

    def _has_changed_target(self) -> bool:
        """Whether the crawl looks for something else than when its folder was opened here."""
        known = self.folder.request.topic.looking_for
        return self.folder.database.meta(LOOKING_FOR, known) != known

    def _looking_for_in_words(self) -> str:
        request = self.folder.request
        known, sentence = self._sentence
        if known != request.topic.looking_for:  # computed once: a crawl may have a hundred thousand seeds
            sentence = looking_for.in_words(request.topic, request.parsed_seeds())
            self._sentence = (request.topic.looking_for, sentence)
        return sentence

    def state(self) -> tuple[str, str]:
        """Return `running`, `paused` or the reason why the crawl ended, and an explanation."""
        figures, folder = self._counted.figures, self.folder
        state, _ = state_of(folder, figures.last)
        rests = long_rests(folder) if state == ALL_RESTS else []
        why = ending_in_words(state, self.links, folder.budget, folder.plugin_failure(), rests)
        if state in FINAL and not figures.relevant:
            why = f"{why}; {NO_HITS}" if figures.pages else _why_nothing(folder)
        return state, why

    def overview(self, now: float) -> dict[str, Any]:
        """Return the figures as JSON data."""
        request, database = self.folder.request, self.folder.database
        state, why = self.state()
        figures, budget = self._counted.figures, self.folder.budget
        left = figures.left(budget)
        hosts = live_queries.host_states(database, now, HOST_FAILURES, request.settings.host_patience)
        working = sum(host.last > now - WORKING for host in self._counted.hosts.values()) if state == "running" else 0
        resting = hosts.resting if state in ("running", "paused") else 0
        links, failures = self.links, failed(figures)
        return {
            "topic": request.topic.keywords,
            "looking_for": request.topic.looking_for,
            "looking_for_in_words": self._looking_for_in_words(),
            "strategy": request.strategy,
            "state": state,
            "state_in_words": state_in_words(state),
            "why": why,
            "is_running": state in ("running", "paused"),
            "pages": figures.pages,
            "budget": budget,
            "on_topic": figures.relevant,
            "share": figures.harvest,
            "share_recent": figures.harvest_recent,
            "recent": figures.window,
            "pages_per_second": figures.speed(now) if state == "running" else 0.0,
            "bytes": self._counted.bytes,
            "waiting": links.waiting,
            "hosts": {
                "with_pages": sum(host.pages > 0 for host in self._counted.hosts.values()),
                "working": working,
                "resting": resting,
                "asleep": hosts.failing + hosts.barren,
                "failing": hosts.failing,
                "barren": hosts.barren,
                "next_in": None if hosts.next_at is None or not resting else max(0.0, hosts.next_at - now),
            },
            "expected": None if left is None else left.expected,
            "expected_share": None if left is None else left.share,
            "outlook": outlook(left, budget - figures.pages),
            "blocked": Orders(database).blocked(),
            "exploration": _share(live_queries.latest_strategy_event(database, "exploration").get("rate")),
            "failed": failures,
            "not_followed": dict(links.not_followed),
            "links": links.as_plain(),
            "links_in_words": balance_in_words(links),
            "in_words": {reason: in_words(reason) for reason in (*failures, *links.not_followed)},
            "curve": [[point.n, round(point.harvest, 4), round(point.recent, 4)] for point in figures.curve],
        }


def _why_nothing(folder: CrawlFolder) -> str:
    message, hint = why_nothing(gather(folder))
    return f"{message}. {hint[:1].upper()}{hint[1:]}"


def state_in_words(state: str) -> str:
    """A state as one word: "finished" for all final states."""
    return "finished" if state in FINAL else state


def _share(value: Any) -> float | None:
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_share else None
