"""The tables of means and of paired tests, and what they say in plain sentences."""

from __future__ import annotations

from scenthound.lab.measure.comparison import clear_winner, is_significant
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.measure.statistics import Comparison, sentence
from scenthound.lab.report.curves import named
from scenthound.lab.report.experiment_facts import DRAWN, ExperimentFacts
from scenthound.lab.report.markup import details, number, plus_minus, probability, spelled, text
from scenthound.lab.report.svg import interval
from scenthound.report.page import section, table

MANY_PAIRS = 15  # more sentences than these are folded away; the table has them all


def means(facts: ExperimentFacts) -> str:
    """Means ± standard errors at the points, for each metric that is drawn."""
    parts = [_means(facts, metric) for metric in DRAWN]
    note = (
        "Means over topics ± one standard error. Bold: better than every other strategy at this point (paired t tests "
        "over topics in both directions, Holm-adjusted p &lt; 0.05). Where nothing is bold, no single best is shown."
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
    found = facts.compared(facts.main, facts.last)
    if not found:
        return ""
    found.sort(key=lambda one: (-(one.paired.mean or 0.0), one.first, one.second))
    reach = max([1.0, *(abs(end) for one in found if one.effect for end in (one.effect.low, one.effect.high))])
    heads = ("better mean", "than", "difference", "t (df)", "p", "Holm p", "won : lost : tied", "sign p",
             "d, 95% interval")  # fmt: skip
    rows = [_row(facts, one, reach) for one in found]
    number_of = len(facts.strategies) * (len(facts.strategies) - 1)
    note = (
        f"On {text(facts.main)} after {facts.last:,} pages. One-tailed paired t tests over topics. Who is better was "
        f"not known beforehand, so each pair is tested in both directions and Holm's adjustment counts all "
        f"{number_of:,} tests; the direction of the better mean is shown. The sign test is a check against outliers. "
        "d is the mean difference in standard deviations of the differences; its interval is exact (noncentral t)."
    )
    sentences = "<ul class='sentences'>" + "".join(_sentence(one) for one in found) + "</ul>"
    if len(found) > MANY_PAIRS:
        sentences = details(f"{len(found):,} sentences", sentences)
    return section(
        "Who is better?", note, sentences, table(heads, rows, (2, 3, 4, 5, 6, 7, 8), "tests"), _left_out(found)
    )


def _means(facts: ExperimentFacts, metric: str) -> str:
    found = (facts.mean(metric, name, at).mean for name in facts.strategies for at in facts.points)
    highest = max((abs(value) for value in found if value is not None), default=1.0)
    digits = 3 if highest >= 0.1 else 4
    best = {at: clear_winner(facts.compared(metric, at), facts.strategies) for at in facts.points}
    rows = []
    for name in facts.names:
        over = [facts.mean(metric, name, at) for at in facts.points]
        if not any(one.number for one in over):
            continue
        told = [plus_minus(one.mean, one.error, digits) for one in over]
        cells = [f"<b>{cell}</b>" if best[at] == name else cell for at, cell in zip(facts.points, told, strict=True)]
        numbers = sorted({one.number for one in over})
        rows.append([named(facts, name), *cells, "/".join(map(str, numbers))])
    if not rows:
        return ""
    direction = " (lower is better)" if get_metric(metric).lower_is_better else ""
    heads = [f"<code>{text(metric)}</code>{direction}", *(f"{at:,} pages" for at in facts.points), "n"]
    return table(heads, rows, range(1, len(facts.points) + 2), "means")


def _row(facts: ExperimentFacts, one: Comparison, reach: float) -> list[str]:
    test, signs, effect = one.paired, one.signs, one.effect
    ties = one.means[0].number - signs.wins - signs.losses
    freedom = "–" if test.freedom is None else f"{test.freedom:g}"
    adjusted = probability(one.adjusted)
    return [
        named(facts, one.first),
        named(facts, one.second),
        plus_minus(test.mean, test.error),
        f"{number(test.t, 2)} ({freedom})",
        probability(test.p),
        f"<b>{adjusted}</b>" if is_significant(one) else adjusted,
        f"{signs.wins} : {signs.losses} : {ties}",
        probability(signs.p),
        "–"
        if effect is None
        else f"{effect.size:.2f} <span class='se'>[{effect.low:.2f}, {effect.high:.2f}]</span><br>"
        + interval(effect.size, effect.low, effect.high, reach),
    ]


def _sentence(one: Comparison) -> str:
    kind = "shown" if is_significant(one) else "open"
    mark = "●" if is_significant(one) else "○"
    return f'<li class="{kind}"><span class="mark" aria-hidden="true">{mark}</span>{text(sentence(one), 2000)}</li>'


def _left_out(found: list[Comparison]) -> str:
    gone = sorted({topic for one in found for topic in one.left_out})
    if not gone:
        return ""
    topics = ", ".join(text(topic) for topic in gone[:20])
    more = f" and {len(gone) - 20:,} more" if len(gone) > 20 else ""
    return f'<p class="caption">Left out of {spelled(len(found))} comparisons or some of them: {topics}{more}.</p>'
