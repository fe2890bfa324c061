"""The portal of a collection: made at a click, and shown as a visitor sees it.

A folder may come from a stranger, so of the portal in it only HTML and JSON are served, styles and scripts come from
this package, and the policy of each page allows nothing but those.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.apps.portal.build import PORTAL
from scenthound.apps.portal.pages import STATIC
from scenthound.desk import api, pages
from scenthound.desk import layout as look
from scenthound.desk.markup import element
from scenthound.desk.operations import post
from scenthound.desk.shapes import ANY

_STORED = re.compile(r"(?:index|search|c/[a-z0-9_-]+|p/[0-9]+)\.html|search/[a-z0-9-]+\.json")
_KINDS = {"html": "text/html", "json": "application/json", "css": "text/css", "js": "text/javascript"}


async def build(request: Request) -> Any:
    desk, path = api.desk_of(request), api.folder_of(request)
    return await run_in_threadpool(desk.processes.answer, ["portal", "--json", "--", str(path)])


async def portal_page(request: Request) -> str:
    path, name = api.folder_of(request), request.path_params["name"]
    is_built = (path / PORTAL / "index.html").is_file()
    words = "Bring it up to date" if is_built else "Make the portal"
    opened = element("p", element("a", "Open the portal", href=f"/c/{name}/portal/index.html")) if is_built else None
    content = look.card(
        "Portal",
        element(
            "p",
            "A site of this collection: categories, a page for each collected page, citations, search. "
            f"Its folder, {path / PORTAL}, can be put on any web server; categories.toml there has the names to edit.",
        ),
        opened,
        element("div", element("button", words, type="button", id="build", data_do="build"), class_="steer"),
        element("p", id="build-said", role="status"),
    )
    nav = await run_in_threadpool(pages.nav_of, path, name, "/portal")
    return look.page("Portal", content, script="portal", nav=nav)


async def portal_file(request: Request) -> Response:
    path, file = api.folder_of(request), request.path_params["file"]
    content = await run_in_threadpool(_read, path / PORTAL, file)
    if content is None:
        raise api.Unknown("the portal has no such page", "make it, or bring it up to date")
    base = f"{request.url.scheme}://{request.headers['host']}/c/{request.path_params['name']}/{PORTAL}/"
    policy = (
        f"default-src 'none'; script-src {base}assets/; style-src {base}assets/; connect-src {base}search/; "
        f"form-action {base}; base-uri 'none'; frame-ancestors 'none'"
    )
    kind = _KINDS[file.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache"})


def _read(folder: Any, file: str) -> bytes | None:
    if file.startswith("assets/") and file[7:] in STATIC:
        return resources.files("scenthound.apps.portal").joinpath("static", file[7:]).read_bytes()
    stored = folder / file
    if not _STORED.fullmatch(file) or folder.is_symlink() or stored.parent.is_symlink() or stored.is_symlink():
        return None
    return stored.read_bytes() if stored.is_file() else None


ROUTES = [
    Route("/c/{name}/portal", pages.shows(portal_page)),
    Route("/c/{name}/portal/{file:path}", pages.shows(portal_file)),
    post("/api/collections/{name}/portal", build, "Make the portal, or bring it up to date.", ANY),
]
