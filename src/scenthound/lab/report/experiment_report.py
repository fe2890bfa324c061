"""Write the `report.html` of an experiment: one self-contained file that a reviewer can check.

Here values are gathered; `templates/experiment.html` shows them, and cleans and escapes names, titles and errors, which
are untrusted. The report is made from the tables, so the same experiment gives the same report except for measured
seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.files import write_text
from scenthound.lab.measure.by_cost import curve_by_time, times
from scenthound.lab.measure.compare_crawlers import clear_winner, is_significant
from scenthound.lab.measure.equal_pages import crawl_lengths, rows
from scenthound.lab.measure.measure import FRACTIONS, load_table
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.measure.statistics import CATEGORY, Comparison, Mean, average_runs, mean
from scenthound.lab.report.experiment_facts import DRAWN, HARVEST, PRECISION, RECALL, ExperimentFacts, median
from scenthound.lab.report.formatting import TEMPLATES, cleaned, number
from scenthound.lab.run.cells import load_training
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.run.oracles import BOUND, EXPLAINED, ORACLES
from scenthound.lab.run.spec import display_name
from scenthound.lab.topics.crawl_starts import Start
from scenthound.report.charts import CurvePoint, Series, curves, interval, key, style_of

NAME = "report.html"
LABEL = 30  # characters of a name beside its line
BEYOND = 4.0  # a reference line this many times higher than every crawler is not drawn: it would flatten the curves
FEW = 10  # topics; for fewer, the normal approximation of `_chance` does not hold
CHARACTERISTICS = {
    "specificity": "specificity",
    "link_set_size": "link-set size",
    "popularity": "popularity",
    "text_cohesiveness": "text cohesiveness",
    "link_cohesiveness": "link cohesiveness",
    "authority": "authority",
    "seed_target_similarity": "seed–target similarity",
}
EFFECTS = {
    "no targets": "no targets: left out of everything that needs them",
    "no seeds": "no seed is in the bed: its crawls are empty and have no value",
    "seeds missing": "seeds that the bed lacks: its crawls start from the others",
    "targets missing": "targets that the bed lacks: they stay in the denominator of recall",
}
TITLES = {RECALL: "Target recall", PRECISION: "Precision", HARVEST: "Harvest rate"}
Curve = Sequence[tuple[float, Mean]]
Values = dict[str, Any]
"""Values for a part of the template."""


class CurveStyle(NamedTuple):
    """How a crawler is shown: the style of its line, and a mark beside its name if it is an oracle or reference."""

    style: str
    mark: str


def write_report(run: Experiment, points: Sequence[int], group_by: str = CATEGORY) -> Path:
    """Write the report into the experiment's folder. The tables must have these points."""
    path = run.folder / NAME
    write_text(path, render(ExperimentFacts(run, tuple(points), group_by)))
    return path


def render(facts: ExperimentFacts) -> str:
    """The report as one HTML document."""
    spec = facts.run.spec
    lines = {crawler: _line(facts, crawler) for crawler in facts.names}
    tests = facts.comparisons(facts.main, facts.last)
    others = [metric for metric in sorted(facts.values) if metric not in DRAWN]
    return TEMPLATES.get_template("experiment.html").render(
        facts=facts,
        lines=lines,
        key=key,
        titles=TITLES,
        explained=EXPLAINED,
        effects=EFFECTS,
        bed_title=str(facts.about.get("title") or ""),
        best=_best(facts, tests),
        done=sum(facts.crawls[name].number for name in facts.strategies),
        missing={name: crawls.missing for name, crawls in facts.crawls.items() if crawls.missing},
        failed=facts.run.failures(),
        figures={metric: _figure(facts, metric, lines) for metric in DRAWN},
        pages_at=[f"{at:,} pages" for at in facts.points],
        drawn_means=_means(facts, DRAWN),
        other_means=_means(facts, others),
        other_metrics=len(others),
        tests=_tests(tests),
        left_out=sorted({topic for test in tests for topic in test.left_out}),
        by_requests=_by_requests(facts, lines),
        by_time=_by_time(facts, lines) if spec.limits.polite is not None else None,
        share_heads=[f"{fraction:.0%} of the targets" for fraction in FRACTIONS],
        lengths=_lengths(facts),
        training={name: _training(facts, name) for name in facts.strategies},
        overlaps=_overlaps(facts),
        robustness=_robustness(facts),
        by_topic=_by_topic(facts),
        characteristics=list(CHARACTERISTICS.values()),
        correlations=[(metric, rows) for metric in (RECALL, PRECISION) if (rows := _correlations(facts, metric))],
        chance=_chance(facts),
        modes=[name for name in spec.strategies if display_name(name, spec.given) != name],
        starts_elsewhere=spec.start != str(Start()),
    )


def _line(facts: ExperimentFacts, name: str) -> CurveStyle:
    is_mode = display_name(name, facts.run.spec.given) != name
    if name not in facts.oracles:
        return CurveStyle(style_of(facts.strategies.index(name)), "oracle" if is_mode else "")
    mark = "oracle" if is_mode else "reference" if name in facts.bounds else "reference, not a bound"
    return CurveStyle(style_of(facts.oracles.index(name), oracle=True), mark)


def _best(facts: ExperimentFacts, tests: Sequence[Comparison]) -> Values | None:
    """The best crawler, whether its lead is significant, and what is possible; None if nothing was measured."""
    averages = {name: facts.mean(facts.main, name) for name in facts.strategies}
    ranked = [(average.mean, name) for name, average in averages.items() if average.mean is not None]
    if not ranked:
        return None
    _, best = max(ranked)
    beaten = [test.second for test in tests if test.first == best and is_significant(test)]
    return {
        "name": best,
        "mean": averages[best],
        "beaten": beaten,
        "undecided": [name for name in facts.strategies if name != best and name not in beaten],
        "is_clear": clear_winner(tests, facts.strategies) == best,
        "possible": facts.mean(RECALL, BOUND).mean if facts.main == RECALL and BOUND in facts.oracles else None,
    }


# ---- curves


def _series(name: str, style: str, points: Curve, unit: str, first: int) -> Series:
    """A curve with a dot at every tenth point, from `first` on, that says its value when the mouse is over it."""
    label = cleaned(name, LABEL)
    drawn = [
        CurvePoint(at, value.mean, value.error or 0.0, f"{label}, {at:,.0f} {unit}: {number(value.mean)}")
        for at, value in points
        if value.mean is not None
    ]
    return Series(label, style, drawn, frozenset(point.at for point in drawn[first::10]))


def _figure(facts: ExperimentFacts, metric: str, lines: Mapping[str, CurveStyle]) -> Values | None:
    """The curves of a metric by pages, and what is behind them; None if no strategy has a value."""
    crawled = [series for name in facts.strategies if (series := _by_pages(facts, metric, name, lines)).points]
    if not crawled:
        return None
    references = [series for name in facts.bounds if (series := _by_pages(facts, metric, name, lines)).points]
    near = [series for series in references if _highest([series]) <= BEYOND * _highest(crawled)]
    heading = f"{TITLES[metric]} by pages crawled, means over topics"
    drawn, last = [*crawled, *near], facts.run.spec.limits.pages
    numbers = {facts.mean(metric, name, at).number for name in facts.strategies for at in facts.points}
    measured = [name for name in facts.names if facts.mean(metric, name).number]
    return {
        "linear": curves(heading, metric, drawn, last),
        "logarithmic": curves(heading, metric, drawn, last, logarithmic=True),
        "topics": numbers.pop() if len(numbers) == 1 else None,
        "early": {name: facts.crawls[name].early[-1] for name in measured if facts.crawls[name].early[-1]},
        "too_high": [series for series in references if series not in near],
        "oracles": [name for name in ORACLES if name in facts.oracles and facts.mean(metric, name).number],
        "heads": [f"{what} {at:,}" for what in ("n at", "ended before") for at in facts.points],
        "behind": [
            (name, [*topics, *facts.crawls[name].early], sorted(facts.crawls[name].reasons.items()))
            for name in facts.names
            if any(topics := [facts.mean(metric, name, at).number for at in facts.points])
        ],
    }


def _by_pages(facts: ExperimentFacts, metric: str, name: str, lines: Mapping[str, CurveStyle]) -> Series:
    label = cleaned(display_name(name, facts.run.spec.given))
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
    is_mode = display_name(name, facts.run.spec.given) != name
    short = f"{cleaned(name, LABEL - 8)} (oracle)" if is_mode else cleaned(name, LABEL)
    return Series(short, lines[name].style, points, frozenset(facts.points))


def _highest(drawn: Sequence[Series]) -> float:
    return max(point.mean for series in drawn for point in series.points)


def _by_requests(facts: ExperimentFacts, lines: Mapping[str, CurveStyle]) -> Values:
    """The main metric by requests, and the number of requests per page."""
    means = request_means(facts)
    series = [_series(name, lines[name].style, curve, "requests", 4) for name, curve in means.items()]
    last = max((math.ceil(point.at) for line in series for point in line.points), default=0)
    title = f"{facts.main} by requests, means over topics"
    pages, requests = crawl_lengths(facts.run), crawl_lengths(facts.run, "requests")
    table = []
    for name, curve in means.items():
        ratios = [requests[name][topic] / count for topic, count in pages[name].items() if count]
        table.append((name, mean(ratios).mean, curve[-1][1]))
    chart = curves(title, facts.main, series, last, across="requests made") if series else None
    return {"chart": chart, "rows": table}


def request_means(facts: ExperimentFacts) -> dict[str, list[tuple[int, Mean]]]:
    """For each crawler, the mean of the main metric at each number of requests."""
    runs: dict[str, dict[int, dict[str, list[float | None]]]] = {}
    columns = ("strategy", "metric", "at", "topic", "value")
    for name, metric, at, topic, value in rows(facts.run, "by_requests", *columns):
        if metric == facts.main and name in (*facts.strategies, *facts.bounds):
            runs.setdefault(name, {}).setdefault(at, {}).setdefault(topic, []).append(value)
    ordered = {name: runs[name] for name in facts.names if name in runs}
    means = {
        name: [(at, facts.average(average_runs(topics))) for at, topics in sorted(points.items())]
        for name, points in ordered.items()
    }
    return {name: points for name, points in means.items() if any(average.number for _, average in points)}


def _by_time(facts: ExperimentFacts, lines: Mapping[str, CurveStyle]) -> Values:
    """A polite replay: recall by virtual seconds, how long crawls took, and the cost of letting hosts rest."""
    columns = load_table(facts.run, "by_time")
    all_series = [
        _series(name, lines[name].style, curve_by_time(columns, RECALL, name), "s", 9) for name in facts.strategies
    ]
    series = [line for line in all_series if line.points]
    last = max((math.ceil(point.at) for line in series for point in line.points), default=0)
    title = "Target recall by virtual seconds, means over topics"
    kinds = ("seconds", "pages_per_second", "out_of_order", "waited")
    return {
        "chart": curves(title, RECALL, series, last, across="virtual seconds") if series else None,
        "rows": [
            (name, [values[kind] for kind in kinds])
            for name, values in times(facts.run).items()
            if name in facts.strategies
        ],
    }


# ---- means and tests


def _means(facts: ExperimentFacts, metrics: Iterable[str]) -> list[Values]:
    """Means ± standard errors at the points, for each metric that has any."""
    tables = []
    for metric in metrics:
        values = (facts.mean(metric, name, at).mean for name in facts.strategies for at in facts.points)
        highest = max((abs(value) for value in values if value is not None), default=1.0)
        best = {at: clear_winner(facts.comparisons(metric, at), facts.strategies) for at in facts.points}
        is_rate, table = get_metric(metric).is_rate, []
        for name in facts.names:
            averages = [facts.mean(metric, name, at) for at in facts.points]
            if not any(average.number for average in averages):
                continue
            cells = [
                (average, best[at] == name, is_rate and facts.has_ended(name, at))
                for at, average in zip(facts.points, averages, strict=True)
            ]
            table.append((name, cells, sorted({a.number for a in averages}), sorted({a.groups for a in averages})))
        if table:
            tables.append(
                {
                    "metric": metric,
                    "lower_is_better": get_metric(metric).lower_is_better,
                    "digits": 3 if highest >= 0.1 else 4,
                    "rows": table,
                }
            )
    return tables


def _tests(comparisons: Sequence[Comparison]) -> list[tuple[Comparison, bool, Any]]:
    """The comparisons, larger differences first, whether each shows a difference, and its interval drawn."""
    ordered = sorted(comparisons, key=lambda test: (-(test.paired.mean or 0.0), test.first, test.second))
    effects = [test.effect for test in ordered if test.effect]
    reach = max([1.0, *(abs(end) for effect in effects for end in (effect.low, effect.high))])
    return [
        (
            test,
            is_significant(test),
            test.effect and interval(test.effect.size, test.effect.low, test.effect.high, reach),
        )
        for test in ordered
    ]


# ---- search length, cost, overlap, topics


def _lengths(facts: ExperimentFacts) -> list[tuple[str, list[Any]]]:
    """For each crawler and share of the targets: the pages of each crawl, their median, and how many found it."""
    table = []
    for name in facts.names:
        shares = [facts.reach.get(name, {}).get(fraction, []) for fraction in FRACTIONS]
        if any(shares):
            reached = [sum(count is not None for count in pages) for pages in shares]
            table.append((name, list(zip(shares, map(median, shares), reached, strict=True))))
    return table


def _training(facts: ExperimentFacts, name: str) -> float | None:
    """Mean CPU seconds of training per crawl; None for a strategy without lessons."""
    if name not in facts.run.spec.given:
        return None
    cells = [cell for cell in facts.run.cells if cell.strategy == name and not cell.half]
    return mean([load_training(facts.run.folder, cell.key) for cell in cells]).mean


def _overlaps(facts: ExperimentFacts) -> list[tuple[str, list[tuple[str, list[Mean | None]]]]]:
    """The overlap of every pair of strategies, of pages and of hosts."""
    tables = []
    for metric, what in (("overlap", "of pages"), ("overlap_hosts", "of hosts")):
        pairs = facts.pairs.get(metric, {})
        if not pairs or (metric == "overlap_hosts" and {average.mean for average in pairs.values()} == {1.0}):
            continue  # not measured, or a bed of one host
        names = facts.strategies
        both = {**pairs, **{(second, first): average for (first, second), average in pairs.items()}}
        table = [(name, [None if name == other else both.get((name, other)) for other in names]) for name in names]
        tables.append((what, table))
    return tables


def _robustness(facts: ExperimentFacts) -> list[tuple[str, Mean, Mean]]:
    hosts = facts.pairs.get("robustness_hosts", {})
    return [
        (name, average, hosts.get((name, name), Mean(None, None, 0)))
        for (name, _), average in facts.pairs.get("robustness", {}).items()
        if name in facts.strategies
    ]


def _by_topic(facts: ExperimentFacts) -> Values:
    """The main metric at the last point, topic by topic, with its percentage of the highest value."""
    values = facts.values.get(facts.main, {}).get(facts.last, {})
    names = [name for name in facts.names if values.get(name)]
    top = max((value for name in names for value in values[name].values() if value is not None), default=1.0) or 1.0
    table = []
    for topic in facts.run.topics:
        of_topic = [(name, values[name].get(topic.id)) for name in names]
        table.append((topic, [(name, value, 100 * max(value or 0.0, 0.0) / top) for name, value in of_topic]))
    return {"names": names, "rows": table}


# ---- which topics are easy? (sheet 60.5)


def _correlations(facts: ExperimentFacts, metric: str) -> list[tuple[str, list[tuple[str, int]], int]]:
    """For each crawler, the rank correlation of each characteristic with its values, and the number of topics."""
    table = []
    for name in facts.names:
        found = facts.correlations(metric, name)
        if most := max((topics for _, topics in found.values()), default=0):
            cells = [
                ("–" if rho is None else signed(rho), topics) for rho, topics in map(found.__getitem__, CHARACTERISTICS)
            ]
            table.append((name, cells, most))
    return table


def signed(rho: float) -> str:
    """A correlation with two digits and a real minus sign.

    >>> signed(-0.5), signed(0.25), signed(-0.001)
    ('−0.50', '0.25', '0.00')
    """
    digits = f"{abs(rho):.2f}"
    return f"−{digits}" if rho < 0 and float(digits) else digits


def _chance(facts: ExperimentFacts) -> Values | None:
    """How large correlations are by chance: up to 1.96 / √(n − 1), from Spearman's variance without association."""
    tables = [facts.correlations(metric, name) for metric in (RECALL, PRECISION) for name in facts.names]
    counts = [topics for table in tables for rho, topics in table.values() if rho is not None]
    if not counts:
        return None
    most = max(counts)
    return {
        "few": most < FEW,
        "topics": most,
        "reach": 1.96 / math.sqrt(most - 1) if most > 1 else None,
        "number": len(counts),
    }
