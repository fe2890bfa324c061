"""The findings of the papers, repeated: `python benchmarks/findings.py F1 F5 … | all | cost [--quick]`.

    python benchmarks/findings.py F1 F2 F3 F4 --bed schools      some findings on one bed
    python benchmarks/findings.py F6 F7 --bed companies --topics 12
    python benchmarks/findings.py all                            every finding on every bed that it is asked on: hours
    python benchmarks/findings.py all --quick                    on a small generated web; the figures mean nothing

Beds are schools, apache, generated and companies (one realistic web, its subjects and its companies), economy (another,
for the tasks of [ECON]), or a folder.
Each finding prints tables and a verdict by the rules of docs/findings-criteria.md, writes both to `--tables`
(docs/findings), a file for each finding and bed, and draws its figures there. Crawls are kept in `--work`
(runs/findings) and not run again, so an interrupted finding goes on where it stopped; only seconds differ from run to
run.

To add a finding write one function under `@finding` in a module that is imported here: it is handed a bed, prints its
tables and returns the verdict.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import findings_biz  # noqa: F401  (puts its findings on the list)
import findings_board  # noqa: F401
import findings_econ  # noqa: F401
import findings_exp  # noqa: F401
import findings_spiders  # noqa: F401
from findings_graph import cost
from findings_lab import FINDINGS, Place, Settings, place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="F1|…|all|cost")
    parser.add_argument(
        "--bed", action="append", help="schools, apache, generated, companies, economy or a folder; may be said again"
    )
    parser.add_argument("--topics", type=int, help="only so many topics of a bed, evenly spaced")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("runs/findings"), help="where beds and crawls are kept")
    parser.add_argument("--tables", type=Path, default=Path("docs/findings"), help="where tables and figures go")
    parser.add_argument(
        "--quick", action="store_true", help="everything on a small generated bed; figures mean nothing"
    )
    said = parser.parse_args()
    names = (
        [*sorted(FINDINGS, key=lambda name: (name[0], int(name[1:]))), "cost"] if "all" in said.names else said.names
    )
    unknown = [name for name in names if name not in FINDINGS and name != "cost"]
    if unknown:
        parser.error(f"no finding called {', '.join(unknown)}; there are {', '.join(FINDINGS)}, cost and all")
    with tempfile.TemporaryDirectory() as aside:
        work, tables = (Path(aside), Path(aside)) if said.quick else (said.work, said.tables)
        repeat_all(names, said.bed, Settings(work, said.quick, said.topics, 1 if said.quick else said.jobs, tables))


def repeat_all(names: Sequence[str], beds: Sequence[str] | None, settings: Settings) -> None:
    for name in names:
        asked = beds or (("schools",) if name == "cost" else FINDINGS[name].beds)
        if settings.quick and not beds:
            asked = ("companies" if name in ("F6", "F7") else "generated",)
        for bed in asked:
            at = cached_place(bed, settings)
            if at is None:
                print(f"{name} on {bed}: skipped, ../shared is not here\n")
            elif name == "cost":
                cost(at)
            else:
                repeat(name, at)


def repeat(name: str, at: Place) -> None:
    """Repeat a finding on a bed, print it and write it to its file."""
    began, text = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(text):
        print(f"# {name} on {at.name}\n\n{FINDINGS[name].says}\n\n{at.about}\n")
        verdict = FINDINGS[name].repeat(at)
        print(f"**{name} on {at.name}: {verdict}**")
    print(text.getvalue() + f"\n({time.process_time() - began:.0f} CPU seconds of this process)\n", flush=True)
    at.settings.tables.mkdir(parents=True, exist_ok=True)
    (at.settings.tables / f"{name}-{at.name}.md").write_text(text.getvalue(), encoding="utf-8")


@cache
def cached_place(name: str, settings: Settings) -> Place | None:
    return place(name, settings)


if __name__ == "__main__":
    main()
