"""Metrics of a trail: one pure function per metric, named and cited as in the literature.

A trail is a sequence of `model.Step`, or of URLs, so any crawler that can print the pages it fetched can be measured.
A metric asks for data by the names of its parameters: `trail` first (or `first, second` for a pair of crawls), then
fields of `KnownAnswers` such as `targets` or `similarity`, and `at`, the numbers of pages at which to compute the value
(after every page, if None).

All curves follow the same rules (sheet 60.4). Before the first page a value is undefined: None, never 0. A crawl that
ended early keeps its last value; a rate (`Metric.is_rate`) is compared where both crawls were still running. C is a
set: a page that was fetched twice counts once, at its first visit.

Each file holds the metrics of one kind of data: known targets (`targets`), relevant pages and the judge's flags
(`harvest`), similarity to the description (`similarity`), page quality and ranks in the pool (`page_quality`), two
crawls (`crawl_pairs`). `trails` has their shared functions. To add a metric, put a file here or register an entry point
of the group `scenthound.metrics`. `lab.measure.measure` computes them all.
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
    """The value depends on measured seconds, so it differs from run to run."""
    is_rate: bool = False
    """The value is a mean over pages, such as a harvest rate, and can be compared only between crawls of equal length.
    Other metrics, such as recall, count what was found, and a crawl that has ended keeps its last value."""

    @property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the function by name: the data that the metric needs."""
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
    """The metric with this name, and parameters if it has any (`coverage:top=10`). Raises `UnknownName`, `BadUsage`.

    >>> get_metric("coverage:top=1").function("a b".split(), {"b": 1, "a": 2})
    [0.0, 1.0]
    """
    base_name, *settings = name.split(":")
    entry = METRICS.get(base_name)
    metric = entry if isinstance(entry, Metric) else Metric(entry)  # an entry point may name a bare function
    if not settings:
        return metric
    parameters = dict(_parameter(name, metric, setting) for setting in settings)
    return replace(metric, function=partial(metric.function, **parameters))


def _parameter(name: str, metric: Metric, setting: str) -> tuple[str, int | float]:
    """Parse a parameter of a metric, such as `top=10`. Parameters whose default is a number can be set."""
    defaults = {
        key: parameter.default for key, parameter in metric.needs.items() if type(parameter.default) in (int, float)
    }
    key, _, text = setting.partition("=")
    if key not in defaults:
        available = ", ".join(f"{parameter}={value}" for parameter, value in defaults.items())
        raise BadUsage(f"`{name}` has no parameter `{key}`", f"it has: {available}" if available else "it has none")
    try:
        value = type(defaults[key])(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise BadUsage(
            f"`{key}` of `{name}` can't be `{text}`", f"give a number above 0, for example {key}={defaults[key]}"
        )
    return key, value


@dataclass(frozen=True)
class KnownAnswers:
    """The known answers of one topic, computed after all crawls. None means unknown."""

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


def missing(name: str, answers: KnownAnswers, **crawl: object) -> list[str]:
    """The names of data that the metric needs and neither the answers nor the crawl's own data (`crawl`) has."""
    data = vars(answers) | crawl
    return [
        need
        for need, parameter in get_metric(name).needs.items()
        if parameter.default is parameter.empty
        and need not in ("trail", "first", "second", "at")
        and data.get(need) is None
    ]


def measure(name: str, trail: Trail, answers: KnownAnswers, at: Points = None, **crawl: object) -> Curve:
    """The curve of the metric with this name. `crawl` has data of the crawl itself, such as `rank_seconds`.

    Raises `UnknownName`, and `BadUsage` if data that the metric needs is missing.
    """
    metric = get_metric(name)
    if missing_data := missing(name, answers, **crawl):
        raise BadUsage(f"`{name}` can't be measured without {', '.join(missing_data)}", "see `missing`")
    data = vars(answers) | crawl
    arguments = {need: data[need] for need in metric.needs if data.get(need) is not None}
    values: Curve = metric.function(trail, at=at, **arguments)
    return values
