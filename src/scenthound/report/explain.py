"""Explain why a page was fetched, or why it was not: the answer to `scenthound explain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from scenthound import url as urls
from scenthound.errors import ScenthoundError
from scenthound.formats import event_line, full_trail_line, json_number
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import NOFOLLOW, NOT_OFFERED, NOT_RESTORED, PAGE_NOFOLLOW, ROBOTS, STRATEGY_DROPPED
from scenthound.loop.messages import Fetch
from scenthound.loop.replies import Replies
from scenthound.loop.trap_watch import SUSPENDED, patterns, repeats_itself
from scenthound.model import Candidate, Event, Lost, Step, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts, Record
from scenthound.ports import Frontier, OwnFrontier, Saves
from scenthound.report.long_rests import long_rest
from scenthound.report.wording import Wording, in_words
from scenthound.store.memory import ELSEWHERE

NEAR = 3  # number of similar URLs, or of linking pages, to list
MOST_ANCESTORS = 50  # limit on the ancestors of an agent
LINKS_READ = 2_000_000  # links searched for pages that link to a URL
OF_HOST = ("blocked", "host-budget", "host-asleep", "host-failing", "evicted", "frontier-full", NOT_OFFERED)
"""Reasons that are counted per host and can't be found out for a single URL."""
ANYWHERE = (STRATEGY_DROPPED, NOT_RESTORED)


@dataclass(slots=True)
class Explanation:
    """What happened to a URL: `crawled`, `dead`, `waiting`, `refused`, `not-kept` or `unknown`."""

    url: Url
    state: str
    why: str
    """The explanation in a sentence."""
    path: list[Step] = field(default_factory=list)
    """The path from a seed to this page, or to the page that links to it."""
    requests: list[Lost] = field(default_factory=list)
    """Failed requests for the URL, in order."""
    candidate: Candidate | None = None
    linked_from: list[Url] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Number of links to its host that were not followed, by reason."""
    near: list[Url] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Events of the strategy about this page."""
    family: list[Event] = field(default_factory=list)
    """Births of the agents in these events, each after its ancestors."""
    wording: Wording | None = None
    """Puts the reasons why pages were chosen into words."""

    def reasons(self, chosen: Step | Candidate) -> list[str]:
        return self.wording.reasons(chosen) if self.wording is not None else []

    def as_plain(self) -> dict[str, Any]:
        waiting = self.candidate
        return {
            "url": self.url,
            "state": self.state,
            "why": self.why,
            "path": [{**full_trail_line(step), "why": self.reasons(step)} for step in self.path],
            "requests": [{"time": r.time, "reason": r.reason, "detail": r.detail} for r in self.requests],
            "waiting": waiting
            and {
                "score": json_number(waiting.score),
                "parts": dict(waiting.parts),
                "why": self.reasons(waiting),
                "parent": waiting.parent,
                "anchor": waiting.anchor,
                "depth": waiting.depth,
            },
            "linked_from": self.linked_from,
            "host_counts": self.counts,
            "near": self.near,
            "told": [event_line(event) for event in self.events],
            "family": [event_line(event) for event in self.family],
        }


def explain(folder: CrawlFolder, raw: str) -> Explanation:
    """Explain what happened to a URL in a crawl. Raises `NotAUrl`."""
    explanation = _explanation(folder, raw)
    explanation.wording = Wording(folder.request)
    return explanation


def _explanation(folder: CrawlFolder, raw: str) -> Explanation:
    url = urls.canonical(urls.resolve(raw), folder.request.settings.url_rules)
    history = folder.history
    path = history.lineage(url)
    if path:
        target = path[-1].url
        moved = f" (redirected from {url})" if target != url else ""
        events = list(history.strategy_events(url=target))
        why = f"fetched as page {path[-1].n}{moved}"
        return Explanation(url, "crawled", why, path, events=events, family=_family(folder, events))
    fate = history.fate(url) or ""
    requests = [lost for lost in history.misses() if lost.url == url]
    parent = requests[-1].parent if requests else None
    origin = history.lineage(parent) if parent is not None else []
    if fate.startswith("dead"):
        reason = in_words(fate.partition(": ")[2])
        if fate == f"dead: {ROBOTS}":
            return Explanation(url, "refused", f"never requested: {reason}", origin, requests)
        times = f", tried {len(requests)} times" if len(requests) > 1 else ""
        return Explanation(url, "dead", f"requested, but brought no page: {reason}{times}", origin, requests)
    if fate.startswith("redirected"):
        return Explanation(url, "dead", f"{fate}, which brought no page", origin, requests)
    return _not_requested(folder, url, requests)


def _family(folder: CrawlFolder, events: Iterable[Event]) -> list[Event]:
    """The birth events of the agents in these events and of their ancestors, oldest first."""
    births: dict[int, Event] = {}
    agents = [agent for event in events if isinstance(agent := event.facts.get("agent"), int)]
    while agents and len(births) < MOST_ANCESTORS:
        agent = agents.pop()
        birth = next(iter(list(folder.history.strategy_events("born", agent))), None) if agent not in births else None
        if birth is not None:
            births[agent] = birth
            parent = birth.facts.get("parent")
            agents += [parent] if isinstance(parent, int) else []
    return [births[agent] for agent in sorted(births)]


def _not_requested(folder: CrawlFolder, url: Url, requests: list[Lost]) -> Explanation:
    from scenthound.store.sqlite_frontier import waiting_candidate

    candidate = waiting_candidate(folder.database, url)
    if candidate is not None:
        path = folder.history.lineage(candidate.parent) if candidate.parent is not None else []
        rest = long_rest(folder, url)
        why = f"waiting in the frontier with score {candidate.score:.4g}" + (f"; {rest}" if rest else "")
        if suspension := _suspension(folder, url):
            why = f"waiting behind all other URLs, because it looks like a trap: {suspension}"
        return Explanation(url, "waiting", why, path, requests, candidate)
    is_waiting, candidate = _in_own_frontier(folder, url)
    if is_waiting:
        parent = None if candidate is None else candidate.parent
        path = folder.history.lineage(parent) if parent is not None else []
        score = f" with score {candidate.score:.4g}" if candidate is not None else ""
        return Explanation(url, "waiting", f"waiting in the strategy's own frontier{score}", path, requests, candidate)
    counts = folder.history.counts_of(urls.host(url))
    linked = _linked_from(folder, url)
    path = folder.history.lineage(linked[0]) if linked else []
    explanation = Explanation(url, "unknown", "", path, requests, None, linked, counts)
    if refusal := _why_refused(folder, url, linked):
        explanation.state, explanation.why = "refused", f"never requested: {refusal}"
    elif linked:
        explanation.state = "not-kept"
        explanation.why = "linked to, but not kept: see the links to its host that were not followed"
    else:
        explanation.why = "not seen in this crawl"
        if (unread := folder.history.counts().get("too-many-links", 0)) and folder.request.settings.links_per_page:
            explanation.why += f"; but {unread:,} links were not read, because their pages have too many"
        explanation.near = _near(folder, url)
    return explanation


def own_frontier(folder: CrawlFolder) -> Frontier | None:
    """The strategy's own frontier as of its last snapshot; None if it has none or it can't be read."""
    from scenthound.wiring import make_strategy

    if not folder.database.meta("waiting"):
        return None
    try:
        strategy = make_strategy(folder.request.strategy, folder.request.parameters)
        state = folder.database.state("strategy")
        if not isinstance(strategy, OwnFrontier) or not isinstance(strategy, Saves) or state is None:
            return None
        frontier = strategy.frontier(folder.request.settings.frontier)
        list(strategy.start(folder.request.topic, []))
        strategy.load(state)
    except (ScenthoundError, ValueError, KeyError, TypeError):  # the state can't be used; other explanations remain
        return None
    return frontier


def _in_own_frontier(folder: CrawlFolder, url: Url) -> tuple[bool, Candidate | None]:
    """Whether the URL is waiting in the strategy's own frontier, and its candidate."""
    frontier = own_frontier(folder)
    return (True, frontier.take(url)) if frontier is not None and url in frontier else (False, None)


def _suspension(folder: CrawlFolder, url: Url) -> str:
    """Why URLs like this are suspended; empty if they are not."""
    from scenthound.report.crawl_facts import suspensions

    if repeats_itself(url[len(urls.origin(url)) :]) and folder.suspended_urls:
        return "its path repeats itself"
    return _nothing_new(url, suspensions(folder)) if folder.suspended_urls else ""


def _nothing_new(url: Url, events: Iterable[Event]) -> str:
    """What the first of these events about URLs like this one says; empty if there is none."""
    forms = patterns(url)
    for event in events:
        facts = event.facts
        if facts.get("host") == urls.host(url) and facts.get("pattern") in forms:
            return f"{facts.get('pages')} pages of {facts['pattern']} on {facts['host']} had nothing new"
    return ""


def _linked_from(folder: CrawlFolder, url: Url) -> list[Url]:
    sources, read = [], 0
    for source, targets in folder.database.links():
        read += len(targets)
        if url in targets:
            sources.append(source)
        if len(sources) >= NEAR or read > LINKS_READ:
            break
    return sources


def _near(folder: CrawlFolder, url: Url) -> list[Url]:
    """Similar fetched URLs: on the same host, or else on any host."""
    host = urls.host(url)
    same_host: list[str] = []
    other_hosts: list[str] = []
    for step in folder.history.trail():
        if urls.host(step.url) == host:
            same_host.append(str(step.url))
        elif len(other_hosts) < 20_000:
            other_hosts.append(str(step.url))
    close = get_close_matches(url, same_host[:5_000], n=NEAR, cutoff=0.6)
    close = close or get_close_matches(url, other_hosts[:5_000], n=NEAR, cutoff=0.85)
    return [Url(text) for text in close]


# ---- why a single URL was never requested, from the pages that link to it; the answer agrees with the counts


def _why_refused(folder: CrawlFolder, url: Url, linked_from: Sequence[Url]) -> str:
    """Why a URL that is neither fetched nor waiting was not followed, in words; empty if the counts do not tell."""
    from scenthound.wiring import make_scope

    sources = [step for step in map(folder.history.step_of, linked_from) if step is not None]
    if (reason := make_scope(folder.request.settings).refuses_url(url)) is not None:
        is_outside = reason == "out-of-scope"
        return "it is out of scope (hosts, domains or paths)" if is_outside else f"it looks like a trap ({reason})"
    if (barred := _barred(folder, url, sources)) is not None:
        return in_words(barred)
    depth = folder.request.settings.depth
    if sources and depth and min(step.depth for step in sources) >= depth:
        return in_words("too-deep")
    if suspension := _nothing_new(url, folder.history.strategy_events(SUSPENDED)):
        return suspension
    counts = folder.history.counts_of(urls.host(url))
    anywhere = folder.history.counts_of(ELSEWHERE)
    possible = [name for name in OF_HOST if name in counts] + [name for name in ANYWHERE if name in anywhere]
    return " or: ".join(map(in_words, possible)) if sources else ""


def _barred(folder: CrawlFolder, url: Url, sources: Iterable[Step]) -> str | None:
    """The reason if all pages that link to the URL, as far as they are stored, bar it by nofollow; otherwise None."""
    records = [record for record in (_record(folder, step) for step in sources) if record is not None]
    if not records or not all(url in record.barred for record in records):
        return None
    return PAGE_NOFOLLOW if any(record.nofollow for record in records) else NOFOLLOW


def _record(folder: CrawlFolder, step: Step) -> Record | None:
    """A stored page as the crawl read it; None if it is not stored or can't be read."""
    settings, where = folder.request.settings, folder.history.where(step.url)
    if where is None:
        return None
    try:
        response = folder.repository.get(where)
    except (ScenthoundError, OSError):
        return None
    landed = Replies.of(settings, Parts()).page(Fetch(Candidate(step.url, 0.0)), response, 0.0)
    return landed.record if isinstance(landed, Page) else None
