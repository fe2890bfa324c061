"""Watch one crawl through its folder; its figures are updated incrementally from new events.

A `Watch` belongs to one thread. The whole history is read once when a crawl is opened; after that, the cost of an
update depends only on the number of new events.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound import looking_for
from scenthound import url as urls
from scenthound.loop.folder import LOOKING_FOR, CrawlFolder
from scenthound.loop.forecast import Forecast
from scenthound.loop.link_balance import ROBOTS, LinkBalance
from scenthound.loop.politeness import HOST_FAILURES
from scenthound.loop.selection import ALL_RESTS
from scenthound.report.causes import NO_HITS, why_nothing
from scenthound.report.crawl_facts import FINAL, NO_URL_LEFT, ending_in_words, gather, link_balance, outlook
from scenthound.report.long_rests import long_rests
from scenthound.report.wording import balance_in_words, in_words
from scenthound.store import live_queries
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders
from scenthound.store.sqlite_history import OLD_RULE

RECENT = 50  # pages in the moving on-topic share
POINTS = 240
SPEED_OVER = 20.0  # seconds over which the current speed is measured
WORKING = 10.0  # seconds; a host that delivered a page in this time counts as working


@dataclass(slots=True)
class Curve:
    """The on-topic share as a function of the number of pages, in at most 2 * `POINTS` points."""

    every: int = 1
    points: list[tuple[int, float, float]] = field(default_factory=list)
    """(pages, share so far, share of the last `RECENT` pages)."""

    def add(self, n: int, share: float, recent: float) -> None:
        if n % self.every == 0:
            self.points.append((n, round(share, 4), round(recent, 4)))
            if len(self.points) > 2 * POINTS:
                self.every *= 2
                self.points = [point for point in self.points if point[0] % self.every == 0]


class Watch:
    """The figures of one crawl, as of its last committed transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = CrawlFolder.look(path)
        self._sentence = ("", "")
        self._count_from_zero()

    def _count_from_zero(self) -> None:
        self.pages = self.relevant = self.bytes = 0
        self.curve = Curve()
        self._last_time = 0.0
        self._forecast = Forecast()
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._recent_relevant = 0
        self._times: deque[float] = deque(maxlen=2000)
        self._hosts: Counter[str] = Counter()
        self._last_by_host: dict[str, float] = {}
        self._last_event = 0

    def close(self) -> None:
        self.folder.close()

    def refresh(self) -> int:
        """Read new events and return the number of new pages."""
        if not self._last_event:  # a crawl that has just started has no database yet, or one without tables
            self._look_again()
        elif self._has_changed_target():  # other pages are relevant now
            self._look_again()
            self._count_from_zero()
        before = self.pages
        relevant_from = self.folder.request.settings.relevant or OLD_RULE
        for event in live_queries.fetched_after(self.folder.database, self._last_event, relevant_from):
            self._last_event = event.event
            self.bytes += event.bytes
            if event.is_page:
                self._add(event)
        return self.pages - before

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

    def _add(self, page: live_queries.Fetched) -> None:
        host, relevant = urls.host(page.url), bool(page.relevant)
        self.pages += 1
        self.relevant += relevant
        if len(self._recent) == RECENT:
            self._recent_relevant -= self._recent[0]
        self._recent.append(relevant)
        self._recent_relevant += relevant
        found = page.relevance if looking_for.is_counted(page.url, self.folder.request.topic.looking_for) else 0.0
        self._forecast.page(found, bool(page.is_seed))
        self._times.append(page.time)
        self._last_time = page.time
        self._hosts[host] += 1
        self._last_by_host[host] = page.time
        self.curve.add(self.pages, self.relevant / self.pages, self._recent_relevant / len(self._recent))

    def state(self) -> tuple[str, str]:
        """Return `running`, `paused` or the reason why the crawl ended, and an explanation."""
        database = self.folder.database
        if holder(self.path) is not None:
            state = "paused" if Orders(database).is_paused() else "running"
        else:
            state = self.folder.ended(self._last_time) or "cut off"
        folder = self.folder
        links = link_balance(folder) if state == NO_URL_LEFT else LinkBalance()  # only needed there
        rests = long_rests(folder) if state == ALL_RESTS else []
        why = ending_in_words(state, links, folder.budget, folder.plugin_failure(), rests)
        if state in FINAL and not self.relevant:
            why = f"{why}; {NO_HITS}" if self.pages else _why_nothing(self.folder)
        return state, why

    def overview(self, now: float) -> dict[str, Any]:
        """Return the figures as JSON data."""
        request, database = self.folder.request, self.folder.database
        state, why = self.state()
        forecast = self._forecast.left(self.folder.budget - self.pages)
        hosts = live_queries.host_states(database, now, HOST_FAILURES, request.settings.host_patience)
        working = sum(time > now - WORKING for time in self._last_by_host.values()) if state == "running" else 0
        resting = hosts.resting if state in ("running", "paused") else 0
        links = link_balance(self.folder)
        failed = {reason: times for reason, times in self.folder.history.reasons().items() if reason != ROBOTS}
        return {
            "topic": request.topic.keywords,
            "looking_for": request.topic.looking_for,
            "looking_for_in_words": self._looking_for_in_words(),
            "strategy": request.strategy,
            "state": state,
            "state_in_words": state_in_words(state),
            "why": why,
            "is_running": state in ("running", "paused"),
            "pages": self.pages,
            "budget": self.folder.budget,
            "on_topic": self.relevant,
            "share": self.relevant / self.pages if self.pages else 0.0,
            "share_recent": self._recent_relevant / len(self._recent) if self._recent else 0.0,
            "recent": len(self._recent),
            "pages_per_second": self._speed(now) if state == "running" else 0.0,
            "bytes": self.bytes,
            "waiting": links.waiting,
            "hosts": {
                "with_pages": len(self._hosts),
                "working": working,
                "resting": resting,
                "asleep": hosts.failing + hosts.barren,
                "failing": hosts.failing,
                "barren": hosts.barren,
                "next_in": None if hosts.next_at is None or not resting else max(0.0, hosts.next_at - now),
            },
            "expected": None if forecast is None else forecast.expected,
            "expected_share": None if forecast is None else forecast.share,
            "outlook": outlook(forecast, self.folder.budget - self.pages),
            "blocked": Orders(database).blocked(),
            "exploration": _share(live_queries.latest_strategy_event(database, "exploration").get("rate")),
            "failed": failed,
            "not_followed": dict(links.not_followed),
            "links": links.as_plain(),
            "links_in_words": balance_in_words(links),
            "in_words": {reason: in_words(reason) for reason in (*failed, *links.not_followed)},
            "curve": [list(point) for point in self.curve.points],
        }

    def _speed(self, now: float) -> float:
        recent = sum(time > now - SPEED_OVER for time in self._times)
        start = self._times[0] if self._times and self.pages <= len(self._times) else now - SPEED_OVER
        return recent / max(1.0, min(SPEED_OVER, now - start))


def _why_nothing(folder: CrawlFolder) -> str:
    message, hint = why_nothing(gather(folder))
    return f"{message}. {hint[:1].upper()}{hint[1:]}"


def state_in_words(state: str) -> str:
    """A state as one word: "finished" for all final states."""
    return "finished" if state in FINAL else state


def _share(value: Any) -> float | None:
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_share else None
