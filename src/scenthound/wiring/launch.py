"""Begin a crawl in a new folder, or resume a crawl in its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, PluginFailed, StateDamaged
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import DEFAULT_STRATEGY, CrawlRequest, check_seeds, read_seed_file, read_topic
from scenthound.loop.figures import Figures
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.identity import versions
from scenthound.loop.live import Clock
from scenthound.loop.messages import Fetch
from scenthound.loop.new_urls import bound_for
from scenthound.loop.replies import Replies
from scenthound.loop.resume import resume as resume_crawl
from scenthound.loop.settings import Settings, read
from scenthound.loop.steering import give_order
from scenthound.loop.suspended_urls import MOST, SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.loop.use_model import parameters_for_model, require_model, use_model
from scenthound.model import Candidate, Step, Topic
from scenthound.page.page import Page
from scenthound.ports import Fetcher, OwnFrontier, Where, declaration_of
from scenthound.store.model_folder import load_model
from scenthound.store.sqlite_frontier import SqliteFrontier
from scenthound.wiring.find_seeds import check_sources, find_seeds, found_urls, urls_by_source
from scenthound.wiring.loop_thread import run_to_end
from scenthound.wiring.parts_from_settings import (
    check_pdf,
    check_spread,
    check_topic,
    make_fetcher,
    make_limits,
    make_order,
    make_scope,
    make_strategy,
    start_judge,
)
from scenthound.wiring.session import Session, Watch, plugin_failed

StrPath = str | os.PathLike[str]


def begin(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    out: StrPath,
    *,
    pages: int | None = None,
    strategy: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    fetcher: Fetcher | None = None,
    watch: Watch | None = None,
    model: StrPath | None = None,
    clock: Callable[[], float] | None = None,
    found: Mapping[str, Sequence[str]] | None = None,
) -> Session:
    """Begin a crawl in a new folder and return its session, ready to run.

    `topic` is keywords, a topic file or a `Topic`; `seeds` is a URL, a list of URLs, or the path of a file of URLs.
    `pages` overrides the settings. `model` is a folder written by `train`. The strategy is `hound` by default; with a
    model it is the model's strategy, with the parameters used in training. Without seeds the `sources` of the settings
    are asked, which takes a while; `found` is their answer if they were asked before.
    """
    topic = read_topic(topic)
    check_topic(topic)
    settings = settings or Settings()
    check_sources(settings.sources)
    if found is None and settings.sources and not isinstance(seeds, str | os.PathLike) and not seeds:
        answers = run_to_end(find_seeds(topic, settings, fetcher=fetcher))
        seeds, found = found_urls(answers), urls_by_source(answers)
    seeds = _seeds(seeds)
    if pages is not None:
        settings = replace(settings, pages=read(Settings, {"pages": pages}).pages)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    trained = None if model is None else load_model(Path(model))
    if trained is not None:
        strategy, parameters = parameters_for_model(trained, strategy, parameters, make_strategy)
    strategy = strategy or DEFAULT_STRATEGY
    request = CrawlRequest(topic, tuple(seeds), strategy, dict(parameters or {}), settings, versions(), started)
    request = replace(request, found=found or {})
    instance = make_strategy(strategy, parameters)  # raises before anything is written
    if declaration_of(instance).oracle:
        raise BadConfig(
            f"{strategy} with these parameters is an oracle: it sees what no crawler can see", "use it in `lab run`"
        )
    if trained is not None:
        use_model(instance, trained)
        request = replace(request, model=trained.digest)
    else:
        require_model(instance, strategy)
    start_judge(settings.judge, topic, [url for url, _ in request.keyed_seeds()], strategy=instance)
    make_scope(settings)
    make_fetcher(settings)
    check_spread(instance, strategy, settings.spread)
    check_pdf(settings)
    folder = CrawlFolder.create(Path(out), request, trained)
    clock = clock or Clock()
    with _closed_after_errors(folder, clock):
        crawl = _assemble(folder, clock)
        session = Session(folder, crawl, fetcher, clock, watch)
        crawl.start()
        folder.database.save_meta("started_at", str(clock()))
        folder.attach(crawl, clock())
        return session


@contextmanager
def _closed_after_errors(folder: CrawlFolder, clock: Callable[[], float]) -> Iterator[None]:
    """Close the folder if its crawl can't begin; if a plug-in is to blame, the folder says so."""
    try:
        yield
    except PluginFailed as error:
        named = plugin_failed(folder, error, clock())
        folder.close()
        raise named from (error.__cause__ or error)
    except BaseException:
        folder.close()
        raise


def _seeds(seeds: Sequence[str] | StrPath) -> Sequence[str]:
    """The seeds as a list. A path names a file; a string is one URL."""
    if isinstance(seeds, os.PathLike):
        return read_seed_file(Path(seeds))
    seeds = [seeds] if isinstance(seeds, str) else seeds
    if not seeds:
        raise BadUsage(
            "no seeds: a crawl has to start somewhere", "give one or more URLs, such as https://example.org/"
        )
    return check_seeds([("seed", seed) for seed in seeds])


def resume(
    out: StrPath,
    *,
    fetcher: Fetcher | None = None,
    watch: Watch | None = None,
    pages: int | None = None,
    refetch: bool = False,
    traps: str | None = None,
    clock: Callable[[], float] | None = None,
) -> Session:
    """Continue the crawl in a folder, however it ended. `pages` sets a new budget.

    `traps` is `off` to fetch URLs that look like traps like all others, and `on` to let them wait again.
    With `refetch`, pages whose WARC file is missing are fetched again; otherwise a missing file is an error.
    """
    clock = clock or Clock()
    if traps is not None:
        give_order(Path(out), "traps", traps, clock())
    try:
        return _resumed(CrawlFolder.reopen(Path(out), refetch), fetcher, watch, pages, clock)
    except StateDamaged as damage:  # the pages are intact, so read them again
        folder = CrawlFolder.reopen(Path(out), refetch)
        folder.recovered.append(f"{damage.message}; the strategy learns again from all pages")
        return _resumed(folder, fetcher, watch, pages, clock, relearn=True)


def _resumed(
    folder: CrawlFolder,
    fetcher: Fetcher | None,
    watch: Watch | None,
    pages: int | None,
    clock: Callable[[], float],
    relearn: bool = False,
) -> Session:
    """The session for a reopened folder. The folder is closed if this fails."""
    with _closed_after_errors(folder, clock):
        check_pdf(folder.request.settings)
        crawl = _assemble(folder, clock, pages)
        session = Session(folder, crawl, fetcher, clock, watch, is_resumed=True)
        lost = resume_crawl(crawl, folder.saved(relearn), partial(_read_again, folder))
        if lost:
            folder.forgotten += lost
            folder.recovered.append(f"{len(lost):,} more pages can't be read and will be fetched again")
        if crawl.host_clock is not None:
            crawl.host_clock.resume_at(clock())
        folder.attach(crawl, clock())
        session.steering.restore(clock())
        session.listen()
        return session


def _assemble(folder: CrawlFolder, clock: Callable[[], float], pages: int | None = None) -> Crawl:
    """Build the crawl that a folder describes, with the hosts that are still resting."""
    request, settings = folder.request, folder.request.settings
    seeds = request.keyed_seeds()
    if pages:
        folder.database.save_meta("pages_asked", str(pages))  # crawl.toml stays as it was written
    strategy = make_strategy(request.strategy, request.parameters)
    if (model := folder.model()) is not None:
        use_model(strategy, model)
    host_clock = folder.host_clock(clock())
    bound = bound_for(settings.frontier, seeds)
    if isinstance(strategy, OwnFrontier):
        frontier = strategy.frontier(bound)
    else:
        eviction = declaration_of(strategy).eviction
        frontier = SqliteFrontier(folder.database, bound, eviction, settings.spread)
    crawl = Crawl(
        strategy,
        frontier,
        folder.history,
        request.topic,
        seeds,
        limits=replace(make_limits(settings, clock()), pages=folder.budget),
        scope=make_scope(settings),
        host_clock=host_clock,
        judging=start_judge(
            settings.judge,
            request.topic,
            [url for url, _ in seeds],
            settings.relevant,
            strategy,
            request.topic.looking_for,
        ),
        figures=Figures(settings.dry_window, settings.dry_floor, settings.dry_patience, request.topic.looking_for),
        traps=TrapWatch(is_on=settings.traps),
        suspended=SuspendedUrls(most=bound or MOST, share=settings.trap_share),
        repository=folder.repository,
        order=make_order(settings),
        seed_number=settings.seed_number,
    )
    crawl.selection.advance_to(now := clock())
    host_clock.rest_on(now)
    return crawl


def _read_again(folder: CrawlFolder, step: Step, where: Where) -> Page | None:
    """Read a stored page exactly as when it was fetched; None if it does not count as a page."""
    candidate = Candidate(step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
    result = Replies.of(folder.request.settings).page(Fetch(candidate), folder.repository.get(where), step.time)
    return result if isinstance(result, Page) else None
