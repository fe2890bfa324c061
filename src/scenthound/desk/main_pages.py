"""Routes of the main pages: start, crawl, page, why not, search, stored copy, static files."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from scenthound import url as urls
from scenthound.desk import api_base, crawl_data, search_api, stored_copy
from scenthound.desk.agent_data import has_agents
from scenthound.desk.crawl_api import HOST, ON_TOPIC, URL
from scenthound.desk.live_queries import Wanted
from scenthound.desk.page_templates import render
from scenthound.desk.seed_choices import choices
from scenthound.errors import ScenthoundError, from_os_error
from scenthound.formats import whole_number
from scenthound.looking_for import CHOICES
from scenthound.loop.folder import CrawlFolder
from scenthound.search.portal_categories import categories_of

MOST_LINKS = 400
MOST_NOTES = 20
LINK_STATES = {
    "fetched": "fetched",
    "waiting": "waiting",
    "moved": "redirected",
    "failed": "failed",
    "not followed": "not followed",
}
STATIC = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def html_page(handler: Any) -> Any:
    """Turn the result of a handler into an HTML response, and its errors into an error page."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            html = await handler(request)
        except (ScenthoundError, OSError) as error:
            failure = from_os_error(error) if isinstance(error, OSError) else error
            return problem_page(failure.message, failure.hint, api_base.status_of(failure))
        return html if isinstance(html, Response) else HTMLResponse(html)

    return endpoint


def problem_page(message: str, hint: str, status: int) -> HTMLResponse:
    return HTMLResponse(render("problem.html", message=message, hint=hint), status)


async def collection_page(request: Request, template: str, **values: Any) -> str:
    """Render a page of a collection. Its navigation has Agents if there are any, and Site map or Related."""

    def entries_left_out(path: Path) -> list[str]:
        with CrawlFolder.look(path) as folder:
            hosts = {urls.host(url) for url, _ in folder.request.keyed_seeds()}
        return [*([] if has_agents(path) else ["/agents"]), "/related" if len(hosts) == 1 else "/site-map"]

    without = await run_in_threadpool(entries_left_out, api_base.folder_of(request))
    return render(template, name=request.path_params["name"], without=without, **values)


# ---- start


async def start(request: Request) -> str:
    desk, query = api_base.desk_of(request), request.query_params
    return render(
        "start.html",
        topic=query.get("topic", "")[:2000],
        sources=await run_in_threadpool(choices, desk.collections, desk.sources),
        source=query.get("source", ""),
        has_companion=desk.companion is not None,
        collections=await run_in_threadpool(api_base.listing, desk),
        experiments=desk.collections.experiments(),
    )


# ---- a crawl


async def crawl(request: Request) -> str:
    desk, path, name = api_base.desk_of(request), api_base.folder_of(request), request.path_params["name"]
    await run_in_threadpool(desk.processes.follow, path)
    facts = await run_in_threadpool(api_base.overview, desk, name, path)
    query = request.query_params
    order = "best" if query.get("order") == "best" else "new"
    wanted = Wanted(order, host=HOST.of(query), on_topic=ON_TOPIC.of(query))
    return await collection_page(
        request,
        "crawl.html",
        facts=facts,
        wanted=wanted,
        pages=(await run_in_threadpool(crawl_data.pages, path, wanted))["pages"],
        look_for_other=next(choice for choice in CHOICES if choice != facts["looking_for"]),
    )


# ---- a page, or why it was not fetched


async def one_page(request: Request) -> str | Response:
    path = api_base.folder_of(request)
    if not request.query_params.get("url", "").strip():
        return await why(request)
    url = URL.of(request.query_params)
    explanation = await run_in_threadpool(crawl_data.explanation, path, url, api_base.desk_of(request).clock())
    if explanation["state"] != "crawled":
        return await why(request)
    page = explanation["page"]
    links = await run_in_threadpool(crawl_data.links, path, page["url"])
    order = list(LINK_STATES)
    return await collection_page(
        request,
        "page.html",
        explanation=explanation,
        most_of_parts=max(map(abs, page["parts"].values()), default=1.0) or 1.0,
        notes=[event for event in explanation["told"] if _is_note(event)][:MOST_NOTES],
        links=links,
        link_states=LINK_STATES,
        shown_links=sorted((links or {}).get("links", ()), key=lambda link: order.index(link["state"]))[:MOST_LINKS],
    )


def _is_note(event: Mapping[str, Any]) -> bool:
    return event["event"] != "exploration" or bool(event["facts"].get("rate"))


async def why(request: Request) -> str:
    path, url = api_base.folder_of(request), request.query_params.get("url", "").strip()
    explanation = error = None
    if url:
        try:
            explanation = await run_in_threadpool(crawl_data.explanation, path, url, api_base.desk_of(request).clock())
        except ScenthoundError as failure:
            error = failure
    return await collection_page(request, "why.html", url=url, explanation=explanation, error=error)


async def copy(request: Request) -> Response:
    path, url = api_base.folder_of(request), crawl_data.url_of(URL.of(request.query_params))

    def render() -> str | None:
        with CrawlFolder.look(path) as folder:
            document = crawl_data.document_of(folder, url)
            return None if document is None else stored_copy.stored_copy(document)

    html = await run_in_threadpool(render)
    if html is None:
        raise api_base.NotFound(
            "this page is not stored", "its record may be gone; `scenthound resume --refetch` fetches it again"
        )
    return HTMLResponse(html, headers={"Content-Security-Policy": stored_copy.POLICY})


# ---- search


async def search(request: Request) -> str:
    desk, path, query = api_base.desk_of(request), api_base.folder_of(request), request.query_params
    words, like = query.get("q", "").strip(), query.get("like", "").strip()
    languages = await run_in_threadpool(search_api.languages_of, path)
    error, results, next_results, offset = None, None, "", whole_number(query.get("offset", "")) or 0
    if words or like:
        try:
            results = await run_in_threadpool(search_api.search_folder, desk, path, query)
            after = offset + len(results["results"])
            if results["results"] and after < results["total"]:
                other_parameters = [(key, value) for key, value in query.multi_items() if key != "offset"]
                next_results = urlencode([*other_parameters, ("offset", after)])
        except ScenthoundError as failure:
            error = failure
    else:
        await run_in_threadpool(desk.processes.follow, path)
    return await collection_page(
        request,
        "search.html",
        words=words,
        like=like,
        query=query,
        languages={code: pages for code, pages in languages.items() if code},
        categories=await run_in_threadpool(categories_of, path),
        error=error,
        results=results,
        page_count=await run_in_threadpool(_page_count, path),
        offset=offset,
        next_results=next_results,
    )


def _page_count(path: Path) -> int:
    with CrawlFolder.look(path) as folder:
        return len(folder.history)


async def static(request: Request) -> Response:
    name = request.path_params["file"]
    kind = STATIC.get(name[name.rfind(".") :])
    package = "scenthound.report" if name == "look.css" else "scenthound.desk"
    file = resources.files(package).joinpath("static", name)
    if kind is None or "/" in name or not file.is_file():
        raise api_base.NotFound("no such file", "")
    return Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})


ROUTES = [
    Route("/", html_page(start)),
    Route("/c/{name}", html_page(crawl)),
    Route("/c/{name}/page", html_page(one_page)),
    Route("/c/{name}/why", html_page(why)),
    Route("/c/{name}/copy", html_page(copy)),
    Route("/c/{name}/search", html_page(search)),
    Route("/static/{file}", html_page(static)),
]
