"""Scenthound: a topical web crawler, and a laboratory that measures how good it is.

    import scenthound

    folder = scenthound.crawl("hot air ballooning", seeds=["https://example.org/"], pages=500, out="balloons")
    for page in folder.pages():
        print(page.relevance, page.url, page.title, page.text[:80])

    for page in scenthound.stream("balloons.toml", seeds="https://example.org/"):  # as they arrive
        if page.is_relevant:
            break                                                                  # stops the crawl and saves it

docs/guides/python.md shows how to use it, docs/reference/python.md lists all names. Each is imported on first use, so
`import scenthound` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenthound.errors import ScenthoundError
    from scenthound.lab.lab_functions import compare, make_bed, measure, run_experiment
    from scenthound.lab.run.experiment import Experiment
    from scenthound.lab.run.train_model import train
    from scenthound.loop.folder import CrawlFolder
    from scenthound.loop.settings import Settings
    from scenthound.loop.stored_page import StoredPage
    from scenthound.model import Candidate, Event, Link, Miss, Step, Topic, Url
    from scenthound.page.page import Page
    from scenthound.ports import Strategy
    from scenthound.strategies import strategy
    from scenthound.wiring import PageStream, Session, Watch, begin, crawl, crawl_async, resume, stream

    __version__: str

_HOMES = {
    "crawl": "wiring",
    "crawl_async": "wiring",
    "stream": "wiring",
    "begin": "wiring",
    "resume": "wiring",
    "train": "lab.run.train_model",
    "make_bed": "lab.lab_functions",
    "run_experiment": "lab.lab_functions",
    "measure": "lab.lab_functions",
    "compare": "lab.lab_functions",
    "Experiment": "lab.run.experiment",
    "PageStream": "wiring",
    "Session": "wiring",
    "Watch": "wiring",
    "CrawlFolder": "loop.folder",
    "StoredPage": "loop.stored_page",
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
    "Experiment",
    "Link",
    "Miss",
    "Page",
    "PageStream",
    "ScenthoundError",
    "Session",
    "Settings",
    "Step",
    "StoredPage",
    "Strategy",
    "Topic",
    "Url",
    "Watch",
    "__version__",
    "begin",
    "compare",
    "crawl",
    "crawl_async",
    "make_bed",
    "measure",
    "resume",
    "run_experiment",
    "strategy",
    "stream",
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
