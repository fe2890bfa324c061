"""Routes of the main pages: start, crawl, page, why not, search, stored copy, static files."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from scenthound import url as urls
from scenthound.desk import (
    api_base,
    crawl_data,
    crawl_view,
    page_view,
    search_api,
    search_view,
    start_view,
    stored_copy,
)
from scenthound.desk import page_layout as layout
from scenthound.desk.agent_data import has_agents
from scenthound.desk.crawl_api import HOST, ON_TOPIC, URL
from scenthound.desk.markup import Content, Markup, element
from scenthound.desk.seed_choices import choices
from scenthound.errors import ScenthoundError, from_os_error
from scenthound.loop.folder import CrawlFolder
from scenthound.search.portal_categories import categories_of
from scenthound.store.live_queries import Wanted

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
    home_link = element("p", element("a", "All collections", href="/"))
    return HTMLResponse(layout.page("Something went wrong", layout.problem(message, hint, home_link)), status)


def nav_of(path: Path, name: str, here: str) -> Markup:
    """The navigation of a collection: Agents if it has any; Site map if all seeds are on one host, else Related."""
    without = [] if has_agents(path) else ["/agents"]
    with CrawlFolder.look(path) as folder:
        hosts = {urls.host(url) for url, _ in folder.request.keyed_seeds()}
    without.append("/related" if len(hosts) == 1 else "/site-map")
    return layout.collection_nav(name, here, without)


# ---- start


async def start(request: Request) -> str:
    desk, query = api_base.desk_of(request), request.query_params
    rows = await run_in_threadpool(api_base.listing, desk)
    sources = await run_in_threadpool(choices, desk.collections, desk.sources)
    form = start_view.start_form(query.get("topic", "")[:2000], sources, query.get("source", ""))
    collection_list = start_view.collections(rows, desk.collections.experiments())
    companion_link = element("a", "Companion", href="/companion") if desk.companion is not None else None
    shortcuts = element(
        "p",
        "In a hurry? ",
        element("a", "Ask a short question", href="/ask"),
        " ",
        companion_link,
        class_="quiet-text aside",
    )
    return layout.page("What are you looking for?", form, shortcuts, collection_list, script="start")


# ---- a crawl


async def crawl(request: Request) -> str:
    desk, path, name = api_base.desk_of(request), api_base.folder_of(request), request.path_params["name"]
    await run_in_threadpool(desk.processes.follow, path)
    facts = await run_in_threadpool(api_base.overview, desk, name, path)
    query = request.query_params
    order = "best" if query.get("order") == "best" else "new"
    wanted = Wanted(order, host=HOST.of(query), on_topic=ON_TOPIC.of(query))
    listing = await run_in_threadpool(crawl_data.pages, path, wanted)
    return layout.page(
        facts["topic"],
        crawl_view.head(facts),
        element("div", crawl_view.figures(facts), class_="cards"),
        crawl_view.results(listing["pages"], facts, wanted),
        crawl_view.losses(facts),
        script="crawl",
        nav=await run_in_threadpool(nav_of, path, name, ""),
    )


# ---- a page, or why it was not fetched


async def one_page(request: Request) -> str | Response:
    path, name = api_base.folder_of(request), request.path_params["name"]
    if not request.query_params.get("url", "").strip():
        return await why(request)
    url = URL.of(request.query_params)
    explanation = await run_in_threadpool(crawl_data.explanation, path, url, api_base.desk_of(request).clock())
    if explanation["state"] != "crawled":
        return await why(request)
    links = await run_in_threadpool(crawl_data.links, path, explanation["page"]["url"])
    content = page_view.fetched_page(name, explanation, links)
    return layout.page(
        explanation["page"]["title"] or explanation["page"]["url"],
        content,
        script="page",
        nav=await run_in_threadpool(nav_of, path, name, "/page"),
    )


async def why(request: Request) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    url = request.query_params.get("url", "").strip()
    answer: Content = None
    if url:
        try:
            explanation = await run_in_threadpool(crawl_data.explanation, path, url, api_base.desk_of(request).clock())
            answer = page_view.not_fetched_card(name, explanation)
        except ScenthoundError as error:
            answer = layout.problem(error.message, error.hint)
    box = element(
        "form",
        element("label", "Why was this page not fetched?", for_="url", class_="ask"),
        element(
            "div",
            element("input", id="url", name="url", value=url, placeholder="https://example.org/page", autofocus=True),
            element("button", "Find out", class_="primary"),
            class_="row",
        ),
        element(
            "p",
            "Enter any address to see whether the crawl found it, where, and what is ahead of it in the waiting list.",
            class_="quiet-text",
        ),
        method="get",
        class_="start",
    )
    return layout.page("Why not?", box, answer, script="page", nav=await run_in_threadpool(nav_of, path, name, "/why"))


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
    desk, path, name = api_base.desk_of(request), api_base.folder_of(request), request.path_params["name"]
    query, error, results = request.query_params, None, None
    words, like = query.get("q", "").strip(), query.get("like", "").strip()
    languages = await run_in_threadpool(search_api.languages_of, path)
    if words or like:
        try:
            results = await run_in_threadpool(search_api.search_folder, desk, path, query)
        except ScenthoundError as failure:
            error = layout.problem(failure.message, failure.hint)
    else:
        await run_in_threadpool(desk.processes.follow, path)
    box = search_view.form(words, like, query, languages, await run_in_threadpool(categories_of, path))
    pages = await run_in_threadpool(_page_count, path)
    result_list = error if results is None else search_view.result_list(name, results, query, pages)
    return layout.page(
        words or like or "Search",
        box,
        result_list,
        script="search",
        nav=await run_in_threadpool(nav_of, path, name, "/search"),
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
