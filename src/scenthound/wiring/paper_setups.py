"""The set-ups of the papers as profiles for live crawls: limits and parameters as published (sheet 60.1).

Options that the user sets take precedence. The delay between requests to a host is ours in all profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenthound.errors import UnknownName
from scenthound.model import NOTHING
from scenthound.ports import OwnFrontier
from scenthound.wiring.parts_from_settings import make_strategy

AS_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    name: {"score": "probability"} for name in ("bayes", "focused-soft", "focused-hard")
}
"""Published parameters that differ from our defaults, by strategy."""
FETCH_ALL: Mapping[str, Mapping[str, Any]] = {**AS_PUBLISHED, "bayes": {"score": "probability", "mode": "fetch-all"}}
"""The same, with the Bayesian crawler of [ECON], which fetches all links of the page it selects."""


@dataclass(frozen=True, slots=True)
class LiveProfile:
    """The settings of a crawl, and the parameters of each strategy."""

    settings: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Any]]


PROFILES: Mapping[str, LiveProfile] = {
    "open": LiveProfile(NOTHING, NOTHING),
    "exp": LiveProfile(
        {
            "pages": 2_000,
            "frontier": 256,
            "page_timeout": 10.0,
            "page_bytes": 100_000,
            "url_length": 256,
            "not_paths": [r"\?"],  # static pages only
        },
        AS_PUBLISHED,
    ),
    "biz": LiveProfile(
        {
            "pages": 10_000,
            "frontier": 70_000,
            "concurrency": 75,
            "page_bytes": 10_000,
            "spread": 50,
            "url_length": 256,
        },
        AS_PUBLISHED,
    ),
    "graph": LiveProfile({"pages": 4_000, "url_length": 256}, AS_PUBLISHED),
    "econ": LiveProfile({"pages": 20_000, "frontier": 1_000_000, "page_timeout": 20.0}, FETCH_ALL),
}
"""`open` is our default; the others are the set-ups of [EXP], [BIZ], [GRAPH] and [ECON]."""


def profile_values(name: str, strategy: str) -> dict[str, Any]:
    """The settings and parameters of a profile for a strategy. Raises `UnknownName`."""
    if name not in PROFILES:
        raise UnknownName.among("profile", name, PROFILES)
    profile = PROFILES[name]
    settings, parameters = dict(profile.settings), dict(profile.parameters.get(strategy, NOTHING))
    if isinstance(make_strategy(strategy, parameters), OwnFrontier):
        settings.pop("spread", None)  # such a strategy chooses among hosts itself
    return {**settings, **parameters}
