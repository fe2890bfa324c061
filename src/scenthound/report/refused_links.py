"""Find out why a single URL was never requested, from the pages that link to it. The answer agrees with the counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenthound import url as urls
from scenthound.errors import ScenthoundError
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import NOFOLLOW, NOT_OFFERED, NOT_RESTORED, PAGE_NOFOLLOW, STRATEGY_DROPPED
from scenthound.loop.messages import Fetch
from scenthound.loop.replies import Replies
from scenthound.loop.trap_watch import SUSPENDED, patterns
from scenthound.model import Candidate, Step, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts, Record
from scenthound.report.miss_reasons import in_words
from scenthound.store.memory import ELSEWHERE

OF_HOST = ("blocked", "host-budget", "host-asleep", "host-failing", "evicted", "frontier-full", NOT_OFFERED)
"""Reasons that are counted per host and can't be found out for a single URL."""
ANYWHERE = (STRATEGY_DROPPED, NOT_RESTORED)


def why_refused(folder: CrawlFolder, url: Url, linked_from: Sequence[Url]) -> str:
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
    if suspension := suspended(folder, url):
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


def suspended(folder: CrawlFolder, url: Url) -> str:
    """Why URLs like this were suspended; empty if they were not."""
    forms = patterns(url)
    for event in folder.history.strategy_events(SUSPENDED):
        facts = event.facts
        if facts.get("host") == urls.host(url) and facts.get("pattern") in forms:
            return f"{facts.get('pages')} pages of {facts['pattern']} on {facts['host']} had nothing new"
    return ""
