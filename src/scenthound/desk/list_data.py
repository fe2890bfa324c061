"""The lists behind the counts of a crawl: hosts, waiting list, failed requests, links not followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.desk import live_lists, live_queries
from scenthound.desk.crawl_watch import WORKING
from scenthound.desk.live_lists import Slice
from scenthound.desk.live_queries import HostState
from scenthound.formats import json_number
from scenthound.loop.admission import HOST_FAILURES
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url
from scenthound.ports import Frontier
from scenthound.report.crawl_facts import HostFacts, count_page, frontier_length, suspensions
from scenthound.report.explain import own_frontier
from scenthound.report.wording import in_words

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
        found = live_queries.hosts(folder.database, now, HOST_FAILURES, folder.request.settings.host_patience)
        states = {status.host: status for status in found}
        counted: defaultdict[str, HostFacts] = defaultdict(HostFacts)
        for page in folder.history.marks():
            count_page(counted[urls.host(page.url)], page)
    names = dict.fromkeys((*states, *counted))
    rows = [_host(host, states.get(host), counted[host], now) for host in names]
    rows = sorted(filter(_state_filter(state), rows), key=lambda row: (-row["on_topic"], -row["pages"], row["host"]))
    return {"total": len(rows), "rows": rows[part.offset : part.offset + part.limit]}


def _host(name: str, status: HostState | None, counted: HostFacts, now: float) -> dict[str, Any]:
    return {
        "host": name,
        "state": "awake" if status is None else status.state,
        "pages": counted.pages,
        "on_topic": counted.relevant,
        "failures": 0 if status is None else status.failures,
        "next_in": max(0.0, status.next_allowed - now) if status is not None and status.state == "resting" else None,
        "is_working": counted.last > now - WORKING,
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
