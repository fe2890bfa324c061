"""Scenthound: a topical web crawler, and the laboratory that proves it is good.

    import scenthound

    folder = scenthound.crawl("hot air ballooning", seeds=["https://example.org/"], pages=500, out="balloons")
    for step in folder.history.best(10):
        print(step.similarity, step.url, step.title)

Names are imported when they are first used, so that `import scenthound` costs next to nothing.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scenthound.crawl.folder import CrawlFolder
    from scenthound.crawl.settings import Settings
    from scenthound.errors import ScenthoundError
    from scenthound.lab.training import train
    from scenthound.model import Candidate, Event, Link, Miss, Page, Step, Topic, Url
    from scenthound.ports import Strategy
    from scenthound.strategies import strategy
    from scenthound.wiring import Session, Watcher, begin, crawl, crawl_async, resume

    __version__: str

_HOMES = {
    "crawl": "crawl",
    "crawl_async": "wiring",
    "begin": "wiring",
    "resume": "wiring",
    "train": "lab.training",
    "Session": "wiring",
    "CrawlFolder": "crawl.folder",
    "Settings": "crawl.settings",
    "Topic": "model",
    "Url": "model",
    "Link": "model",
    "Page": "model",
    "Candidate": "model",
    "Miss": "model",
    "Step": "model",
    "Event": "model",
    "Strategy": "ports",
    "strategy": "strategies",
    "ScenthoundError": "errors",
}

__all__ = [
    "Candidate",
    "CrawlFolder",
    "Event",
    "Link",
    "Miss",
    "Page",
    "ScenthoundError",
    "Session",
    "Settings",
    "Step",
    "Strategy",
    "Topic",
    "Url",
    "__version__",
    "begin",
    "crawl",
    "crawl_async",
    "resume",
    "strategy",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("scenthound")
    if name not in _HOMES:
        raise AttributeError(f"module `scenthound` has no attribute `{name}`")
    home = importlib.import_module(f"scenthound.{_HOMES[name]}")
    return home if name == "crawl" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Verb(ModuleType):
    """The room `scenthound.crawl`, which can also be called: it is what one wants to do, and where it is done."""

    def __call__(
        self,
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
        """Crawl the web for a topic, best pages first, and give back the finished folder.

        `topic` is words or a `Topic`; `seeds` are URLs to start from, or a single one; `out` is the new folder.
        `watch` hears of each page, each miss, each link that was left alone and each event the strategy tells
        of. `strategy` is `best-first` unless
        said, or that of the `model`, a folder that `train` made. `options` are settings of the crawl
        (`delay="500 ms"`, `hosts=["example.org"]`, see `Settings`) and parameters of the strategy. Robots rules are
        obeyed and hosts are given rest. Raises `ScenthoundError` where something is wrong with what was asked.
        """
        from scenthound import wiring

        return wiring.crawl(topic, seeds, pages, out, strategy=strategy, watch=watch, model=model, **options)


_HOW_TO_CALL = (
    'crawl(topic, seeds, pages=1000, out="crawl", *, strategy=None, watch=None, model=None, **options) -> CrawlFolder'
)


def _taught(room: ModuleType) -> None:
    """Make the room `scenthound.crawl` a verb, and have `help` say so."""
    from inspect import cleandoc  # not needed before

    if not isinstance(room, _Verb):
        room.__class__ = _Verb
        told = cleandoc(_Verb.__call__.__doc__ or "")
        room.__doc__ = f"{_HOW_TO_CALL}\n\n{told}\n\nIt is also a package:\n\n{room.__doc__ or ''}"


class _Facade(ModuleType):
    """The import system binds a room's name here when the room is first imported, over a function of that name.

    `scenthound.crawl` is both, so the room is taught to be called as it arrives.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "crawl" and isinstance(value, ModuleType):
            _taught(value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
