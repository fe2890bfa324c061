"""The page with the map of a site: a tree that grows while the crawl runs, and files to download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.apps.site_map import FORMATS, Branch, SiteMap, site_map
from scenthound.desk.shapes import ANY, INTEGER, TEXT, fields, list_of
from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder

FOLDED = params.Choice("folded", "Whether to leave out branches with nothing on the topic.", {"yes": False, "no": True})
SITE = fields(topic=TEXT, site=TEXT, pages=INTEGER, on_topic=INTEGER, branches=list_of(ANY))


def site_map_of(path: Path, unfolded: bool) -> SiteMap:
    """Build the map of a crawl."""
    with CrawlFolder.look(path) as folder:
        return site_map(folder, unfolded)


async def get_site_map(request: Request) -> Any:
    unfolded = FOLDED.of(request.query_params)
    return (await run_in_threadpool(site_map_of, api_base.folder_of(request), unfolded)).as_plain()


async def get_file(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in FORMATS:
        raise api_base.NotFound("no such file", f"use one of: {', '.join(FORMATS)}")
    write, kind = FORMATS[name]
    site = await run_in_threadpool(site_map_of, api_base.folder_of(request), False)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(await run_in_threadpool(write, site), media_type=kind, headers=headers)


async def site_map_page(request: Request) -> str:
    path, unfolded = api_base.folder_of(request), FOLDED.of(request.query_params)
    site, rows, hint = None, list[tuple[int, Branch]](), ""
    try:
        site = await run_in_threadpool(site_map_of, path, unfolded)
        rows = list(site.rows())
    except BadUsage as error:
        hint = error.hint
    shown = {"site": site, "rows": rows, "hint": hint, "unfolded": unfolded, "files": list(FORMATS)}
    return await main_pages.collection_page(request, "site_map.html", **shown)


ROUTES = [
    get("/api/collections/{name}/site-map", get_site_map, "The pages of a site as a tree.", SITE, FOLDED),
    get(
        "/api/collections/{name}/site-map/{file}",
        get_file,
        "The map of a site, as a file.",
        TEXT,
        kinds=[kind for _, kind in FORMATS.values()],
        path_shapes={"file": {"enum": list(FORMATS)}},
    ),
    Route("/c/{name}/site-map", main_pages.html_page(site_map_page)),
]
