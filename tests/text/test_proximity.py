"""How near a word is to each anchor, compared with the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.papers.spiders.net import proximities


def plain_proximity(anchor: int, places: list[int], reach: int) -> float:
    """The definition, occurrence by occurrence."""
    total = 0.0
    for place in places:
        number, is_inside = divmod(place, 2)
        if is_inside:
            between = abs(anchor - number) - 1
        else:  # outside, with so many anchors before it
            between = anchor - number if anchor >= number else number - 1 - anchor
        if between <= reach:
            total += 1 / (1 if is_inside and anchor == number else 2 + between)
    return total


@given(st.lists(st.integers(0, 17), max_size=8), st.integers(0, 9), st.integers(0, 6))
def test_a_word_counts_by_the_inverse_of_its_distance_in_anchors(places: list[int], anchors: int, reach: int) -> None:
    right = [plain_proximity(anchor, places, reach) for anchor in range(anchors)]
    np.testing.assert_allclose(proximities(places, anchors, reach), right, atol=1e-12)
