"""The sections of the report with curves; below each, the number of topics and of crawls that ended early."""

from __future__ import annotations

import html
from collections.abc import Sequence

from scenthound.lab.report.experiment_facts import ExperimentFacts
from scenthound.lab.report.formatting import details, number, plain, text
from scenthound.lab.run.oracles import EXPLAINED, ORACLES
from scenthound.lab.run.spec import display_name
from scenthound.report.charts import CurvePoint, Series, curves, key, style_of
from scenthound.report.report_layout import section, table

LABEL = 30  # characters of a name beside its line
BEYOND = 4.0  # a reference line this many times higher than every crawler is not drawn: it would flatten the curves


def figure(facts: ExperimentFacts, metric: str, title: str, note: str) -> str:
    """The section of a metric by pages crawled, with bands of one standard error and a linear or logarithmic axis."""
    crawled = [series for name in facts.strategies if (series := _series(facts, metric, name)).points]
    if not crawled:
        return section(title, f"{note} No topic of this experiment has a value.")
    references = [series for name in facts.bounds if (series := _series(facts, metric, name)).points]
    near = [series for series in references if _highest([series]) <= BEYOND * _highest(crawled)]
    shown = [*crawled, *near]
    heading = f"{title} by pages crawled, means over topics"
    last = facts.run.spec.limits.pages
    name = f"axis-{metric}"
    drawn = (
        f'<div class="chart"><input type="radio" name="{name}" id="{name}-linear" class="linear" checked>'
        f'<label for="{name}-linear">linear</label>'
        f'<input type="radio" name="{name}" id="{name}-log" class="log"><label for="{name}-log">logarithmic</label>'
        f'<div class="drawn linear">{curves(heading, metric, shown, last)}</div>'
        f'<div class="drawn log">{curves(heading, metric, shown, last, logarithmic=True)}</div></div>'
    )
    caption = (
        '<p class="caption">Lines are means over topics, bands ± one standard error (s/√n). Dots are the points of the '
        f"tables; hover over a dot for its value. {_ended(facts, metric)}{_not_drawn(references, near)}"
        f"{about_oracles(facts, metric)}</p>"
    )
    return section(
        title, note, drawn, caption, details("Topics and crawls behind these curves", _behind(facts, metric))
    )


def style(facts: ExperimentFacts, name: str) -> str:
    """The style of a crawler's line, the same in every chart."""
    if name in facts.oracles:
        return style_of(facts.oracles.index(name), oracle=True)
    return style_of(facts.strategies.index(name))


def crawler_name(facts: ExperimentFacts, name: str) -> str:
    """A crawler's name as HTML, with a sample of its line and a mark if it is an oracle or reference."""
    mark = (
        "oracle"
        if display_name(name, facts.run.spec.given) != name
        else ("reference" if name in facts.bounds else "reference, not a bound")
        if name in facts.oracles
        else ""
    )
    kind = f' <span class="reference">{mark}</span>' if mark else ""
    return f'<span class="named">{key(style(facts, name))}{text(name)}{kind}</span>'


def _series(facts: ExperimentFacts, metric: str, name: str) -> Series:
    label = plain(display_name(name, facts.run.spec.given))
    points = [
        CurvePoint(
            at,
            average.mean,
            average.error or 0.0,
            f"{label}, {at:,} pages: {number(average.mean)} ± {number(average.error)} (n = {average.number:,})",
        )
        for at, average in facts.curve(metric, name)
        if average.mean is not None
    ]
    return Series(_label(facts, name), style(facts, name), points, frozenset(facts.points))


def _highest(curves: Sequence[Series]) -> float:
    return max(point.mean for series in curves for point in series.points)


def _not_drawn(references: Sequence[Series], near: Sequence[Series]) -> str:
    far = [
        f"{html.escape(series.name)}, {number(series.points[-1].mean)} at the end"
        for series in references
        if series not in near
    ]
    return f" Too high to draw: {'; '.join(far)}." if far else ""


def about_oracles(facts: ExperimentFacts, metric: str) -> str:
    """Sentences on the reference lines, and on those that are only in the tables; empty if they have no value."""
    shown = [name for name in ORACLES if name in facts.oracles and facts.mean(metric, name).number]
    sentences = [
        f" <b>{name}</b> {EXPLAINED[name]}.{'' if name in facts.bounds else ' It is not drawn.'}" for name in shown
    ]
    return "".join(sentences)


def _label(facts: ExperimentFacts, name: str) -> str:
    is_mode = display_name(name, facts.run.spec.given) != name
    return f"{plain(name, LABEL - 8)} (oracle)" if is_mode else plain(name, LABEL)


def _ended(facts: ExperimentFacts, metric: str) -> str:
    """Sentences on the number of topics at each point and of crawls that ended early."""
    numbers = {facts.mean(metric, name, at).number for name in facts.strategies for at in facts.points}
    topics = f"n = {numbers.pop():,} topics at every point." if len(numbers) == 1 else "n varies: see below."
    measured = [name for name in facts.names if facts.mean(metric, name).number]
    early = {name: facts.crawls[name].early[-1] for name in measured if facts.crawls[name].early[-1]}
    if not early:
        return f"{topics} No crawl ended early."
    listed = ", ".join(f"{text(name)} {count:,}" for name, count in early.items())
    return f"{topics} Crawls that ended before {facts.last:,} pages keep their last value: {listed}."


def _behind(facts: ExperimentFacts, metric: str) -> str:
    heads = [
        "crawler",
        *(f"n at {at:,}" for at in facts.points),
        *(f"ended before {at:,}" for at in facts.points),
        "why",
    ]
    rows = []
    for name in facts.names:
        topics = [facts.mean(metric, name, at).number for at in facts.points]
        if any(topics):
            crawls = facts.crawls[name]
            reasons = ", ".join(f"{text(reason)} {count:,}" for reason, count in sorted(crawls.reasons.items()))
            rows.append(
                [crawler_name(facts, name), *(f"{n:,}" for n in topics), *(f"{n:,}" for n in crawls.early), reasons]
            )
    return table(heads, rows, range(1, 2 * len(facts.points) + 1))
