"""Tables of the findings, and verdicts by the rules of docs/findings-criteria.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from findings_lab import Crawler, Values, crawler_label

from scenthound.lab.measure.statistics import Comparison, Mean, TTest, adjust

Outcome = Literal["shown", "opposite", "absent", "open"]
MATTERS = 0.1  # a difference smaller than this share of the other crawler's mean does not matter


class Claim(NamedTuple):
    """A claim of a paper as a test: is the first crawler above the second?"""

    words: str
    test: Comparison
    level: float = 0.05

    @property
    def outcome(self) -> Outcome:
        test, other = self.test.paired, self.test.means[1].mean or 0.0
        if test.mean is None or test.p is None:
            return "open"
        if test.p < self.level:
            return "shown"
        if test.p > 1.0 - self.level:
            return "opposite"
        return "absent" if upper_end(test) < MATTERS * abs(other) else "open"


def upper_end(test: TTest) -> float:
    """The upper end of the one-sided 95 % interval of a difference."""
    from scipy import stats  # slow to import

    if test.mean is None:
        return math.inf
    return test.mean + (float(stats.t.ppf(0.95, test.freedom)) * test.error if test.error and test.freedom else 0.0)


def judge_claims(claims: Sequence[Claim]) -> str:
    """Print the claims with their outcomes, and return the verdict on the finding."""
    rows = []
    for claim, test in zip(claims, adjust([claim.test for claim in claims]), strict=True):
        paired, digits = test.paired, 2 if abs(test.means[0].mean or 0.0) > 10 else 4
        shift = "–" if paired.mean is None else f"{paired.mean:+.{digits}f} ± {paired.error or 0.0:.{digits}f}"
        least = "–" if paired.error is None else f"{2.5 * paired.error:.{digits}f}"
        ends = f"{plus_minus(test.means[0], digits)}, {plus_minus(test.means[1], digits)}"
        signs = f"{test.signs.wins} : {test.signs.losses}"
        rows.append(
            [claim.words, ends, shift, probability(paired.p), probability(test.adjusted), signs, least, claim.outcome]
        )
    heads = ["claim", "means", "difference ± se", "p", "Holm p", "won : lost", "least difference", "outcome"]
    print(table(heads, rows) + "\n")
    return overall([claim.outcome for claim in claims])


def overall(outcomes: Sequence[Outcome]) -> str:
    """The verdict on a finding, from the outcomes of its claims.

    >>> overall(["shown", "open"]), overall(["open", "absent"]), overall(["open"])
    ('in part: 1 of 2 claims', 'not reproduced', 'not decided: too few topics')
    """
    shown = outcomes.count("shown")
    if not outcomes:
        return "not testable here"
    if shown:
        return "reproduced" if shown == len(outcomes) else f"in part: {shown} of {len(outcomes)} claims"
    return "not decided: too few topics" if set(outcomes) == {"open"} else "not reproduced"


def plus_minus(value: Mean, digits: int = 3) -> str:
    if value.mean is None:
        return "–"
    return f"{value.mean:.{digits}f} ± {value.error or 0.0:.{digits}f}"


def probability(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def means_table(
    values: Values, measure: str, crawlers: Sequence[Crawler], points: Sequence[int], head: str, digits: int = 3
) -> str:
    """A table of means ± standard errors, with a row for each crawler."""
    rows = [
        [
            crawler_label(crawler),
            *(plus_minus(values.mean(measure, crawler[1], point, crawler[0]), digits) for point in points),
        ]
        for crawler in crawlers
    ]
    return table([head, *(f"{point:,}" for point in points)], rows)


def is_falling(values: Sequence[float | None]) -> bool:
    """Whether all values are present and each is smaller than the one before."""
    present = [value for value in values if value is not None]
    return len(present) == len(values) and all(a > b for a, b in pairwise(present))


def crossings(differences: Sequence[float]) -> list[int]:
    """The indices at which the sign changes; zeros are skipped."""
    indices, sign = [], 0
    for index, value in enumerate(differences):
        new_sign = int(math.copysign(1, value)) if value else 0
        if new_sign and sign and new_sign != sign:
            indices.append(index)
        sign = new_sign or sign
    return indices
