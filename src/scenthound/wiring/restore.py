"""What a crawl knew before a restart, told again to its tally, its scope and its strategy."""

from __future__ import annotations

from scenthound import url as urls
from scenthound.errors import FolderBroken
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.labels import in_order
from scenthound.model import Candidate, Miss, Step, Url
from scenthound.page.landing import PageLimits, land
from scenthound.page.page import Page
from scenthound.ports import OwnFrontier, Saves, Where
from scenthound.store.labels import Heard, Labels
from scenthound.store.memory import Lost
from scenthound.wiring.build import page_limits, product_token


def remember(folder: CrawlFolder, crawl: Crawl) -> None:
    """Bring tally and strategy to where they were: counts from the history, state from the last snapshot,
    and what was read after it from the WARC, so that a resumed strategy decides as an undisturbed one."""
    for step in folder.history.marks():
        relevant = crawl.tally.page(step)
        if crawl.scope is not None:
            crawl.scope.learn(step.url, relevant)
            if step.depth == 0 and step.requested is not None:
                crawl.scope.admit(urls.host(step.url))
    crawl.numbered = folder.history.highest()
    crawl.tally.misses.update(folder.history.reasons())
    crawl.tally.dropped.update(folder.history.counts())
    if not isinstance(crawl.strategy, Saves):
        for told in Labels(folder.database).heard():
            crawl.hear(told.url, told.on_topic, offer=False)
        return
    state = folder.database.state("strategy")
    if state is not None:
        crawl.strategy.load(state)
    after = int(folder.database.meta("snapshot", "0")) if state is not None else 0
    labels = int(folder.database.meta("snapshot_labels", "0")) if state is not None else 0
    limits = page_limits(folder.asked.settings)
    own = isinstance(crawl.strategy, OwnFrontier)  # as old as the snapshot too: what was wanted since goes in again
    crawl.later = later = _heard_later(folder, crawl, after) if own else set()
    for event, where in in_order(folder, after, labels):
        if isinstance(event, Heard):
            crawl.hear(event.url, event.on_topic, offer=own)
            continue
        later -= {event.url} if isinstance(event, Lost) else {event.url, event.requested or event.url}
        if isinstance(event, Lost):
            candidate = Candidate(event.url, event.score, event.carry, {}, event.parent, event.anchor, event.depth)
            crawl.hear_miss(Miss(candidate, event.reason, event.detail, event.status, event.bytes), offer=own)
        elif where is not None:
            page = _read_again(folder, event, where, limits)
            if page is not None:
                (crawl.reconsider if own else crawl.hear_again)(page)
        crawl.told()  # recorded before the restart


def _heard_later(folder: CrawlFolder, crawl: Crawl, after: int) -> set[Url]:
    """What was asked for since the snapshot and will be heard of again. A frontier that can say what waits in it gives
    up the rest of what is known by now; only with such a one does it matter that they were still unknown then."""
    waiting = getattr(crawl.frontier, "urls", None)
    if waiting is None:
        return set()
    later: set[Url] = set()
    for event, _ in folder.history.events_after(after):
        later |= {event.url} if isinstance(event, Lost) else {event.url, event.requested or event.url}
    for url in waiting():
        if url not in later and folder.history.seen(url):
            crawl.frontier.settle(url)  # type: ignore[attr-defined]
    return later


def reconsider(folder: CrawlFolder, crawl: Crawl) -> None:
    """Fill the frontier anew after a salvage: with the seeds, and with what the strategy wants of each page kept."""
    crawl.start()
    limits = page_limits(folder.asked.settings)
    for event, where in folder.history.events_after(0):
        if isinstance(event, Step) and where is not None:
            page = _read_again(folder, event, where, limits)
            if page is not None:
                crawl.reconsider(page)


def _read_again(folder: CrawlFolder, step: Step, where: Where, limits: PageLimits) -> Page | None:
    candidate = Candidate(step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
    agent = product_token(folder.asked.settings) if folder.asked.settings.robots else ""
    try:
        response = folder.repository.get(where)
    except FolderBroken:
        folder.unreadable.append(step.url)
        return None
    result = land(candidate, response, limits, agent=agent, now=step.time)
    return result if isinstance(result, Page) else None
