"""The page with the map of a site: a tree that grows while the crawl runs, and files to download."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.apps.site_map import FORMATS, Branch, SiteMap, site_map
from scenthound.desk.markup import Markup, element
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
    path, name = api_base.folder_of(request), request.path_params["name"]
    unfolded = FOLDED.of(request.query_params)
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/site-map")
    try:
        site = await run_in_threadpool(site_map_of, path, unfolded)
    except BadUsage as error:
        waiting = layout.empty("No pages yet", element("p", "The map will appear with the first page."))
        head = element("section", element("h1", "Site map"), id="crawl", data_name=name, class_="crawl-head")
        return layout.page(
            "Site map", head, element("div", waiting, id="site-map", title=error.hint), script="site_map", nav=nav
        )
    return layout.page("Site map", _head(name, site, unfolded), _tree(name, site), script="site_map", nav=nav)


def _head(name: str, site: SiteMap, unfolded: bool) -> Markup:
    files = [
        element("a", file, href=f"/api/collections/{quote(name)}/site-map/{file}", class_="button", download=file)
        for file in FORMATS
    ]
    files.append(element("button", "map.png", type="button", data_do="png", class_="scripted"))  # drawn in the browser
    toggle = element(
        "a",
        "Hide branches with nothing on the topic" if unfolded else "Show every page",
        href=f"/c/{quote(name)}/site-map" + ("" if unfolded else "?folded=no"),
    )
    summary = f"{site.on_topic:,} of {site.pages:,} pages of {site.site} are on topic. "
    hint = element("p", "No page is on topic. Try other keywords, or let the crawl fetch more pages.")
    return element(
        "section",
        element("div", element("h1", "Site map"), element("div", *files, class_="labels"), class_="head"),
        element("p", element("span", summary, id="site-map-words"), toggle, class_="quiet-text"),
        None if site.on_topic else hint,
        id="crawl",
        data_name=name,
        class_="crawl-head",
    )


def _tree(name: str, site: SiteMap) -> Markup:
    """Nested lists, built from the last branch to the first without recursion, because a chain of pages may be long."""
    below: dict[int, list[Markup]] = {}
    for depth, branch in reversed(list(site.rows())):
        items = below.pop(depth + 1, [])
        below.setdefault(depth, []).insert(0, _branch(name, branch, items))
    return element("div", element("ul", *below.get(0, [])), id="site-map", class_="card site-map")


def _branch(name: str, branch: Branch, items: list[Markup]) -> Markup:
    shape = element("span", "●" if branch.on_topic else "○", class_="shape", aria_hidden="true")
    title = element("a", branch.title or layout.short(branch.url), href=layout.address(name, "page", url=branch.url))
    score = element("span", f" {branch.relevance:.2f}", class_="score on") if branch.on_topic else None
    folded = f" + {branch.folded_label}" if branch.folded else None
    kind = "hit" if branch.on_topic else "miss"
    line = element(
        "span", shape, title, score, element("span", folded, class_="quiet-text") if folded else None,
        class_=kind, title=branch.url,
    )  # fmt: skip
    if not items:
        return element("li", line, data_url=branch.url)
    return element(
        "li", element("details", element("summary", line), element("ul", *items), open=True), data_url=branch.url
    )


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
