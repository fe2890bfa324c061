"""The page with the agents of a crawl, and that of one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk.agent_data import population_of
from scenthound.desk.api_operations import get
from scenthound.desk.markup import Markup, element
from scenthound.desk.shapes import INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable

SHOWN_AGENTS = 200
SHOWN_WORDS = 6
AGENT = fields(
    **dict.fromkeys(("agent", "born", "pages", "hits", "new_hits", "sales", "children"), INTEGER),
    **dict.fromkeys(("parent", "died"), nullable(INTEGER)),
    why=TEXT,
    owned=nullable(NUMBER),
    words=TEXTS,
)
POPULATION = fields(pages=INTEGER, total=INTEGER, living=INTEGER, owns=TEXT, agents=list_of(AGENT))


async def get_population(request: Request) -> Any:
    return await run_in_threadpool(population_of, api_base.folder_of(request))


async def population_page(request: Request) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    found = await run_in_threadpool(population_of, path)
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/agents")
    if not found["agents"]:
        why = "Only InfoSpiders and the Hayek economies send agents; this crawl has another way of searching."
        return layout.page("Agents", layout.empty("No agents", element("p", why)), nav=nav)
    head = element(
        "section",
        element("h1", "Agents"),
        element("p", _summary(found), class_="quiet-text", id="population-words"),
        id="crawl",
        data_name=name,
        class_="crawl-head",
    )
    lines = (
        "Each line is an agent, from its birth to its death; a line that leaves another is its child. "
        "Thicker lines brought more pages. The figures at the right are its number and "
        f"its {found['owns']}."
    )
    tree = layout.card("Tree", element("p", lines, class_="quiet-text"), element("div", id="tree", class_="tree"))
    return layout.page(
        "Agents", head, element("div", tree, class_="scripted"), _table(name, found), script="population", nav=nav
    )


def _summary(found: Mapping[str, Any]) -> str:
    dead = found["total"] - found["living"]
    return f"{found['living']:,} live, {dead:,} {'has' if dead == 1 else 'have'} died, after {found['pages']:,} pages."


def _table(name: str, found: Mapping[str, Any]) -> Markup:
    agents = sorted(
        found["agents"],
        key=lambda agent: (agent["died"] is not None, -(agent["owned"] or 0.0), -agent["pages"], agent["agent"]),
    )
    most = max((agent["owned"] or 0.0 for agent in agents), default=1.0) or 1.0
    heads = [
        ("agent", ""),
        (found["owns"], "number"),
        ("", ""),
        ("words", ""),
        ("pages", "number"),
        ("on topic", "number"),
        ("of these new", "number"),
        ("children", "number"),
        ("born at page", "number"),
        ("parent", "number"),
    ]
    rows = [
        element(
            "tr",
            element(
                "td", agent_link(name, agent["agent"], f"Agent {agent['agent']}"), "" if agent["died"] is None else " †"
            ),
            element("td", amount(agent["owned"]), class_="number"),
            element(
                "td",
                element(
                    "meter", min=0, max=1, value=f"{max(0.0, agent['owned'] or 0.0) / most:.3f}", aria_hidden="true"
                ),
            ),
            element(
                "td", ", ".join(agent["words"][:SHOWN_WORDS]) + (" …" if len(agent["words"]) > SHOWN_WORDS else "")
            ),
            element("td", f"{agent['pages']:,}", class_="number"),
            element("td", f"{agent['hits']:,}", class_="number"),
            element("td", f"{agent['new_hits']:,}", class_="number"),
            element("td", f"{agent['children']:,}", class_="number"),
            element("td", f"{agent['born']:,}", class_="number"),
            element(
                "td",
                "–" if agent["parent"] is None else agent_link(name, agent["parent"], str(agent["parent"])),
                class_="number",
            ),
        )
        for agent in agents[:SHOWN_AGENTS]
    ]
    head = element("tr", *(element("th", words, scope="col", class_=kind or None) for words, kind in heads))
    table = element("table", element("thead", head), element("tbody", *rows), data_sortable="true")
    shown = element("div", table, class_="wide tall broad")
    more = (
        f"The first {SHOWN_AGENTS} of {found['total']:,}: the living, then the dead (†). "
        if found["total"] > SHOWN_AGENTS
        else "† has died. "
        if found["living"] < found["total"]
        else ""
    )
    more += "New: not among the pages to start from."
    return layout.card("All agents", shown, element("p", more, class_="quiet-text"))


def agent_link(name: str, agent: int, words: str) -> Markup:
    return element("a", words, href=f"/c/{quote(name)}/agents/{agent}")


def amount(owned: float | None) -> str:
    return "–" if owned is None else f"{owned:,.2f}"


ROUTES = [
    get("/api/collections/{name}/agents", get_population, "The agents of a crawl, oldest first.", POPULATION),
    Route("/c/{name}/agents", main_pages.html_page(population_page)),
]
