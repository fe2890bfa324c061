"""Scenthound: a topical web crawler, and the laboratory that proves it is good.

    import scenthound

    folder = scenthound.crawl("hot air ballooning", seeds=["https://example.org/"], pages=500, out="balloons")
    for step in folder.history.best(10):
        print(step.similarity, step.url, step.title)

Names are imported when they are first used, so that `import scenthound` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenthound.errors import ScenthoundError
    from scenthound.lab.run.train_model import train
    from scenthound.loop.folder import CrawlFolder
    from scenthound.loop.settings import Settings
    from scenthound.model import Candidate, Event, Link, Miss, Step, Topic, Url
    from scenthound.page.page import Page
    from scenthound.ports import Strategy
    from scenthound.strategies import strategy
    from scenthound.wiring import Session, begin, crawl, crawl_async, resume

    __version__: str

_HOMES = {
    "crawl": "wiring",
    "crawl_async": "wiring",
    "begin": "wiring",
    "resume": "wiring",
    "train": "lab.run.train_model",
    "Session": "wiring",
    "CrawlFolder": "loop.folder",
    "Settings": "loop.settings",
    "Topic": "model",
    "Url": "model",
    "Link": "model",
    "Page": "page.page",
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
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
