"""An HTML page that compares two crawls for the same topic with the same effort: verdict, chart, best finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from scenthound.model import Step
from scenthound.report.charts import CurvePoint, Series, small_curves
from scenthound.report.copies import Copy
from scenthound.report.crawl_facts import CrawlFacts
from scenthound.report.report_layout import document, section, table
from scenthound.report.web_text import text

SHOWN = 5  # best pages of each crawl


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
    first, second = (crawl.found[-1] if crawl.found else 0 for crawl in (ours, other))
    effort = f"For the same effort ({ours.facts.pages:,} pages each), {ours.name}"
    if not second or first <= second:
        return f"{effort} found {first:,} pages about {task.topic}, and {other.name} {second:,}."
    times = first / second
    ratio = f"{times:.0f} times" if times >= 3 else f"{times:.1f} times"
    counts = f"{first:,} of {task.wanted:,}, against {second:,}"
    return f"{effort} found {ratio} as many pages about {task.topic}: {counts}."


def render_comparison(task: ComparedTask, ours: ComparedCrawl, other: ComparedCrawl) -> str:
    """The comparison as one HTML document."""
    style = resources.files("scenthound.report").joinpath("crawl_report.css").read_text(encoding="utf-8")
    crawls = (ours, other)
    head = (
        f'<header><p class="kicker">Two crawls, one topic</p><h1>{text(task.topic[:1].upper() + task.topic[1:])}</h1>'
        f'<p class="lead"><strong>{text(verdict(task, ours, other), 400)}</strong></p>'
        f'<p class="lead">{text(task.web, 600)}</p></header>'
    )
    note = "Every fetched page costs the same. The steeper the line, the better."
    parts = [
        head,
        section("Pages found", note, _chart(*crawls)),
        section("In figures", "", _figures(task, crawls)),
        '<div class="pair">' + "".join(_finds(crawl) for crawl in crawls) + "</div>",
        section("What to try next", "", _next(task)),
    ]
    return document(f"{text(task.topic)}: two crawls · scenthound", style, parts)


def _chart(ours: ComparedCrawl, other: ComparedCrawl) -> str:
    series = [
        Series("", kind, [CurvePoint(0, 0), *(CurvePoint(n, count) for n, count in enumerate(crawl.found, 1))])
        for crawl, kind in ((ours, "overall"), (other, "recent"))
    ]
    legend = (
        f'<ul class="legend"><li><i class="overall"></i>{text(ours.name)}: {text(ours.about)}</li>'
        f'<li><i class="recent"></i>{text(other.name)}: {text(other.about)}</li></ul>'
    )
    most = max([1, *ours.found[-1:], *other.found[-1:]])
    chart = small_curves("Pages about the topic by pages fetched", series, most, "g")
    return f"{legend}{chart}"


def _figures(task: ComparedTask, crawls: Sequence[ComparedCrawl]) -> str:
    rows = [
        ("pages fetched", *(f"{crawl.facts.pages:,}" for crawl in crawls)),
        (
            _explained(f"pages about {text(task.topic)}", f"there are {task.wanted:,}; crawlers are not told which"),
            *(f"{crawl.found[-1] if crawl.found else 0:,}" for crawl in crawls),
        ),
        (
            _explained("harvest rate", "share of fetched pages that the judge considers relevant"),
            *(f"{crawl.facts.harvest:.0%}" for crawl in crawls),
        ),
        ("hosts visited", *(f"{crawl.facts.hosts_with_pages:,}" for crawl in crawls)),
        ("pages per second", *(f"{crawl.facts.rate:.0f}" for crawl in crawls)),
    ]
    return table(("", *(text(crawl.name) for crawl in crawls)), rows, numbers={1, 2})


def _explained(term: str, meaning: str) -> str:
    return f'{term}<span class="how">{meaning}</span>'


def _finds(crawl: ComparedCrawl) -> str:
    items = "".join(f"<li>{_find(crawl, step)}</li>" for step in crawl.facts.best[:SHOWN])
    more = f'<p class="note"><a href="{crawl.folder}/report.html">The full report of {text(crawl.name)}</a></p>'
    return section(f"Best finds of {text(crawl.name)}", "", f'<ol class="finds">{items}</ol>{more}')


def _find(crawl: ComparedCrawl, step: Step) -> str:
    copy, title = crawl.copies.get(step.n), text(step.title, 90) or "(no title)"
    shown = f'<a href="{crawl.folder}/{copy.file}">{title}</a>' if copy else title
    snippet = f'<span class="snippet">{copy.snippet}</span>' if copy else ""
    return f'<span class="title">{shown}</span>{snippet}'


def _next(task: ComparedTask) -> str:
    steps = "".join(
        f"<li>{text(about[:1].upper() + about[1:], 200)}<code>{text(command, 200)}</code></li>"
        for command, about in task.next_steps
    )
    return f'<ul class="next">{steps}</ul>'
