"""The agents in a saved population, as plain data for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenthound.papers.spiders.net import Net


def living_agents(state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The agents in a saved population, by number: energy, pages, the effect of each keyword, and the net.

    The effect of a word is the net's output for a link with only that word in its anchor, less the output for a link
    without any keyword near it.
    """
    agents = {}
    for saved in state["agents"]:
        number, _, energy, pages, _ = saved["agent"]
        words, net = [word for word, _ in saved["keywords"]], Net(*saved["net"])
        outputs = net.outputs(np.vstack([np.zeros(len(words)), np.eye(len(words))]))
        effects = (outputs[1:] - outputs[0]).tolist()
        agents[int(number)] = {
            "energy": float(energy),
            "pages": int(pages),
            "words": dict(zip(words, effects, strict=True)),
            "net": {"w1": net.w1.tolist(), "b1": net.b1.tolist(), "w2": net.w2.tolist(), "b2": float(net.b2)},
        }
    return agents
