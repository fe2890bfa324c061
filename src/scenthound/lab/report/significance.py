"""Sections of the report with tables of means, and with paired tests and their results in sentences."""

from __future__ import annotations

from scenthound.lab.measure.compare_crawlers import clear_winner, is_significant
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.measure.statistics import Comparison, sentence
from scenthound.lab.report.curves import crawler_name
from scenthound.lab.report.experiment_facts import DRAWN, ExperimentFacts
from scenthound.lab.report.formatting import details, number, plus_minus, probability, text
from scenthound.report.charts import interval
from scenthound.report.report_layout import section, table

MANY_PAIRS = 15  # above this number of pairs, the sentences are folded away; the table has them all


def means(facts: ExperimentFacts) -> str:
    """The section with means ± standard errors at the points, for each metric that is drawn."""
    parts = [_means(facts, metric) for metric in DRAWN]
    note = (
        "Means over topics ± one standard error. Bold: better than every other strategy at this point (paired t tests "
        "over topics in both directions, Holm-adjusted p &lt; 0.05). If nothing is bold, no single strategy is shown "
        "to be best. † Some crawls had ended before this point: the rate is over fewer pages than the column says. "
        "Tests compare a rate at the last point that both crawls reached, topic by topic; recall keeps its last value."
    )
    return section("Values at some points", note, *parts)


def other_metrics(facts: ExperimentFacts) -> str:
    """The section with means of all other metrics, folded away."""
    names = [metric for metric in sorted(facts.values) if metric not in DRAWN]
    parts = [_means(facts, metric) for metric in names]
    return section(
        "Every other metric",
        "Each is explained in <code>docs/concepts/metrics.md</code>; <code>lab measure --json</code> has all values.",
        details(f"{len(names)} more tables", *parts),
    )


def tests(facts: ExperimentFacts) -> str:
    """The section that compares every pair of strategies, by the main metric at the last point."""
    comparisons = facts.comparisons(facts.main, facts.last)
    if not comparisons:
        return ""
    comparisons.sort(key=lambda test: (-(test.paired.mean or 0.0), test.first, test.second))
    effects = [comparison.effect for comparison in comparisons if comparison.effect]
    reach = max([1.0, *(abs(end) for effect in effects for end in (effect.low, effect.high))])
    heads = ("better mean", "than", "difference", "t (df)", "p", "Holm p", "won : lost : tied", "sign p",
             "d, 95% interval")  # fmt: skip
    rows = [_row(facts, comparison, reach) for comparison in comparisons]
    test_count = len(facts.strategies) * (len(facts.strategies) - 1)
    note = (
        f"By {text(facts.main)} after {facts.last:,} pages, with one-tailed paired t tests over {facts.topics_text}"
        f"{_cluster_note(facts)}. Which crawler of a pair is better was not known beforehand, so each pair is tested "
        f"in both directions and Holm's adjustment counts all {test_count:,} tests; the direction of the better mean "
        "is shown. The sign test is a check against outliers. d is the mean difference in standard deviations of the "
        "differences; its interval is exact (noncentral t)."
    )
    sentences = "<ul class='sentences'>" + "".join(map(_sentence, comparisons)) + "</ul>"
    if len(comparisons) > MANY_PAIRS:
        sentences = details(f"{len(comparisons):,} sentences", sentences)
    return section(
        "Which crawler is better?",
        note,
        sentences,
        table(heads, rows, (2, 3, 4, 5, 6, 7, 8), "tests"),
        _left_out(comparisons),
    )


def _cluster_note(facts: ExperimentFacts) -> str:
    if len(set(facts.groups.values())) == len(facts.run.topics):
        return ""
    return "; errors are cluster-robust, since topics of one category are not independent"


def _means(facts: ExperimentFacts, metric: str) -> str:
    values = (facts.mean(metric, name, at).mean for name in facts.strategies for at in facts.points)
    highest = max((abs(value) for value in values if value is not None), default=1.0)
    digits = 3 if highest >= 0.1 else 4
    best = {at: clear_winner(facts.comparisons(metric, at), facts.strategies) for at in facts.points}
    rows = []
    for name in facts.names:
        averages = [facts.mean(metric, name, at) for at in facts.points]
        if not any(average.number for average in averages):
            continue
        is_rate = get_metric(metric).is_rate
        marks = [" †" if is_rate and facts.has_ended(name, at) else "" for at in facts.points]
        shown = [plus_minus(a.mean, a.error, digits) + mark for a, mark in zip(averages, marks, strict=True)]
        cells = [f"<b>{cell}</b>" if best[at] == name else cell for at, cell in zip(facts.points, shown, strict=True)]
        topics, groups = {a.number for a in averages}, {a.groups for a in averages}
        counts = ["/".join(map(str, sorted(numbers))) for numbers in (topics, groups)]
        rows.append([crawler_name(facts, name), *cells, *counts])
    if not rows:
        return ""
    direction = " (lower is better)" if get_metric(metric).lower_is_better else ""
    heads = [f"<code>{text(metric)}</code>{direction}", *(f"{at:,} pages" for at in facts.points), "topics", "groups"]
    return table(heads, rows, range(1, len(facts.points) + 3), "means")


def _row(facts: ExperimentFacts, comparison: Comparison, reach: float) -> list[str]:
    test, signs, effect = comparison.paired, comparison.signs, comparison.effect
    ties = comparison.groups - signs.wins - signs.losses
    freedom = "–" if test.freedom is None else f"{test.freedom:g}"
    adjusted = probability(comparison.adjusted)
    return [
        crawler_name(facts, comparison.first),
        crawler_name(facts, comparison.second),
        plus_minus(test.mean, test.error),
        f"{number(test.t, 2)} ({freedom})",
        probability(test.p),
        f"<b>{adjusted}</b>" if is_significant(comparison) else adjusted,
        f"{signs.wins} : {signs.losses} : {ties}",
        probability(signs.p),
        "–"
        if effect is None
        else f"{effect.size:.2f} <span class='se'>[{effect.low:.2f}, {effect.high:.2f}]</span><br>"
        f"{interval(effect.size, effect.low, effect.high, reach)}",
    ]


def _sentence(comparison: Comparison) -> str:
    kind = "shown" if is_significant(comparison) else "open"
    mark = "●" if is_significant(comparison) else "○"
    return (
        f'<li class="{kind}"><span class="mark" aria-hidden="true">{mark}</span>{text(sentence(comparison), 2000)}</li>'
    )


def _left_out(comparisons: list[Comparison]) -> str:
    topics = sorted({topic for comparison in comparisons for topic in comparison.left_out})
    if not topics:
        return ""
    listed = ", ".join(text(topic) for topic in topics[:20])
    more = f" and {len(topics) - 20:,} more" if len(topics) > 20 else ""
    return f'<p class="caption">Left out of one or more comparisons: {listed}{more}.</p>'
