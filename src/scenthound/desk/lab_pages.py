"""Experiments of the laboratory: figures for a selection, files to download, and the page that shows both."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.desk import api_base
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.main_pages import html_page
from scenthound.desk.page_templates import first_upper, render
from scenthound.desk.shapes import ANY, INTEGER, TEXT, TEXTS, fields, list_of
from scenthound.errors import BadUsage
from scenthound.formats import json_facts
from scenthound.lab.measure.compare_crawlers import crawlers, non_oracles, open_run, points_shown
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.report.downloads import TABLES, as_csv, as_latex, as_svg
from scenthound.lab.report.reader_choice import ReaderChoice, choose
from scenthound.lab.run.spec import display_name

METRIC = params.Text("metric", "The metric to compare.")
STRATEGIES = params.Texts("strategy", "Only these strategies.")
TOPICS = params.Texts("topic", "Only these topics.")
AT = params.Integer("at", "Number of pages at which to compare.", 0, 1, 10**9)
CHOSEN = (METRIC, STRATEGIES, TOPICS, AT)
ACROSS = params.Text("across", "For topics.svg: the strategy on the x axis.")
UP = params.Text("up", "For topics.svg: the strategy on the y axis.")
SAVE = params.Choice("save", "Whether the browser should save the file.", {"no": False, "yes": True})
EXPERIMENT = fields(
    **dict.fromkeys(("name", "metric"), TEXT),
    **dict.fromkeys(("metrics", "all_strategies", "strategies", "topics"), TEXTS),
    points=list_of(INTEGER),
    at=INTEGER,
    curves=ANY,
    tests=list_of(ANY),
    by_topic=ANY,
)
KINDS = {"csv": "text/csv", "tex": "application/x-tex", "svg": "image/svg+xml"}
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
FILES = [f"{what}.{kind}" for what in TABLES for kind in KINDS if (what, kind) != ("tests", "svg")]


def folder_of(request: Request) -> Path:
    """The folder of the experiment named in the path. Raises `NotFound`."""
    name = request.path_params["name"]
    path = api_base.desk_of(request).collections.experiments().get(name)
    if path is None:
        raise api_base.NotFound(
            f"no experiment called `{name[:80]}`",
            "the start page lists the open experiments and can open another folder",
        )
    return path


def chosen_of(path: Path, query: QueryParams) -> ReaderChoice:
    """The selection described by the query."""
    run = open_run(path)
    at = AT.of(query) if query.get("at") else None
    return choose(run, measured_metrics(run), METRIC.of(query), STRATEGIES.of(query), TOPICS.of(query), at)


def pair_of(chosen: ReaderChoice, query: QueryParams) -> tuple[str, str] | None:
    """The two strategies compared topic by topic; by default the pair with the largest difference."""
    names = chosen.names
    for axis in (query.get("across"), query.get("up")):
        if axis and axis not in names:
            raise BadUsage(f"`{axis[:80]}` is not among the selected strategies", f"use one of: {', '.join(names)}")
    if len(names) < 2:
        return None
    if query.get("across") and query.get("up"):
        return query["across"], query["up"]
    first = chosen.tests[0] if chosen.tests else None
    across, up = (first.second, first.first) if first else names[:2]
    return query.get("across") or across, query.get("up") or up


async def get_experiments(request: Request) -> Any:
    experiments = api_base.desk_of(request).collections.experiments()
    return {"experiments": [{"name": name, "folder": str(path)} for name, path in experiments.items()]}


async def get_experiment(request: Request) -> Any:
    path = folder_of(request)

    def read_figures() -> dict[str, Any]:
        chosen = chosen_of(path, request.query_params)
        available = {"metrics": measured_metrics(chosen.run), "all_strategies": crawlers(chosen.run)}
        return {
            "name": request.path_params["name"],
            "points": list(chosen.shown),
            **available,
            **json_facts(chosen.as_plain()),
        }

    return await run_in_threadpool(read_figures)


async def get_file(request: Request) -> Response:
    path, query = folder_of(request), request.query_params
    if request.path_params["file"] not in FILES:
        raise api_base.NotFound("no such file", f"use one of: {', '.join(FILES)}")
    what, _, kind = request.path_params["file"].partition(".")

    def file_text() -> tuple[str, str]:
        chosen = chosen_of(path, query)
        if kind == "svg":
            return as_svg(chosen, what, pair_of(chosen, query) if what == "topics" else None), chosen.metric
        return (as_csv if kind == "csv" else as_latex)(chosen, what), chosen.metric

    text, metric = await run_in_threadpool(file_text)
    headers = {"Content-Security-Policy": SVG_POLICY} if kind == "svg" else {}
    if SAVE.of(query):
        file = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in metric)
        headers["Content-Disposition"] = f'attachment; filename="{file}-{what}.{kind}"'
    return Response(text, media_type=KINDS[kind], headers=headers)


# ---- the page


async def experiment_page(request: Request) -> str:
    path, name, query = folder_of(request), request.path_params["name"], request.query_params

    def page() -> str:
        chosen = chosen_of(path, query)
        run, metric, pair = chosen.run, get_metric(chosen.metric), pair_of(chosen, query)
        selection = _selection(chosen)
        return render(
            "experiment.html",
            name=name,
            chosen=chosen,
            is_fresh=points_shown(run)[1],
            metrics=[(measured, first_upper(measured.replace("_", " "))) for measured in measured_metrics(run)],
            points=[(at, f"{at:,} pages") for at in sorted({*chosen.shown, chosen.at})],
            strategies={strategy: display_name(strategy, run.spec.given) for strategy in crawlers(run)},
            names=[(strategy, strategy) for strategy in chosen.names],
            about_metric=(inspect.getdoc(metric.function) or "").partition("\n\n")[0],
            lower_is_better=metric.lower_is_better,
            tests=chosen.as_plain()["tests"],
            pair=pair,
            pair_query="" if pair is None else f"&{urlencode({'across': pair[0], 'up': pair[1]})}",
            chosen_fields=selection,
            query=urlencode(selection),
        )

    return await run_in_threadpool(page)


def _selection(chosen: ReaderChoice) -> list[tuple[str, str]]:
    """The selection as parameters of a query, without those at their defaults."""
    run = chosen.run
    pairs = [("metric", chosen.metric), ("at", str(chosen.at))]
    if list(chosen.names) != non_oracles(crawlers(run), run.spec.given):
        pairs += [("strategy", strategy) for strategy in chosen.names]
    if len(chosen.topics) != len(run.topics):
        pairs += [("topic", topic) for topic in chosen.topics]
    return pairs


ROUTES = [
    get(
        "/api/experiments",
        get_experiments,
        "The open experiments.",
        fields(experiments=list_of(fields(name=TEXT, folder=TEXT))),
    ),
    get("/api/experiments/{name}", get_experiment, "The figures of an experiment.", EXPERIMENT, *CHOSEN),
    get(
        "/api/experiments/{name}/{file}",
        get_file,
        "A table or chart of an experiment, as a file.",
        TEXT,
        *(*CHOSEN, ACROSS, UP, SAVE),
        kinds=KINDS.values(),
        path_shapes={"file": {"enum": FILES}},
    ),
    Route("/lab/{name}", html_page(experiment_page)),
]
