"""For every parameter of every strategy, a value that changes a crawl: the order of the pages, or their scores.

    python tests/support/parameter_effects.py            # one JSON line for each parameter; takes some minutes
    python tests/support/parameter_effects.py hound      # only those of one strategy

A parameter that changes nothing and is not in `ELSEWHERE` is removed or repaired. `CONTEXTS` has what else must be set
before some of them matter.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from scenthound.errors import ScenthoundError
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.parameters import default_of
from scenthound.strategies import STRATEGIES
from support import trails

FRONTIER = 70_000
_HAYEK = {"training": 30, "sequences": "restarted"}
_DISTILLING: dict[str, Any] = {"distiller": True, "every": 20, "recent": 10}
_HAYEKS: list[dict[str, Any]] = [
    {"training": 30},
    _HAYEK,
    {**_HAYEK, "goal": "points"},
    {**_HAYEK, "forget": False, "connected": True, "tax_interval": 5, "long_interval": 5},
    {**_HAYEK, "step": 2.0, "training": 300},
]
CONTEXTS: Mapping[str, list[dict[str, Any]]] = {
    "bayes": [{}, {"judge": "points"}],
    "cc-bfs": [{}, {"k": 3}],
    "dom": [{}, {"n": 8}],
    "best-first": [{}, {"n": 8}],
    "hub-seeking": [{}, {"n": 8}],
    "focused-soft": [{}, _DISTILLING, {"every": 20}],
    "focused-hard": [{}, _DISTILLING, {"every": 20}],
    "infospiders": [{}, {"cost": 0.3, "theta": 0.5}],
    "intelligent": [{"every": 25}],
    "apprentice": [{"after": 30}],
    "reinforcement": [{"pages": 60, "links": 400}],
    "hayek-estimating": _HAYEKS,
    "hayek-epsilon": _HAYEKS,
}
TEXTS: Mapping[str, list[str]] = {
    "features": ["words url"],
    "operators": ["or near not"],
    "goal_words": ["air"],
    "goal": ["air"],
    "weights": ["1", "1 0 0"],
    "vocabulary_from": ["0 1"],
    "inner": ["breadth-first"],
}
_LABELS = "labels re-score only the pages that are remembered"
_ESTIMATING = "agents of bid-epsilon never estimate"
ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("bayes", "recent"): f"{_LABELS}: tests/papers/test_bayes.py",
    ("focused-soft", "recent"): f"{_LABELS}: tests/papers/test_focused.py",
    ("focused-hard", "recent"): f"{_LABELS}: tests/papers/test_focused.py",
    ("hound", "compare_after"): "in a search for sites: tests/strategies/hound/test_hound.py",
    ("intelligent", "siblings"): "relevant siblings: tests/papers/test_intelligent.py",
    ("hayek-estimating", "epsilon"): "only in bid-epsilon",
    ("hayek-estimating", "hysthi"): "a difficulty that falls: the worked example of sheet 40.2",
    ("hayek-epsilon", "hysthi"): "a difficulty that falls: the worked example of sheet 40.2",
    ("hayek-epsilon", "reset_interval"): "a difficulty that has risen: tests/papers/hayek/test_future_work.py",
    **{("hayek-epsilon", name): _ESTIMATING for name in ("rate", "discount", "discount_wins")},
    **{("hayek-epsilon", name): _ESTIMATING for name in ("links_worth", "links_valued")},
}
"""Parameters whose effect needs more than a replay of this bed, and the test that shows it."""


def values(declared: Field[Any], kind: Any) -> list[Any]:
    """Allowed values other than the default, those that change most first."""
    default, bounds = default_of(declared), declared.metadata
    if names := list(bounds.get("among") or get_args(kind)):
        return [name for name in names if name != default]
    if kind is str:
        return list(TEXTS[declared.name])
    if kind is bool:
        return [not default]
    least, most, above, below = (bounds.get(name) for name in ("least", "most", "above", "below"))
    tried = [least, most, below and below - 1e-9, above and above + 1e-9, default * 10, default / 10, default * 2]
    return [
        value
        for value in dict.fromkeys(kind(number) for number in (*tried, 1, 2, 5, 20, 100, 1000) if number is not None)
        if value != default
        and (least is None or value >= least)
        and (most is None or value <= most)
        and (above is None or value > above)
        and (below is None or value < below)
    ]


def crawled(bed: Bed, strategy: str, parameters: Mapping[str, Any], frontier: int = FRONTIER) -> trails.Trail:
    limits = ReplayLimits(pages=trails.PAGES, frontier=frontier)
    result = run_cell(prepare(bed), bed.topics[0], strategy, parameters, limits, topics=bed.topics)
    if result.error:
        raise ValueError(result.error)
    return trails.trail(result.steps)


def change(before: trails.Trail, after: trails.Trail) -> str:
    """What differs: "order", "scores", or nothing."""
    if [page["url"] for page in before] != [page["url"] for page in after]:
        return "order"
    return "scores" if trails.difference(before, after) else ""


def effect(bed: Bed, strategy: str, declared: Field[Any], kind: Any) -> dict[str, Any] | None:
    """The first value that changes the order, else one that changes scores; None if there is none."""
    best: dict[str, Any] | None = None
    for frontier in (FRONTIER, 30):
        for context in CONTEXTS.get(strategy, [{}]):
            before = crawled(bed, strategy, context, frontier)
            for value in values(declared, kind):
                try:
                    what = change(before, crawled(bed, strategy, {**context, declared.name: value}, frontier))
                except (ScenthoundError, ValueError):
                    continue  # not with these other parameters
                if what and (best is None or what == "order"):
                    best = {"value": value, "with": context, "frontier": frontier, "changes": what}
                if what == "order":
                    return best
    return best


def main(names: Iterable[str]) -> int:
    """Print the effect of each parameter; 1 if one has none, here or elsewhere."""
    useless = 0
    with tempfile.TemporaryDirectory() as folder:
        bed = trails.generated_bed(Path(folder) / "bed")
        for name in names or trails.strategies():
            kind = STRATEGIES.get(name)
            hints = get_type_hints(kind)
            for declared in (declared for declared in fields(kind) if declared.init):
                found = effect(bed, name, declared, hints[declared.name])
                elsewhere = ELSEWHERE.get((name, declared.name), "")
                useless += found is None and not elsewhere
                row = {"strategy": name, "parameter": declared.name, **(found or {"elsewhere": elsewhere})}
                print(json.dumps(row), flush=True)
    return int(useless > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
