"""`report.html`: a crawl for people, in one file that loads nothing else.

All text from the web goes through `text` or `link`, which clean and escape it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from scenthound.files import write_text
from scenthound.formats import printable
from scenthound.loop.crawl_toml import masked
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import shown
from scenthound.model import Step
from scenthound.report.causes import meaning, why_nothing
from scenthound.report.charts import harvest_curve, speed_curve
from scenthound.report.crawl_facts import CrawlFacts, HostFacts, gather, settings_changed
from scenthound.report.layout import document, section, table, tiles

NAME = "report.html"
HOSTS = 30
SEEDS = 20
LONGEST = 160  # characters of a title, an anchor or a URL as shown; links keep the whole URL

REASONS = {
    "out-of-scope": "outside the allowed hosts, domains or paths",
    "too-deep": "deeper than allowed",
    "trap-repeats": "the same path part repeated: a loop of relative links",
    "trap-endless": "numbered pages without a relevant one",
    "evicted": "pushed out of the full frontier by a better URL",
    "frontier-full": "score too low for a full frontier",
    "nofollow": "marked rel=nofollow",
    "host-budget": "the host has reached its page limit",
    "host-asleep": "the host gave nothing relevant for a long time",
    "host-failing": "the host failed repeatedly",
    "robots": "forbidden by robots.txt",
    "robots-unreachable": "robots.txt could not be fetched",
    "timeout": "no answer in time",
    "not-html": "something other than a web page",
}


def write_report(folder: CrawlFolder, facts: CrawlFacts | None = None) -> Path:
    """Write the report into the crawl's folder, whole or not at all."""
    path = folder.path / NAME
    write_text(path, render(facts or gather(folder)))
    return path


def render(facts: CrawlFacts) -> str:
    """The report as one HTML document."""
    style = resources.files("scenthound.report").joinpath("crawl_report.css").read_text(encoding="utf-8")
    name = text(facts.request.topic.name or facts.request.topic.keywords)
    parts = [
        _head(facts, name),
        _tiles(facts),
        _harvest(facts),
        _best(facts.best),
        '<div class="pair">',
        _counts("Requests that failed", "Nothing failed.", "Each URL that brought no page, by reason.", facts.misses),
        _counts("Links not followed", "Every link was followed.", "Found, and left out on purpose.", facts.refused),
        "</div>",
        _hosts(facts.hosts),
        _speed(facts),
        _request(facts),
    ]
    return document(f"{name} · scenthound", style, parts)


# ---- what comes from the web


def text(raw: str, most: int = LONGEST) -> str:
    """Text from the web, cleaned, cut and escaped; `bdi` isolates its direction."""
    escaped = html.escape(printable(raw, most))
    return escaped if raw.isascii() else f"<bdi>{escaped}</bdi>"


def link(url: str, label: str = "", most: int = LONGEST) -> str:
    """A link if the URL is http(s); else only its text."""
    shown = text(label or url, most)
    if not url.lower().startswith(("http://", "https://")) or not url.isprintable():
        return shown
    return f'<a href="{html.escape(url)}" rel="noopener noreferrer nofollow" target="_blank">{shown}</a>'


# ---- the parts


def _head(facts: CrawlFacts, name: str) -> str:
    request = facts.request
    about = f"<p class='lead'>{text(request.topic.description, 400)}</p>" if request.topic.description else ""
    when = f" on {_date(facts.first)}" if facts.first else ""
    start = _many(len(request.seeds), "seed")
    why = facts.why if facts.pages or facts.ended in ("running", "paused") else why_nothing(facts)[0]
    return (
        f'<header>\n<p class="kicker">A topical crawl</p>\n<h1>{name}</h1>\n{about}'
        f'<p class="lead">Crawled with <strong>{text(request.strategy)}</strong>{when}, from {start}. '
        f"<strong>{text(why[:1].upper() + why[1:], 600)}.</strong></p>\n</header>"
    )


def _tiles(facts: CrawlFacts) -> str:
    figures = [
        (f"{facts.pages:,}", f"pages of {facts.budget:,} requested"),
        (f"{facts.harvest:.1%}", f"harvest rate: {facts.relevant:,} relevant"),
        (f"{facts.harvest_recent:.1%}", "harvest, last 100 pages"),
        (f"{facts.hosts_with_pages:,}", "hosts gave pages"),
        (f"{facts.waiting:,}", "URLs still waiting"),
        (f"{facts.rate:.1f}/s", f"pages, for {duration(facts.busy)}"),
        (size(facts.bytes), "received"),
        (f"{facts.out_of_order:,}", "requests out of order, since better hosts rested"),
        (duration(facts.waited), "waited for better hosts"),
    ]
    return tiles(figures)


def _harvest(facts: CrawlFacts) -> str:
    if len(facts.curve) < 2:
        return section("Harvest", "There are too few pages to draw a curve.")
    legend = (
        '<ul class="legend"><li><i class="overall"></i>all pages so far</li>'
        '<li><i class="recent"></i>last 100 pages</li>'
        '<li><i class="se overall"></i><i class="se recent"></i>± 1 standard error of each</li></ul>'
    )
    note = f"The share of pages that are relevant: at least {facts.request.settings.relevant:g} similar to the topic."
    return section("Harvest", note, legend + harvest_curve(facts.curve))


def _best(best: list[Step]) -> str:
    if not best:
        return ""
    rows = [(str(rank), _page(step), f"{step.similarity:.3f}") for rank, step in enumerate(best, 1)]
    pages = table(("#", "page and how it was found", "similarity"), rows, numbers={0, 2}, name="best")
    return section("Best pages", "Most similar to the topic first.", pages)


def _page(step: Step) -> str:
    title, url = text(step.title) or "(no title)", link(step.url, most=110)
    return (
        f'<span class="title">{title}</span><span class="url">{url}</span><span class="how">{_how_found(step)}</span>'
    )


def _how_found(step: Step) -> str:
    if step.parent is None:
        return f"page {step.n:,}, a seed"
    words = printable(step.anchor, 80)
    anchor = f" by “{text(words)}”" if words else ""
    parts = ", ".join(f"{text(printable(name, 40))} {value:.3g}" for name, value in step.parts.items())
    score = f"score {step.score:.3g}" + (f" ({parts})" if parts else "")
    return f"page {step.n:,}, depth {step.depth}, {score}, from {link(step.parent, most=70)}{anchor}"


def _counts(title: str, none: str, note: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return section(title, none)
    rows = []
    for reason, times in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        explanation = REASONS.get(reason) or meaning(reason)
        more = f'<span class="how">{explanation}</span>' if explanation else ""
        rows.append((f"<code>{text(reason)}</code>{more}", f"{times:,}"))
    return section(title, note, table(("reason", "times"), rows, numbers={1}))


def _hosts(hosts: Mapping[str, HostFacts]) -> str:
    if not hosts:
        return ""
    rows = []
    for name, host in list(hosts.items())[:HOSTS]:
        share = host.relevant / host.pages if host.pages else 0.0
        meter = f'<span class="meter"><i style="width:{share:.0%}"></i></span>{share:.0%}'
        rows.append(
            (text(name, 80), f"{host.pages:,}", f"{host.relevant:,}", meter, f"{host.misses:,}", size(host.bytes))
        )
    rest = len(hosts) - len(rows)
    note = f"Most pages first; {rest:,} more are not shown." if rest > 0 else "Most pages first."
    heads = ("host", "pages", "relevant", "share", "misses", "received")
    return section("Hosts", note, table(heads, rows, numbers={1, 2, 3, 4, 5}))


def _speed(facts: CrawlFacts) -> str:
    if len(facts.speed) < 3:
        return ""
    return section(
        "Pages a second", "Over the time spent crawling; pauses between runs are left out.", speed_curve(facts.speed)
    )


def _request(facts: CrawlFacts) -> str:
    request = facts.request
    changed = settings_changed(request)
    values: dict[str, Any] = {
        "keywords": request.topic.keywords,
        "strategy": request.strategy,
        **request.parameters,
        **changed,
    }
    values |= {"proxy": masked(request.settings.proxy)} if "proxy" in values else {}
    rows = [(f"<code>{text(name)}</code>", f"<code>{text(shown(value), 400)}</code>") for name, value in values.items()]
    seeds = "".join(f"<li>{link(masked(seed))}</li>" for seed in request.seeds[:SEEDS])
    more = f"<li>and {len(request.seeds) - SEEDS:,} more</li>" if len(request.seeds) > SEEDS else ""
    versions = ", ".join(f"{text(name)} {text(version)}" for name, version in request.versions.items())
    return (
        section("Request", "Everything else was at its default.", table(("setting", "value"), rows))
        + section("Seeds", "", f'<ul class="seeds">{seeds}{more}</ul>')
        + f"<footer>Started {text(request.started)}. Written with {versions}. Get every figure with "
        f"<code>scenthound status --json</code>, every page with <code>scenthound trail</code>.</footer>"
    )


# ---- small things


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%-d %B %Y")


def duration(seconds: float) -> str:
    """
    >>> duration(42), duration(185), duration(7500)
    ('42 s', '3 min 5 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def size(count: float) -> str:
    """
    >>> size(512), size(12_400_000)
    ('512 B', '12.4 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError
