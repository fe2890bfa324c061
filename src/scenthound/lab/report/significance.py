"""Sections of the report: tables of means, and paired tests with their results in sentences."""

from __future__ import annotations

from scenthound.lab.measure.compare_crawlers import clear_winner, is_significant
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.measure.statistics import Comparison, sentence
from scenthound.lab.report.curves import named
from scenthound.lab.report.experiment_facts import DRAWN, ExperimentFacts
from scenthound.lab.report.formatting import details, number, plus_minus, probability, spelled, text
from scenthound.lab.report.svg import interval
from scenthound.report.report_layout import section, table

MANY_PAIRS = 15  # more sentences than these are folded away; the table has them all


def means(facts: ExperimentFacts) -> str:
    """Means ± standard errors at the points, for each metric that is drawn."""
    parts = [_means(facts, metric) for metric in DRAWN]
    note = (
        "Means over topics ± one standard error. Bold: better than every other strategy at this point (paired t tests "
        "over topics in both directions, Holm-adjusted p &lt; 0.05). Where nothing is bold, no single best is shown. "
        "† Some crawls had ended before: the rate is over fewer pages than the column says. Tests compare a rate at "
        "the last point that both crawls reached, topic by topic; recall keeps what was found."
    )
    return section("Values at some points", note, *parts)


def other_metrics(facts: ExperimentFacts) -> str:
    """The same for whatever else was measured, folded away."""
    names = [metric for metric in sorted(facts.values) if metric not in DRAWN]
    parts = [_means(facts, metric) for metric in names]
    return section(
        "Every other metric",
        "Each is explained in <code>docs/concepts/metrics.md</code>; <code>lab measure --json</code> has all values.",
        details(f"{len(names)} more tables", *parts),
    )


def tests(facts: ExperimentFacts) -> str:
    """Every pair of strategies at the last point of the main metric."""
    comparisons = facts.compared(facts.main, facts.last)
    if not comparisons:
        return ""
    comparisons.sort(key=lambda each: (-(each.paired.mean or 0.0), each.first, each.second))
    reach = max(
        [1.0, *(abs(end) for each in comparisons if each.effect for end in (each.effect.low, each.effect.high))]
    )
    heads = ("better mean", "than", "difference", "t (df)", "p", "Holm p", "won : lost : tied", "sign p",
             "d, 95% interval")  # fmt: skip
    rows = [_row(facts, each, reach) for each in comparisons]
    number_of = len(facts.strategies) * (len(facts.strategies) - 1)
    note = (
        f"On {text(facts.main)} after {facts.last:,} pages. One-tailed paired t tests over {facts.topics_text}"
        f"{_cluster_note(facts)}. Who is better was "
        f"not known beforehand, so each pair is tested in both directions and Holm's adjustment counts all "
        f"{number_of:,} tests; the direction of the better mean is shown. The sign test is a check against outliers. "
        "d is the mean difference in standard deviations of the differences; its interval is exact (noncentral t)."
    )
    sentences = "<ul class='sentences'>" + "".join(map(_sentence, comparisons)) + "</ul>"
    if len(comparisons) > MANY_PAIRS:
        sentences = details(f"{len(comparisons):,} sentences", sentences)
    return section(
        "Who is better?", note, sentences, table(heads, rows, (2, 3, 4, 5, 6, 7, 8), "tests"), _left_out(comparisons)
    )


def _cluster_note(facts: ExperimentFacts) -> str:
    if len(set(facts.groups.values())) == len(facts.run.topics):
        return ""
    return "; errors are cluster-robust, since topics of one category are not independent"


def _means(facts: ExperimentFacts, metric: str) -> str:
    values = (facts.mean(metric, name, at).mean for name in facts.strategies for at in facts.points)
    highest = max((abs(value) for value in values if value is not None), default=1.0)
    digits = 3 if highest >= 0.1 else 4
    best = {at: clear_winner(facts.compared(metric, at), facts.strategies) for at in facts.points}
    rows = []
    for name in facts.names:
        over = [facts.mean(metric, name, at) for at in facts.points]
        if not any(each.number for each in over):
            continue
        is_rate = get_metric(metric).is_rate
        marks = [" †" if is_rate and facts.has_ended(name, at) else "" for at in facts.points]
        shown = [plus_minus(each.mean, each.error, digits) + mark for each, mark in zip(over, marks, strict=True)]
        cells = [f"<b>{cell}</b>" if best[at] == name else cell for at, cell in zip(facts.points, shown, strict=True)]
        counts = ["/".join(map(str, sorted(each))) for each in ({m.number for m in over}, {m.groups for m in over})]
        rows.append([named(facts, name), *cells, *counts])
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
        named(facts, comparison.first),
        named(facts, comparison.second),
        plus_minus(test.mean, test.error),
        f"{number(test.t, 2)} ({freedom})",
        probability(test.p),
        f"<b>{adjusted}</b>" if is_significant(comparison) else adjusted,
        f"{signs.wins} : {signs.losses} : {ties}",
        probability(signs.p),
        "–"
        if effect is None
        else f"{effect.size:.2f} <span class='se'>[{effect.low:.2f}, {effect.high:.2f}]</span><br>"
        + interval(effect.size, effect.low, effect.high, reach),
    ]


def _sentence(comparison: Comparison) -> str:
    kind = "shown" if is_significant(comparison) else "open"
    mark = "●" if is_significant(comparison) else "○"
    return (
        f'<li class="{kind}"><span class="mark" aria-hidden="true">{mark}</span>{text(sentence(comparison), 2000)}</li>'
    )


def _left_out(comparisons: list[Comparison]) -> str:
    topics = sorted({topic for each in comparisons for topic in each.left_out})
    if not topics:
        return ""
    listed = ", ".join(text(topic) for topic in topics[:20])
    more = f" and {len(topics) - 20:,} more" if len(topics) > 20 else ""
    return (
        f'<p class="caption">Left out of {spelled(len(comparisons))} comparisons or some of them: {listed}{more}.</p>'
    )
