"""The page of one agent: its knowledge, its pages, its children and transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk.agent_data import agent_number, agent_of
from scenthound.desk.api_operations import get
from scenthound.desk.markup import Content, Markup, element, join
from scenthound.desk.population_view import AGENT, agent_link, amount
from scenthound.desk.shapes import ANY, FLAG, INTEGER, TEXT, fields, list_of, nullable

SHOWN_CHILDREN = 50
ONE_AGENT = fields(
    **AGENT["properties"],
    saved=ANY,
    offspring=list_of(AGENT),
    events=list_of(fields(n=INTEGER, event=TEXT, url=nullable(TEXT), title=TEXT, facts=ANY, is_hit=FLAG, is_seed=FLAG)),
)


async def get_agent(request: Request) -> Any:
    path, number = api_base.folder_of(request), agent_number(request.path_params["agent"])
    agent = await run_in_threadpool(agent_of, path, number)
    if agent is None:
        raise api_base.NotFound(f"this crawl has no agent {number}", "the Agents page lists all agents")
    return agent


async def agent_page(request: Request) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    agent = await get_agent(request)
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/agents")
    title = f"Agent {agent['agent']}"
    head = element(
        "section",
        element("p", element("a", "All agents", href=f"/c/{quote(name)}/agents"), class_="quiet-text"),
        element("h1", title),
        element("p", _life(name, agent)),
        class_="crawl-head",
    )
    cards = element(
        "div",
        element("div", _knowledge(agent), _hits(name, agent), _offspring(name, agent)),
        _events(name, agent),
        class_="two",
    )
    return layout.page(title, head, cards, nav=nav)


def _life(name: str, agent: Mapping[str, Any]) -> Content:
    parent, kind = agent["parent"], _kind(agent)
    when = (
        "at the start" if not agent["born"] else f"after {agent['born']:,} {'page' if agent['born'] == 1 else 'pages'}"
    )
    origin: Content = (
        [f"Created {when}"] if parent is None else [f"Born {when} to ", agent_link(name, parent, f"agent {parent}")]
    )
    if agent["died"] is None:
        end = f". It is alive, with {kind} {amount(agent['owned'])}"
    else:
        end = f". It died after {agent['died']:,} pages: {agent['why']}"
    count = {0: "no pages", 1: "1 page"}.get(agent["pages"], f"{agent['pages']:,} pages")
    read = f", and has {'bought' if kind == 'wealth' else 'read'} {count}. "
    hits = f"On topic: {agent['hits']:,}, not counting starting pages: {agent['new_hits']:,}."
    return [origin, end, read, hits if agent["pages"] else None]


def _kind(agent: Mapping[str, Any]) -> str:
    return "wealth" if agent["sales"] or "wealth" in agent["saved"] else "energy"


def _knowledge(agent: Mapping[str, Any]) -> Markup:
    saved = agent["saved"]
    if "net" in saved:
        return layout.card(
            "How it rates words near a link",
            element(
                "p",
                "How its neural network rates a link with this word nearby, compared with a link without any.",
                class_="quiet-text",
            ),
            _effects(saved["words"]),
            _weights(saved["net"], list(saved["words"])),
        )
    words = element("ul", *(element("li", element("span", word)) for word in agent["words"]), class_="counts")
    about = (
        [element("p", "It bids on pages that contain all of these words.", class_="quiet-text")]
        if agent["sales"] or "bid" in saved
        else []
    )
    if "bid" in saved:
        bid = "none yet" if saved["bid"] is None else f"{saved['bid']:,.2f}"
        about.append(element("p", f"Bid {bid}, {saved['wins']:,} wins, {saved['kind']} agent."))
    return layout.card(
        "Its key" if about else "Its words", *about, words if agent["words"] else element("p", "not recorded")
    )


def _effects(words: Mapping[str, float]) -> Markup:
    largest = max(map(abs, words.values()), default=1.0) or 1.0
    rows = [
        element(
            "tr",
            element("th", word, scope="row"),
            element("td", f"{effect:+.3f}", class_="number"),
            element(
                "td",
                element(
                    "meter",
                    min=0,
                    max=1,
                    value=f"{abs(effect) / largest:.3f}",
                    class_="minus" if effect < 0 else None,
                    aria_hidden="true",
                ),
            ),
        )
        for word, effect in sorted(words.items(), key=lambda pair: -pair[1])
    ]
    return element("table", element("tbody", *rows), class_="parts")


def _weights(net: Mapping[str, Any], words: list[str]) -> Markup:
    def row(name: str, weights: list[float], bias: float | None) -> Markup:
        values = [*weights, *([] if bias is None else [bias])]
        return element(
            "tr",
            element("th", name, scope="row"),
            *(element("td", f"{value:.2f}", class_="number") for value in values),
        )

    hidden = list(zip(net["w1"], net["b1"], strict=True))
    rows = [row(f"unit {index}", weights, bias) for index, (weights, bias) in enumerate(hidden, 1)]
    heads = element(
        "tr",
        element("th", "", scope="col"),
        *(element("th", word, scope="col", class_="number") for word in [*words, "bias"]),
    )
    first = element("table", element("thead", heads), element("tbody", *rows)) if hidden else None
    names = [f"unit {index}" for index in range(1, len(hidden) + 1)] or words
    out = element(
        "tr",
        element("th", "", scope="col"),
        *(element("th", name, scope="col", class_="number") for name in [*names, "bias"]),
    )
    second = element("table", element("thead", out), element("tbody", row("output", net["w2"], net["b2"])))
    return element(
        "details", element("summary", "Weights of its network"), element("div", first, second, class_="wide weights")
    )


def _hits(name: str, agent: Mapping[str, Any]) -> Content:
    """The pages on topic that the agent found, with seeds last."""
    hits = {event["url"]: event for event in agent["events"] if event["is_hit"]}
    if not hits:
        return None
    rows = [
        element("li", _page_link(name, event)) for event in sorted(hits.values(), key=lambda event: event["is_seed"])
    ]
    return layout.card("On topic", element("ul", *rows, class_="plain"))


def _offspring(name: str, agent: Mapping[str, Any]) -> Markup:
    children = agent["offspring"]
    if not children:
        return layout.card("Children", element("p", "None.", class_="quiet-text"))
    own_words = set(agent["words"])
    rows = [
        element(
            "li",
            agent_link(name, child["agent"], f"Agent {child['agent']}"),
            element("span", _difference(own_words, child["words"]), class_="quiet-text"),
        )
        for child in children[:SHOWN_CHILDREN]
    ]
    return layout.card(f"Children: {len(children):,}", element("ul", *rows, class_="counts"))


def _difference(own_words: set[str], words: list[str]) -> str:
    new = [word for word in words if word not in own_words]
    return f"new: {', '.join(new)}" if new else "same words"


def _events(name: str, agent: Mapping[str, Any]) -> Markup:
    rows = [
        element(
            "tr",
            element("td", f"{event['n']:,}", class_="number"),
            element("td", _page_link(name, event)),
            element("td", _event_text(name, agent["agent"], event)),
        )
        for event in reversed(agent["events"])
    ]
    heads = (("after page", "number"), ("page", ""), ("event", ""))
    head = element("tr", *(element("th", label, scope="col", class_=kind or None) for label, kind in heads))
    if not rows:
        return layout.card("Pages", element("p", "It has found none.", class_="quiet-text"))
    title = "Pages and transactions" if agent["sales"] else "Pages"
    return layout.card(
        title, element("div", element("table", element("thead", head), element("tbody", *rows)), class_="wide tall")
    )


def _page_link(name: str, event: Mapping[str, Any]) -> Content:
    if event["url"] is None:
        return "–"
    link = element(
        "a",
        event["title"] or layout.short(event["url"], 48),
        href=layout.address(name, "page", url=event["url"]),
        title=event["url"],
    )
    shape = element("span", "●" if event["is_hit"] else "○", class_="shape", aria_hidden="true")
    verdict = "on topic" if event["is_hit"] else "off topic"
    start = element("span", " starting page", class_="quiet-text") if event["is_seed"] else None
    return [element("span", shape, class_=f"score {verdict[:-6]}", title=verdict, aria_label=verdict), link, start]


def _event_text(name: str, agent: int, event: Mapping[str, Any]) -> Content:
    facts = event["facts"]
    if event["event"] == "fed":
        expected = f" (expected {facts['expected']:.2f})" if "expected" in facts else ""
        return f"similarity {facts['similarity']:.2f}{expected}, energy {facts['before']:.2f} → {facts['energy']:.2f}"
    if event["event"] == "sold":
        goal = " Goal reached." if facts.get("goal") else ""
        if facts.get("seller") == agent:
            return join(
                "Sold to ",
                agent_link(name, int(facts["agent"]), f"agent {facts['agent']}"),
                f" for {facts['price']:,.2f}.{goal}",
            )
        seller = facts.get("seller")
        source: Content = (
            "no one" if not isinstance(seller, int) or seller < 0 else agent_link(name, seller, f"agent {seller}")
        )
        return join("Bought from ", source, f" for {facts['price']:,.2f}; bid {facts['bid']:,.2f}.{goal}")
    return str(event["event"])


ROUTES = [
    get(
        "/api/collections/{name}/agents/{agent}",
        get_agent,
        "One agent, with its pages and transactions.",
        ONE_AGENT,
        path_shapes={"agent": INTEGER},
    ),
    Route("/c/{name}/agents/{agent}", main_pages.html_page(agent_page)),
]
