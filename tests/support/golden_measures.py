"""The worked examples of sheet 60, for `golden.py`: metrics, topic characteristics, statistics, augmented seeds."""

from __future__ import annotations

from typing import Any

from golden import Inputs, answers, toy_walk
from scenthound.papers.hub_seeking import HubSeeking
from scenthound.strategies.breadth_first import BreadthFirst
from support import golden_lab


@answers("metrics")
def metrics(inputs: Inputs) -> dict[str, Any]:
    orders = {
        "breadth-first": toy_walk(inputs, BreadthFirst()).visited,
        "hub-seeking": toy_walk(inputs, HubSeeking(stop_words="small")).visited,
    }
    return golden_lab.metrics(inputs, orders)


answers("topic")(golden_lab.topic)
answers("ttest")(golden_lab.ttest)
answers("augment")(golden_lab.augmented)
