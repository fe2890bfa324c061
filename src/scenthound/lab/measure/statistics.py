"""Means, standard errors and significance tests over topics (sheet 60.6), with the distributions of scipy.

A comparison pairs two crawlers by topic, because topics differ far more than crawlers do. It is one-tailed: is A
better than B? The sign test checks the t test against outliers, and every family of more than one comparison gets
Holm's adjustment.

Topics that share a category are not independent (`topic_groups`). Standard errors and the t test are then
cluster-robust:

    SE = √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n,   t = x̄ / SE with G − 1 degrees of freedom

for n topics in G groups (Liang and Zeger 1986, with the correction for few groups). If every topic is a group of its
own, this is s/√n; if all groups have the same size, it equals averaging each group first. The sign test and the effect
size are computed on the means of the groups.

Several topics may be drawn from one category, with different seeds and targets: the 30 topics of the apache bed are 10
categories with three draws each. Their results vary together, so a test that counts them as 30 independent topics finds
too many differences. By default, topics with the same path are one group.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from scenthound.errors import BadUsage
from scenthound.topic_list import BedTopic

Groups = Sequence[Hashable] | None
"""The group of each value; None: each value is a group of its own."""
NOISE = 1e-12  # differences below this share of the values are rounding errors


class Mean(NamedTuple):
    """A mean over topics, its standard error (None for one group), and the numbers of topics and of groups."""

    mean: float | None
    error: float | None
    number: int
    groups: int = 0


class TTest(NamedTuple):
    """The result of a t test. Fields that need more topics are None."""

    mean: float | None
    error: float | None
    t: float | None
    freedom: float | None
    p: float | None


class Signs(NamedTuple):
    """Topics won and lost (ties are neither), and the one-tailed probability of at least as many wins by chance."""

    wins: int
    losses: int
    p: float


class Effect(NamedTuple):
    """Cohen's d of paired differences and its 95% confidence interval."""

    size: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two crawlers on the same topics, for one metric at one point."""

    first: str
    second: str
    metric: str
    at: int | None
    means: tuple[Mean, Mean]
    paired: TTest
    signs: Signs
    effect: Effect | None
    left_out: tuple[str, ...] = ()
    """Topics without a value for one of the two."""
    lower_is_better: bool = False
    adjusted: float | None = None
    """Holm-adjusted p, if several comparisons were made together."""
    groups: int = 0
    """Number of independent groups of topics."""
    ended: tuple[int, int] = (0, 0)
    """Number of topics on which the first and the second crawl had ended before the point."""
    is_rate: bool = False
    """A rate is taken at the last point that both crawls reached, any other value at the point itself."""
    unit: str = "pages"
    """Whether the point counts pages or requests."""

    def __str__(self) -> str:
        return sentence(self)


def standard_error(values: Sequence[float], groups: Groups = None) -> float | None:
    """s/√n with n − 1 in s, cluster-robust if `groups` has a group for each value; None for fewer than two groups.

    >>> standard_error([1.0, 3.0])
    1.0
    >>> standard_error([1.0, 1.0, 3.0, 3.0], "aabb")
    1.0
    """
    n = len(values)
    if not n:
        return None
    average = math.fsum(values) / n
    residuals = _by_group([value - average for value in values], groups)
    group_count = len(residuals)
    if group_count < 2:
        return None
    squares = math.fsum(math.fsum(residual) ** 2 for residual in residuals)
    return math.sqrt(squares / (group_count - 1) / group_count) * (group_count / n)


def mean(values: Sequence[float | None], groups: Groups = None) -> Mean:
    """Mean and standard error of the values that are not None.

    >>> mean([1.0, None, 3.0])
    Mean(mean=2.0, error=1.0, number=2, groups=2)
    """
    pairs = zip(values, range(len(values)) if groups is None else groups, strict=True)
    defined = [(value, group) for value, group in pairs if value is not None]
    numbers, names = [value for value, _ in defined], [group for _, group in defined]
    average = math.fsum(numbers) / len(numbers) if numbers else None
    return Mean(average, standard_error(numbers, names), len(numbers), len(set(names)))


def _by_group(values: Sequence[float], groups: Groups) -> list[list[float]]:
    """The values of each group, in the order of their first value."""
    if groups is None:
        return [[value] for value in values]
    members: dict[Hashable, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    return list(members.values())


def group_means(values: Sequence[float], groups: Groups) -> list[float]:
    """The mean of each group.

    >>> group_means([1.0, 3.0, 5.0], "aab")
    [2.0, 5.0]
    """
    return [math.fsum(members) / len(members) for members in _by_group(values, groups)]


def ended_early(lengths: Sequence[int], at: Sequence[int]) -> list[int]:
    """For each point, the number of crawls that had ended before it."""
    return [sum(length < point for length in lengths) for point in at]


def log_points(last: int, number: int = 50) -> list[int]:
    """Up to `number` distinct whole points from 1 to `last`, evenly spaced in the logarithm.

    >>> log_points(1000, 4)
    [1, 10, 100, 1000]
    """
    if last < 1 or number < 1:
        return []
    if number == 1:
        return [last]
    return sorted({round(last ** (step / (number - 1))) for step in range(number)})


def average_runs(runs: Mapping[str, Sequence[float | None]]) -> dict[str, float | None]:
    """The mean over the runs of each topic: randomised crawlers are averaged first, then tested over topics."""
    return {topic: mean(values).mean for topic, values in runs.items()}


def paired_t(first: Sequence[float], second: Sequence[float], groups: Groups = None) -> TTest:
    """One-tailed paired t test that `first` is larger; cluster-robust if `groups` has a group for each pair.

    If all differences are equal, p is 0.5 if they are 0, and 0 or 1 otherwise.

    >>> paired_t([0.2, 0.3], [0.2, 0.3]).p
    0.5
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    group_count = len(differences) if groups is None else len(set(groups))
    if not differences:
        return TTest(None, None, None, None, None)
    average, freedom = math.fsum(differences) / len(differences), group_count - 1
    if group_count < 2:
        return TTest(average, None, None, freedom, None)
    error = standard_error(differences, groups) or 0.0
    scale = max(map(abs, (*first, *second)))
    if error <= NOISE * scale:
        is_zero = abs(average) <= NOISE * scale
        return TTest(0.0 if is_zero else average, 0.0, None, freedom, 0.5 if is_zero else 0.0 if average > 0 else 1.0)
    t = average / error
    return TTest(average, error, t, freedom, _upper_tail(t, freedom))


def welch_t(first: Sequence[float], second: Sequence[float]) -> TTest:
    """One-tailed t test for samples that are not paired and may differ in variance. [Welch 1947]"""
    if min(len(first), len(second)) < 2:
        return TTest(None, None, None, None, None)
    a, b = (standard_error(first) or 0.0) ** 2, (standard_error(second) or 0.0) ** 2
    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    error = math.sqrt(a + b)
    scale = max(map(abs, (*first, *second)))
    if error <= NOISE * scale:
        is_zero = abs(difference) <= NOISE * scale
        return TTest(difference, 0.0, None, None, 0.5 if is_zero else 0.0 if difference > 0 else 1.0)
    freedom = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    t = difference / error
    return TTest(difference, error, t, freedom, _upper_tail(t, freedom))


def sign_test(first: Sequence[float], second: Sequence[float]) -> Signs:
    """One-tailed sign test that `first` is larger more often than not. Ties are dropped.

    >>> sign_test([1, 1, 1, 0], [0, 0, 0, 0])
    Signs(wins=3, losses=0, p=0.125)
    """
    pairs = list(zip(first, second, strict=True))
    decided = [(a, b) for a, b in pairs if abs(a - b) > NOISE * max(abs(a), abs(b))]
    wins = sum(a > b for a, b in decided)
    losses = len(decided) - wins
    if not wins + losses:
        return Signs(0, 0, 1.0)
    return Signs(wins, losses, float(_special().bdtrc(wins - 1, wins + losses, 0.5)) if wins else 1.0)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment of a family of p values; None stays None and is not counted. [1979]

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    adjusted: list[float | None] = [None] * len(ps)
    ordered = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    highest = 0.0
    for smaller, (p, index) in enumerate(ordered):
        highest = max(highest, min(1.0, p * (len(ordered) - smaller)))
        adjusted[index] = highest
    return adjusted


def effect_size(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Effect | None:
    """Cohen's d of the paired differences (their mean / their standard deviation) with its interval.

    The interval is exact, from the noncentral t distribution. None if the differences do not vary.
    """
    test = paired_t(first, second)
    if test.t is None:
        return None
    number, freedom, t = len(first), len(first) - 1, test.t
    root = math.sqrt(number)
    tail = (1.0 - confidence) / 2.0
    low, high = _noncentrality(t, freedom, 1.0 - tail), _noncentrality(t, freedom, tail)
    return Effect(t / root, low / root, high / root)


def bootstrap(
    differences: Sequence[float], rng: random.Random, confidence: float = 0.95, draws: int = 10_000
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the mean difference over topics; None if there are no topics. [Efron 1979]"""
    if not differences:
        return None
    import numpy as np

    generator = np.random.default_rng(rng.getrandbits(64))
    values = np.asarray(differences, dtype=np.float64)
    means = np.sort([values[generator.integers(0, len(values), len(values))].mean() for _ in range(draws)])
    low, high = np.quantile(means, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation; None for fewer than three pairs or if either sequence is constant.

    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    from scipy import stats  # slow to import

    return float(stats.spearmanr(first, second).statistic)


def compare(
    first: tuple[str, Mapping[str, float | None]],
    second: tuple[str, Mapping[str, float | None]],
    metric: str,
    at: int | None = None,
    lower_is_better: bool = False,
    groups: Mapping[str, Hashable] | None = None,
) -> Comparison:
    """Test whether the first crawler is better than the second. Each is a name and a value per topic (see
    `average_runs`).

    With `lower_is_better` (as for ranks) the signs are swapped, so that wins and a positive difference always mean that
    the first crawler is better. `groups` has the group of each topic; without it, each topic is a group.
    """
    (name, ours), (other, theirs) = first, second
    topics = sorted(ours.keys() | theirs.keys())
    common = [topic for topic in topics if ours.get(topic) is not None and theirs.get(topic) is not None]
    a, b = _values(ours, common), _values(theirs, common)
    members = common if groups is None else [groups[topic] for topic in common]
    better, worse = (b, a) if lower_is_better else (a, b)
    better_groups, worse_groups = group_means(better, members), group_means(worse, members)
    return Comparison(
        name,
        other,
        metric,
        at,
        (mean(a, members), mean(b, members)),
        paired_t(better, worse, members),
        sign_test(better_groups, worse_groups),
        effect_size(better_groups, worse_groups),
        tuple(topic for topic in topics if topic not in set(common)),
        lower_is_better,
        groups=len(better_groups),
    )


def adjust(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons as one family, each with its Holm-adjusted p."""
    adjusted = holm([comparison.paired.p for comparison in comparisons])
    return [replace(comparison, adjusted=p) for comparison, p in zip(comparisons, adjusted, strict=True)]


def sentence(comparison: Comparison, level: float = 0.05) -> str:
    """The result in plain English, including `no difference shown`."""
    a, b, test = comparison.first, comparison.second, comparison.paired
    where, number = _where(comparison), comparison.means[0].number
    if test.p is None:
        topics = "no topic" if not number else "only one topic" if number == 1 else "only topics of one category"
        return f"On {where}, {a} and {b} have {topics} in common: nothing can be tested."
    p = test.p if comparison.adjusted is None else comparison.adjusted
    values = f"{_number(comparison.means[0].mean)} against {_number(comparison.means[1].mean)}"
    signs = f"{comparison.signs.wins} wins, {comparison.signs.losses} losses"
    name = "p" if comparison.adjusted is None else "Holm-adjusted p"
    test_text = f"paired one-tailed t test over {topics_text(comparison)}, {name} {_probability(p)}; {signs}"
    ended = ended_text(comparison)
    if test.mean == 0.0 and test.error == 0.0:
        return f"On {where}, no difference shown: {a} and {b} are equal on each of {number} topics ({values}).{ended}"
    if p < level:
        return f"On {where}, {a} is better than {b}: {values} ({test_text}{_effect(comparison.effect)}).{ended}"
    if test.p > 1.0 - level:
        return f"On {where}, {a} is not better than {b}; the opposite is more likely: {values} ({test_text}).{ended}"
    return f"On {where}, no difference shown between {a} and {b}: {values} ({test_text}).{ended}"


def topics_text(comparison: Comparison) -> str:
    """The number of topics of a test, with the number of their independent groups if it is smaller."""
    number = comparison.means[0].number
    return f"{number} topics" if comparison.groups == number else f"{number} topics in {comparison.groups} categories"


def ended_text(comparison: Comparison) -> str:
    """A sentence on crawls that had ended before the point and how they were compared; empty if none had."""
    number = comparison.means[0].number
    names = zip((comparison.first, comparison.second), comparison.ended, strict=True)
    ended = [f"{name} had ended earlier on {count} of {number} topics" for name, count in names if count]
    if not ended:
        return ""
    if comparison.is_rate:
        return f" {' and '.join(ended)}; on these, both are compared after the same number of {comparison.unit}."
    return f" {' and '.join(ended)}; what was found by then counts."


def _where(comparison: Comparison) -> str:
    if comparison.at is None:
        return comparison.metric
    up_to = "up to " if comparison.is_rate and any(comparison.ended) else ""
    return f"{comparison.metric} at {up_to}{comparison.at} {comparison.unit}"


def _effect(effect: Effect | None) -> str:
    return "" if effect is None else f"; effect size {effect.size:.2f}, 95% from {effect.low:.2f} to {effect.high:.2f}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _values(by_topic: Mapping[str, float | None], topics: Sequence[str]) -> list[float]:
    return [value for topic in topics if (value := by_topic[topic]) is not None]


def _noncentrality(t: float, freedom: int, probability: float) -> float:
    """The noncentrality under which a value of at most `t` has this probability."""

    def excess(noncentrality: float) -> float:
        below_t = float(_special().nctdtr(freedom, noncentrality, t))
        if math.isnan(below_t):  # scipy 1.17 returns NaN far from t, e.g. at (4.02, 59, -4.9), where it is 1 or 0
            below_t = 1.0 if noncentrality < t else 0.0
        return below_t - probability

    spread = math.sqrt(1.0 + t * t / (2.0 * freedom))
    guess = t - float(_special().ndtri(probability)) * spread  # the normal approximation
    for width in (1.5, 6.0, 24.0):
        low, high = guess - width * spread, guess + width * spread
        if excess(low) * excess(high) < 0.0:
            return _zero(excess, low, high)
    return guess  # so far out that scipy's distribution has no precision left


def _zero(falling: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a falling function, by bisection."""
    while high - low > 1e-12 * max(1.0, abs(low), abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    return (low + high) / 2


def _upper_tail(t: float, freedom: float) -> float:
    """The probability that Student's t is larger than this."""
    return float(_special().stdtr(freedom, -t))


def _special() -> Any:
    """`scipy.special`, which is in an optional dependency and imports in a quarter of the time of `scipy.stats`."""
    from scipy import special

    return special


CATEGORY, TOPIC = "category", "topic"


def topic_groups(topics: Iterable[BedTopic], by: str = CATEGORY) -> dict[str, str]:
    """The group of each topic by its id. `by` is `category` (the whole path), `topic` (each topic is a group), or a
    number N (the first N levels of the path). A topic without a path is a group of its own."""
    if by == TOPIC:
        return {topic.id: topic.id for topic in topics}
    if by != CATEGORY and not (by.isdecimal() and int(by)):
        raise BadUsage(f"topics can't be grouped by `{by}`", "give category, topic, or a number of levels of the path")
    levels = None if by == CATEGORY else int(by)
    return {topic.id: " / ".join(topic.path[:levels]) or topic.id for topic in topics}
