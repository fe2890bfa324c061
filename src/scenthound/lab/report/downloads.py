"""Write the chosen numbers of an experiment as CSV, LaTeX and SVG."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Any

from scenthound.errors import BadUsage
from scenthound.lab.measure.compare_crawlers import is_significant
from scenthound.lab.report.formatting import number, plain
from scenthound.lab.report.reader_choice import ReaderChoice
from scenthound.lab.run.spec import display_name
from scenthound.report.charts import CurvePoint, Series, TopicPoint, curves, scatter, style_of

LABEL = 30  # characters of a name beside its line
COLOURS = (
    ("#0072b2", "#d55e00", "#009e73", "#b5508a", "#b07c00", "#2d9fd8", "#6b5bb5", "#7a7a1f"),
    ("#58b1ea", "#ff8f4f", "#3fcfa3", "#e890c2", "#e8b84a", "#a3dcff", "#b3a6ff", "#cfcf6b"),
)
"""For light and dark backgrounds, as in the report."""
GREY = ("#767c84", "#a4aab2")
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
        title = plain(f"{chosen.metric} by {across}")
        drawn = curves(title, plain(chosen.metric), _series(chosen), max(chosen.values), across=across, style=style)
    elif what == "topics":
        if pair is None:
            raise BadUsage("two crawlers are needed", "choose at least two")
        title = plain(f"{chosen.metric}, topic by topic")
        drawn = scatter(title, plain(pair[0]), plain(pair[1]), list(_points(chosen, pair)), style)
    else:
        raise BadUsage(f"there is no chart of {what}", "there are: curves, topics")
    return drawn


def figure_style() -> str:
    """The style sheet of charts that are files of their own."""
    return resources.files("scenthound.lab.report").joinpath("figure.css").read_text(encoding="utf-8") + _colours()


def _series(chosen: ReaderChoice) -> list[Series]:
    series = []
    for index, name in enumerate(chosen.names):
        is_reference = name not in chosen.strategies
        points = [CurvePoint(at, average.mean or 0.0, average.error or 0.0) for at, average in chosen.curve(name)]
        label = plain(display_name(name, chosen.run.spec.given), LABEL)
        series.append(Series(label, style_of(index, is_reference), points, frozenset(chosen.shown)))
    return series


def _points(chosen: ReaderChoice, pair: tuple[str, str]) -> Iterator[TopicPoint]:
    for topic, values in chosen.by_topic().items():
        first, second = (values.get(name) for name in pair)
        if first is not None and second is not None:
            yield TopicPoint(plain(topic, LABEL), first, second)


def _colours() -> str:
    """The colours of the crawlers as plain CSS rules, which programs other than browsers also understand."""
    light = "".join(_rules(f"c{index}", colour) for index, colour in enumerate(COLOURS[0])) + _rules("oracle", GREY[0])
    dark = "".join(_rules(f"c{index}", colour) for index, colour in enumerate(COLOURS[1])) + _rules("oracle", GREY[1])
    others = "text { fill: #a5abb2; } .label { fill: #e8e6e1; } .grid { stroke: #363b41; } .dot { fill: #1e2125; }"
    return f"{light}@media (prefers-color-scheme: dark) {{ {dark}{others} .topic {{ fill: #58b1ea; }} }}"


def _rules(kind: str, colour: str) -> str:
    return f".{kind} {{ stroke: {colour}; }}\n.band.{kind} {{ fill: {colour}; stroke: none; }}\n"
