"""Start a crawl in a new folder, continue one in its old folder, or do a whole crawl in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import CrawlRequest, check_seeds
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.live import Clock
from scenthound.loop.messages import Limits
from scenthound.loop.recording import Counters, Watcher
from scenthound.loop.resume import resume as resume_crawl
from scenthound.loop.settings import Settings, read
from scenthound.loop.use_model import parameters_for_model, require_model, use_model
from scenthound.model import Candidate, Step, Topic
from scenthound.page.judge import Judge
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.ports import Fetcher, OwnFrontier, Where, declaration_of
from scenthound.store.model_folder import load_model
from scenthound.store.sqlite_frontier import SqliteFrontier
from scenthound.wiring.build import (
    check_spread,
    check_topic,
    make_fetcher,
    make_order,
    make_scope,
    make_strategy,
    page_limits,
    product_token,
    split_settings,
    versions,
)
from scenthound.wiring.session import Session

SITEMAPS_PER_HOST = 50


def begin(
    topic: Topic | str,
    seeds: Sequence[str],
    out: Path | str,
    *,
    strategy: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    fetcher: Fetcher | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
    clock: Callable[[], float] | None = None,
) -> Session:
    """A new crawl in a new folder. `seeds` may be a single URL. `model` is a folder that `train` made.

    The strategy is `best-first` by default; with a model it is the model's, with the parameters of its training.
    """
    topic = Topic(topic) if isinstance(topic, str) else topic
    seeds = [seeds] if isinstance(seeds, str) else seeds
    check_topic(topic)
    if not seeds:
        raise BadUsage("no seeds: a crawl has to start somewhere", "give one URL or more, as https://example.org/")
    check_seeds([("seed", seed) for seed in seeds])
    settings = settings or Settings()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    learned = None if model is None else load_model(Path(model))
    if learned is not None:
        strategy, parameters = parameters_for_model(learned, strategy, parameters, make_strategy)
    strategy = strategy or "best-first"
    request = CrawlRequest(topic, tuple(seeds), strategy, dict(parameters or {}), settings, versions(), started)
    instance = make_strategy(strategy, parameters)  # raises before anything is written
    if declaration_of(instance).oracle:
        raise BadConfig(f"{strategy} with these parameters is an oracle: it sees what no crawler can see", "lab run it")
    if learned is not None:
        use_model(instance, learned)
        request = replace(request, model=learned.digest)
    else:
        require_model(instance, strategy)
    make_scope(settings)
    make_fetcher(settings)
    check_spread(instance, strategy, settings.spread)
    request.keyed_seeds()
    folder = CrawlFolder.create(Path(out), request, learned)
    clock = clock or Clock()
    try:
        crawl = _assemble(folder, clock, watch)
        crawl.start()
        folder.database.save_meta("started_at", str(clock()))
        folder.attach(crawl, clock())
        return Session(folder, crawl, fetcher, clock)
    except BaseException:
        folder.close()
        raise


def resume(
    out: Path | str,
    *,
    fetcher: Fetcher | None = None,
    watch: Watcher | None = None,
    pages: int | None = None,
    refetch: bool = False,
    clock: Callable[[], float] | None = None,
) -> Session:
    """Continue the crawl in a folder, whatever ended it. `pages` sets a new budget.

    With `refetch` pages whose WARC file is missing are fetched again; without, that is an error.
    """
    folder = CrawlFolder.reopen(Path(out), refetch)
    clock = clock or Clock()
    try:
        crawl = _assemble(folder, clock, watch, pages)
        lost = resume_crawl(crawl, folder.saved(), partial(_read_again, folder))
        if lost:
            folder.forgotten += lost
            folder.recovered.append(f"{len(lost):,} more pages can't be read and will be fetched again")
        if crawl.politeness is not None:
            crawl.politeness.resume_at(clock())
        folder.attach(crawl, clock())
        session = Session(folder, crawl, fetcher, clock)
        session.steering.restore(clock())
        session.listen()
        return session
    except BaseException:
        folder.close()
        raise


def _assemble(
    folder: CrawlFolder, clock: Callable[[], float], watch: Watcher | None, pages: int | None = None
) -> Crawl:
    request, settings = folder.request, folder.request.settings
    if pages:
        folder.database.save_meta("pages_asked", str(pages))  # crawl.toml stays as it was written
    strategy = make_strategy(request.strategy, request.parameters)
    if (learned := folder.model()) is not None:
        use_model(strategy, learned)
    politeness = folder.politeness(clock())
    if isinstance(strategy, OwnFrontier):
        frontier = strategy.frontier(settings.frontier)
    else:
        eviction = declaration_of(strategy).eviction
        frontier = SqliteFrontier(folder.database, settings.frontier, eviction, settings.spread)
    crawl = Crawl(
        strategy,
        frontier,
        folder.history,
        request.topic,
        request.keyed_seeds(),
        limits=Limits(
            pages=folder.budget,
            ends_at=clock() + settings.time if settings.time else float("inf"),
            pages_per_host=settings.pages_per_host,
            redirects=settings.redirects,
            retries=settings.retries,
            longest_wait=settings.longest_wait,
            host_patience=settings.host_patience,
            nofollow=settings.nofollow,
            sitemaps=SITEMAPS_PER_HOST if settings.sitemaps else 0,
        ),
        scope=make_scope(settings),
        politeness=politeness,
        judge=Judge(request.topic),
        counters=Counters(settings.relevant, settings.dry_window, settings.dry_floor, settings.dry_patience),
        repository=folder.repository,
        order=make_order(settings),
        seed_number=settings.seed_number,
        watch=watch,
    )
    for host, until in politeness.resting(clock()).items():
        frontier.rest(host, until)
    return crawl


def _read_again(folder: CrawlFolder, step: Step, where: Where) -> Page | None:
    """Read a stored page as it was read when it was fetched."""
    settings = folder.request.settings
    candidate = Candidate(step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
    response = folder.repository.get(where)
    agent = product_token(settings) if settings.robots else ""
    result = land(candidate, response, page_limits(settings), agent=agent, now=step.time)
    return result if isinstance(result, Page) else None


async def crawl_async(
    topic: Topic | str,
    seeds: Sequence[str],
    pages: int = 1000,
    out: Path | str = "crawl",
    *,
    strategy: str | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
    **options: Any,
) -> CrawlFolder:
    """`crawl` for programs that have an event loop."""
    name = strategy or (load_model(Path(model)).strategy if model is not None else "best-first")
    given, parameters = split_settings({"pages": pages, **options}, name)
    session = begin(
        topic,
        seeds,
        out,
        strategy=strategy,
        parameters=parameters,
        settings=read(Settings, given),
        watch=watch,
        model=model,
    )
    try:
        await session.run()
    finally:
        session.close()
    return CrawlFolder.look(Path(out))


def crawl(
    topic: Topic | str,
    seeds: Sequence[str],
    pages: int = 1000,
    out: Path | str = "crawl",
    *,
    strategy: str | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
    **options: Any,
) -> CrawlFolder:
    """Crawl the web for a topic, best pages first, and return the finished folder.

    `topic` is keywords or a `Topic`; `seeds` are URLs to start from, or a single one; `out` is the new folder. `watch`
    is called with each page, miss, dropped link and event of the strategy. `strategy` is `best-first` by default, or
    that of the `model`, a folder that `train` made. `options` are settings of the crawl (`delay="500 ms"`,
    `hosts=["example.org"]`, see `Settings`) and parameters of the strategy. Robots rules are obeyed and hosts get their
    delay. Raises `ScenthoundError` if something is wrong with the arguments.
    """
    return asyncio.run(crawl_async(topic, seeds, pages, out, strategy=strategy, watch=watch, model=model, **options))
