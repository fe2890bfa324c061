"""Load a trained model into a strategy. Check that they fit, and that a strategy that needs a model has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scenthound.errors import BadConfig, FolderBroken
from scenthound.parameters import values_of
from scenthound.ports import Strategy, Trains, declaration_of
from scenthound.store.model_folder import TrainedModel

Make = Callable[[str, Mapping[str, Any]], Strategy]
"""Makes a strategy from its name and parameters."""


def parameters_for_model(
    model: TrainedModel, name: str | None, parameters: Mapping[str, Any] | None, make: Make
) -> tuple[str, dict[str, Any]]:
    """The strategy and parameters to use with a model: those with which it was trained.

    Only parameters that the strategy declares as `free` may differ. Raises `BadConfig` otherwise.
    """
    if name is not None and name != model.strategy:
        raise BadConfig(
            f"the model was made by {model.strategy}, and {name} can't use it",
            f"leave out --strategy, or train another model: scenthound train {name} …",
        )
    strategy = make(model.strategy, {**model.parameters, **(parameters or {})})
    trained, values = values_of(make(model.strategy, model.parameters)), values_of(strategy)
    free = declaration_of(strategy).free
    for key, value in values.items():
        if value != trained[key] and key not in free:
            raise BadConfig(
                f"the model was trained with {key}={trained[key]!r}, not {value!r}",
                f"leave `{key}` out, or train another model with --set {key}={value}",
            )
    return model.strategy, {key: value for key, value in values.items() if value is not None}


def use_model(strategy: Strategy, model: TrainedModel) -> Strategy:
    """Load a model into the strategy and return it. Raises `FolderBroken` if the model does not fit."""
    if not isinstance(strategy, Trains):
        raise BadConfig(
            f"{model.strategy} learns nothing before it crawls and can't use a model", "leave out the model"
        )
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
            f"{name} must be trained before it can crawl, and there is no model",
            f"scenthound train {name} --topic TOPIC.toml --from BED_OR_CRAWL --out model; then add --model model",
        )
