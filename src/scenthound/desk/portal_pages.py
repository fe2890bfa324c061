"""The portal of a collection: a page to build it, and the portal itself as visitors see it.

A folder may come from a stranger, so only HTML and JSON are served from its portal; styles and scripts come from this
package, and the content security policy of each page allows nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get, post
from scenthound.desk.apps.portal.categories import FILE, PortalCategory, read_categories, rename
from scenthound.desk.apps.portal.portal_html import STATIC, static_file
from scenthound.desk.shapes import ANY, TEXT, fields, nullable
from scenthound.errors import BadConfig
from scenthound.search.portal_categories import PORTAL

_STORED = re.compile(r"(?:index|search|c/[a-z0-9_-]+|p/[0-9]+)\.html|search/[a-z0-9-]+\.json")
_KINDS = {"html": "text/html", "json": "application/json", "css": "text/css", "js": "text/javascript"}

LONGEST_NAME = 120
JOB = fields(state=TEXT, said=TEXT, answer=nullable(ANY))


async def build(request: Request) -> Any:
    desk, path = api_base.desk_of(request), api_base.folder_of(request)
    await run_in_threadpool(desk.processes.jobs.start, path, ["portal", "--json", "--", str(path)])
    return JSONResponse(await run_in_threadpool(desk.processes.jobs.state, path), 202)


async def get_build(request: Request) -> Any:
    desk, path = api_base.desk_of(request), api_base.folder_of(request)
    return await run_in_threadpool(desk.processes.jobs.state, path)


class NewName(Struct):
    category: Annotated[str, Meta(description="The id of a category.")]
    name: Annotated[str, Meta(description="The new name.")]


async def name_category(request: Request) -> Any:
    path, body = api_base.folder_of(request), await params.body_of(request, NewName)
    await run_in_threadpool(rename, path / PORTAL / FILE, body.category, body.name[:LONGEST_NAME])
    return {"name": body.name}


def _categories(portal: Path) -> list[PortalCategory]:
    """The categories that can be renamed; none if there is no portal, or if it uses a taxonomy."""
    file = portal / FILE
    try:
        return read_categories(file) if file.is_file() and not file.is_symlink() else []
    except BadConfig:
        return []


async def portal_page(request: Request) -> str:
    folder = api_base.folder_of(request) / PORTAL
    return await main_pages.collection_page(
        request,
        "portal.html",
        folder=str(folder),
        is_built=(folder / "index.html").is_file(),
        categories=await run_in_threadpool(_categories, folder),
        longest_name=LONGEST_NAME,
    )


async def portal_file(request: Request) -> Response:
    path, file = api_base.folder_of(request), request.path_params["file"]
    content = await run_in_threadpool(_read, path / PORTAL, file)
    if content is None:
        raise api_base.NotFound("the portal has no such page", "build or update the portal")
    base = f"{request.url.scheme}://{request.headers['host']}/c/{request.path_params['name']}/{PORTAL}/"
    policy = (
        f"default-src 'none'; script-src {base}assets/; style-src {base}assets/; connect-src {base}search/; "
        f"form-action {base}; base-uri 'none'; frame-ancestors 'none'"
    )
    kind = _KINDS[file.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache"})


def _read(folder: Any, file: str) -> bytes | None:
    if file.startswith("assets/") and file[7:] in STATIC:
        return static_file(file[7:])
    stored = folder / file
    if not _STORED.fullmatch(file) or folder.is_symlink() or stored.parent.is_symlink() or stored.is_symlink():
        return None
    return stored.read_bytes() if stored.is_file() else None


ROUTES = [
    Route("/c/{name}/portal", main_pages.html_page(portal_page)),
    Route("/c/{name}/portal/{file:path}", main_pages.html_page(portal_file)),
    post(
        "/api/collections/{name}/portal",
        build,
        "Build or update the portal in the background.",
        JOB,
        code=202,
    ),
    get("/api/collections/{name}/portal", get_build, "The progress of building the portal.", JOB),
    post(
        "/api/collections/{name}/portal/names",
        name_category,
        "Rename a category; the name appears when the portal is updated.",
        fields(name=TEXT),
        NewName,
    ),
]
