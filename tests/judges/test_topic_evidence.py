"""One page and many pages are rated by the same formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.judges.topic_evidence import (
    CERTAIN,
    WEIGHTS,
    Neighbours,
    RememberedPage,
    link_evidence,
    probabilities,
    probability,
)
from scenthound.model import Url
from scenthound.page.page import numbers_of
from scenthound.text.topic_model import WeightedTerms

NUMBERS = st.floats(-50, 50)
ROWS = st.lists(
    st.tuples(st.lists(NUMBERS, min_size=len(WEIGHTS), max_size=len(WEIGHTS)), NUMBERS, st.sampled_from(list(CERTAIN))),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(ROWS, st.floats(0, 1))
def test_probabilities_of_many_pages_equal_those_of_each(
    rows: list[tuple[list[float], float, str]], reliance: float
) -> None:
    evidence, priors, kinds = zip(*rows, strict=True)
    together = probabilities(np.array(evidence), reliance, np.array(priors), kinds)
    assert together.tolist() == pytest.approx([probability(row, reliance, *more) for row, *more in rows], abs=1e-12)


def test_the_verdict_of_the_user_is_not_overruled() -> None:
    worst, best = [-50.0] * len(WEIGHTS), [50.0] * len(WEIGHTS)
    assert probability(worst, 1.0, 0.0, "given") == 0.95
    assert probability(best, 1.0, 0.0, "off") == 0.05


def test_links_count_in_both_directions_and_each_neighbour_once() -> None:
    document, links = WeightedTerms(np.zeros(0, np.int64), np.zeros(0)), {"a": "bb", "b": "a", "c": "a", "d": "d"}
    pages = [
        RememberedPage(
            Url(url), document, np.zeros(0), (0.0, 0.0, 0.0), links=np.frombuffer(numbers_of(targets), np.uint32)
        )
        for url, targets in links.items()
    ]
    found = Neighbours(pages).evidence(np.array([0.4, 0.8, 0.2, 0.9]), average=0.1)
    expected = [link_evidence(total, number, 0.1) for total, number in ((1.0, 2), (0.4, 1), (0.4, 1), (0.0, 0))]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
