"""The living agents of a crawl, as its strategy saved them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from scenthound.errors import FolderBroken, ScenthoundError
from scenthound.loop.folder import CrawlFolder
from scenthound.wiring.build import make_strategy


@runtime_checkable
class HasAgents(Protocol):
    """A strategy with a population: it can say what the agents in one of its saved states know and own."""

    def agents_in(self, state: Mapping[str, Any]) -> Mapping[int, Mapping[str, Any]]: ...


def saved_agents(folder: CrawlFolder) -> Mapping[int, Mapping[str, Any]]:
    """What each living agent knew and owned at the last snapshot; empty if there is none that can be read."""
    request = folder.request
    try:
        strategy, state = make_strategy(request.strategy, request.parameters), folder.database.state("strategy")
    except (ScenthoundError, FolderBroken):  # a plug-in that is not installed here, or a damaged state
        return {}
    if not state or not isinstance(strategy, HasAgents):
        return {}
    try:
        return strategy.agents_in(state)
    except (KeyError, ValueError, TypeError, IndexError):  # the state of another version
        return {}
