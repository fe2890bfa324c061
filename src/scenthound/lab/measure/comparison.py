"""Who is better, by how much, and may it be said at all? Comparisons within one experiment or across two.

`measure_if_stale` sees to it that an experiment's tables are there, hold the points asked for and belong to the crawls that are
done; what it measured for is kept in `measured.json`. `compared` is for a comparison that was asked for beforehand: one
direction, one tail. `every_pair` asks of all pairs at once who is better, so the direction is not known beforehand:
each pair is tested both ways, and Holm's adjustment counts all of these tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.files import write_bytes
from scenthound.lab.beds.cache import sources_digest
from scenthound.lab.measure.measure import default_points, measure, topic_values
from scenthound.lab.measure.metrics import METRICS, get_metric
from scenthound.lab.measure.statistics import Comparison, Effect, TTest, adjust, compare, sentence, sign_test
from scenthound.lab.run.experiment import Experiment, open_experiment
from scenthound.lab.run.oracles import ORACLES
from scenthound.lab.run.spec import display_name, is_oracle
from scenthound.model import NOTHING

LEVEL = 0.05
NOTE = "measured.json"
TABLES = ("metrics", "costs", "reach", "pairs", "topics")
Values = Mapping[str, Mapping[str, float | None]]
Given = Mapping[str, Sequence[str]]
"""Each crawler's value per topic."""

_POOLED = {"similarity", "ranks", "linkage_ranks"}  # judged over the pages that all crawlers of a run brought home
FORMAT = 1  # of the measured tables; raise it when the same crawls would be measured differently


def measure_if_stale(
    experiment: Experiment,
    at: Sequence[int] | None = None,
    *,
    show: bool = True,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, ...]:
    """The points to show, with tables that have them; measures only where something is new.

    Unless points are given, those shown last; at first `default_points`. With `show=False` the given points are
    measured as well but those shown stay.
    """
    note = _load_note(experiment.folder)
    kept: tuple[int, ...] = tuple(note["shown"]) if note else default_points(experiment.spec.limits.pages)
    asked = tuple(sorted(set(at))) if at else kept
    shown = asked if show else kept
    state = _state(experiment)
    have: set[int] = set(note["at"]) if note else set()
    fresh = note is not None and note["state"] == state and all(_table(experiment, name).exists() for name in TABLES)
    if not fresh or not have >= {*asked, *shown}:
        have = {*asked, *shown, *(have if fresh else ())}
        measure(experiment, sorted(have), jobs=jobs, progress=progress)
    _save_note(experiment.folder, {"shown": list(shown), "at": sorted(have), "state": state})
    return asked


def split_points(at: Sequence[int], pages: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The points that crawls of so many pages can have a value at, and those beyond. Raises where none is left.

    >>> split_points([500, 100, 2000], 1000)
    ((100, 500), (2000,))
    """
    within = tuple(sorted({point for point in at if 1 <= point <= pages}))
    if not within:
        told = ", ".join(f"{point:,}" for point in at)
        raise BadUsage(f"no value at {told}: the crawls have {pages:,} pages", f"points lie between 1 and {pages:,}")
    return within, tuple(sorted({point for point in at if point > pages}))


def compare_pairs(values: Values, pairs: Iterable[tuple[str, str]], metric: str, at: int | None) -> list[Comparison]:
    """Is the first of each pair better than the second? Not adjusted yet: `stats.adjust` does that for a family."""
    lower = get_metric(metric).lower_is_better
    return [compare((a, values.get(a, {})), (b, values.get(b, {})), metric, at, lower) for a, b in pairs]


def every_pair(values: Values, names: Sequence[str], metric: str, at: int | None) -> list[Comparison]:
    """Each pair once, the one with the better mean first; p adjusted for all pairs in both directions."""
    one_way = compare_pairs(values, combinations(names, 2), metric, at)
    both = adjust([*one_way, *map(swapped, one_way)])
    number = len(one_way)
    pairs = zip(both[:number], both[number:], strict=True)
    return [turn if (one.paired.mean or 0.0) < 0 else one for one, turn in pairs]


def swapped(one: Comparison) -> Comparison:
    """The same comparison asked the other way round."""
    test, signs, effect = one.paired, one.signs, one.effect
    wins, losses = signs.losses, signs.wins
    return replace(
        one,
        first=one.second,
        second=one.first,
        means=(one.means[1], one.means[0]),
        paired=TTest(_less(test.mean), test.error, _less(test.t), test.freedom, None if test.p is None else 1 - test.p),
        signs=sign_test([1.0] * wins + [0.0] * losses, [0.0] * wins + [1.0] * losses),
        effect=None if effect is None else Effect(-effect.size, -effect.high, -effect.low),
    )


def _less(value: float | None) -> float | None:
    return None if value is None else -value or 0.0  # never -0.0


def _rest(p: float | None) -> float | None:
    return None if p is None else 1.0 - p


def clear_winner(comparisons: Sequence[Comparison], names: Sequence[str], level: float = LEVEL) -> str | None:
    """The crawler that is shown to be better than every other one, if there is one."""
    for name in names:
        won = {one.second for one in comparisons if one.first == name and is_significant(one, level)}
        if len(names) > 1 and won >= set(names) - {name}:
            return name
    return None


def is_significant(comparison: Comparison, level: float = LEVEL) -> bool:
    """Whether a difference has been shown."""
    p = comparison.paired.p if comparison.adjusted is None else comparison.adjusted
    return p is not None and p < level


def compare_within(
    run: Experiment, names: Sequence[str], metric: str, at: Sequence[int], **work: Any
) -> list[Comparison]:
    """The first crawler against each of the others, at each point; every pair both ways where none is named."""
    known = crawlers(run)
    names = list(dict.fromkeys(names))
    for name in names:
        _check(name, known, run.folder)
    if len(names) == 1:
        raise BadUsage(f"only `{names[0]}` to compare", f"name another; {run.folder} has: {', '.join(known)}")
    get_metric(metric)
    measure_if_stale(run, at, show=False, **work)
    found: list[Comparison] = []
    for point in at:
        values = topic_values(run, metric, point)
        if names:
            found += compare_pairs(values, [(names[0], other) for other in names[1:]], metric, point)
        else:
            found += every_pair(values, non_oracles(known, run.spec.given), metric, point)
    return adjust(found) if names and len(found) > 1 else found


def compare_across(
    runs: tuple[Experiment, Experiment], names: tuple[str, str], metric: str, at: Sequence[int], **work: Any
) -> list[Comparison]:
    """A crawler of one experiment against one of another, which must have been run alike.

    Raises `BadConfig` that names what differs, and for metrics that are judged over all crawlers of one run.
    """
    ours, theirs = runs
    if reason := ours.spec.conflict(theirs.spec):
        raise BadConfig(
            f"{ours.folder} and {theirs.folder} can't be compared: {reason}",
            "run both strategies on the same bed under the same limits",
        )
    if pooled := _POOLED & set(get_metric(metric).needs):
        raise BadConfig(
            f"`{metric}` can't be compared across runs: its {', '.join(sorted(pooled))} is judged over the pages that "
            "all crawlers of one run found",
            f"run both strategies with --out {ours.folder}, or compare target_recall",
        )
    for run, name in zip(runs, names, strict=True):
        _check(name, crawlers(run), run.folder)
        measure_if_stale(run, at, show=False, **work)
    labels = names if names[0] != names[1] else (f"{names[0]} ({ours.folder})", f"{names[1]} ({theirs.folder})")
    found: list[Comparison] = []
    for point in at:
        values = {
            label: topic_values(run, metric, point)[name] for label, run, name in zip(labels, runs, names, strict=True)
        }
        found += compare_pairs(values, [labels], metric, point)
    return adjust(found) if len(found) > 1 else found


def crawlers(run: Experiment) -> list[str]:
    """Strategies and reference lines of an experiment, in that order."""
    return [*run.spec.strategies, *(ORACLES if run.spec.oracles else ())]


def non_oracles(names: Sequence[str], given: Given = NOTHING) -> list[str]:
    """Those that see only what a crawler sees, for oracles are not to be compared with them; all if all are oracles."""
    strategies = [name for name in names if name not in ORACLES]
    return [name for name in strategies if not is_oracle(name, given)] or strategies


def with_display_names(comparison: Comparison, given: Given = NOTHING) -> Comparison:
    """The same comparison with a mark behind the names of strategies in an oracle mode."""
    return replace(
        comparison, first=display_name(comparison.first, given), second=display_name(comparison.second, given)
    )


def open_run(folder: str | Path) -> Experiment:
    """The experiment in a folder, if any of its crawls is done."""
    run = open_experiment(folder)
    if not run.outcomes():
        raise BadConfig(f"no crawl of {folder} is done", "run the same `scenthound lab run` again to go on")
    return run


def as_json(comparison: Comparison, given: Given = NOTHING) -> dict[str, Any]:
    """A comparison as plain data, with its sentence; `given` is what the lab handed to each strategy."""
    first, second = comparison.means
    test, signs, effect = comparison.paired, comparison.signs, comparison.effect
    return {
        "first": comparison.first,
        "second": comparison.second,
        "metric": comparison.metric,
        "at": comparison.at,
        "lower_is_better": comparison.lower_is_better,
        "topics": first.number,
        "means": {"first": first.mean, "second": second.mean},
        "se": {"first": first.error, "second": second.error},
        "difference": test.mean,
        "difference_se": test.error,
        "t": test.t,
        "df": test.freedom,
        "p": test.p,
        "holm": comparison.adjusted,
        "sign_test": {"wins": signs.wins, "losses": signs.losses, "p": signs.p},
        "effect": None if effect is None else {"d": effect.size, "low": effect.low, "high": effect.high},
        "topics_left_out": list(comparison.left_out),
        "shown": is_significant(comparison),
        "oracles": [name for name in (comparison.first, comparison.second) if is_oracle(name, given)],
        "sentence": sentence(with_display_names(comparison, given)),
    }


def _check(name: str, known: Sequence[str], folder: Path) -> None:
    if name not in known:
        raise UnknownName.among(f"crawler in {folder}", name, known)


def _state(experiment: Experiment) -> str:
    """A digest of the crawls that are done and of what measures them."""
    modules = {get_metric(name).function.__module__ for name in METRICS.names()}
    plugins = sorted(module for module in modules if not module.startswith("scenthound."))
    whole = hashlib.sha256(f"{FORMAT} {sources_digest(plugins)}".encode())
    for key, outcome in sorted(experiment.outcomes().items()):
        whole.update(f"{key} {outcome.pages} {outcome.reason}\n".encode())
    return whole.hexdigest()


def _table(experiment: Experiment, name: str) -> Path:
    return experiment.folder / f"{name}.parquet"


def _load_note(folder: Path) -> dict[str, Any] | None:
    try:
        note = json.loads((folder / NOTE).read_bytes())
        numbers = [*note["shown"], *note["at"]]
        usable = note["shown"] and "state" in note and all(isinstance(number, int) and number > 0 for number in numbers)
        return dict(note) if usable else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save_note(folder: Path, note: Mapping[str, Any]) -> None:
    write_bytes(folder / NOTE, (json.dumps(note, sort_keys=True) + "\n").encode())
