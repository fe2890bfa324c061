"""Models and strategies: does a model fit, and is one needed, before a crawl begins or continues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scenthound.errors import BadConfig, FolderBroken
from scenthound.parameters import values_of
from scenthound.ports import Strategy, Trains, declaration_of
from scenthound.store.model_folder import TrainedModel

Make = Callable[[str, Mapping[str, Any]], Strategy]
"""A strategy by its name and parameters."""


def parameters_for_model(
    model: TrainedModel, name: str | None, parameters: Mapping[str, Any] | None, make: Make
) -> tuple[str, dict[str, Any]]:
    """The strategy and parameters to use with a model: its own. Only parameters that the strategy declares as `free`
    may be different; anything else raises `BadConfig`."""
    if name is not None and name != model.strategy:
        raise BadConfig(
            f"the model was made by {model.strategy}, and {name} can't use it",
            f"leave out --strategy, or train another: scenthound train {name} …",
        )
    made = make(model.strategy, {**model.parameters, **(parameters or {})})
    trained, wanted = values_of(make(model.strategy, model.parameters)), values_of(made)
    free = declaration_of(made).free
    for key, value in wanted.items():
        if value != trained[key] and key not in free:
            raise BadConfig(
                f"the model was trained with {key}={trained[key]!r}, not {value!r}",
                f"leave `{key}` out, or train another model with --set {key}={value}",
            )
    return model.strategy, {key: value for key, value in wanted.items() if value is not None}


def use_model(strategy: Strategy, model: TrainedModel) -> Strategy:
    """Load a model into the strategy; `FolderBroken` if it does not fit."""
    if not isinstance(strategy, Trains):
        raise BadConfig(f"{model.strategy} learns nothing before it crawls and has no use for a model", "leave it out")
    try:
        strategy.use(model.state)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise FolderBroken(
            "the model",
            f"can't be used by {model.strategy}: {f'{type(error).__name__}: {error}'[:300]}",
            f"train it again: scenthound train {model.strategy} …",
        ) from error
    return strategy


def require_model(strategy: Strategy, name: str) -> None:
    """Raise `BadConfig` for a strategy that can't start without a model."""
    if declaration_of(strategy).training == "required":
        raise BadConfig(
            f"{name} has to learn before it can crawl, and there is no model",
            f"scenthound train {name} --topic TOPIC.toml --from BED_OR_CRAWL --out model; then add --model model",
        )
