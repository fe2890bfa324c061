"""Resume a crawl after any kind of stop, from its saved state.

The state of a crawl has three parts: the state of the loop (`LoopState`), snapshots of the strategy and the judge, and
the history, which contains everything since these snapshots. `resume` brings a new `Crawl` to where the old one was: it
counts the pages of the history, loads the snapshots, lets strategy and judge read later pages again, and restores the
pending candidates. So a resumed strategy decides exactly like one that was not interrupted.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from scenthound import url as urls
from scenthound.errors import FolderBroken, StateDamaged
from scenthound.loop.core import Crawl
from scenthound.loop.figures import SavedFigures
from scenthound.loop.link_balance import balance_of, waiting_urls
from scenthound.loop.messages import ROBOTS, SITEMAP
from scenthound.loop.plugin_calls import PageVerdict
from scenthound.model import NOTHING, Candidate, Lost, Miss, Step, Url
from scenthound.page.page import Page
from scenthound.ports import OwnFrontier, Saves, Where
from scenthound.store.label_table import DeliveredLabel

IS_URL = msgspec.Meta(pattern="^https?://")
Address = Annotated[Url, IS_URL]
MaybeAddress = Address | None
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Parts = Mapping[str, float]
Loose = tuple[Address, float, Mapping[str, Any], Parts, MaybeAddress, str, Count, str, float, bool, MaybeAddress, Count]
"""A candidate, with the URL requested first and the number of hops."""
ReadAgain = Callable[[Step, Where], Page | None]
"""Reads a stored page again; None if it no longer counts as a page. Raises `FolderBroken` if it can't be read."""


class LoopState(msgspec.Struct, frozen=True):
    """The state of the loop itself. Requests in flight count as not sent.

    Candidates that are waiting in the frontier are saved as URLs; other candidates are saved in full. Old folders have
    this format, so fields may only be added.
    """

    batches: Count
    batch: Sequence[tuple[Address, Count]]
    """The rest of the current batch, with insertion numbers."""
    pending: Sequence[Address] = msgspec.field(name="held")
    """Pending candidates that are in the frontier."""
    loose: Sequence[Loose]
    """Other pending candidates: targets of redirects, sitemaps, and seeds beyond the frontier's bound."""
    tries: Mapping[Address, Count]
    sitemaps: Mapping[str, Sequence[Annotated[str, IS_URL]]]
    figures: SavedFigures
    traps: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    waiting: Count | msgspec.UnsetType = msgspec.UNSET
    """The number of URLs still to be fetched; not in the state of an old version."""

    @classmethod
    def empty(cls) -> LoopState:
        """The state of a loop that has nothing in hand, for a folder whose own is damaged."""
        return cls(0, (), (), (), {}, {}, SavedFigures())

    def __post_init__(self) -> None:
        if any(math.isnan(number) for loose in self.loose for number in (loose[1], loose[8], *loose[3].values())):
            raise ValueError("a score is not a number")

    @classmethod
    def of(cls, crawl: Crawl) -> LoopState:
        selection, redirects = crawl.selection, crawl.redirects
        pending = [c for c in (*crawl.unfinished, *selection.pending) if ROBOTS not in c.carry]
        in_flight = crawl.frontier.in_flight()
        loose = {c.url for c in pending if c.url in redirects or SITEMAP in c.carry or c.url not in in_flight}
        return cls(
            selection.batches,
            selection.batch,
            [c.url for c in pending if c.url not in loose],
            [
                (*c[:2], dict(c.carry), dict(c.parts), *c[4:], *redirects.chain(c.url))
                for c in pending
                if c.url in loose
            ],
            dict(crawl.tries),
            crawl.sitemaps.save(),
            crawl.figures.save(),
            _traps_of(crawl) or msgspec.UNSET,
            waiting_urls(crawl),
        )


def saved_figures(plain: Mapping[str, Any]) -> Any:
    """The figures in the saved state of a loop, called `tally` in databases of version 5; None if there are none."""
    return plain["tally"] if "tally" in plain else plain.get("figures")


def _traps_of(crawl: Crawl) -> dict[str, Any]:
    """The state of the trap watch, and of the samples of suspended URLs."""
    state = crawl.traps.save() if crawl.traps is not None else {}
    samples = crawl.suspended.save()
    return {**state, "samples": samples} if samples else state


@dataclass(frozen=True, slots=True)
class Learned:
    """The last snapshot of a strategy or a judge, and the labels since then."""

    state: Mapping[str, Any] | None = None
    event: int = 0
    """The number of the last event that is part of the snapshot."""
    labels: Sequence[DeliveredLabel] = ()
    """The labels that were delivered after the snapshot."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The saved state of a crawl, apart from its history and its frontier."""

    loop: LoopState | None = None
    """None if the crawl stopped before its first commit."""
    strategy: Learned = field(default_factory=Learned)
    judge: Learned = field(default_factory=Learned)
    is_damaged: bool = False
    """Whether the frontier may be incomplete and must be filled again from the pages."""
    gone: Sequence[Step] = ()
    """Pages whose content was lost, to be fetched again."""


def resume(crawl: Crawl, saved: Saved, read_again: ReadAgain) -> list[Step]:
    """Bring a new crawl to where the old one was. Its frontier is already filled, unless the strategy has its own.

    Returns further pages whose content turned out to be lost; they will be fetched again, too.
    """
    unreadable: list[Url] = []

    def read(step: Step, where: Where | None) -> Page | None:
        try:
            return None if where is None else read_again(step, where)
        except FolderBroken:
            unreadable.append(step.url)
            return None

    if saved.loop is None:
        crawl.start()
    else:
        crawl.recorder.counts_links = False  # what follows was counted before
        crawl.calls.start(crawl.topic, list(crawl.seed_spellings), crawl.seed_number)  # its seeds are in the frontier
        _restore_figures(crawl)
        _restore_strategy(crawl, saved.strategy, read)
        _restore_judge(crawl, saved.judge, read)
        _restore_loop(crawl, saved.loop)
    if saved.is_damaged:
        _refill_frontier(crawl, read)
    lost = crawl.history.forget(list(dict.fromkeys(unreadable)))
    for step in (*saved.gone, *lost):
        origin = (step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
        crawl.candidates.push(Candidate(*origin, spelling=crawl.seed_spellings.get(step.url, "")))
    crawl.recorder.counts_links = True
    _balance(crawl)
    return lost


def _balance(crawl: Crawl) -> None:
    """Count the URLs that do not wait any more, or again. There are some only if the frontier was repaired, or if the
    strategy has its own, which is only as recent as the last snapshot."""
    balance = balance_of(crawl)
    if balance.is_complete and (difference := balance.unexplained):
        crawl.recorder.restored(-difference)


def _restore_figures(crawl: Crawl) -> None:
    """Restore the figures and the hosts to which seeds redirected from the history."""
    for mark in crawl.history.marks():
        crawl.figures.page(mark)
        if crawl.scope is not None and mark.depth == 0 and mark.requested is not None:
            crawl.scope.admit(urls.host(mark.url))
    crawl.figures.take_counts(crawl.history)


def _restore_judge(crawl: Crawl, saved: Learned, read: Callable[[Step, Where | None], Page | None]) -> None:
    """Load the judge's snapshot and pass it the pages and labels that came after it."""
    judging = crawl.judging
    if not judging.has_state:
        for label in saved.labels:
            judging.take_label(label.url, label.on_topic)
        return
    if saved.state is not None:
        _load(judging, saved.state)
    for event, where in _in_order(crawl, saved):
        if isinstance(event, DeliveredLabel):
            judging.take_label(event.url, event.on_topic)
        elif isinstance(event, Step) and (page := read(event, where)) is not None:
            judging.judge(page, event.requested)


def _restore_strategy(crawl: Crawl, saved: Learned, read: Callable[[Step, Where | None], Page | None]) -> None:
    """Load the strategy's snapshot and pass it the pages, misses and labels that came after it.

    The frontier of the crawl already has the candidates of these pages. A strategy's own frontier is only as recent as
    the snapshot: the candidates are added to it again, and URLs fetched later count as not fetched yet.
    """
    strategy, calls = crawl.strategy, crawl.calls
    if not isinstance(strategy, Saves):
        for label in saved.labels:
            calls.take_label(label.url, label.on_topic)
        return
    if saved.state is not None:
        _load(strategy, saved.state)
    has_own_frontier = isinstance(strategy, OwnFrontier)
    unfetched = _fetched_since(crawl, saved.event) if has_own_frontier else set()
    for event, where in _in_order(crawl, saved):
        if isinstance(event, DeliveredLabel):
            offers = calls.take_label(event.url, event.on_topic)
        elif isinstance(event, Lost):
            unfetched.discard(event.url)
            lost = Candidate(event.url, event.score, event.carry, NOTHING, event.parent, event.anchor, event.depth)
            offers = calls.miss(Miss(lost, event.reason, event.detail, event.status, event.bytes))
        else:
            unfetched -= {event.url, event.requested or event.url}
            page = read(event, where)
            offers = []
            if page is not None and has_own_frontier:
                crawl.candidates.add_page(page, calls.read(page, _judged(event)), unfetched)
            elif page is not None:
                calls.read(page, _judged(event))
        for offer in offers if has_own_frontier else ():
            crawl.candidates.add(offer, unfetched)
        if not isinstance(event, DeliveredLabel):
            calls.take_events(crawl.recorder.last_number)  # discarded: they were recorded before the stop


def _judged(step: Step) -> PageVerdict:
    """The verdict when the page was fetched, from which the strategy learned."""
    return PageVerdict(step.similarity, step.relevance, step.relevant)


def _load(learner: Saves, state: Mapping[str, Any]) -> None:
    """Load a snapshot. Its format belongs to the strategy or judge, which may raise anything if it is damaged."""
    try:
        learner.load(state)
    except Exception as error:
        name = type(learner).__name__
        raise StateDamaged(
            f"the saved state of {name}",
            f"is damaged: {type(error).__name__}: {error}"[:300],
            "put the original crawl.db back",
        ) from error


def _fetched_since(crawl: Crawl, snapshot: int) -> set[Url]:
    """The URLs fetched after the snapshot. URLs fetched before it are removed from the strategy's frontier."""
    since: set[Url] = set()
    for _, event, _ in crawl.history.numbered_after(snapshot):
        since |= {event.url} if isinstance(event, Lost) else {event.url, event.requested or event.url}
    for url in list(crawl.frontier.urls()):
        if url not in since and crawl.history.seen(url):
            crawl.frontier.settle(url)
    return since


def _in_order(crawl: Crawl, saved: Learned) -> Iterator[tuple[Step | Lost | DeliveredLabel, Where | None]]:
    """The pages, misses and labels after the snapshot, in their original order."""
    labels = deque(saved.labels)
    for number, event, where in crawl.history.numbered_after(saved.event):
        while labels and labels[0].event < number:
            yield labels.popleft(), None
        yield event, where
    for label in labels:
        yield label, None


def _restore_loop(crawl: Crawl, state: LoopState) -> None:
    crawl.tries.update(state.tries)
    crawl.sitemaps.load(state.sitemaps)
    crawl.figures.load(state.figures)
    crawl.recorder.counts_sources = bool(crawl.figures.links)
    if crawl.traps is not None:
        try:
            traps = {} if state.traps is msgspec.UNSET else state.traps
            crawl.traps.load(traps)
            crawl.suspended.load(traps.get("samples", {}))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            crawl.traps.load({})  # damaged: it learns the patterns again
    crawl.selection.restore(state.batches, state.pending, state.batch)
    for loose in state.loose:
        candidate, (first, hops) = Candidate(*loose[:10]), loose[10:]
        crawl.selection.claim(candidate.url)  # it may have been waiting before a redirect led to it
        crawl.redirects.restore(candidate.url, first, hops)
        crawl.selection.hold(candidate)


def _refill_frontier(crawl: Crawl, read: Callable[[Step, Where | None], Page | None]) -> None:
    """Fill the frontier again with the seeds and the candidates of every stored page."""
    crawl.start()
    for _, event, where in crawl.history.numbered_after(0):
        if isinstance(event, Step) and (page := read(event, where)) is not None:
            crawl.candidates.add_page(page, crawl.calls.read(page, _judged(event)))
