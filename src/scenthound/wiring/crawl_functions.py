"""A whole crawl in one call, for scripts and notebooks: `crawl`, `crawl_async`, `stream`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.loop.crawl_toml import DEFAULT_STRATEGY
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic
from scenthound.store.model_folder import load_model
from scenthound.wiring.launch import StrPath, begin
from scenthound.wiring.loop_thread import run_to_end
from scenthound.wiring.page_stream import PageStream
from scenthound.wiring.parts_from_settings import split_settings
from scenthound.wiring.session import Session, Watch, run_session


def crawl(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    pages: int = 1000,
    out: StrPath = "crawl",
    *,
    strategy: str | None = None,
    watch: Watch | None = None,
    model: StrPath | None = None,
    **options: Any,
) -> CrawlFolder:
    """Crawl the web for a topic, best pages first, and return the finished folder.

    `topic` is keywords, a topic file (`"balloons.toml"`, a `Path`) or a `Topic`. `seeds` are URLs to start from, a
    single one, or the `Path` of a file with one per line. `out` is the new folder. `watch` is called with each page,
    miss, dropped link and event of the strategy; if it is `async`, it is awaited. `strategy` is `hound` by
    default, or that of the `model`, a folder that `train` made. `options` are settings of the crawl (`delay="500 ms"`,
    `hosts=["example.org"]`, see `Settings`) and parameters of the strategy.

    Robots rules are obeyed and hosts get their delay. Works in a notebook too, where `watch` is called from another
    thread. Ctrl-C saves the crawl and raises `KeyboardInterrupt`. Raises `ScenthoundError` if something is wrong with
    the arguments.
    """
    run_to_end(run_session(_beginning(topic, seeds, out, strategy, watch, model, {"pages": pages, **options})))
    return CrawlFolder.look(Path(out))


async def crawl_async(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    pages: int = 1000,
    out: StrPath = "crawl",
    *,
    strategy: str | None = None,
    watch: Watch | None = None,
    model: StrPath | None = None,
    **options: Any,
) -> CrawlFolder:
    """`crawl` for programs that have an event loop. Cancelling its task stops the crawl and saves it."""
    await run_session(_beginning(topic, seeds, out, strategy, watch, model, {"pages": pages, **options}))
    return CrawlFolder.look(Path(out))


def stream(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    pages: int = 1000,
    out: StrPath = "crawl",
    *,
    strategy: str | None = None,
    watch: Watch | None = None,
    model: StrPath | None = None,
    **options: Any,
) -> PageStream:
    """Crawl, and yield each page as it lands: `for page in stream(...)` or `async for page in stream(...)`.

    Takes what `crawl` takes. Leaving the loop early stops the crawl and saves it.
    """
    return PageStream(_beginning(topic, seeds, out, strategy, watch, model, {"pages": pages, **options}))


def _beginning(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    out: StrPath,
    strategy: str | None,
    watch: Watch | None,
    model: StrPath | None,
    options: Mapping[str, Any],
) -> Callable[[], Session]:
    """`begin` with these arguments, to be called in the thread that runs the crawl: SQLite belongs to one."""
    name = strategy or (load_model(Path(model)).strategy if model is not None else DEFAULT_STRATEGY)
    settings, parameters = split_settings(options, name)
    made = read(Settings, settings)
    return partial(
        begin, topic, seeds, out, strategy=strategy, parameters=parameters, settings=made, watch=watch, model=model
    )
