"""A question, answered by a short crawl (MySpiders): results as they are found, and a ranking at the end.

Results keep the order in which they were found, so that a list can be read while it grows; `ranked` orders them by the
judge's latest verdicts when the crawl is over. The crawl is greedy: it always takes the page that looks best. Pant,
Srinivasan and Menczer [EXP] found that exploring pays only in long crawls; the first pages are best when nothing is
spent on pages that only might be good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step

PAGES = 50
GREEDY: Mapping[str, Mapping[str, Any]] = {
    "hound": {"exploration": 0.0},
    "best-first": {"n": 1},
    "infospiders": {},
}
"""The strategies that a question may be asked with, and the parameters that make them greedy. InfoSpiders draw by lot
among the links of a page: they are offered because each spider can be watched."""
FIGURES = (
    "hound and best-first are greedy here: they always take the page that looks best. That pays in short crawls: after "
    "30 pages those of best-256-first, which explores, are 78 to 131 places behind on average, after 500 no longer. "
    "InfoSpiders draw links by lot: each spider can be watched."
)
"""What people are told about the choice; docs/applications.md says where the figures come from."""
PER_SEED = "per-seed"
RANKED = 20


def asked_strategy(strategy: str, per_seed: bool = False) -> tuple[str, dict[str, Any]]:
    """The strategy of a question and its parameters; with `per_seed` one frontier for each page to start from.

    >>> asked_strategy("best-first", per_seed=True)
    ('per-seed', {'inner': 'best-first:n=1'})
    """
    parameters = GREEDY[strategy]
    if not per_seed:
        return strategy, dict(parameters)
    if strategy == "infospiders":
        raise BadUsage("InfoSpiders have a frontier each already", "leave out --per-seed, or take another strategy")
    inner = ",".join(f"{key}={value}" for key, value in parameters.items())
    return PER_SEED, {"inner": f"{strategy}:{inner}"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A relevant page, and how it was found."""

    number: int
    """In the order of finding, from 1; 0 in a ranking."""
    page: int
    """Its number in the crawl."""
    url: str
    title: str
    relevance: float
    parent: str | None
    """The page that led to it."""
    parent_title: str
    anchor: str
    """The text of the link that led to it."""
    is_seed: bool
    spider: int | None
    """The agent that brought it, if the strategy has agents."""

    def as_plain(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "page": self.page,
            "url": self.url,
            "title": self.title,
            "relevance": round(self.relevance, 6),
            "parent": self.parent,
            "parent_title": self.parent_title,
            "anchor": self.anchor,
            "is_seed": self.is_seed,
            "spider": self.spider,
        }

    @property
    def origin(self) -> str:
        """How it was found, in words."""
        who = "" if self.spider is None else f"; spider {self.spider} brought it"
        if self.is_seed:
            return f"one of the pages to start from{who}"
        anchor = f"by “{printable(self.anchor, 60)}” " if self.anchor.strip() else ""
        return f"found {anchor}on {printable(self.parent_title or self.parent or '', 80)}{who}"


class Hits:
    """Turns what a crawl records into hits. Give `watch` to the crawl; `report` gets each hit once."""

    def __init__(self, report: Callable[[Hit], None]) -> None:
        self.found: list[Hit] = []
        self._report = report
        self._titles: dict[str, str] = {}

    def watch(self, event: object) -> None:
        if not isinstance(event, Step):
            return
        self._titles[event.url] = event.title
        if event.relevant:
            hit = _hit(event, len(self.found) + 1, self._titles.get(event.parent or "", ""), event.relevance)
            self.found.append(hit)
            self._report(hit)


def hits_of(folder: CrawlFolder) -> list[Hit]:
    """The hits of a crawl so far, in the order in which they were found."""
    hits = Hits(lambda hit: None)
    for step in folder.history.trail():
        hits.watch(step)
    return hits.found


def ranked(folder: CrawlFolder, most: int = RANKED) -> list[Hit]:
    """The relevant pages by the judge's latest verdicts, best first; of equal ones the one that was found first."""
    revised = folder.history.revised()
    titles: dict[str, str] = {}
    good: list[tuple[float, Step]] = []
    for step in folder.history.trail():
        titles[step.url] = step.title
        relevance, relevant = revised.get(step.url, (step.relevance, step.relevant))
        if relevant:
            good.append((relevance, step))
    good.sort(key=lambda pair: (-pair[0], pair[1].n))
    return [_hit(step, 0, titles.get(step.parent or "", ""), relevance) for relevance, step in good[:most]]


def _hit(step: Step, number: int, parent_title: str, relevance: float) -> Hit:
    agent = step.parts.get("agent")
    return Hit(
        number,
        step.n,
        step.url,
        step.title,
        min(max(relevance, 0.0), 1.0),
        step.parent,
        parent_title,
        step.anchor,
        step.parent is None,
        None if agent is None else int(agent),
    )
