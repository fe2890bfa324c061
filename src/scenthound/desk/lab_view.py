"""The page of an experiment: choice of strategies, topics and metric; curves, tests, results by topic; downloads."""

from __future__ import annotations

import inspect
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import main_pages
from scenthound.desk.lab_api import chosen_of, folder_of, pair_of
from scenthound.desk.page_templates import first_upper, render
from scenthound.lab.measure.compare_crawlers import crawlers, non_oracles, points_shown
from scenthound.lab.measure.measure import measured_metrics
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.report.reader_choice import ReaderChoice
from scenthound.lab.run.spec import display_name


async def experiment_page(request: Request) -> str:
    path, name, query = folder_of(request), request.path_params["name"], request.query_params

    def page() -> str:
        chosen = chosen_of(path, query)
        run, metric, pair = chosen.run, get_metric(chosen.metric), pair_of(chosen, query)
        fields = _fields(chosen)
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
            chosen_fields=fields,
            query=urlencode(fields),
        )

    return await run_in_threadpool(page)


def _fields(chosen: ReaderChoice) -> list[tuple[str, str]]:
    """The selection as parameters of a query, without those at their defaults."""
    run = chosen.run
    fields = [("metric", chosen.metric), ("at", str(chosen.at))]
    if list(chosen.names) != non_oracles(crawlers(run), run.spec.given):
        fields += [("strategy", strategy) for strategy in chosen.names]
    if len(chosen.topics) != len(run.topics):
        fields += [("topic", topic) for topic in chosen.topics]
    return fields


ROUTES = [
    Route("/lab/{name}", main_pages.html_page(experiment_page)),
]
