"""The experiments of the laboratory in the JSON API: figures of what is chosen, and files to save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from scenthound.desk import api_base
from scenthound.desk import request_parameters as read
from scenthound.desk.api_operations import get
from scenthound.desk.shapes import ANY, TEXT, TEXTS, WHOLE, fields, listed
from scenthound.errors import BadUsage
from scenthound.formats import json_facts
from scenthound.lab.measure.compare_crawlers import crawlers, open_run
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.report.chosen import Chosen, choose
from scenthound.lab.report.downloads import TABLES, as_csv, as_latex, as_svg

METRIC = read.Words("metric", "What is compared.")
STRATEGIES = read.Several("strategy", "Only these crawlers.")
TOPICS = read.Several("topic", "Only these topics.")
AT = read.Whole("at", "After so many pages.", 0, 1, 10**9)
CHOSEN = (METRIC, STRATEGIES, TOPICS, AT)
ACROSS = read.Words("across", "Of topics.svg: the crawler on the axis across.")
UP = read.Words("up", "Of topics.svg: the crawler on the axis up.")
SAVE = read.Among("save", "Whether a browser should save it.", {"no": False, "yes": True})
EXPERIMENT = fields(
    **dict.fromkeys(("name", "metric"), TEXT),
    **dict.fromkeys(("metrics", "all_strategies", "strategies", "topics"), TEXTS),
    points=listed(WHOLE),
    at=WHOLE,
    curves=ANY,
    tests=listed(ANY),
    by_topic=ANY,
)
KINDS = {"csv": "text/csv", "tex": "application/x-tex", "svg": "image/svg+xml"}
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
FILES = [f"{what}.{kind}" for what in TABLES for kind in KINDS if (what, kind) != ("tests", "svg")]


def folder_of(request: Request) -> Path:
    """The experiment that the address names. Raises `Unknown`."""
    name = request.path_params["name"]
    path = api_base.desk_of(request).collections.experiments().get(name)
    if path is None:
        raise api_base.Unknown(
            f"no experiment called `{name[:80]}`",
            "the first page of the desk lists what is open; another folder can be opened there",
        )
    return path


def chosen_of(path: Path, query: QueryParams) -> Chosen:
    """What the query chooses."""
    run = open_run(path)
    at = AT.of(query) if query.get("at") else None
    return choose(run, measured_metrics(run), METRIC.of(query), STRATEGIES.of(query), TOPICS.of(query), at)


def pair_of(chosen: Chosen, query: QueryParams) -> tuple[str, str] | None:
    """The two crawlers whose topics are compared; at first the two of the largest difference."""
    names = chosen.names
    for wanted in (query.get("across"), query.get("up")):
        if wanted and wanted not in names:
            raise BadUsage(f"`{wanted[:80]}` is not among the chosen", f"there are: {', '.join(names)}")
    if len(names) < 2:
        return None
    if query.get("across") and query.get("up"):
        return query["across"], query["up"]
    first = chosen.tests[0] if chosen.tests else None
    across, up = (first.second, first.first) if first else names[:2]
    return query.get("across") or across, query.get("up") or up


async def get_experiments(request: Request) -> Any:
    found = api_base.desk_of(request).collections.experiments()
    return {"experiments": [{"name": name, "folder": str(path)} for name, path in found.items()]}


async def get_experiment(request: Request) -> Any:
    path = folder_of(request)

    def look_up() -> dict[str, Any]:
        chosen = chosen_of(path, request.query_params)
        known = {"metrics": measured_metrics(chosen.run), "all_strategies": crawlers(chosen.run)}
        return {
            "name": request.path_params["name"],
            "points": list(chosen.shown),
            **known,
            **json_facts(chosen.as_plain()),
        }

    return await run_in_threadpool(look_up)


async def get_file(request: Request) -> Response:
    path, query = folder_of(request), request.query_params
    if request.path_params["file"] not in FILES:
        raise api_base.Unknown("no such file", f"there are: {', '.join(FILES)}")
    what, _, kind = request.path_params["file"].partition(".")

    def make() -> tuple[str, str]:
        chosen = chosen_of(path, query)
        if kind == "svg":
            return as_svg(chosen, what, pair_of(chosen, query) if what == "topics" else None), chosen.metric
        return (as_csv if kind == "csv" else as_latex)(chosen, what), chosen.metric

    text, metric = await run_in_threadpool(make)
    headers = {"Content-Security-Policy": SVG_POLICY} if kind == "svg" else {}
    if SAVE.of(query):
        file = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in metric)
        headers["Content-Disposition"] = f'attachment; filename="{file}-{what}.{kind}"'
    return Response(text, media_type=KINDS[kind], headers=headers)


ROUTES = [
    get(
        "/api/experiments",
        get_experiments,
        "The experiments that are open.",
        fields(experiments=listed(fields(name=TEXT, folder=TEXT))),
    ),
    get("/api/experiments/{name}", get_experiment, "The figures of an experiment.", EXPERIMENT, *CHOSEN),
    get(
        "/api/experiments/{name}/{file}",
        get_file,
        "A table or a picture of an experiment as a file.",
        TEXT,
        *(*CHOSEN, ACROSS, UP, SAVE),
        kinds=KINDS.values(),
        inside={"file": {"enum": FILES}},
    ),
]
