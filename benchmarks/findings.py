"""The findings of the papers, repeated: `python benchmarks/findings.py F1 F5 … | all | cost [--quick]`.

    python benchmarks/findings.py all                   every finding on every bed that it is asked on
    python benchmarks/findings.py F6 F7 --bed apache    some on one bed: schools, apache, generated, companies, a folder
    python benchmarks/findings.py all --quick           on a small generated bed; the figures mean nothing

Each finding prints tables and a verdict that follows from the criterion of sheet 00, whose words stand above it.
Crawls are kept in `--work` (runs/findings) and not run again; only their seconds differ from run to run.

To add a finding write one function under `@finding` in a module that is imported here: it is handed a bed, prints its
tables and says whether the criterion is met.

Budgets are the papers' (2,000 pages for [EXP], 4,000 for [GRAPH], 10,000 for [CHAP] and [BIZ]), but for 10,000 on
small beds 1,000 (schools), 2,000 (apache) and 2,500 (companies, [BIZ] only). One seed number; topics, where fewer than
all, evenly spaced. docs/findings.md says what of this was settled before results were seen, and what after.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import findings_biz  # noqa: F401  (puts its findings on the list)
import findings_econ  # noqa: F401
import findings_exp  # noqa: F401
import findings_spiders  # noqa: F401
from findings_graph import cost
from findings_lab import FINDINGS, Place, Settings, place

WORDS = {True: "reproduced", False: "not reproduced", None: "not testable here"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="F1|…|all|cost")
    parser.add_argument(
        "--bed", action="append", help="schools, apache, generated, companies or a folder; may be said again"
    )
    parser.add_argument("--topics", type=int, help="only so many topics of a bed, evenly spaced")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("runs/findings"), help="where beds and crawls are kept")
    parser.add_argument(
        "--quick", action="store_true", help="everything on a small generated bed; figures mean nothing"
    )
    said = parser.parse_args()
    names = [*sorted(FINDINGS, key=lambda name: int(name[1:])), "cost"] if "all" in said.names else said.names
    unknown = [name for name in names if name not in FINDINGS and name != "cost"]
    if unknown:
        parser.error(f"no finding called {', '.join(unknown)}; there are {', '.join(FINDINGS)}, cost and all")
    with tempfile.TemporaryDirectory() as aside:
        work = Path(aside) if said.quick else said.work
        repeat_all(names, said.bed, Settings(work, said.quick, said.topics, 1 if said.quick else said.jobs))


def repeat_all(names: Sequence[str], beds: Sequence[str] | None, settings: Settings) -> None:
    for name in names:
        asked = beds or (("schools",) if name == "cost" else FINDINGS[name].beds)
        if settings.quick and not beds:
            asked = ("companies" if name in ("F6", "F7") else "generated",)
        print(f"\n## {name}\n" if name == "cost" else f"\n## {name}\n\n{FINDINGS[name].says}\n", flush=True)
        for bed in asked:
            began = time.perf_counter()
            at = cached_place(bed, settings)
            if at is None:
                print(f"{bed}: skipped, ../shared is not here\n")
                continue
            print(f"### {at.about}\n", flush=True)
            if name == "cost":
                cost(at)
            else:
                verdict = WORDS[FINDINGS[name].repeat(at)]
                print(f"**{name} on {at.name}: {verdict}** ({time.perf_counter() - began:.0f} s)\n", flush=True)


@cache
def cached_place(name: str, settings: Settings) -> Place | None:
    return place(name, settings)


if __name__ == "__main__":
    main()
