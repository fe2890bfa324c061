"""Write the figures of the papers for any experiment, as CSV, SVG and LaTeX.

coverage              share of the n best pages of the pool that was found, against n [EXP, fig. 2a, 3a]
linkage-coverage      coverage with rank_KW,PR [EXP, fig. 2c, 3c]
mean-rank             mean rank of the pages fetched so far [EXP, fig. 2b, 3b]; linkage-mean-rank [2d, 3d]
recall                recall of examples or targets over time [EXP, fig. 4; BIZ, fig. 4; GRAPH, fig. 1]
recall-per-cpu        recall per CPU second over time [GRAPH, fig. 2]
fetched-goals         goals fetched over time; recognised-goals: goals that the crawler selected [ECON, fig. 3 to 8]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scenthound.files import make_folder, write_text
from scenthound.lab.measure.groups import CATEGORY
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.report.downloads import as_csv, as_latex, as_svg
from scenthound.lab.report.reader_choice import ReaderChoice, choose
from scenthound.lab.run.experiment import Experiment

OVER_TIME: Mapping[str, str] = {
    "mean-rank": "mean_rank",
    "linkage-mean-rank": "linkage_mean_rank",
    "recall": "target_recall",
    "recall-per-cpu": "recall_per_cpu_second",
    "fetched-goals": "fetched_goals",
    "recognised-goals": "recognised_goals",
}
AGAINST_N: Mapping[str, str] = {"coverage": "coverage", "linkage-coverage": "linkage_coverage"}
TOPS = (10, 20, 50, 100, 200, 500)
FOLDER = "figures"


def figure_metrics() -> list[str]:
    """The metrics with parameters that the figures need, to be passed to `measure_if_stale`."""
    return [f"{metric}:top={top}" for metric in AGAINST_N.values() for top in TOPS]


def write_figures(run: Experiment, group_by: str = CATEGORY) -> list[Path]:
    """Write each figure that the experiment has values for into the folder `figures`. Returns the files."""
    metrics = measured_metrics(run)
    figures: dict[str, ReaderChoice] = {}
    for name, metric in OVER_TIME.items():
        if metric in metrics:
            figures[name] = choose(run, metrics, metric, group_by=group_by)
    for name, metric in AGAINST_N.items():
        if all(f"{metric}:top={top}" in metrics for top in TOPS):
            figures[name] = _against_n(run, metrics, metric, group_by)
    make_folder(run.folder / FOLDER)
    files = []
    for name, chosen in figures.items():
        if any(chosen.curve(crawler) for crawler in chosen.names):
            texts = {
                "csv": as_csv(chosen, "curves"),
                "svg": as_svg(chosen, "curves"),
                "tex": as_latex(chosen, "curves"),
            }
            for ending, text in texts.items():
                files.append(run.folder / FOLDER / f"{name}.{ending}")
                write_text(files[-1], text)
    return files


def _against_n(run: Experiment, metrics: Sequence[str], metric: str, group_by: str) -> ReaderChoice:
    """The values of a metric after the last page, for each n of `TOPS`."""
    by_top = {top: choose(run, metrics, f"{metric}:top={top}", group_by=group_by) for top in TOPS}
    values = {top: chosen.values[chosen.at] for top, chosen in by_top.items()}
    return replace(by_top[TOPS[0]], metric=metric, at=TOPS[-1], shown=TOPS, values=values, across="n")
