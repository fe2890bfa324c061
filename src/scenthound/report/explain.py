"""Why a page was fetched, or why it was not: the answer to `scenthound explain`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from scenthound import url as urls
from scenthound.errors import ScenthoundError
from scenthound.exports.trail_lines import event_line, plain_number, whole_line
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Candidate, Event, Lost, Step, Url
from scenthound.ports import OwnFrontier, Saves

NEAR = 3
FOREBEARS = 50  # how far back an agent's family is followed
LINKS_READ = 2_000_000  # links looked through for pages that point to a URL which was not fetched


@dataclass(slots=True)
class Explanation:
    """What became of a URL: `crawled`, `dead`, `waiting`, `refused`, `not-kept` or `unknown`."""

    url: Url
    state: str
    why: str
    """A sentence for people."""
    path: list[Step] = field(default_factory=list)
    """From a seed to this page, or to the page that offered it."""
    requests: list[Lost] = field(default_factory=list)
    """Requests for it that failed, in order."""
    candidate: Candidate | None = None
    linked_from: list[Url] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Links to its host that were not followed, by reason."""
    near: list[Url] = field(default_factory=list)
    told: list[Event] = field(default_factory=list)
    """What the strategy told of this page."""
    family: list[Event] = field(default_factory=list)
    """How the agents it told of were born, each after its forebears."""

    def as_plain(self) -> dict[str, Any]:
        waiting = self.candidate
        return {
            "url": self.url,
            "state": self.state,
            "why": self.why,
            "path": [whole_line(step) for step in self.path],
            "requests": [{"time": r.time, "reason": r.reason, "detail": r.detail} for r in self.requests],
            "waiting": waiting
            and {
                "score": plain_number(waiting.score),
                "parts": dict(waiting.parts),
                "parent": waiting.parent,
                "anchor": waiting.anchor,
                "depth": waiting.depth,
            },
            "linked_from": self.linked_from,
            "host_counts": self.counts,
            "near": self.near,
            "told": [event_line(event) for event in self.told],
            "family": [event_line(event) for event in self.family],
        }


def explain(folder: CrawlFolder, raw: str) -> Explanation:
    """What became of this URL in this crawl. Raises `NotAUrl` where it is none."""
    url = urls.make(raw, longest=folder.asked.settings.url_length)
    history = folder.history
    path = history.lineage(url)
    if path:
        target = path[-1].url
        moved = f" (redirected from {url})" if target != url else ""
        told = list(history.strategy_events(url=target))
        why = f"fetched as page {path[-1].n}{moved}"
        return Explanation(url, "crawled", why, path, told=told, family=_family(folder, told))
    fate = history.fate(url) or ""
    requests = [lost for lost in history.misses() if lost.url == url]
    parent = requests[-1].parent if requests else None
    origin = history.lineage(parent) if parent is not None else []
    if fate.startswith("dead"):
        reason = fate.partition(": ")[2]
        times = f", tried {len(requests)} times" if len(requests) > 1 else ""
        return Explanation(url, "dead", f"asked for and brought no page: {reason}{times}", origin, requests)
    if fate.startswith("redirected"):
        return Explanation(url, "dead", f"{fate}, which brought no page", origin, requests)
    return _not_asked_for(folder, url, requests)


def _family(folder: CrawlFolder, told: Iterable[Event]) -> list[Event]:
    """The births of the agents that are told of, and of their forebears, oldest first."""
    births: dict[int, Event] = {}
    asked = [number for event in told if isinstance(number := event.facts.get("agent"), int)]
    while asked and len(births) < FOREBEARS:
        number = asked.pop()
        born = next(iter(list(folder.history.strategy_events("born", number))), None) if number not in births else None
        if born is not None:
            births[number] = born
            parent = born.facts.get("parent")
            asked += [parent] if isinstance(parent, int) else []
    return [births[number] for number in sorted(births)]


def _not_asked_for(folder: CrawlFolder, url: Url, requests: list[Lost]) -> Explanation:
    from scenthound.store.sqlite_frontier import waiting_candidate

    candidate = waiting_candidate(folder.database, url)
    if candidate is not None:
        path = folder.history.lineage(candidate.parent) if candidate.parent is not None else []
        why = f"waiting in the frontier with score {candidate.score:.4g}"
        return Explanation(url, "waiting", why, path, requests, candidate)
    held, candidate = _held_by_strategy(folder, url)
    if held:
        path = (
            folder.history.lineage(candidate.parent) if candidate is not None and candidate.parent is not None else []
        )
        score = f" with score {candidate.score:.4g}" if candidate is not None else ""
        return Explanation(url, "waiting", f"waiting in the strategy's own frontier{score}", path, requests, candidate)
    counts = folder.history.counts_of(urls.host(url))
    linked = _linked_from(folder, url)
    path = folder.history.lineage(linked[0]) if linked else []
    found = Explanation(url, "unknown", "", path, requests, None, linked, counts)
    refusal = _refusal(folder, url)
    if refusal:
        found.state, found.why = "refused", f"never asked for: {refusal}"
    elif linked:
        found.state, found.why = "not-kept", "linked to, but not kept: see what else was left out on its host"
    else:
        found.why = "never met in this crawl"
        found.near = _near(folder, url)
    return found


def _held_by_strategy(folder: CrawlFolder, url: Url) -> tuple[bool, Candidate | None]:
    """Whether a strategy that brings its own frontier has the URL in it, by its last snapshot, and as what."""
    from scenthound.wiring import make_strategy

    if not folder.database.meta("waiting"):
        return False, None
    try:
        strategy = make_strategy(folder.asked.strategy, folder.asked.parameters)
        state = folder.database.state("strategy")
        if not isinstance(strategy, OwnFrontier) or not isinstance(strategy, Saves) or state is None:
            return False, None
        frontier = strategy.frontier(folder.asked.settings.frontier)
        list(strategy.start(folder.asked.topic, []))
        strategy.load(state)
    except (ScenthoundError, ValueError, KeyError, TypeError):  # its state is of no use to us; there are other answers
        return False, None
    return (True, frontier.take(url)) if url in frontier else (False, None)


def _refusal(folder: CrawlFolder, url: Url) -> str:
    from scenthound.wiring import make_scope

    reason = make_scope(folder.asked.settings).refuses_url(url)
    return {None: "", "out-of-scope": "it is out of scope (hosts, domains or paths)"}.get(
        reason, f"it looks like a trap ({reason})"
    )


def _linked_from(folder: CrawlFolder, url: Url) -> list[Url]:
    found, read = [], 0
    for source, targets in folder.database.links():
        read += len(targets)
        if url in targets:
            found.append(source)
        if len(found) >= NEAR or read > LINKS_READ:
            break
    return found


def _near(folder: CrawlFolder, url: Url) -> list[Url]:
    """Fetched URLs that look alike: on the same host first, else the same path elsewhere."""
    host = urls.host(url)
    here: list[str] = []
    anywhere: list[str] = []
    for step in folder.history.trail():
        if urls.host(step.url) == host:
            here.append(str(step.url))
        elif len(anywhere) < 20_000:
            anywhere.append(str(step.url))
    close = get_close_matches(url, here[:5_000], n=NEAR, cutoff=0.6)
    close = close or get_close_matches(url, anywhere[:5_000], n=NEAR, cutoff=0.85)
    return [Url(text) for text in close]
