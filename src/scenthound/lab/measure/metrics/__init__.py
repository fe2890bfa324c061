"""What a trail was worth: one function per metric, pure, named and cited as in the literature.

A trail is a sequence of `model.Step`, or simply of URLs, so any crawler that can print the pages it
fetched can be measured. A metric asks for what it needs by the names of its parameters: `trail`
first (or `first, second` for a pair of crawls), then fields of a `Judgement` such as `targets` or
`similarity`, and `at`, the numbers of pages after which its value is wanted (every page, if None).

All curves treat the same things alike (sheet 60.4). Before the first page a value is undefined:
None, a gap, never 0. A crawl that ended early keeps its last value. C is a set: a page fetched
twice counts where it came first. Put a file here, or register an entry point of the group
`scenthound.metrics`, and the metric can be asked for by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, TypeVar

from scenthound.errors import BadUsage
from scenthound.model import Step
from scenthound.plugins import Registry

Trail = Sequence[Step] | Sequence[str]
Points = Sequence[int] | None
Curve = list[float | None]

F = TypeVar("F", bound=Callable[..., Any])

NO_ALIASES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered metric."""

    function: Callable[..., Any]
    lower_is_better: bool = False
    is_timed: bool = False
    """Its value depends on seconds, so it differs from run to run."""

    @property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """What it asks for, by name."""
        return inspect.signature(self.function).parameters


METRICS: Registry[Metric | Callable[..., Any]] = Registry("metric", "scenthound.metrics", __name__)


def metric(name: str, *, lower_is_better: bool = False, is_timed: bool = False) -> Callable[[F], F]:
    """Decorator: register a metric under a name."""

    def register(function: F) -> F:
        METRICS.add(name)(Metric(function, lower_is_better, is_timed))
        return function

    return register


def get_metric(name: str) -> Metric:
    """The metric of that name. Raises `UnknownName`."""
    found = METRICS.get(name)
    return found if isinstance(found, Metric) else Metric(found)  # an entry point may name a bare function


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge of one topic knows, computed after all crawls. A field that is None was not judged."""

    targets: Set[str] | None = None
    seeds: Set[str] = frozenset()
    dead: Set[str] | None = None
    """Targets that the recorded web lacks."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Redirects known to the bed: URL to where it leads."""
    relevant: Set[str] | None = None
    """Pages on topic, yes or no."""
    relevance: Mapping[str, float] | None = None
    """Pages on topic, by degree."""
    similarity: Mapping[str, float] | None = None
    """Similarity to the description of every page of the topic's pool (sheet 10.3)."""
    ranks: Mapping[str, int] | None = None
    """rank_SMART of every page of the pool."""
    linkage_ranks: Mapping[str, int] | None = None
    """rank_KW,PR of every page of the pool."""
    goals: Set[str] | None = None


def curves() -> list[str]:
    """The metrics of one trail that have a value after every page."""
    return [name for name in METRICS.names() if {"trail", "at"} <= set(get_metric(name).needs)]


def missing(name: str, judgement: Judgement, **crawl: object) -> list[str]:
    """What the metric needs and neither the judgement nor the crawl's own record (`crawl`) has."""
    given = _known(judgement) | crawl
    return [
        need
        for need, parameter in get_metric(name).needs.items()
        if parameter.default is parameter.empty
        and need not in ("trail", "first", "second", "at")
        and given.get(need) is None
    ]


def measure(name: str, trail: Trail, judgement: Judgement, at: Points = None, **crawl: object) -> Curve:
    """The curve of the metric called `name`. `crawl` holds what only the crawl knows, as `rank_seconds`.

    Raises `UnknownName`, and `BadUsage` where something that the metric needs is missing.
    """
    found = get_metric(name)
    if lacking := missing(name, judgement, **crawl):
        raise BadUsage(f"`{name}` can't be measured without {', '.join(lacking)}", "see `missing`")
    given = _known(judgement) | crawl
    chosen = {need: given[need] for need in found.needs if given.get(need) is not None}
    values: Curve = found.function(trail, at=at, **chosen)
    return values


def _known(judgement: Judgement) -> dict[str, object]:
    return {known.name: getattr(judgement, known.name) for known in fields(judgement)}
