"""The lists behind the counts of a crawl: hosts, waiting list, failed requests, links not followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.desk.crawl_watch import WORKING
from scenthound.formats import json_number
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.politeness import HOST_FAILURES
from scenthound.model import Url
from scenthound.ports import Frontier
from scenthound.report.crawl_facts import frontier_length, suspensions
from scenthound.report.explain import own_frontier
from scenthound.report.wording import in_words
from scenthound.store import live_lists, live_queries
from scenthound.store.live_lists import Slice
from scenthound.store.sqlite_history import OLD_RULE

HOST_STATES = {
    "": "all",
    "with pages": "with pages",
    "working": "working",
    "resting": "resting",
    "asleep": "asleep",
}
LINKS_READ = 500_000
SHOWN_URLS = 200


def failed(path: Path, reason: str, part: Slice) -> dict[str, Any]:
    """Failed requests, latest first."""
    with CrawlFolder.look(path) as folder:
        rows, total = live_lists.lost(folder.database, reason, part)
    return {"total": total, "rows": [{**row._asdict(), "in_words": in_words(row.reason)} for row in rows]}


def waiting(path: Path, part: Slice) -> dict[str, Any]:
    """The waiting list, best first; if the strategy keeps its own, its last snapshot, in no particular order."""
    with CrawlFolder.look(path) as folder:
        own = own_frontier(folder)
        total = frontier_length(folder) if own is None else len(own)
        rows = live_lists.waiting(folder.database, part) if own is None else list(_own_rows(own, part))
    shown = [
        {**row._asdict(), "place": place, "score": json_number(row.score)}
        for place, row in enumerate(rows, part.offset + 1)
    ]
    return {"total": total, "is_ordered": own is None, "rows": shown}


def _own_rows(frontier: Frontier, part: Slice) -> Iterator[live_lists.WaitingRow]:
    for url in list(islice(frontier.urls(), part.offset, part.offset + part.limit)):
        candidate = frontier.take(url)
        if candidate is not None:
            parent, anchor, depth = candidate.parent, candidate.anchor, candidate.depth
            yield live_lists.WaitingRow(url, candidate.score, parent, anchor, depth)


def hosts(path: Path, state: str, now: float, part: Slice) -> dict[str, Any]:
    """The hosts of a crawl, or only those in one state; hosts with the most pages on topic come first."""
    with CrawlFolder.look(path) as folder:
        request, database = folder.request, folder.database
        figures: dict[str, dict[str, Any]] = {}
        for status in live_queries.hosts(database, now, HOST_FAILURES, request.settings.host_patience):
            figures[status.host] = {
                "state": status.state,
                "failures": status.failures,
                "next_in": status.next_allowed - now,
            }
        for page in live_queries.fetched_after(database, 0, request.settings.relevant or OLD_RULE):
            if page.is_page:
                row = figures.setdefault(urls.host(page.url), {})
                row["pages"] = row.get("pages", 0) + 1
                row["on_topic"] = row.get("on_topic", 0) + page.relevant
                row["last"] = page.time
    rows = [_host(host, row, now) for host, row in figures.items()]
    rows = sorted(filter(_state_filter(state), rows), key=lambda row: (-row["on_topic"], -row["pages"], row["host"]))
    return {"total": len(rows), "rows": rows[part.offset : part.offset + part.limit]}


def _host(host: str, row: Mapping[str, Any], now: float) -> dict[str, Any]:
    state, rest = row.get("state", "awake"), row.get("next_in", 0.0)
    return {
        "host": host,
        "state": state,
        "pages": row.get("pages", 0),
        "on_topic": int(row.get("on_topic", 0)),
        "failures": row.get("failures", 0),
        "next_in": max(0.0, rest) if state == "resting" else None,
        "is_working": row.get("last", 0.0) > now - WORKING,
    }


def _state_filter(state: str) -> Any:
    return {
        "": lambda row: True,
        "with pages": lambda row: row["pages"] > 0,
        "working": lambda row: row["is_working"],
        "resting": lambda row: row["state"] == "resting",
        "asleep": lambda row: row["state"] in ("failing", "barren"),
    }[state]


def not_followed(path: Path, reason: str, host: str, part: Slice) -> dict[str, Any]:
    """Links not followed, counted by host and reason; for a single host, also URLs seen there (`urls`).

    `left` lists the suspended URL patterns, which wait behind all others because they look like traps.
    """
    with CrawlFolder.look(path) as folder:
        rows = live_lists.left_out(folder.database, reason, host)
        events = suspensions(folder) if not reason else ()
        left = [dict(event.facts) for event in events if host in ("", event.facts.get("host"))]
        seen_urls = _seen_urls(folder, host) if host else []
    shown = [
        {**row._asdict(), "in_words": in_words(row.reason)} for row in rows[part.offset : part.offset + part.limit]
    ]
    return {"total": len(rows), "links": sum(row.times for row in rows), "rows": shown, "urls": seen_urls, "left": left}


def _seen_urls(folder: CrawlFolder, host: str) -> list[Url]:
    """URLs of a host that pages link to, but that are neither fetched nor waiting."""
    targets_on_host: dict[Url, None] = {}
    links_read = 0
    for _, targets in folder.database.links():
        links_read += len(targets)
        targets_on_host.update((target, None) for target in targets if urls.host(target) == host)
        if links_read > LINKS_READ or len(targets_on_host) > 10 * SHOWN_URLS:
            break
    states = live_queries.fates(folder.database, list(targets_on_host))
    return [url for url in targets_on_host if url not in states][:SHOWN_URLS]
