"""The saved state of the loop: old folders can be resumed, so keys may only be added to its format."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from scenthound.hosts import HostClock
from scenthound.loop.core import Crawl
from scenthound.loop.messages import SITEMAP, Fetch, Limits
from scenthound.loop.resume import LoopState, Saved, resume
from scenthound.model import Candidate, Topic, Url
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.best_first import BestFirst
from scenthound.typed_data import from_plain

HELD, DRAWN, WAITING = "http://a.test/held", "http://b.test/drawn", "http://c.test/waiting"
MOVED, MAP = "http://d.test/new", "http://e.test/map.xml"
STATE: dict[str, Any] = {
    "batches": 3,
    "batch": [[DRAWN, 7]],
    "held": [HELD],
    "loose": [
        [
            MOVED,
            0.5,
            {"food": 2},
            {"page": 0.5},
            "http://p.test/",
            "an anchor",
            2,
            MOVED,
            0.0,
            False,
            "http://d.test/",
            1,
        ],
        [MAP, 0.0, {SITEMAP: True}, {}, None, "", 0, MAP, 0.0, False, None, 0],
    ],
    "tries": {HELD: 1},
    "sitemaps": {"e.test": [MAP]},
    "figures": {"attempts": 12, "retries": {"timeout": 1}, "dry": [[1, 0], 0.5, 4]},
}


def taken_up(limits: Limits) -> Crawl:
    frontier = MemoryFrontier()
    for url in (HELD, DRAWN, WAITING):
        frontier.push(Candidate(Url(url), 1.0))
    crawl = Crawl(
        BestFirst(), frontier, MemoryHistory(), Topic("bees"), [], limits=limits, host_clock=HostClock(0.0, obey=False)
    )
    resume(crawl, Saved(from_plain(json.loads(json.dumps(STATE)), LoopState)), lambda step, where: None)
    return crawl


def test_what_was_written_is_what_is_written_again() -> None:
    written = msgspec.to_builtins(LoopState.of(taken_up(Limits(sitemaps=5))))
    assert json.loads(json.dumps(written)) == {**STATE, "waiting": 4}


def test_everything_goes_on_from_where_it_was() -> None:
    crawl = taken_up(Limits(sitemaps=5))
    steps = []
    while isinstance(step := crawl.next(0.0), Fetch):
        steps.append((step.kind, step.candidate.url))
    promised = [("page", HELD), ("page", MOVED), ("sitemap", MAP)]
    assert steps == [*promised, ("page", DRAWN), ("page", WAITING)], "promises first, then the batch, then the rest"
    assert crawl.figures.attempts == 12
    again = json.loads(json.dumps(msgspec.to_builtins(LoopState.of(crawl))))
    assert again["held"] == [HELD, DRAWN, WAITING], "what is in flight is asked for again"
    assert [fields[0] for fields in again["loose"]] == [MOVED, MAP]
    assert again["batches"] == 4
