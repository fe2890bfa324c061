"""Repeat the findings of the papers: `python benchmarks/findings.py F1 F5 … | all | cost [--quick]`.

    python benchmarks/findings.py F1 F2 F3 F4 --bed schools      some findings on one bed
    python benchmarks/findings.py F6 F7 --bed companies --topics 12
    python benchmarks/findings.py all                            every finding on all of its beds: takes hours
    python benchmarks/findings.py all --quick                    on a small generated web; its figures are meaningless

Beds are schools, apache, generated and companies (the subjects and the companies of one realistic web), economy
(another realistic web, for the tasks of [ECON]), or a folder.
Each finding prints tables and a verdict by the rules of docs/findings-criteria.md, and writes them to `--tables`
(docs/findings), one file per finding and bed, together with its figures. Crawls are kept in `--work` (runs/findings)
and not repeated, so an interrupted finding continues where it stopped; only timings differ from run to run.

To add a finding, write a function with the decorator `@finding` in a module that is imported here: it is given a bed,
prints its tables and returns the verdict.
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

import findings_biz  # noqa: F401  (registers its findings)
import findings_board  # noqa: F401
import findings_econ  # noqa: F401
import findings_exp  # noqa: F401
import findings_spiders  # noqa: F401
from findings_graph import cost
from findings_lab import FINDINGS, BenchWeb, Settings, open_web


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="F1|…|all|cost")
    parser.add_argument(
        "--bed", action="append", help="schools, apache, generated, companies, economy or a folder; can be repeated"
    )
    parser.add_argument("--topics", type=int, help="use at most this many topics of a bed, evenly spaced")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("runs/findings"), help="folder for beds and crawls")
    parser.add_argument("--tables", type=Path, default=Path("docs/findings"), help="folder for tables and figures")
    parser.add_argument(
        "--quick", action="store_true", help="run on a small generated bed; the figures are meaningless"
    )
    options = parser.parse_args()
    names = (
        [*sorted(FINDINGS, key=lambda name: (name[0], int(name[1:]))), "cost"]
        if "all" in options.names
        else options.names
    )
    unknown = [name for name in names if name not in FINDINGS and name != "cost"]
    if unknown:
        parser.error(f"no finding called {', '.join(unknown)}; there are {', '.join(FINDINGS)}, cost and all")
    with tempfile.TemporaryDirectory() as aside:
        work, tables = (Path(aside), Path(aside)) if options.quick else (options.work, options.tables)
        repeat_all(
            names,
            options.bed,
            Settings(work, options.quick, options.topics, 1 if options.quick else options.jobs, tables),
        )


def repeat_all(names: Sequence[str], beds: Sequence[str] | None, settings: Settings) -> None:
    for name in names:
        bed_names = beds or (("schools",) if name == "cost" else FINDINGS[name].beds)
        if settings.quick and not beds:
            bed_names = ("companies" if name in ("F6", "F7") else "generated",)
        for bed in bed_names:
            web = cached_web(bed, settings)
            if web is None:
                print(f"{name} on {bed}: skipped, ../shared is missing\n")
            elif name == "cost":
                cost(web)
            else:
                repeat(name, web)


def repeat(name: str, web: BenchWeb) -> None:
    """Repeat a finding on a bed, print the result and write it to its file."""
    began, text = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(text):
        print(f"# {name} on {web.name}\n\n{FINDINGS[name].says}\n\n{web.about}\n")
        verdict = FINDINGS[name].repeat(web)
        print(f"**{name} on {web.name}: {verdict}**")
    print(text.getvalue() + f"\n({time.process_time() - began:.0f} CPU seconds of this process)\n", flush=True)
    web.settings.tables.mkdir(parents=True, exist_ok=True)
    (web.settings.tables / f"{name}-{web.name}.md").write_text(text.getvalue(), encoding="utf-8")


@cache
def cached_web(name: str, settings: Settings) -> BenchWeb | None:
    return open_web(name, settings)


if __name__ == "__main__":
    main()
