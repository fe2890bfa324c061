"""Profiles: named settings and parameters of a live crawl. Options that the user sets take precedence.

`open` is our default. Other packages add theirs through the entry-point group `scenthound.profiles`, such as
`papers.setups` with the set-ups of the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenthound.model import NOTHING
from scenthound.plugins import Registry
from scenthound.ports import OwnFrontier
from scenthound.wiring.parts_from_settings import make_strategy


@dataclass(frozen=True, slots=True)
class LiveProfile:
    """The settings of a crawl, and the parameters of each strategy."""

    settings: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Any]]


PROFILES: Registry[LiveProfile] = Registry("profile", "scenthound.profiles", __name__)
PROFILES.add("open")(LiveProfile(NOTHING, NOTHING))


def profile_values(name: str, strategy: str) -> dict[str, Any]:
    """The settings and parameters of a profile for a strategy. Raises `UnknownName`."""
    profile = PROFILES.get(name)
    settings, parameters = dict(profile.settings), dict(profile.parameters.get(strategy, NOTHING))
    if isinstance(make_strategy(strategy, parameters), OwnFrontier):
        settings.pop("spread", None)  # such a strategy chooses among hosts itself
    return {**settings, **parameters}
