"""The page with all agents of a crawl, as a tree and as a table."""

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
    population = await run_in_threadpool(population_of, path)
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/agents")
    if not population["agents"]:
        why = "Only InfoSpiders and the Hayek economies use agents; this crawl uses another strategy."
        return layout.page("Agents", layout.empty("No agents", element("p", why)), nav=nav)
    head = element(
        "section",
        element("h1", "Agents"),
        element("p", _summary(population), class_="quiet-text", id="population-words"),
        id="crawl",
        data_name=name,
        class_="crawl-head",
    )
    caption = (
        "Each line is an agent, from birth to death; a line that branches off another is its child. "
        "Thicker lines found more pages. At the right are the number of the agent and "
        f"its {population['owns']}."
    )
    tree = layout.card("Tree", element("p", caption, class_="quiet-text"), element("div", id="tree", class_="tree"))
    return layout.page(
        "Agents", head, element("div", tree, class_="scripted"), _table(name, population), script="population", nav=nav
    )


def _summary(population: Mapping[str, Any]) -> str:
    dead = population["total"] - population["living"]
    return f"{population['living']:,} alive, {dead:,} dead after {population['pages']:,} pages."


def _table(name: str, population: Mapping[str, Any]) -> Markup:
    agents = sorted(
        population["agents"],
        key=lambda agent: (agent["died"] is not None, -(agent["owned"] or 0.0), -agent["pages"], agent["agent"]),
    )
    largest = max((agent["owned"] or 0.0 for agent in agents), default=1.0) or 1.0
    heads = [
        ("agent", ""),
        (population["owns"], "number"),
        ("", ""),
        ("words", ""),
        ("pages", "number"),
        ("on topic", "number"),
        ("new", "number"),
        ("children", "number"),
        ("born after page", "number"),
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
                    "meter", min=0, max=1, value=f"{max(0.0, agent['owned'] or 0.0) / largest:.3f}", aria_hidden="true"
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
    head = element("tr", *(element("th", label, scope="col", class_=kind or None) for label, kind in heads))
    table = element("table", element("thead", head), element("tbody", *rows), data_sortable="true")
    scrolled = element("div", table, class_="wide tall broad")
    note = (
        f"The first {SHOWN_AGENTS} of {population['total']:,}: living agents, then dead ones (†). "
        if population["total"] > SHOWN_AGENTS
        else "† dead. "
        if population["living"] < population["total"]
        else ""
    )
    note += "New: on topic and not a starting page."
    return layout.card("All agents", scrolled, element("p", note, class_="quiet-text"))


def agent_link(name: str, agent: int, text: str) -> Markup:
    return element("a", text, href=f"/c/{quote(name)}/agents/{agent}")


def amount(owned: float | None) -> str:
    return "–" if owned is None else f"{owned:,.2f}"


ROUTES = [
    get("/api/collections/{name}/agents", get_population, "The agents of a crawl, oldest first.", POPULATION),
    Route("/c/{name}/agents", main_pages.html_page(population_page)),
]
