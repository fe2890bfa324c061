"""An HTML page that compares two crawls for the same topic with the same effort: verdict, chart, best finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenthound.report.charts import CurvePoint, Series, small_curves
from scenthound.report.copies import Copy
from scenthound.report.crawl_facts import CrawlFacts
from scenthound.templates import environment


@dataclass(frozen=True, slots=True)
class ComparedCrawl:
    """One of the two crawls."""

    name: str
    about: str
    """How it chooses the next page, in a sentence for newcomers."""
    facts: CrawlFacts
    found: Sequence[int]
    """After each page, the number of pages about the topic found so far."""
    folder: str
    """The folder of its report, relative to this page."""
    copies: Mapping[int, Copy]

    @property
    def targets_found(self) -> int:
        return self.found[-1] if self.found else 0


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """The task of both crawls."""

    topic: str
    wanted: int
    """Number of pages about the topic."""
    web: str
    """The web that was crawled, in a few words."""
    next_steps: Sequence[tuple[str, str]]
    """Commands to try next, each with a description."""


def verdict(task: ComparedTask, ours: ComparedCrawl, other: ComparedCrawl) -> str:
    """The result in one sentence."""
    first, second = ours.targets_found, other.targets_found
    effort = f"For the same effort ({ours.facts.figures.pages:,} pages each), {ours.name}"
    if not second or first <= second:
        return f"{effort} found {first:,} pages about {task.topic}, and {other.name} {second:,}."
    times = first / second
    ratio = f"{times:.0f} times" if times >= 3 else f"{times:.1f} times"
    counts = f"{first:,} of {task.wanted:,}, against {second:,}"
    return f"{effort} found {ratio} as many pages about {task.topic}: {counts}."


def render_comparison(task: ComparedTask, ours: ComparedCrawl, other: ComparedCrawl) -> str:
    """The comparison as one HTML document."""
    series = [
        Series("", kind, [CurvePoint(0, 0), *(CurvePoint(n, count) for n, count in enumerate(crawl.found, 1))])
        for crawl, kind in ((ours, "overall"), (other, "recent"))
    ]
    most = max(1, ours.targets_found, other.targets_found)
    return (
        environment("scenthound.report")
        .get_template("comparison.html")
        .render(
            task=task,
            crawls=(ours, other),
            verdict=verdict(task, ours, other),
            chart=small_curves("Pages about the topic by pages fetched", series, most, "g"),
        )
    )
