"""The page of related organisations: a ranked list to accept or reject. Each decision labels a home page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.desk import api_base, live_queries, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.apps.related import RelatedOrganisations, related, write_csv
from scenthound.desk.shapes import TEXT
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url

MOST = 200
LIMIT = params.Integer("limit", "Maximum number of organisations.", 25, 1, MOST)


def related_in_crawl(path: Path, most: int) -> RelatedOrganisations:
    """Rank the related organisations in a crawl."""
    with CrawlFolder.look(path) as folder:
        return related(folder, most)


def labelable_homes(path: Path, result: RelatedOrganisations) -> set[Url]:
    """The home pages that can be labelled, because they are fetched or waiting."""
    homes = [organisation.home for organisation in (*result.organisations, *result.rejected)]
    with CrawlFolder.look(path) as folder:
        fates = live_queries.fates(folder.database, homes)
    return {url for url, (state, _) in fates.items() if state in ("fetched", "waiting")}


async def get_related(request: Request) -> Any:
    path, most = api_base.folder_of(request), LIMIT.of(request.query_params)
    return (await run_in_threadpool(related_in_crawl, path, most)).as_plain()


async def get_table(request: Request) -> Response:
    result = await run_in_threadpool(related_in_crawl, api_base.folder_of(request), MOST)
    text = io.StringIO(newline="")
    write_csv(result, text)
    headers = {"Content-Disposition": 'attachment; filename="related.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


async def related_page(request: Request) -> str:
    path = api_base.folder_of(request)
    result = await run_in_threadpool(related_in_crawl, path, LIMIT.of(request.query_params))
    labelable = await run_in_threadpool(labelable_homes, path, result)
    return await main_pages.collection_page(request, "related.html", result=result, labelable=labelable)


ROUTES = [
    get(
        "/api/collections/{name}/related",
        get_related,
        "Organisations like the seeds, best first.",
        RelatedOrganisations,
        LIMIT,
    ),
    get("/api/collections/{name}/related.csv", get_table, "Related organisations as CSV.", TEXT, kinds=["text/csv"]),
    Route("/c/{name}/related", main_pages.html_page(related_page)),
]
