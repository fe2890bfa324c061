"""What becomes of a waiting candidate whose URL is offered again (rule 5 of sheet 00)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenthound.model import Candidate

DECIMALS = 12  # rule 3: scores are compared after rounding, so that summation order cannot change a crawl


def found_again(old: Candidate, offer: Candidate) -> Candidate:
    """A waiting candidate after its URL was offered once more (rule 5); `old` itself if nothing changes.

    The better score wins with its parts and its origin, a tie keeps the old; a re-scoring wins even
    when lower, and brings no origin unless it names one. Of what is carried each number keeps its
    maximum, other values are the winner's. The later due time stays: it is a promise not to ask before.
    """
    better = offer.rescored or round(offer.score, DECIMALS) > round(old.score, DECIMALS)
    due = max(old.due, offer.due)
    carry = old.carry
    if offer.carry and offer.carry != carry:
        carry = _carried(old.carry, offer.carry) if better else _carried(offer.carry, old.carry)
    if not better:
        return old if due == old.due and carry == old.carry else old._replace(carry=carry, due=due)
    origin = old if offer.rescored and offer.parent is None else offer
    return Candidate(
        old.url,
        offer.score,
        carry,
        offer.parts,
        origin.parent,
        origin.anchor,
        origin.depth,
        offer.spelling or old.spelling,
        due,
    )


def _carried(loser: Mapping[str, Any], winner: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**loser, **winner}
    for key in loser.keys() & winner.keys():
        if _is_number(loser[key]) and _is_number(winner[key]):
            merged[key] = max(loser[key], winner[key])
    return merged


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
