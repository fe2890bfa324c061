"""One page that compares two crawls for the same topic with the same effort: the verdict, a chart, the best finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from scenthound.model import Step
from scenthound.report.axes import Axes
from scenthound.report.charts import MARGINS, page_ticks
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
    """After each page: how many of the pages wanted were found."""
    folder: str
    """Where its report is, relative to this page."""
    copies: Mapping[int, Copy]


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """What both crawls were asked for."""

    topic: str
    wanted: int
    """How many pages there are about it."""
    web: str
    """What web was crawled, in a few words."""
    next_steps: Sequence[tuple[str, str]]
    """Commands to try next, each with what it does."""


def verdict(story: ComparedTask, ours: ComparedCrawl, other: ComparedCrawl) -> str:
    """The result in one sentence."""
    first, second = (crawl.found[-1] if crawl.found else 0 for crawl in (ours, other))
    effort = f"For the same effort ({ours.facts.pages:,} pages each), {ours.name}"
    if not second or first <= second:
        return f"{effort} found {first:,} pages about {story.topic}, and {other.name} {second:,}."
    times = first / second
    much = f"{times:.0f} times" if times >= 3 else f"{times:.1f} times"
    counts = f"{first:,} of {story.wanted:,}, against {second:,}"
    return f"{effort} found {much} as many pages about {story.topic}: {counts}."


def render_comparison(story: ComparedTask, ours: ComparedCrawl, other: ComparedCrawl) -> str:
    """The comparison as one HTML document."""
    style = resources.files("scenthound.report").joinpath("crawl_report.css").read_text(encoding="utf-8")
    crawls = (ours, other)
    head = (
        f'<header><p class="kicker">Two crawls, one topic</p><h1>{text(story.topic[:1].upper() + story.topic[1:])}</h1>'
        f'<p class="lead"><strong>{text(verdict(story, ours, other), 400)}</strong></p>'
        f'<p class="lead">{text(story.web, 600)}</p></header>'
    )
    steeper = "Each page that is fetched costs the same. The steeper the line, the better."
    parts = [
        head,
        section("Pages found", steeper, _chart(*crawls)),
        section("In figures", "", _figures(story, crawls)),
        '<div class="pair">' + "".join(_finds(crawl) for crawl in crawls) + "</div>",
        section("What to try next", "", _next(story)),
    ]
    return document(f"{text(story.topic)}: two crawls · scenthound", style, parts)


def _chart(ours: ComparedCrawl, other: ComparedCrawl) -> str:
    pages = max(len(ours.found), len(other.found), 1)
    axes = Axes(300, MARGINS, pages, max([1, *ours.found[-1:], *other.found[-1:]]), lines=4)
    lines = [
        axes.line([(0, 0), *((n, float(count)) for n, count in enumerate(crawl.found, 1))], f"curve {kind}")
        for crawl, kind in ((ours, "overall"), (other, "recent"))
    ]
    legend = (
        f'<ul class="legend"><li><i class="overall"></i>{text(ours.name)}: {text(ours.about)}</li>'
        f'<li><i class="recent"></i>{text(other.name)}: {text(other.about)}</li></ul>'
    )
    title = "Pages about the topic by pages fetched"
    return legend + axes.svg(title, axes.grid_lines("{:g}"), page_ticks(axes), *reversed(lines))


def _figures(story: ComparedTask, crawls: Sequence[ComparedCrawl]) -> str:
    rows = [
        ("pages fetched", *(f"{crawl.facts.pages:,}" for crawl in crawls)),
        (
            _explained(f"pages about {text(story.topic)}", f"there are {story.wanted:,}; crawlers are not told which"),
            *(f"{crawl.found[-1] if crawl.found else 0:,}" for crawl in crawls),
        ),
        (
            _explained("harvest rate", "share of fetched pages that are similar to the topic’s words"),
            *(f"{crawl.facts.harvest:.0%}" for crawl in crawls),
        ),
        ("hosts visited", *(f"{crawl.facts.hosts_with_pages:,}" for crawl in crawls)),
        ("pages a second", *(f"{crawl.facts.rate:.0f}" for crawl in crawls)),
    ]
    return table(("", *(text(crawl.name) for crawl in crawls)), rows, numbers={1, 2})


def _explained(term: str, words: str) -> str:
    return f'{term}<span class="how">{words}</span>'


def _finds(crawl: ComparedCrawl) -> str:
    items = "".join(f"<li>{_find(crawl, step)}</li>" for step in crawl.facts.best[:SHOWN])
    more = f'<p class="note"><a href="{crawl.folder}/report.html">The whole report of {text(crawl.name)}</a></p>'
    return section(f"Best finds of {text(crawl.name)}", "", f'<ol class="finds">{items}</ol>{more}')


def _find(crawl: ComparedCrawl, step: Step) -> str:
    copy, title = crawl.copies.get(step.n), text(step.title, 90) or "(no title)"
    shown = f'<a href="{crawl.folder}/{copy.file}">{title}</a>' if copy else title
    words = f'<span class="snippet">{copy.snippet}</span>' if copy else ""
    return f'<span class="title">{shown}</span>{words}'


def _next(story: ComparedTask) -> str:
    steps = "".join(
        f"<li>{text(about[:1].upper() + about[1:], 200)}<code>{text(command, 200)}</code></li>"
        for command, about in story.next_steps
    )
    return f'<ul class="next">{steps}</ul>'
