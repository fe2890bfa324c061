"""Quality floors: mean target recall of each strategy on pinned beds must not fall below its pinned value.

The recall of each topic is pinned. Tests take the first topics; their long form takes all.

    python tests/support/floors.py              # print what is measured now beside what is pinned
    python tests/support/floors.py --pin        # pin new strategies and better values
    python tests/support/floors.py --pin NAME   # the same for some strategies only
    python tests/support/floors.py --pin --lower    # also lower floors: say why in the commit

A floor is the mean of the pinned values minus one standard error. The bed's digest is pinned with it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.measure import judge
from scenthound.lab.measure.metrics import measure
from scenthound.lab.measure.statistics import mean
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.ports import Trains
from scenthound.strategies import STRATEGIES
from scenthound.wiring import make_strategy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.long_form import long_form
from support.suites import SHARED

PINNED = Path(__file__).resolve().parents[1] / "data" / "floors.json"
TOPICS, TAUGHT, ECONOMIES, PAGES = 20, 6, 2, 500  # the longer a topic takes, the fewer: teaching, and auctions
SHORT, FEWEST = 3, 2  # the short form takes a third of the topics, but two, for a standard error
LIMITS = ReplayLimits(pages=PAGES, judge="keywords")  # no strategy asks it; that of live crawls takes most of the time
GENERATED = {"pages": 2000, "seed": 11, "topics": 12}


def generated_bed(folder: Path) -> Bed:
    generate(folder, **GENERATED)
    return Bed.open(folder)


def schools_bed() -> Bed | None:
    folder = SHARED / "data" / "schools"
    return Bed.open(folder) if folder.is_dir() else None


def strategies() -> list[str]:
    """Every strategy of ours; those that learn before they crawl are taught as in any experiment."""
    return [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]


def is_taught(strategy: str) -> bool:
    return isinstance(make_strategy(strategy), Trains)


def topics_for(strategy: str) -> int:
    if strategy.startswith("hayek-"):
        return ECONOMIES
    return TAUGHT if is_taught(strategy) else TOPICS


def measured(bed: Bed, prepared: PreparedBed, strategy: str, topics: int) -> list[float]:
    """The target recall for each of the bed's first topics."""
    values = []
    for topic in bed.topics[:topics]:
        result = run_cell(prepared, topic, strategy, limits=LIMITS, topics=bed.topics)
        assert not result.error, result.error
        said = judge(prepared, topic, topic.seeds, None, {})
        values.append(measure("target_recall", result.steps, said, at=[PAGES])[0] or 0.0)
    return values


def pinned() -> dict[str, Any]:
    return json.loads(PINNED.read_text()) if PINNED.exists() else {}


def floor(values: list[float]) -> float:
    over = mean(values)
    return over.mean - over.error


def hold(name: str, bed: Bed, prepared: PreparedBed, strategy: str) -> None:
    """Fail if a strategy has no floor on a bed, or is below it."""
    pin = pinned()[name]["recall"].get(strategy)
    assert pin is not None, f"{strategy} has no floor on {name}: python tests/support/floors.py --pin {strategy}"
    every = topics_for(strategy)
    got = measured(bed, prepared, strategy, long_form(max(-(-every // SHORT), FEWEST), every))
    pin = pin[: len(got)]
    assert mean(got).mean >= floor(pin), f"{strategy} on {name}: {mean(got).mean:.4f}, pinned {pin}, got {got}"


def found(name: str, folder: Path) -> Bed | None:
    return generated_bed(folder) if name == "generated" else schools_bed()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pin", action="store_true")
    options.add_argument("--lower", action="store_true")
    options.add_argument("names", nargs="*", metavar="NAME")
    asked = options.parse_args()
    known = pinned()
    fell = 0
    with tempfile.TemporaryDirectory() as folder:
        beds = {"generated": generated_bed(Path(folder) / "bed"), "schools": schools_bed()}
        for name, bed in beds.items():
            if bed is None:
                continue
            pins = known.setdefault(name, {"digest": bed.digest, "recall": {}})
            pins["digest"] = bed.digest if asked.pin else pins["digest"]
            prepared = prepare(bed)
            for strategy in asked.names or strategies():
                values = measured(bed, prepared, strategy, topics_for(strategy))
                got, before = mean(values), pins["recall"].get(strategy)
                below = before is not None and got.mean < floor(before)
                fell += below
                was = f"pinned {mean(before).mean:.4f}" if before else "not pinned"
                print(f"{name:<10} {strategy:<18} {got.mean:.4f} ± {got.error:.4f}  {was}{'  BELOW' if below else ''}")
                if asked.pin and (before is None or got.mean > mean(before).mean or (below and asked.lower)):
                    pins["recall"][strategy] = [round(value, 6) for value in values]
    if asked.pin:
        PINNED.write_text(json.dumps(known, sort_keys=True).replace("], ", "],\n") + "\n")
    return int(bool(fell) and not (asked.pin and asked.lower))


if __name__ == "__main__":
    sys.exit(main())
