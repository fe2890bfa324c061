"""Metrics of a trail: one pure function per metric, named and cited as in the literature.

A trail is a sequence of `model.Step`, or of URLs, so any crawler that can print the pages it fetched can be measured.
A metric asks for data by the names of its parameters: `trail` first (or `first, second` for a pair of crawls), then
fields of a `Judgement` such as `targets` or `similarity`, and `at`, the numbers of pages after which its value is
wanted (every page, if None).

All curves follow the same rules (sheet 60.4). Before the first page a value is undefined: None, never 0. A crawl that
ended early keeps its last value; comparisons take a rate (`Metric.is_rate`) where both crawls still ran. C is a set: a
page that was fetched twice counts once, where it came first. To add a metric, put a file here or register an
entry point of the group `scenthound.metrics`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
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
    is_rate: bool = False
    """It is a mean over pages, such as a harvest rate: of a crawl that ended early it can be compared only with that of
    a crawl of as many pages. Others, such as recall, count what was found, and an ended crawl keeps that."""

    @property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """Its parameters by name: the data it needs."""
        return inspect.signature(self.function).parameters


METRICS: Registry[Metric | Callable[..., Any]] = Registry("metric", "scenthound.metrics", __name__)


def metric(
    name: str, *, lower_is_better: bool = False, is_timed: bool = False, is_rate: bool = False
) -> Callable[[F], F]:
    """Decorator: register a metric under a name."""

    def register(function: F) -> F:
        METRICS.add(name)(Metric(function, lower_is_better, is_timed, is_rate))
        return function

    return register


def get_metric(name: str) -> Metric:
    """The metric of that name, with parameters as in `coverage:top=10`. Raises `UnknownName` and `BadUsage`.

    >>> get_metric("coverage:top=1").function("a b".split(), {"b": 1, "a": 2})
    [0.0, 1.0]
    """
    plain, *settings = name.split(":")
    entry = METRICS.get(plain)
    metric = entry if isinstance(entry, Metric) else Metric(entry)  # an entry point may name a bare function
    if not settings:
        return metric
    chosen = dict(_parameter(name, metric, setting) for setting in settings)
    return replace(metric, function=partial(metric.function, **chosen))


def _parameter(name: str, metric: Metric, setting: str) -> tuple[str, int | float]:
    """One parameter of a metric, such as `top=10`: those whose default is a number can be set."""
    usual = {
        key: parameter.default for key, parameter in metric.needs.items() if type(parameter.default) in (int, float)
    }
    key, _, text = setting.partition("=")
    if key not in usual:
        listed = ", ".join(f"{each}={value}" for each, value in usual.items())
        raise BadUsage(f"`{name}` has no parameter `{key}`", f"it has: {listed}" if listed else "it has none")
    try:
        value = type(usual[key])(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise BadUsage(f"`{key}` of `{name}` can't be `{text}`", f"give a number above 0, as {key}={usual[key]}")
    return key, value


@dataclass(frozen=True)
class Judgement:
    """The known answers of one topic, computed after all crawls. A field that is None is not known."""

    targets: Set[str] | None = None
    seeds: Set[str] = frozenset()
    dead: Set[str] | None = None
    """Targets that the recorded web lacks."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The bed's redirects: URL to target."""
    relevant: Set[str] | None = None
    """Pages on topic."""
    relevance: Mapping[str, float] | None = None
    """Graded relevance of pages."""
    similarity: Mapping[str, float] | None = None
    """Similarity to the description of every page of the topic's pool (sheet 10.3)."""
    ranks: Mapping[str, int] | None = None
    """rank_SMART of every page of the pool."""
    linkage_ranks: Mapping[str, int] | None = None
    """rank_KW,PR of every page of the pool."""
    goals: Set[str] | None = None
    """Goal pages of [ECON]: the targets, under the URLs of their pages."""
    qualities: Mapping[str, Callable[[str], float]] | None = None
    """Measures of a page by name (`quality.qualities_of`)."""


def curves() -> list[str]:
    """The metrics of a single trail with a value after every page."""
    return [name for name in METRICS.names() if {"trail", "at"} <= set(get_metric(name).needs)]


def missing(name: str, judgement: Judgement, **crawl: object) -> list[str]:
    """What the metric needs and neither the judgement nor the data of the crawl (`crawl`) has."""
    data = vars(judgement) | crawl
    return [
        need
        for need, parameter in get_metric(name).needs.items()
        if parameter.default is parameter.empty
        and need not in ("trail", "first", "second", "at")
        and data.get(need) is None
    ]


def measure(name: str, trail: Trail, judgement: Judgement, at: Points = None, **crawl: object) -> Curve:
    """The curve of the metric called `name`. `crawl` is data of the crawl itself, as `rank_seconds`.

    Raises `UnknownName`, and `BadUsage` if data that the metric needs is missing.
    """
    metric = get_metric(name)
    if lacking := missing(name, judgement, **crawl):
        raise BadUsage(f"`{name}` can't be measured without {', '.join(lacking)}", "see `missing`")
    data = vars(judgement) | crawl
    arguments = {need: data[need] for need in metric.needs if data.get(need) is not None}
    values: Curve = metric.function(trail, at=at, **arguments)
    return values
