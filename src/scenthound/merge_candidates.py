"""Merge a waiting candidate with a new candidate for the same URL (rule 5 of sheet 00)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenthound.model import DECIMALS, Candidate

_UNITS = 10.0**DECIMALS


def rounded(score: float) -> float:
    """`round(score, DECIMALS)` in a third of the time: rounds to the nearest multiple of 10^-DECIMALS.

    Falls back to `round` if the score is about halfway between two units, or too large. Negative zero becomes zero.

    >>> rounded(0.1234567890125), rounded(-2.5), rounded(float("inf"))
    (0.123456789012, -2.5, inf)
    """
    if -1000.0 < score < 1000.0:
        units = score * _UNITS
        whole = round(units)
        if abs(units - whole) + abs(units) * 1.25e-16 < 0.5:  # relative error of the product: at most 2^-53
            return whole / _UNITS
    return round(score, DECIMALS)


def merge_offer(old: Candidate, offer: Candidate) -> Candidate:
    """Merge a waiting candidate with a new offer for its URL (rule 5). Returns `old` itself if nothing changes.

    The better score wins, with its parts and its origin; in a tie the old ones are kept. A re-scored offer wins even
    with a lower score, and changes the origin only if it names one. For numbers in `carry` the maximum is kept; other
    values are the winner's. The later due time is kept.
    """
    better = offer.rescored or rounded(offer.score) > rounded(old.score)
    due = max(old.due, offer.due)
    carry = old.carry
    if offer.carry and offer.carry != carry:
        carry = _merged_carry(old.carry, offer.carry) if better else _merged_carry(offer.carry, old.carry)
    if not better:
        return old if due == old.due and carry == old.carry else old._replace(carry=carry, due=due)
    origin = old if offer.rescored and offer.parent is None else offer
    spelling = offer.spelling or old.spelling
    return Candidate(
        old.url, offer.score, carry, offer.parts, origin.parent, origin.anchor, origin.depth, spelling, due
    )


def _merged_carry(loser: Mapping[str, Any], winner: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**loser, **winner}
    for key in loser.keys() & winner.keys():
        if _is_number(loser[key]) and _is_number(winner[key]):
            merged[key] = max(loser[key], winner[key])
    return merged


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
