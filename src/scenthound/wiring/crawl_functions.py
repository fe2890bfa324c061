"""Run a whole crawl in one call, for scripts and notebooks: `crawl`, `crawl_async`, `stream`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.looking_for import checked
from scenthound.loop.crawl_toml import DEFAULT_STRATEGY, read_topic
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

    `topic` is keywords, a topic file (`"balloons.toml"`, a `Path`) or a `Topic`. `seeds` is a URL to start from, a
    list of URLs, or the `Path` of a file with one URL per line. `out` is the new folder. `watch` is called with each
    page, miss, dropped link and event of the strategy; if it is `async`, it is awaited. `strategy` is `hound` by
    default, or the strategy of the `model`, a folder written by `train`. `options` are settings of the crawl
    (`delay="500 ms"`, `hosts=["example.org"]`, see `Settings`), parameters of the strategy, and `looking_for`:
    `"pages"` or `"sites"`, which replaces that of the topic.

    The crawl obeys robots.txt and waits between requests to a host. It also works in a notebook, where `watch` is
    called from another thread. Ctrl-C saves the crawl and raises `KeyboardInterrupt`. Raises `ScenthoundError` if
    something is wrong with the arguments.
    """
    run_to_end(run_session(_begin_function(topic, seeds, out, strategy, watch, model, {"pages": pages, **options})))
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
    """Like `crawl`, for programs with an event loop. Cancelling the task stops the crawl and saves it."""
    await run_session(_begin_function(topic, seeds, out, strategy, watch, model, {"pages": pages, **options}))
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
    """Crawl, and yield each page as it arrives: `for page in stream(...)` or `async for page in stream(...)`.

    The arguments are the same as for `crawl`. Leaving the loop early stops the crawl and saves it.
    """
    return PageStream(_begin_function(topic, seeds, out, strategy, watch, model, {"pages": pages, **options}))


def _begin_function(
    topic: Topic | StrPath,
    seeds: Sequence[str] | StrPath,
    out: StrPath,
    strategy: str | None,
    watch: Watch | None,
    model: StrPath | None,
    options: Mapping[str, Any],
) -> Callable[[], Session]:
    """A function that begins the crawl. Call it in the thread that runs the crawl, because SQLite is bound to it."""
    name = strategy or (load_model(Path(model)).strategy if model is not None else DEFAULT_STRATEGY)
    options = dict(options)
    looking_for = options.pop("looking_for", None)
    setting_values, parameters = split_settings(options, name)
    settings = read(Settings, setting_values)
    topic = read_topic(topic)
    if looking_for is not None:
        topic = replace(topic, looking_for=checked(looking_for))
    return partial(
        begin, topic, seeds, out, strategy=strategy, parameters=parameters, settings=settings, watch=watch, model=model
    )
