"""The agents in a saved population, as plain data for whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenthound.strategies.spiders.net import Net


def living_agents(state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The agents in a saved population, by number: figures, words with what each does to a link's score, and the net.

    The effect of a word is what the net makes of a link with that word in its anchor and nothing else near it, less
    what it makes of a link with none.
    """
    agents = {}
    for saved in state["agents"]:
        number, _, energy, pages, _ = saved["agent"]
        words, net = [word for word, _ in saved["keywords"]], Net(*saved["net"])
        alone = net.outputs(np.vstack([np.zeros(len(words)), np.eye(len(words))]))
        effects = (alone[1:] - alone[0]).tolist()
        agents[int(number)] = {
            "energy": float(energy),
            "pages": int(pages),
            "words": dict(zip(words, effects, strict=True)),
            "net": {"w1": net.w1.tolist(), "b1": net.b1.tolist(), "w2": net.w2.tolist(), "b2": float(net.b2)},
        }
    return agents
