"""Cooperative bids ([ECON], section 4): agents that match the same page bid for it together and share its value.

    bid(page)  = b1 + b2 / 2 + b3 / 4 + …      the highest effective bids on the page, at most `cooperation` of them
    share(i)   = (b_i / 2^(i-1)) / bid(page)

The highest bidder leads: it is the owner, and appears in the ledger. Its partners pay their share of the price, and get
their share of the reward after kickbacks and of the price at which the right to choose is resold.

Ours: [ECON] cites Fagin and Wimmers (2000) for the weights. Halving them lets a second opinion raise a bid, but never
lets many low bids beat one that is twice as high. The price is the highest bid of an agent outside the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Partners = tuple[tuple[int, float], ...]
"""The agents that bid with the leader, and the share of each."""


class JointBid(NamedTuple):
    """The bid of a group on a page, in coins."""

    bid: int
    leader: int
    page: int
    partners: Partners


def joint_bid(page: int, bids: Iterable[tuple[int, int]], most: int) -> JointBid | None:
    """The bid of the best group on a page, from pairs of an effective bid and an agent; None if there are no bids.

    >>> joint_bid(7, [(40, 1), (100, 2), (60, 3)], most=2)
    JointBid(bid=130, leader=2, page=7, partners=((3, 0.23076923076923078),))
    """
    ranked = sorted((bid for bid in bids if bid[0] > 0), reverse=True)[:most]
    parts = [bid / 2**rank for rank, (bid, _) in enumerate(ranked)]
    total = sum(parts)
    if not total:
        return None
    partners = tuple((agent, part / total) for part, (_, agent) in zip(parts[1:], ranked[1:], strict=True))
    return JointBid(round(total), ranked[0][1], page, partners)


def best_group(pages: Mapping[int, Iterable[int]], bids: Mapping[int, int], most: int) -> JointBid | None:
    """The highest joint bid on any page; among equal bids, that of the youngest leader."""
    groups = (
        joint_bid(page, ((bids.get(agent, 0), agent) for agent in agents), most) for page, agents in pages.items()
    )
    return max((group for group in groups if group is not None), key=lambda group: group[:2], default=None)
