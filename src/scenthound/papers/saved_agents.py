"""Read the living agents that a crawl's strategy saved, for display or as a model for other crawls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from scenthound.errors import BadConfig, FolderBroken, ScenthoundError
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.identity import versions
from scenthound.parameters import values_of
from scenthound.store.model_folder import TrainedModel, TrainedOn
from scenthound.wiring.parts_from_settings import make_strategy


@runtime_checkable
class HasAgents(Protocol):
    """A strategy with agents. It can describe those in a saved state: what each knows and owns."""

    def agents_in(self, state: Mapping[str, Any]) -> Mapping[int, Mapping[str, Any]]: ...


@runtime_checkable
class CarriesOver(Protocol):
    """A strategy whose saved state contains a model with which another crawl can start."""

    def model_in(self, state: Mapping[str, Any]) -> Mapping[str, Any]: ...


def model_of_crawl(folder: CrawlFolder, when: str = "") -> TrainedModel:
    """The model that the strategy of a crawl has learned so far. Raises `BadConfig` if there is none."""
    request = folder.request
    strategy, state = make_strategy(request.strategy, request.parameters), folder.database.state("strategy")
    if not isinstance(strategy, CarriesOver):
        raise BadConfig(
            f"{request.strategy} has no agents that another crawl could use",
            "use a crawl by hayek-estimating or hayek-epsilon",
        )
    if not state:
        raise BadConfig(f"the crawl in {folder.path} has saved no agents yet", "let it run, or resume it")
    try:
        model = strategy.model_in(state)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        problem = f"has agents that can't be read: {str(error)[:300]}"
        raise FolderBroken(folder.path, problem, "they may be from another version") from None
    trained_on = TrainedOn("crawl", folder.path.resolve().name, "", {"pages": len(folder.history)})
    return TrainedModel(request.strategy, values_of(strategy), request.topic, trained_on, model, versions(), when)


def saved_agents(folder: CrawlFolder) -> Mapping[int, Mapping[str, Any]]:
    """The state of each living agent (what it knows and owns) at the last snapshot; empty if it is not readable."""
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
