"""Which crawler is better, by how much, and is it significant? Comparisons within one experiment or across two.

`measure_if_stale` makes sure that the tables of an experiment exist, have the requested points and belong to its
finished crawls; `measured.json` records what they were measured for. `compare_pairs` is for planned comparisons: one
direction, one tail. `every_pair` compares all pairs, where the direction is not known in advance: each pair is tested
in both directions, and Holm's adjustment counts all of these tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.files import write_bytes
from scenthound.lab.beds.cache import sources_digest
from scenthound.lab.measure.equal_pages import Measured, Unit, load_measured
from scenthound.lab.measure.measure import Tables, default_points, measure
from scenthound.lab.measure.metrics import METRICS, get_metric
from scenthound.lab.measure.statistics import CATEGORY, Comparison, Effect, TTest, adjust, sentence, sign_test
from scenthound.lab.run.experiment import Experiment, open_experiment, run_seeds
from scenthound.lab.run.oracles import ORACLES
from scenthound.lab.run.spec import display_name, is_oracle
from scenthound.lab.topics.crawl_starts import Start
from scenthound.model import NOTHING

LEVEL = 0.05
NOTE = "measured.json"
GivenKinds = Mapping[str, Sequence[str]]
"""The kinds of data that the lab gave each strategy, by label."""

_POOLED = {"similarity", "ranks", "linkage_ranks"}  # computed over the pages that all crawlers of a run fetched
FORMAT = 4  # version of the measured tables; raise it when the same crawls would be measured differently


def measure_if_stale(
    experiment: Experiment,
    at: Sequence[int] | None = None,
    *,
    show: bool = True,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    metrics: Sequence[str] = (),
) -> tuple[int, ...]:
    """Return the points to show, after measuring them if the tables lack them.

    The default is the points shown last, or `default_points` the first time. With `show=False` the points are measured,
    but not recorded as shown. Metrics with parameters, such as `coverage:top=10`, are measured in addition to all
    others from then on.
    """
    note = _load_note(experiment.folder)
    last_shown: tuple[int, ...] = tuple(note["shown"]) if note else default_points(experiment.spec.limits.pages)
    points = tuple(sorted(set(at))) if at else last_shown
    shown = points if show else last_shown
    state = _state(experiment)
    measured: set[int] = set(note["at"]) if note else set()
    tables_exist = all((experiment.folder / f"{name}.parquet").exists() for name in Tables._fields if name != "by_time")
    extra = sorted({*(note.get("metrics", ()) if note else ()), *(name for name in metrics if ":" in name)})
    fresh = note is not None and note["state"] == state and tables_exist
    has_metrics = note is not None and set(note.get("metrics", ())) >= set(extra)
    if not fresh or not has_metrics or not measured >= {*points, *shown}:
        measured = {*points, *shown, *(measured if fresh else ())}
        measure(experiment, sorted(measured), jobs=jobs, progress=progress, metrics=extra)
    note = {"shown": list(shown), "at": sorted(measured), "state": state, "metrics": extra}
    write_bytes(experiment.folder / NOTE, (json.dumps(note, sort_keys=True) + "\n").encode())
    return points


def points_shown(experiment: Experiment) -> tuple[tuple[int, ...], bool]:
    """The points shown last, and whether the tables are up to date with the finished crawls.

    Raises `BadConfig` if nothing has been measured yet.
    """
    note = _load_note(experiment.folder)
    if note is None:
        raise BadConfig(f"{experiment.folder} has not been measured", "run `scenthound lab measure` on it")
    return tuple(note["shown"]), note["state"] == _state(experiment)


def split_points(at: Sequence[int], last: int, unit: Unit = "pages") -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The points up to the `last` page or request, and the points beyond. Raises `BadUsage` if all are beyond.

    >>> split_points([500, 100, 2000], 1000)
    ((100, 500), (2000,))
    """
    within = tuple(sorted({point for point in at if 1 <= point <= last}))
    if not within:
        listed = ", ".join(f"{point:,}" for point in at)
        raise BadUsage(f"no value at {listed}: the crawls have {last:,} {unit}", f"give points from 1 to {last:,}")
    return within, tuple(sorted({point for point in at if point > last}))


def compare_pairs(measured: Measured, pairs: Iterable[tuple[str, str]]) -> list[Comparison]:
    """Test whether the first of each pair is better than the second; p is not adjusted (see `statistics.adjust`)."""
    return [measured.compare(first, second) for first, second in pairs]


def every_pair(measured: Measured, names: Sequence[str]) -> list[Comparison]:
    """Compare each pair, the crawler with the better mean first; p is adjusted for the tests in both directions."""
    forward = compare_pairs(measured, combinations(names, 2))
    both = adjust([*forward, *map(swapped, forward)])
    pairs = zip(both[: len(forward)], both[len(forward) :], strict=True)
    return [reverse if (first.paired.mean or 0.0) < 0 else first for first, reverse in pairs]


def swapped(comparison: Comparison) -> Comparison:
    """The comparison with first and second exchanged."""
    test, signs, effect = comparison.paired, comparison.signs, comparison.effect
    wins, losses = signs.losses, signs.wins
    return replace(
        comparison,
        first=comparison.second,
        second=comparison.first,
        means=(comparison.means[1], comparison.means[0]),
        ended=(comparison.ended[1], comparison.ended[0]),
        paired=TTest(
            _negated(test.mean), test.error, _negated(test.t), test.freedom, None if test.p is None else 1 - test.p
        ),
        signs=sign_test([1.0] * wins + [0.0] * losses, [0.0] * wins + [1.0] * losses),
        effect=None if effect is None else Effect(-effect.size, -effect.high, -effect.low),
    )


def _negated(value: float | None) -> float | None:
    return None if value is None else -value or 0.0  # never -0.0


def clear_winner(comparisons: Sequence[Comparison], names: Sequence[str], level: float = LEVEL) -> str | None:
    """The crawler that is significantly better than every other crawler, if there is one."""
    for name in names:
        beaten = {test.second for test in comparisons if test.first == name and is_significant(test, level)}
        if len(names) > 1 and beaten >= set(names) - {name}:
            return name
    return None


def is_significant(comparison: Comparison, level: float = LEVEL) -> bool:
    """Whether p, or the adjusted p if there is one, is below the level."""
    p = comparison.paired.p if comparison.adjusted is None else comparison.adjusted
    return p is not None and p < level


@dataclass(frozen=True, slots=True)
class Question:
    """What to compare: a metric at some points, which count pages or requests, over groups of topics."""

    metric: str = "target_recall"
    at: tuple[int, ...] = ()
    group_by: str = CATEGORY
    unit: Unit = "pages"


def compare_within(run: Experiment, names: Sequence[str], question: Question, **work: Any) -> list[Comparison]:
    """Compare the first crawler with each of the others, at each point; without names, compare every pair."""
    names = list(dict.fromkeys(names))
    for name in names:
        _check_crawler(name, run)
    if len(names) == 1:
        raise BadUsage(f"only `{names[0]}` to compare", f"name another; {run.folder} has: {', '.join(crawlers(run))}")
    comparisons: list[Comparison] = []
    for measured in _measured(run, question, **work):
        if names:
            comparisons += compare_pairs(measured, [(names[0], other) for other in names[1:]])
        else:
            comparisons += every_pair(measured, non_oracles(crawlers(run), run.spec.given))
    return adjust(comparisons) if names and len(comparisons) > 1 else comparisons


def compare_across(
    runs: tuple[Experiment, Experiment], names: tuple[str, str], question: Question, **work: Any
) -> list[Comparison]:
    """Compare crawlers of two experiments on the same bed, with the same limits, seeds and targets.

    Raises `BadConfig` if any of these differ, and for metrics that are computed over all crawlers of one run.
    """
    ours, theirs = runs
    if reason := ours.spec.conflict(theirs.spec) or topic_conflict(ours, theirs):
        raise BadConfig(
            f"{ours.folder} and {theirs.folder} can't be compared: {reason}",
            "run both strategies on the same bed and topics under the same limits",
        )
    if pooled := _POOLED & set(get_metric(question.metric).needs):
        raise BadConfig(
            f"`{question.metric}` can't be compared across runs: its {', '.join(sorted(pooled))} is computed over the "
            "pages that all crawlers of one run found",
            f"run both strategies with --out {ours.folder}, or compare target_recall",
        )
    for run, name in zip(runs, names, strict=True):
        _check_crawler(name, run)
    labels = names if names[0] != names[1] else (f"{names[0]} ({ours.folder})", f"{names[1]} ({theirs.folder})")
    pairs = zip(_measured(ours, question, **work), _measured(theirs, question, **work), strict=True)
    comparisons = [first.joined(names[0], second, names[1], labels).compare(*labels) for first, second in pairs]
    return adjust(comparisons) if len(comparisons) > 1 else comparisons


def _measured(run: Experiment, question: Question, **work: Any) -> list[Measured]:
    """The metric at each point, after measuring it if the tables lack it."""
    get_metric(question.metric)
    measure_if_stale(run, question.at, show=False, metrics=(question.metric,), **work)
    measured = load_measured(run, question.metric, question.at, question.group_by, question.unit)
    return [measured[point] for point in question.at]


def topic_conflict(ours: Experiment, theirs: Experiment) -> str:
    """Why crawls for the topics that two experiments share can't be compared; empty if they can.

    The seeds that the crawls started from, the targets and the keywords must be the same. A description or an example
    may differ: it changes no metric that is compared across runs.
    """
    others = {topic.id: topic for topic in theirs.topics}
    shared = [(topic, others[topic.id]) for topic in ours.topics if topic.id in others]
    if not shared:
        return "they have no topic in common"
    numbers = ours.spec.seed_numbers, theirs.spec.seed_numbers
    if ours.spec.start != str(Start()) and numbers[0] != numbers[1]:
        return f"their seeds were drawn with the seed numbers {numbers[0]} and {numbers[1]}"
    for topic, other in shared:
        seeds = run_seeds(topic, ours.spec.seeds_per_run), run_seeds(other, theirs.spec.seeds_per_run)
        for name, (first, second) in {"seeds": seeds, "targets": (topic.targets, other.targets)}.items():
            if set(first) != set(second):
                equal_number = ", and not the same ones" if len(first) == len(second) else ""
                return f"topic {topic.id} has {len(first)} {name} and {len(second)}{equal_number}"
        if topic.keywords != other.keywords:
            return f"topic {topic.id} has different keywords"
    return ""


def crawlers(run: Experiment) -> list[str]:
    """The strategies and reference lines of an experiment, in this order."""
    return [*run.spec.strategies, *(ORACLES if run.spec.oracles else ())]


def non_oracles(names: Sequence[str], given: GivenKinds = NOTHING) -> list[str]:
    """The strategies that see only what a crawler sees; all strategies if all are oracles."""
    strategies = [name for name in names if name not in ORACLES]
    return [name for name in strategies if not is_oracle(name, given)] or strategies


def with_display_names(comparison: Comparison, given: GivenKinds = NOTHING) -> Comparison:
    """The comparison with display names: strategies in an oracle mode are marked."""
    return replace(
        comparison, first=display_name(comparison.first, given), second=display_name(comparison.second, given)
    )


def open_run(folder: str | Path) -> Experiment:
    """Open the experiment in a folder. Raises `BadConfig` if none of its crawls is done."""
    run = open_experiment(folder)
    if not run.outcomes():
        raise BadConfig(f"no crawl of {folder} is done", "run the same `scenthound lab run` again to resume it")
    return run


def as_json(comparison: Comparison, given: GivenKinds = NOTHING) -> dict[str, Any]:
    """A comparison as JSON data, with its sentence; `given` is what the lab gave each strategy."""
    first, second = comparison.means
    test, signs, effect = comparison.paired, comparison.signs, comparison.effect
    return {
        "first": comparison.first,
        "second": comparison.second,
        "metric": comparison.metric,
        "at": comparison.at,
        "lower_is_better": comparison.lower_is_better,
        "by": comparison.unit,
        "topics": first.number,
        "groups": comparison.groups,
        "ended": {"first": comparison.ended[0], "second": comparison.ended[1]},
        "at_equal_length": comparison.is_rate,
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
        "given": {name: list(given[name]) for name in (comparison.first, comparison.second) if name in given},
        "sentence": sentence(with_display_names(comparison, given)),
    }


def _check_crawler(name: str, run: Experiment) -> None:
    if name not in crawlers(run):
        raise UnknownName.among(f"crawler in {run.folder}", name, crawlers(run))


def _state(experiment: Experiment) -> str:
    """A digest of the finished crawls and of the code of plug-in metrics."""
    modules = {get_metric(name).function.__module__ for name in METRICS.names()}
    plugins = sorted(module for module in modules if not module.startswith("scenthound."))
    digest = hashlib.sha256(f"{FORMAT} {sources_digest(plugins)}".encode())
    for key, outcome in sorted(experiment.outcomes().items()):
        digest.update(f"{key} {outcome.pages} {outcome.reason}\n".encode())
    return digest.hexdigest()


def _load_note(folder: Path) -> dict[str, Any] | None:
    try:
        note = json.loads((folder / NOTE).read_bytes())
        numbers = [*note["shown"], *note["at"]]
        names = note.get("metrics", [])
        usable = note["shown"] and "state" in note and all(type(number) is int and number > 0 for number in numbers)
        usable = usable and isinstance(names, list) and all(isinstance(name, str) for name in names)
        return dict(note) if usable else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
