"""Equal rows have equal products, whatever the size of the batch."""

from __future__ import annotations

import numpy as np
import pytest

from scenthound.papers.spiders.net import Net
from scenthound.strategies.hound.features import FEATURES, Scoring
from scenthound.text.row_products import row_products

SIZES = range(2, 120)


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_rows_are_those_of_the_matrix(order: str) -> None:
    numbers = np.random.default_rng(1)
    rows, weights = np.array(numbers.normal(size=(50, 21)), order=order), numbers.normal(size=21)  # type: ignore[call-overload]
    assert np.allclose(row_products(rows, weights), rows @ weights, rtol=0, atol=1e-12)


def test_equal_links_have_equal_scores_wherever_they_are_in_a_batch() -> None:
    """Otherwise the CPU decides which of them is fetched first. Matrix products fail for a third of the sizes."""
    numbers = np.random.default_rng(2)
    net = Net(numbers.normal(size=(4, 21)), numbers.normal(size=4), numbers.normal(size=4), 0.1)
    deviations, inputs = numbers.normal(size=len(FEATURES)), numbers.normal(size=21)
    scoring = Scoring(numbers.normal(size=len(FEATURES)))
    for size in SIZES:
        assert len(set(scoring.rank(np.tile(deviations, (size, 1))).tolist())) == 1
        assert len(set(net.outputs(np.tile(inputs, (size, 1))).tolist())) == 1
