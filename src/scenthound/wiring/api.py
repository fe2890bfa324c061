"""A whole crawl in one call, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenthound.loop.folder import CrawlFolder
from scenthound.loop.recording import Watcher
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic
from scenthound.store.models import load_model
from scenthound.wiring.build import split_settings
from scenthound.wiring.start import begin


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
    settings = read(Settings, given)
    session = begin(
        topic, seeds, out, strategy=strategy, parameters=parameters, settings=settings, watch=watch, model=model
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
