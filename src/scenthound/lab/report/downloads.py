"""Write the chosen numbers of an experiment, and the figures of the papers for any experiment, as CSV, LaTeX and SVG.

coverage              share of the n best pages of the pool that was found, against n [EXP, fig. 2a, 3a]
linkage-coverage      coverage with rank_KW,PR [EXP, fig. 2c, 3c]
mean-rank             mean rank of the pages fetched so far [EXP, fig. 2b, 3b]; linkage-mean-rank [2d, 3d]
recall                recall of examples or targets over time [EXP, fig. 4; BIZ, fig. 4; GRAPH, fig. 1]
recall-per-cpu        recall per CPU second over time [GRAPH, fig. 2]
fetched-goals         goals fetched over time; recognised-goals: goals that the crawler selected [ECON, fig. 3 to 8]
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenthound.errors import BadUsage
from scenthound.files import make_folder, write_text
from scenthound.lab.measure.compare_crawlers import is_significant
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.measure.statistics import CATEGORY
from scenthound.lab.report.formatting import TEMPLATES, cleaned, number
from scenthound.lab.report.reader_choice import ReaderChoice, choose
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.run.spec import display_name
from scenthound.report.charts import CurvePoint, Series, TopicPoint, curves, scatter, style_of

LABEL = 30  # characters of a name beside its line
Rows = list[list[Any]]


def _curves(chosen: ReaderChoice) -> Rows:
    rows: Rows = [["strategy", "metric", chosen.across, "mean", "standard_error", "topics", "groups"]]
    for name in chosen.names:
        for at, average in chosen.curve(name):
            rows.append([name, chosen.metric, at, average.mean, average.error, average.number, average.groups])
    return rows


def _tests(chosen: ReaderChoice) -> Rows:
    heads = ["better", "than", "metric", "pages", "difference", "standard_error", "t", "df", "p", "holm_p"]
    rows: Rows = [[*heads, "won", "lost", "sign_p", "d", "d_low", "d_high", "topics", "shown"]]
    for comparison in chosen.tests:
        test, signs, effect = comparison.paired, comparison.signs, comparison.effect
        row = [
            comparison.first,
            comparison.second,
            comparison.metric,
            comparison.at,
            test.mean,
            test.error,
            test.t,
            test.freedom,
            test.p,
        ]
        sizes = [None] * 3 if effect is None else [effect.size, effect.low, effect.high]
        row += [comparison.adjusted, signs.wins, signs.losses, signs.p, *sizes, comparison.means[0].number]
        rows.append([*row, is_significant(comparison)])
    return rows


def _topics(chosen: ReaderChoice) -> Rows:
    rows: Rows = [["topic", *chosen.names]]
    return rows + [[topic, *values.values()] for topic, values in chosen.by_topic().items()]


TABLES: dict[str, Callable[[ReaderChoice], Rows]] = {"curves": _curves, "tests": _tests, "topics": _topics}


def as_csv(chosen: ReaderChoice, what: str) -> str:
    """A table with all digits. Text that a spreadsheet would read as a formula gets an apostrophe."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_cell(value) for value in row] for row in TABLES[what](chosen))
    return file.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in "=+-@\t\r":
        return f"'{value}"
    return "" if value is None else repr(value) if isinstance(value, float) else value


# ---- LaTeX

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def as_latex(chosen: ReaderChoice, what: str) -> str:
    """A table for a paper, in the style of `booktabs`. Curves are reduced to the points of the report's tables."""
    heads, rows = {"curves": _latex_means, "tests": _latex_tests, "topics": _latex_topics}[what](chosen)
    columns = "l" * (2 if what == "tests" else 1)
    lines = [
        f"% {tex(chosen.metric)}, {tex(chosen.across)} {chosen.at:,}; needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{columns}{'r' * (len(heads) - len(columns))}}}",
        "\\toprule",
        _latex_row(heads),
        "\\midrule",
        *(_latex_row(row) for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_means(chosen: ReaderChoice) -> tuple[list[str], list[list[str]]]:
    points = [at for at in chosen.shown if at in chosen.values]
    rows = []
    for name in chosen.names:
        means = [chosen.mean(name, at) for at in points]
        rows.append([tex(name), *(_with_error(average.mean, average.error) for average in means)])
    return [tex(chosen.metric), *(f"{tex(chosen.across)} {at:,}" for at in points)], rows


def _latex_tests(chosen: ReaderChoice) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            tex(comparison.first),
            tex(comparison.second),
            _with_error(comparison.paired.mean, comparison.paired.error),
            _digits(comparison.paired.t, 2),
            _p(comparison.paired.p),
            _p(comparison.adjusted),
        ]
        for comparison in chosen.tests
    ]
    return ["better", "than", "difference", "$t$", "$p$", "Holm $p$"], rows


def _latex_topics(chosen: ReaderChoice) -> tuple[list[str], list[list[str]]]:
    rows = [
        [tex(topic), *(_digits(value, 3) for value in values.values())] for topic, values in chosen.by_topic().items()
    ]
    return ["topic", *map(tex, chosen.names)], rows


def _with_error(mean: float | None, error: float | None) -> str:
    if mean is None:
        return "--"
    return _digits(mean, 3) if error is None else f"{_digits(mean, 3)[:-1]} \\pm {number(error)}$"


def _digits(value: float | None, digits: int) -> str:
    return "--" if value is None else f"${number(value, digits)}$"


def _p(p: float | None) -> str:
    return "--" if p is None else "$< 0.001$" if p < 0.001 else f"${p:.3f}$"


def tex(text: str) -> str:
    r"""Text escaped for LaTeX.

    >>> tex("a_b & 50%")
    'a\\_b \\& 50\\%'
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda match: _SPECIAL.get(match[0], f"\\{match[0]}"), plain_line(text))


def plain_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


# ---- SVG


def as_svg(chosen: ReaderChoice, what: str, pair: tuple[str, str] | None = None) -> str:
    """A chart of the curves with bands of one standard error, or of the topics of two crawlers as points."""
    style = figure_style()
    if what == "curves":
        across = "pages crawled" if chosen.across == "pages" else chosen.across
        title = cleaned(f"{chosen.metric} by {across}")
        drawn = curves(title, cleaned(chosen.metric), _series(chosen), max(chosen.values), across=across, style=style)
    elif what == "topics":
        if pair is None:
            raise BadUsage("two crawlers are needed", "choose at least two")
        title = cleaned(f"{chosen.metric}, topic by topic")
        drawn = scatter(title, cleaned(pair[0]), cleaned(pair[1]), list(_points(chosen, pair)), style)
    else:
        raise BadUsage(f"there is no chart of {what}", "there are: curves, topics")
    return drawn


def figure_style() -> str:
    """The style sheet of charts that are files of their own."""
    return TEMPLATES.get_template("figure.css").render()


def _series(chosen: ReaderChoice) -> list[Series]:
    series = []
    for index, name in enumerate(chosen.names):
        is_reference = name not in chosen.strategies
        points = [CurvePoint(at, average.mean or 0.0, average.error or 0.0) for at, average in chosen.curve(name)]
        label = cleaned(display_name(name, chosen.run.spec.given), LABEL)
        series.append(Series(label, style_of(index, is_reference), points, frozenset(chosen.shown)))
    return series


def _points(chosen: ReaderChoice, pair: tuple[str, str]) -> Iterator[TopicPoint]:
    for topic, values in chosen.by_topic().items():
        first, second = (values.get(name) for name in pair)
        if first is not None and second is not None:
            yield TopicPoint(cleaned(topic, LABEL), first, second)


# ---- figures of the papers

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
FIGURES = "figures"


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
    make_folder(run.folder / FIGURES)
    files = []
    for name, chosen in figures.items():
        if any(chosen.curve(crawler) for crawler in chosen.names):
            texts = {
                "csv": as_csv(chosen, "curves"),
                "svg": as_svg(chosen, "curves"),
                "tex": as_latex(chosen, "curves"),
            }
            for ending, text in texts.items():
                files.append(run.folder / FIGURES / f"{name}.{ending}")
                write_text(files[-1], text)
    return files


def _against_n(run: Experiment, metrics: Sequence[str], metric: str, group_by: str) -> ReaderChoice:
    """The values of a metric after the last page, for each n of `TOPS`."""
    by_top = {top: choose(run, metrics, f"{metric}:top={top}", group_by=group_by) for top in TOPS}
    values = {top: chosen.values[chosen.at] for top, chosen in by_top.items()}
    return replace(by_top[TOPS[0]], metric=metric, at=TOPS[-1], shown=TOPS, values=values, across="n")
