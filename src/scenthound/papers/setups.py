"""The set-ups of the papers as profiles for live crawls: limits and parameters as published (sheet 60.1).

The delay between requests to a host is ours in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenthound.wiring.profiles import PROFILES, LiveProfile

AS_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    name: {"score": "probability"} for name in ("bayes", "focused-soft", "focused-hard")
}
"""Published parameters that differ from our defaults, by strategy."""
FETCH_ALL: Mapping[str, Mapping[str, Any]] = {**AS_PUBLISHED, "bayes": {"score": "probability", "mode": "fetch-all"}}
"""The same, with the Bayesian crawler of [ECON], which fetches all links of the page it selects."""
LIVE: Mapping[str, LiveProfile] = {
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
"""The set-ups of [EXP], [BIZ], [GRAPH] and [ECON]."""

for _name, _profile in LIVE.items():
    PROFILES.add(_name)(_profile)
