"""The page of an experiment: choice of strategies, topics and metric; curves, tests, results by topic; downloads."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk.lab_api import chosen_of, folder_of, pair_of
from scenthound.desk.markup import Content, Markup, element, join
from scenthound.lab.measure.compare_crawlers import crawlers, non_oracles, points_shown
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.report.formatting import number
from scenthound.lab.report.reader_choice import ReaderChoice
from scenthound.lab.run.spec import display_name


async def experiment_page(request: Request) -> str:
    path, name, query = folder_of(request), request.path_params["name"], request.query_params

    def render() -> str:
        chosen = chosen_of(path, query)
        _, is_fresh = points_shown(chosen.run)
        pair = pair_of(chosen, query)
        content = [
            _head(name, chosen, is_fresh),
            _form(name, chosen),
            _figure(name, chosen),
            _tests(name, chosen),
        ]
        return layout.page(f"Experiment {name}", *content, _topics(name, chosen, pair))

    return await run_in_threadpool(render)


def _head(name: str, chosen: ReaderChoice, is_fresh: bool) -> Markup:
    run = chosen.run
    size = f"{len(run.spec.strategies):,} strategies, {len(run.topics):,} topics"
    facts = f"{size}, {run.spec.limits.pages:,} pages per crawl, on {run.spec.name}."
    warning = (
        None
        if is_fresh
        else element(
            "p",
            "Some crawls are newer than these figures. Run `scenthound lab measure` to update them.",
            class_="error",
        )
    )
    return element(
        "section", element("h1", name), element("p", facts, class_="quiet-text"), warning, class_="crawl-head"
    )


def _form(name: str, chosen: ReaderChoice) -> Markup:
    run = chosen.run
    given = run.spec.given
    metrics = element(
        "select",
        *(
            element("option", _metric_label(metric), value=metric, selected=metric == chosen.metric)
            for metric in measured_metrics(run)
        ),
        id="metric",
        name="metric",
    )
    points = element(
        "select",
        *(
            element("option", f"{at:,} pages", value=at, selected=at == chosen.at)
            for at in sorted({*chosen.shown, chosen.at})
        ),
        id="at",
        name="at",
    )
    strategies = [
        element(
            "label",
            element("input", type="checkbox", name="strategy", value=strategy, checked=strategy in chosen.names),
            f" {display_name(strategy, given)}",
        )
        for strategy in crawlers(run)
    ]
    topics = [
        element(
            "label",
            element("input", type="checkbox", name="topic", value=topic.id, checked=topic.id in chosen.topics),
            f" {topic.id}",
        )
        for topic in run.topics
    ]
    is_all = len(chosen.topics) == len(run.topics)
    summary = f"Topics: {'all ' if is_all else ''}{len(chosen.topics):,}{'' if is_all else f' of {len(run.topics):,}'}"
    fields = element(
        "div",
        element("div", element("label", "Metric", for_="metric"), metrics),
        element("div", element("label", "After", for_="at"), points),
        class_="row",
    )
    return element(
        "form",
        fields,
        element("fieldset", element("legend", "Strategies"), *strategies, class_="choices"),
        element("details", element("summary", summary), element("div", *topics, class_="choices wide")),
        element(
            "div",
            element("button", "Show", class_="primary"),
            element("a", "Reset", href=f"/lab/{quote(name)}", class_="button"),
            class_="row",
        ),
        method="get",
        id="lab",
        class_="card lab-form",
    )


def _metric_label(metric: str) -> str:
    return metric[:1].upper() + metric[1:].replace("_", " ")


def _query(chosen: ReaderChoice, **more: str) -> str:
    """The selection as a query string, without parameters at their defaults."""
    run = chosen.run
    pairs = [("metric", chosen.metric), ("at", str(chosen.at))]
    if list(chosen.names) != non_oracles(crawlers(run), run.spec.given):
        pairs += [("strategy", strategy) for strategy in chosen.names]
    if len(chosen.topics) != len(run.topics):
        pairs += [("topic", topic) for topic in chosen.topics]
    return urlencode([*pairs, *more.items()])


def _downloads(name: str, chosen: ReaderChoice, what: str, kinds: tuple[str, ...], **more: str) -> Markup:
    names = {"csv": "CSV", "tex": "LaTeX", "svg": "SVG"}
    return element(
        "p",
        *(
            element(
                "a",
                names[kind],
                href=f"{_file(name, what, kind)}?{_query(chosen, save='yes', **more)}",
                class_="button",
                download=True,
            )
            for kind in kinds
        ),
        class_="labels",
    )


def _file(name: str, what: str, kind: str) -> str:
    return f"/api/experiments/{quote(name)}/{what}.{kind}"


def _figure(name: str, chosen: ReaderChoice) -> Markup:
    caption = (
        f"{chosen.metric} by pages crawled: means over {len(chosen.topics):,} topics, with bands of one standard error"
    )
    picture = element(
        "img",
        src=f"{_file(name, 'curves', 'svg')}?{_query(chosen)}",
        alt=f"{caption}; the table has the figures",
        class_="chart",
    )
    points = [at for at in sorted({*chosen.shown, chosen.at}) if at in chosen.values]
    rows = [
        element(
            "tr",
            element("th", display_name(strategy, chosen.run.spec.given), scope="row"),
            *(element("td", _with_error(chosen, strategy, at), class_="number") for at in points),
        )
        for strategy in chosen.names
    ]
    heads = element(
        "tr",
        element("th", "strategy", scope="col"),
        *(element("th", f"{at:,} pages", scope="col", class_="number") for at in points),
    )
    metric = get_metric(chosen.metric)
    lower = " Lower is better." if metric.lower_is_better else ""
    return layout.card(
        _metric_label(chosen.metric),
        element("p", (inspect.getdoc(metric.function) or "").partition("\n\n")[0]),
        element("p", f"Means over {len(chosen.topics):,} topics ± one standard error.{lower}", class_="quiet-text"),
        element("div", picture, class_="wide"),
        element("div", element("table", element("thead", heads), element("tbody", *rows)), class_="wide"),
        _downloads(name, chosen, "curves", ("csv", "svg", "tex")),
        id_="curves",
    )


def _with_error(chosen: ReaderChoice, name: str, at: int) -> str:
    over = chosen.mean(name, at)
    return "–" if over.mean is None else number(over.mean) + ("" if over.error is None else f" ± {number(over.error)}")


def _tests(name: str, chosen: ReaderChoice) -> Markup:
    plain: list[Mapping[str, Any]] = chosen.as_plain()["tests"]
    if not plain:
        return layout.card("Which is better?", element("p", "Select at least two strategies.", class_="quiet-text"))
    sentences = element(
        "ul",
        *(
            element(
                "li",
                element(
                    "span",
                    "●" if test["shown"] else "○",
                    class_=f"score {'on' if test['shown'] else 'off'}",
                    aria_hidden="true",
                ),
                " ",
                test["sentence"],
            )
            for test in plain[:15]
        ),
        class_="sentences",
    )
    heads = (
        ("better mean", ""),
        ("than", ""),
        ("difference", "number"),
        ("t (df)", "number"),
        ("p", "number"),
        ("Holm p", "number"),
        ("won : lost", "number"),
        ("d, 95% interval", "number"),
    )
    rows = [element("tr", *_test_cells(test)) for test in plain]
    head = element("tr", *(element("th", label, scope="col", class_=kind or None) for label, kind in heads))
    return layout.card(
        "Which is better?",
        element(
            "p",
            "Paired one-tailed t-tests over topics, each pair in both directions, with Holm’s correction. "
            "● difference shown, ○ not shown.",
            class_="quiet-text",
        ),
        sentences,
        element("div", element("table", element("thead", head), element("tbody", *rows)), class_="wide broad"),
        _downloads(name, chosen, "tests", ("csv", "tex")),
        id_="tests",
    )


def _test_cells(test: Mapping[str, Any]) -> list[Markup]:
    effect, signs = test["effect"], test["sign_test"]
    df = "–" if test["df"] is None else f"{test['df']:g}"
    size = "–" if effect is None else f"{effect['d']:.2f} [{effect['low']:.2f}, {effect['high']:.2f}]"
    error = "" if test["difference_se"] is None else f" ± {number(test['difference_se'])}"
    figures = [
        f"{number(test['difference'])}{error}",
        f"{number(test['t'], 2)} ({df})",
        _p(test["p"]),
        _p(test["holm"]),
        f"{signs['wins']} : {signs['losses']}",
        size,
    ]
    return [
        element("td", test["first"]),
        element("td", test["second"]),
        *(element("td", figure, class_="number") for figure in figures),
    ]


def _p(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _topics(name: str, chosen: ReaderChoice, pair: tuple[str, str] | None) -> Markup:
    picture: Content = None
    more: dict[str, str] = {}
    if pair is not None:
        more = {"across": pair[0], "up": pair[1]}
        picture = join(
            _pair_form(name, chosen, pair),
            element(
                "div",
                element(
                    "img",
                    src=f"{_file(name, 'topics', 'svg')}?{_query(chosen, **more)}",
                    alt=f"{pair[0]} against {pair[1]}, one point per topic; the table has the figures",
                    class_="chart",
                ),
                class_="wide",
            ),
        )
    heads = element(
        "tr",
        element("th", "topic", scope="col"),
        *(element("th", strategy, scope="col", class_="number") for strategy in chosen.names),
    )
    rows = [
        element(
            "tr",
            element("th", topic, scope="row"),
            *(element("td", number(value), class_="number") for value in values.values()),
        )
        for topic, values in chosen.by_topic().items()
    ]
    table = element("div", element("table", element("thead", heads), element("tbody", *rows)), class_="wide tall")
    kinds = ("csv", "svg", "tex") if pair is not None else ("csv", "tex")
    line = "" if pair is None else f" Above the line {pair[1]} has the higher value, below it {pair[0]}."
    about = f"{_metric_label(chosen.metric)} after {chosen.at:,} pages.{line}"
    return layout.card(
        "By topic",
        element("p", about, class_="quiet-text"),
        picture,
        table,
        _downloads(name, chosen, "topics", kinds, **more),
        id_="topics",
    )


def _pair_form(name: str, chosen: ReaderChoice, pair: tuple[str, str]) -> Markup:
    def select(id_: str, label: str, value: str) -> Content:
        options = [element("option", strategy, value=strategy, selected=strategy == value) for strategy in chosen.names]
        return [element("label", label, for_=id_), element("select", *options, id=id_, name=id_)]

    hidden = [element("input", type="hidden", name=key, value=value) for key, value in _pairs(chosen)]
    return element(
        "form",
        *hidden,
        select("across", "x axis", pair[0]),
        select("up", "y axis", pair[1]),
        element("button", "Show"),
        method="get",
        action=f"/lab/{quote(name)}#topics",
        class_="controls",
    )


def _pairs(chosen: ReaderChoice) -> list[tuple[str, str]]:
    return QueryParams(_query(chosen)).multi_items()


ROUTES = [
    Route("/lab/{name}", main_pages.html_page(experiment_page)),
]
