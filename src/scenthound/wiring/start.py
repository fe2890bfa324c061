"""A crawl is begun in a new folder, or taken up again in its old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import Asked, check_seeds
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.live import Clock
from scenthound.loop.messages import Limits
from scenthound.loop.recorder import Watcher
from scenthound.loop.settings import Settings
from scenthound.loop.tally import Tally
from scenthound.loop.trained import check_untaught, fitting, taught
from scenthound.model import Topic
from scenthound.page.judge import Judge
from scenthound.ports import Fetcher, OwnFrontier, declaration_of
from scenthound.store.models import load_model
from scenthound.store.sqlite_frontier import SqliteFrontier
from scenthound.wiring.build import check_topic, make_fetcher, make_scope, make_strategy, versions
from scenthound.wiring.restore import reconsider, remember
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
) -> Session:
    """A new crawl in a new folder. `seeds` may be a single URL. `model` is a folder that `train` made.

    The strategy is `best-first` unless said; with a model it is the model's, with the parameters of its training.
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
        strategy, parameters = fitting(learned, strategy, parameters, make_strategy)
    strategy = strategy or "best-first"
    asked = Asked(topic, tuple(seeds), strategy, dict(parameters or {}), settings, versions(), started)
    made = make_strategy(strategy, parameters)  # whatever is wrong is said before writing
    if getattr(made, "oracle", False):
        raise BadConfig(f"{strategy} with these parameters is an oracle: it sees what no crawler can see", "lab run it")
    if learned is not None:
        taught(made, learned)
        asked = replace(asked, model=learned.digest)
    else:
        check_untaught(made, strategy)
    make_scope(settings)
    make_fetcher(settings)
    asked.keyed_seeds()
    folder = CrawlFolder.create(Path(out), asked, learned)
    try:
        clock = Clock()
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
) -> Session:
    """Go on with the crawl in a folder, whatever ended it. `pages` sets a new budget.

    With `refetch` pages are fetched again whose WARC file is missing; without, that is an error.
    """
    folder = CrawlFolder.reopen(Path(out), refetch)
    try:
        clock = Clock()
        crawl = _assemble(folder, clock, watch, pages)
        state = folder.database.state("crawl")
        if state is None:  # it was killed while it was being born
            crawl.start()
        else:
            crawl.introduce()
            remember(folder, crawl)
            crawl.load(state)
        if folder.salvaged:
            reconsider(folder, crawl)
        folder.forget_unreadable()
        for step in folder.forgotten:
            crawl.want_again(step)
        if crawl.manners is not None:
            crawl.manners.resumed_at = clock()
        crawl.not_before = clock() + folder.asked.settings.delay
        folder.attach(crawl, clock())
        session = Session(folder, crawl, fetcher, clock)
        session.listen()
        return session
    except BaseException:
        folder.close()
        raise


def _assemble(
    folder: CrawlFolder, clock: Callable[[], float], watch: Watcher | None, pages: int | None = None
) -> Crawl:
    asked, settings = folder.asked, folder.asked.settings
    if pages:
        folder.database.save_meta("pages_asked", str(pages))  # crawl.toml stays as it was written
    strategy = make_strategy(asked.strategy, asked.parameters)
    if (learned := folder.model()) is not None:
        taught(strategy, learned)
    manners = folder.manners(clock())
    if isinstance(strategy, OwnFrontier):
        frontier = strategy.frontier(settings.frontier)
    else:
        eviction = declaration_of(strategy).eviction
        frontier = SqliteFrontier(folder.database, settings.frontier, eviction, settings.spread)
    crawl = Crawl(
        strategy,
        frontier,
        folder.history,
        asked.topic,
        asked.keyed_seeds(),
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
        manners=manners,
        judge=Judge(asked.topic),
        tally=Tally(settings.relevant, settings.dry_window, settings.dry_floor, settings.dry_patience),
        repository=folder.repository,
        seed_number=settings.seed_number,
        watch=watch,
    )
    for name, host in manners.hosts.items():
        if host.next_allowed > clock():
            frontier.rest(name, host.next_allowed)
    return crawl
