"""Find pages for a question with a short crawl, in the manner of MySpiders (docs/papers.md).

Hits are reported as they are found and keep that order, so the list can be read while it grows; `ranked` sorts them by
the judge's latest verdicts when the crawl is over. The crawl is greedy: it always fetches the most promising page next.
Pant, Srinivasan and Menczer [EXP] found that exploration pays off only in long crawls; in a short one, every page spent
on exploring lowers the quality of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step

PAGES = 50
QuestionStrategy = Literal["hound", "best-first", "infospiders"]
QUESTION_STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "hound": {"exploration": 0.0},
    "best-first": {"n": 1},
    "infospiders": {},
}
"""The strategies available for questions, with the parameters that make them greedy. InfoSpiders choose links at
random, so they are not greedy; they are offered because each spider can be watched."""
STRATEGY_HELP = (
    "hound and best-first are greedy here: they always fetch the most promising page next. That pays off in short "
    "crawls: on one recorded web, the pages that best-64-first, which explores, had found after 25 pages ranked 18 to "
    "39 places lower in relevance on average, with standard errors of 5 to 9; after 500 pages no difference was shown. "
    "InfoSpiders choose links at random, but you can watch each spider."
)
"""Help text for choosing a strategy; the source of the figures is in docs/applications.md."""
PER_SEED = "per-seed"
MOST_RANKED = 20


def strategy_for_question(strategy: str, per_seed: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the strategy for a question and its parameters; `per_seed` gives each seed its own frontier.

    >>> strategy_for_question("best-first", per_seed=True)
    ('per-seed', {'inner': 'best-first:n=1'})
    """
    parameters = QUESTION_STRATEGIES[strategy]
    if not per_seed:
        return strategy, dict(parameters)
    if strategy == "infospiders":
        raise BadUsage(
            "each InfoSpider already has its own frontier", "leave out --per-seed, or choose another strategy"
        )
    inner = ",".join(f"{key}={value}" for key, value in parameters.items())
    return PER_SEED, {"inner": f"{strategy}:{inner}"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A relevant page, and how it was found."""

    number: int
    """Position in the order of discovery, from 1; 0 in a ranking."""
    page: int
    """Page number in the crawl."""
    url: str
    title: str
    relevance: float
    parent: str | None
    """The page with the link to it."""
    parent_title: str
    anchor: str
    """Text of the link to it."""
    is_seed: bool
    spider: int | None
    """Number of the agent that found it, if the strategy has agents."""

    @property
    def origin(self) -> str:
        """How the page was found, as a phrase."""
        spider = "" if self.spider is None else f", by spider {self.spider}"
        if self.is_seed:
            return f"a starting page{spider}"
        anchor = f"through “{printable(self.anchor, 60)}” " if self.anchor.strip() else ""
        return f"found {anchor}on {printable(self.parent_title or self.parent or '', 80)}{spider}"


class HitList:
    """Collects the hits of a crawl. Pass `watch` to the crawl as its listener; `report` is called once for each hit."""

    def __init__(self, report: Callable[[Hit], None]) -> None:
        self.hits: list[Hit] = []
        self._report = report
        self._titles: dict[str, str] = {}

    def watch(self, event: object) -> None:
        if not isinstance(event, Step):
            return
        self._titles[event.url] = event.title
        if event.relevant:
            hit = _hit(event, len(self.hits) + 1, self._titles.get(event.parent or "", ""), event.relevance)
            self.hits.append(hit)
            self._report(hit)


def hits_of(folder: CrawlFolder) -> list[Hit]:
    """The hits of a crawl so far, in the order in which they were found."""
    hit_list = HitList(lambda hit: None)
    for step in folder.history.trail():
        hit_list.watch(step)
    return hit_list.hits


def ranked(folder: CrawlFolder, most: int = MOST_RANKED) -> list[Hit]:
    """The relevant pages, sorted by the judge's latest verdicts; ties keep the order of discovery."""
    revised = folder.history.revised()
    titles: dict[str, str] = {}
    scored: list[tuple[float, Step]] = []
    for step in folder.history.trail():
        titles[step.url] = step.title
        relevance, relevant = revised.get(step.url, (step.relevance, step.relevant))
        if relevant:
            scored.append((relevance, step))
    scored.sort(key=lambda pair: (-pair[0], pair[1].n))
    return [_hit(step, 0, titles.get(step.parent or "", ""), relevance) for relevance, step in scored[:most]]


def _hit(step: Step, position: int, parent_title: str, relevance: float) -> Hit:
    agent = step.parts.get("agent")
    return Hit(
        position,
        step.n,
        step.url,
        step.title,
        round(min(max(relevance, 0.0), 1.0), 6),
        step.parent,
        parent_title,
        step.anchor,
        step.parent is None,
        None if agent is None else int(agent),
    )
