"""Write the `report.html` of a crawl: one self-contained file that loads nothing else.

Here values are gathered; `templates/crawl.html` shows them, and cleans and escapes all text from the web.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from scenthound.files import write_text
from scenthound.loop.crawl_toml import masked
from scenthound.loop.figures import HarvestPoint
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import shown
from scenthound.report.causes import why_nothing
from scenthound.report.charts import CurvePoint, Series, small_curves, speed_curve
from scenthound.report.copies import Copy, write_copies
from scenthound.report.crawl_facts import CrawlFacts, HostFacts, gather, settings_changed
from scenthound.report.wording import Wording, balance_in_words, in_words, repeats_in_words
from scenthound.templates import Markup, environment

NAME = "report.html"
HOSTS = 30
Ranked = list[tuple[list[int], Any]]
"""Rows of a table that readers can sort: the rank of each in every column, and what it shows."""


def write_report(folder: CrawlFolder, facts: CrawlFacts | None = None) -> Path:
    """Write the report into the crawl's folder, atomically."""
    path, facts = folder.path / NAME, facts or gather(folder)
    write_text(path, render(facts, write_copies(folder, facts.best)), durable=False)  # can be written again
    return path


def render(facts: CrawlFacts, copies: Mapping[int, Copy] | None = None) -> str:
    """The report as one HTML document; `copies` are the stored copies of the best pages, by page number."""
    topic, seeds, wording = facts.request.topic, facts.request.seeds, Wording(facts.request)
    return (
        environment("scenthound.report")
        .get_template("crawl.html")
        .render(
            facts=facts,
            name=topic.name or topic.keywords,
            date=datetime.fromtimestamp(facts.first, UTC).strftime("%-d %B %Y"),
            why=facts.why if facts.figures.pages or facts.ended in ("running", "paused") else why_nothing(facts)[0],
            harvest_curve=_harvest_curve(facts.figures.curve),
            best=[
                (step, (copies or {}).get(step.n), [] if step.parent is None else wording.reasons(step))
                for step in facts.best
            ],
            failed=_counts(facts.failed),
            not_followed=_counts(facts.links.not_followed),
            balance=balance_in_words(facts.links),
            repeats=repeats_in_words(facts.links.repeated),
            hosts=_hosts(facts.hosts),
            speed_curve=speed_curve,
            exploration_curve=_exploration_curve(facts.exploration),
            settings=_settings(facts),
            seeds=[masked(seed) for seed in seeds],
        )
    )


def _harvest_curve(curve: Sequence[HarvestPoint]) -> Markup | None:
    """The harvest rate overall and over the last hundred pages, each with one standard error up and down."""
    if len(curve) < 2:
        return None
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


def _exploration_curve(rates: Sequence[tuple[int, float]]) -> Markup | None:
    """The exploration rate by pages fetched; a rate holds until the next ranking."""
    if len(rates) < 2 or not any(rate for _, rate in rates):
        return None
    steps = [point for (n, rate), (later, _) in pairwise(rates) for point in ((n, rate), (later, rate))]
    line = Series("", "overall", [CurvePoint(*point) for point in [*steps, rates[-1]]])
    most = max(0.01, *(rate for _, rate in rates))
    return small_curves("Exploration rate by pages fetched", [line], most, height=140, lines=3)


def _counts(counts: Mapping[str, int]) -> Ranked:
    order = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [(reason, in_words(reason), times) for reason, times in order]
    return _ranked(rows, [(reason, -times) for reason, times in order])


def _hosts(hosts: Mapping[str, HostFacts]) -> Ranked:
    order = sorted(hosts.items(), key=lambda pair: (-pair[1].relevant, -pair[1].pages, -pair[1].misses, pair[0]))
    rows = [(name, host, host.relevant / host.pages if host.pages else 0.0) for name, host in order[:HOSTS]]
    keys = [(name, -host.relevant, -host.pages, -share, -host.misses, -host.bytes) for name, host, share in rows]
    return _ranked(rows, keys)


def _ranked(rows: Sequence[Any], keys: Sequence[Sequence[Any]]) -> Ranked:
    """Each row with its rank in every column, from 1; equal keys keep their order."""
    orders = [sorted(range(len(rows)), key=column.__getitem__) for column in zip(*keys, strict=True)]
    return [([order.index(index) + 1 for order in orders], row) for index, row in enumerate(rows)]


def _settings(facts: CrawlFacts) -> dict[str, str]:
    """What was asked: the strategy with its parameters, and the settings that are not at their defaults."""
    request = facts.request
    values: dict[str, Any] = {
        "keywords": request.topic.keywords,
        "strategy": request.strategy,
        **request.parameters,
        **settings_changed(request),
    }
    values |= {"proxy": masked(request.settings.proxy)} if "proxy" in values else {}
    return {name: shown(value) for name, value in values.items()}
