"""Write the `report.html` of a crawl: one self-contained file that loads nothing else.

All text from the web goes through `web_text`, which cleans and escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

from scenthound.files import write_text
from scenthound.formats import printable
from scenthound.loop.crawl_toml import masked
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import LinkBalance
from scenthound.loop.settings import shown
from scenthound.model import Step
from scenthound.report.causes import why_nothing
from scenthound.report.charts import CurvePoint, Series, small_curves, speed_curve
from scenthound.report.copies import Copy, copy_link, write_copies
from scenthound.report.crawl_facts import CrawlFacts, HarvestPoint, HostFacts, gather, settings_changed
from scenthound.report.miss_reasons import in_words
from scenthound.report.refusals import balance_in_words, repeats_in_words
from scenthound.report.report_layout import document, section, sortable, table, tiles
from scenthound.report.score_phrases import Wording
from scenthound.report.web_text import link, text
from scenthound.templates import Markup

NAME = "report.html"
HOSTS = 30
SEEDS = 20
SUSPENSIONS = 30
NONE_REFUSED = "Every link was followed, is waiting or is a repetition."


def write_report(folder: CrawlFolder, facts: CrawlFacts | None = None) -> Path:
    """Write the report into the crawl's folder, atomically."""
    path, facts = folder.path / NAME, facts or gather(folder)
    write_text(path, render(facts, write_copies(folder, facts.best)), durable=False)  # can be written again
    return path


def render(facts: CrawlFacts, copies: Mapping[int, Copy] | None = None) -> str:
    """The report as one HTML document; `copies` are the stored copies of the best pages, by page number."""
    style = resources.files("scenthound.report").joinpath("crawl_report.css").read_text(encoding="utf-8")
    name = text(facts.request.topic.name or facts.request.topic.keywords)
    parts = [
        _head(facts, name),
        _tiles(facts),
        _doubts(facts.doubts),
        _harvest(facts),
        _best(facts, copies or {}),
        '<div class="pair">',
        _counts("Requests that failed", "Nothing failed.", "URLs that brought no page, by reason.", facts.failed),
        _counts("Links not followed", NONE_REFUSED, "Found, but skipped for a reason.", facts.links.not_followed),
        "</div>",
        _links(facts.links),
        _suspended(facts.suspended, facts.suspended_urls),
        _hosts(facts.hosts),
        _speed(facts),
        _exploration(facts),
        _request(facts),
    ]
    return document(f"{name} · scenthound", style, parts)


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
        f"<strong>{text(why[:1].upper() + why[1:], 600)}.</strong></p>\n"
        f'<p class="note">{text(facts.looking_for_in_words, 600)}</p>\n</header>'
    )


def _tiles(facts: CrawlFacts) -> str:
    as_traps = f", {facts.suspended_urls:,} of them as traps" if facts.suspended_urls else ""
    figures = [
        (f"{facts.pages:,}", f"pages of {facts.budget:,} requested"),
        (f"{facts.relevant:,}", f"of them relevant: a harvest rate of {facts.harvest:.1%}"),
        (f"{facts.harvest_recent:.1%}", "harvest rate of the last 100 pages"),
        (f"{facts.relevant_in_the_end:,}", "relevant according to the judge's latest verdicts"),
        *_expected(facts),
        (f"{facts.hosts_with_pages:,}", "hosts with fetched pages"),
        (f"{facts.waiting:,}", f"URLs still waiting{as_traps}"),
        (f"{facts.rate:.1f}/s", f"pages, for {duration(facts.busy)}; {size(facts.bytes)} received"),
    ]
    return tiles(figures)


def _expected(facts: CrawlFacts) -> list[tuple[str, str]]:
    """A tile with the expected yield of the rest of the budget, if there is a rest and a forecast."""
    left, pages = facts.left, facts.budget - facts.pages
    if left is None or pages <= 0:
        return []
    expected = f"more relevant pages expected, at most, in the {pages:,} pages left: {left.share:.0%} of all"
    return [(f"{left.expected:,.0f}", expected)]


def _doubts(doubts: list[str]) -> str:
    """The section on reasons to doubt the judge's verdicts."""
    if not doubts:
        return ""
    lines = "".join(f"<li>{text(doubt, 800)}</li>" for doubt in doubts)
    return section(
        "Doubts",
        "The judge may not recognise relevant pages well here, so treat the figures with care.",
        f"<ul>{lines}</ul>",
    )


def _suspended(lines: list[str], waiting: int) -> str:
    """The section on URL patterns and hosts whose pages had nothing new, and how to fetch them."""
    if not lines:
        return ""
    rows = "".join(f"<li>{text(line, 300)}</li>" for line in lines[:SUSPENSIONS])
    more = f"<li>and {len(lines) - SUSPENSIONS:,} more</li>" if len(lines) > SUSPENSIONS else ""
    return section(
        "Suspended URL patterns",
        "Their pages had nothing new: probably traps. They wait behind all other URLs, and a few are fetched as "
        f"samples. {waiting:,} such URLs are waiting; `scenthound resume DIR --set traps=false` fetches them.",
        f"<ul>{rows}{more}</ul>",
    )


def _links(links: LinkBalance) -> str:
    """The section that accounts for every link."""
    if not links.is_complete:
        return ""
    repeats = repeats_in_words(links.repeated)
    rows = [(name, f"{times:,}") for name, times in repeats.items()]
    about = f"{balance_in_words(links)}. Repeated links lead:" if rows else f"{balance_in_words(links)}."
    return section("All links", about[:1].upper() + about[1:], table(("", "links"), rows, numbers={1}) if rows else "")


def _harvest(facts: CrawlFacts) -> str:
    if len(facts.curve) < 2:
        return section("Harvest", "There are too few pages to draw a curve.")
    legend = (
        '<ul class="legend"><li><i class="overall"></i>all pages so far</li>'
        '<li><i class="recent"></i>last 100 pages</li>'
        '<li><i class="se overall"></i><i class="se recent"></i>± 1 standard error of each</li></ul>'
    )
    judge = text(facts.request.settings.judge)
    note = f"The share of pages that the judge “{judge}” called relevant when they were fetched."
    return section("Harvest", note, f"{legend}{_harvest_curve(facts.curve)}")


def _harvest_curve(curve: Sequence[HarvestPoint]) -> Markup:
    """The harvest rate overall and over the last hundred pages, each with one standard error up and down."""
    overall = [CurvePoint(p.n, p.harvest, standard_error(p.harvest, p.n)) for p in curve]
    recent = [CurvePoint(p.n, p.recent, standard_error(p.recent, p.window)) for p in curve]
    highest = max(point.mean + point.error for point in [*overall, *recent])
    series = [Series("", "overall", overall), Series("", "recent", recent)]
    return small_curves("Harvest rate by pages fetched", series, min(1.0, max(0.05, highest)), bands=True)


def standard_error(share: float, count: int) -> float:
    """The standard error of the share of relevant pages among `count` pages.

    >>> round(standard_error(0.5, 100), 3)
    0.05
    """
    return math.sqrt(max(0.0, share * (1 - share)) / count) if count else 0.0


def _best(facts: CrawlFacts, copies: Mapping[int, Copy]) -> str:
    if not facts.best:
        return ""
    wording = Wording(facts.request)
    rows = [
        (str(rank), _page(step, copies, wording), f"{step.relevance:.3f}") for rank, step in enumerate(facts.best, 1)
    ]
    pages = table(("#", "page and how it was found", "relevance"), rows, numbers={0, 2}, name="best")
    note = "Most relevant first, according to the judge's latest verdicts. A stored copy opens without a network."
    return section("Best pages", note, pages)


def _page(step: Step, copies: Mapping[int, Copy], wording: Wording) -> str:
    title, url = text(step.title) or "(no title)", link(step.url, most=110)
    copy = copies.get(step.n)
    snippet = f'<span class="snippet">{copy.snippet}</span>' if copy and copy.snippet else ""
    stored = f" · {copy_link(copies, step)}" if copy else ""
    return (
        f'<span class="title">{title}</span><span class="url">{url}{stored}</span>{snippet}'
        f'<span class="how">{_how_found(step, wording)}</span>'
    )


def _how_found(step: Step, wording: Wording) -> str:
    if step.parent is None:
        return f"page {step.n:,}, a seed"
    anchor_text = printable(step.anchor, 80)
    anchor = f" via “{text(anchor_text)}”" if anchor_text else ""
    why = text("; ".join(wording.reasons(step)), 600)
    score = f"score {step.score:.3g}" + (f": {why}" if why else "")
    return f"page {step.n:,}, depth {step.depth}, {score}, from {link(step.parent, most=70)}{anchor}"


def _counts(title: str, none: str, note: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return section(title, none)
    rows, order = [], sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    for reason, times in order:
        meaning = in_words(reason)
        more = f'<span class="how">{text(meaning)}</span>' if meaning != reason else ""
        rows.append((f"<code>{text(reason)}</code>{more}", f"{times:,}"))
    keys = [(reason, -times) for reason, times in order]
    name = title.split()[0].lower()
    return section(title, note, sortable(name, ("reason", "times"), rows, keys, {1}, 1))


def _hosts(hosts: Mapping[str, HostFacts]) -> str:
    if not hosts:
        return ""
    order = sorted(hosts.items(), key=lambda pair: (-pair[1].relevant, -pair[1].pages, -pair[1].misses, pair[0]))
    rows, keys = [], []
    for name, host in order[:HOSTS]:
        share = host.relevant / host.pages if host.pages else 0.0
        meter = f'<span class="meter"><i style="width:{share:.0%}"></i></span><span class="share">{share:.0%}</span>'
        rows.append(
            (text(name, 80), f"{host.relevant:,}", f"{host.pages:,}", meter, f"{host.misses:,}", size(host.bytes))
        )
        keys.append((name, -host.relevant, -host.pages, -share, -host.misses, -host.bytes))
    rest = len(hosts) - len(rows)
    note = "Hosts with the most relevant pages first" + (f"; {rest:,} more are not shown." if rest > 0 else ".")
    heads = ("host", "relevant", "pages", "share", "failed", "received")
    numbers = {1, 2, 3, 4, 5}
    return section("Hosts", f"{note} Select a column to sort by it.", sortable("hosts", heads, rows, keys, numbers, 1))


def _speed(facts: CrawlFacts) -> str:
    if len(facts.speed) < 3:
        return ""
    return section(
        "Pages per second", "Over the time spent crawling, without pauses between runs.", speed_curve(facts.speed)
    )


def _exploration(facts: CrawlFacts) -> str:
    if len(facts.exploration) < 2 or not any(rate for _, rate in facts.exploration):
        return ""
    note = "How often the strategy chose a page other than the one with the best score, to learn from it."
    # a rate holds until the next ranking
    steps = [point for (n, rate), (later, _) in pairwise(facts.exploration) for point in ((n, rate), (later, rate))]
    line = Series("", "overall", [CurvePoint(*point) for point in [*steps, facts.exploration[-1]]])
    most = max(0.01, *(rate for _, rate in facts.exploration))
    return section(
        "Exploration", note, small_curves("Exploration rate by pages fetched", [line], most, height=140, lines=3)
    )


def _order(facts: CrawlFacts) -> str:
    if not facts.out_of_order and not facts.waited:
        return ""
    return section(
        "Order",
        f"{_many(facts.out_of_order, 'request')} sent before better ones whose hosts were resting; "
        f"{duration(facts.waited)} spent waiting for the hosts of better ones.",
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
        section("Request", "All other settings were at their defaults.", table(("setting", "value"), rows))
        + _order(facts)
        + section("Seeds", "", f'<ul class="seeds">{seeds}{more}</ul>')
        + f"<footer>Started {text(request.started)}. Written with {versions}. <code>scenthound status --json</code> "
        f"prints every figure, <code>scenthound trail</code> every page.</footer>"
    )


# ---- formatting


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%-d %B %Y")


def duration(seconds: float) -> str:
    """Seconds as a readable duration.

    >>> duration(42), duration(185), duration(7500)
    ('42 s', '3 min 5 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def size(count: float) -> str:
    """A number of bytes with its unit.

    >>> size(512), size(12_400_000)
    ('512 B', '12.4 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError
