"""The agents of a crawl: a page with all of them, as a tree and as a table, and a page for each."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk.agent_data import agent_number, agent_of, population_of
from scenthound.desk.api_operations import get
from scenthound.desk.shapes import ANY, FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable

SHOWN_AGENTS = 200
AGENT = fields(
    **dict.fromkeys(("agent", "born", "pages", "hits", "new_hits", "sales", "children"), INTEGER),
    **dict.fromkeys(("parent", "died"), nullable(INTEGER)),
    why=TEXT,
    owned=nullable(NUMBER),
    words=TEXTS,
)
POPULATION = fields(pages=INTEGER, total=INTEGER, living=INTEGER, owns=TEXT, agents=list_of(AGENT))
ONE_AGENT = fields(
    **AGENT["properties"],
    saved=ANY,
    offspring=list_of(AGENT),
    events=list_of(fields(n=INTEGER, event=TEXT, url=nullable(TEXT), title=TEXT, facts=ANY, is_hit=FLAG, is_seed=FLAG)),
)


async def get_population(request: Request) -> Any:
    return await run_in_threadpool(population_of, api_base.folder_of(request))


async def population_page(request: Request) -> str:
    population = await get_population(request)
    agents = sorted(
        population["agents"],
        key=lambda agent: (agent["died"] is not None, -(agent["owned"] or 0.0), -agent["pages"], agent["agent"]),
    )
    most_owned = max((agent["owned"] or 0.0 for agent in agents), default=1.0) or 1.0
    shown = {**population, "agents": agents, "most_owned": most_owned, "most_shown": SHOWN_AGENTS}
    return await main_pages.collection_page(request, "agents.html", **shown)


async def get_agent(request: Request) -> Any:
    path, number = api_base.folder_of(request), agent_number(request.path_params["agent"])
    agent = await run_in_threadpool(agent_of, path, number)
    if agent is None:
        raise api_base.NotFound(f"this crawl has no agent {number}", "the Agents page lists all agents")
    return agent


async def agent_page(request: Request) -> str:
    agent = await get_agent(request)
    hits = {event["url"]: event for event in agent["events"] if event["is_hit"]}
    saved = agent["saved"]
    layer = zip(saved["net"]["w1"], saved["net"]["b1"], strict=True) if "net" in saved else ()
    return await main_pages.collection_page(
        request,
        "agent.html",
        agent=agent,
        hits=sorted(hits.values(), key=lambda event: event["is_seed"]),
        units=[(f"unit {index}", weights, bias) for index, (weights, bias) in enumerate(layer, 1)],
        most_effect=max(map(abs, saved["words"].values()), default=1.0) or 1.0 if "net" in saved else 1.0,
    )


ROUTES = [
    get("/api/collections/{name}/agents", get_population, "The agents of a crawl, oldest first.", POPULATION),
    Route("/c/{name}/agents", main_pages.html_page(population_page)),
    get(
        "/api/collections/{name}/agents/{agent}",
        get_agent,
        "One agent, with its pages and transactions.",
        ONE_AGENT,
        path_shapes={"agent": INTEGER},
    ),
    Route("/c/{name}/agents/{agent}", main_pages.html_page(agent_page)),
]
