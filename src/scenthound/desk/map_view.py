"""The page with the map of a crawl. Without JavaScript it is a table of hosts."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.map_data import MOST_PAGES, hosts_of, map_of
from scenthound.desk.markup import Markup, element
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, fields, list_of, nullable

SHOWN_HOSTS = 200
KEYS = (
    "Arrow keys move the map, plus and minus zoom, 0 shows everything, comma and full stop select the previous and "
    "next page, Enter opens it."
)
LIMIT = params.Integer("limit", "Maximum number of pages; the most relevant are returned.", MOST_PAGES, 1, MOST_PAGES)
LINKS = params.Choice("links", "Whether to return all links between the pages.", {"no": False, "yes": True})
PAGE = fields(
    **dict.fromkeys(("url", "host", "title"), TEXT),
    **dict.fromkeys(("relevance", "time"), NUMBER),
    n=INTEGER,
    on_topic=FLAG,
    parent=nullable(INTEGER),
)
MAP = fields(total=INTEGER, pages=list_of(PAGE), links=nullable(list_of(list_of(INTEGER))))


async def get_map(request: Request) -> Any:
    path, query = api_base.folder_of(request), request.query_params
    return await run_in_threadpool(map_of, path, LIMIT.of(query), LINKS.of(query))


async def map_page(request: Request) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    data = await run_in_threadpool(map_of, path)
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/map")
    if not data["pages"]:
        return layout.page(
            "Map", layout.empty("No pages yet", element("p", "The map will appear with the first page.")), nav=nav
        )
    hosts = hosts_of(data["pages"])
    return layout.page("Map", _head(name, data, len(hosts)), _body(name, hosts), script="map", nav=nav)


def _head(name: str, data: dict[str, Any], hosts: int) -> Markup:
    shown, total = len(data["pages"]), data["total"]
    which = f"{shown:,} pages" if shown == total else f"the {shown:,} most relevant of {total:,} pages"
    summary = f"{which} on {hosts:,} {'host' if hosts == 1 else 'hosts'}. Early finds are in the middle. "
    on = element("span", element("span", "●", class_="score on", aria_hidden="true"), " on topic, ")
    off = element("span", element("span", "○", class_="score off", aria_hidden="true"), " off topic")
    about = element("p", f"{summary[:1].upper()}{summary[1:]}", on, off, class_="quiet-text")
    return element("section", element("h1", "Map"), about, id="crawl", data_name=name, class_="crawl-head")


def _body(name: str, hosts: list[dict[str, Any]]) -> Markup:
    new = element(
        "button", "Redraw the map", type="button", id="map-new", data_do="map-new", class_="new-bar", hidden=True
    )
    canvas = element("canvas", id="map", class_="map", tabindex=0, role="application", aria_label=f"Map. {KEYS}")
    picture = element(
        "section", new, _controls(), canvas, element("p", KEYS, class_="quiet-text only-keys"), class_="card scripted"
    )
    return element("div", picture, _side_list(name, hosts), class_="beside")


def _controls() -> Markup:
    def slider(id_: str, label: str, value_text: str, **range_: str | int) -> Markup:
        field = element("input", type="range", id=id_, **range_)
        return element(
            "div",
            element("label", label, for_=id_),
            field,
            element("output", value_text, id=f"{id_}-words", for_=id_),
            class_="slider",
        )

    def button(text: str, do: str, label: str | None = None) -> Markup:
        return element("button", text, type="button", id=do, data_do=do, aria_label=label)

    links = element(
        "select",
        element("option", "links that were followed", value="led"),
        element("option", "all links", value="all"),
        element("option", "no links", value="none"),
        id="map-links",
        aria_label="Links",
    )
    return element(
        "div",
        button("Replay", "map-play"),
        slider("map-time", "Until", "", min=0, max=1, value=1),
        slider("map-relevance", "Minimum relevance", "0.00", min=0, max=1, value=0, step="0.05"),
        links,
        element(
            "div",
            button("−", "map-out", "Zoom out"),
            button("+", "map-in", "Zoom in"),
            button("All", "map-fit"),
            class_="labels",
        ),
        class_="controls",
    )


def _side_list(name: str, hosts: list[dict[str, Any]]) -> Markup:
    rows = [
        element(
            "tr",
            element("td", element("a", host["host"], href=layout.collection_address(name, host=host["host"]))),
            element("td", f"{host['pages']:,}", class_="number"),
            element("td", f"{host['on_topic']:,}", class_="number"),
        )
        for host in hosts[:SHOWN_HOSTS]
    ]
    heads = element(
        "tr",
        element("th", "host", scope="col"),
        *(element("th", label, scope="col", class_="number") for label in ("pages", "on topic")),
    )
    table = element("table", element("thead", heads), element("tbody", *rows), id="map-list")
    back = element(
        "button", "All hosts", type="button", id="map-hosts", data_do="map-hosts", class_="quiet", hidden=True
    )
    title = element("h2", f"{len(hosts):,} {'host' if len(hosts) == 1 else 'hosts'}", id="map-list-title")
    selected = element(
        "div",
        element("p", "Select a page on the map or in the list.", class_="quiet-text"),
        id="map-selected",
        aria_live="polite",
        class_="selected scripted",
    )
    return element(
        "section",
        selected,
        element("div", title, back, class_="head"),
        element("div", table, class_="wide tall"),
        class_="card",
    )


ROUTES = [
    get("/api/collections/{name}/map", get_map, "The pages of a map and the links between them.", MAP, LIMIT, LINKS),
    Route("/c/{name}/map", main_pages.html_page(map_page)),
]
