"""The agents of a crawl as JSON data, from recorded events: parents, energy or wealth, and the pages they found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenthound.desk.live_queries import titles
from scenthound.errors import BadUsage
from scenthound.formats import event_line, json_facts, whole_number
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Event, Url
from scenthound.papers.saved_agents import saved_agents

MOST_AGENTS = 2000
MOST_EVENTS = 500
RESOURCES = ("energy", "wealth")
"""The resources that agents own: spiders have energy, traders have wealth."""


def has_agents(path: Path) -> bool:
    with CrawlFolder.look(path) as folder:
        return next(iter(folder.history.strategy_events("born")), None) is not None


def population_of(path: Path) -> dict[str, Any]:
    """All agents, oldest first; if there are more than `MOST_AGENTS`, the living ones and those with the most pages."""
    with CrawlFolder.look(path) as folder:
        agents = _agents(folder, _hits(folder))
        kept = sorted(agents.values(), key=lambda agent: (agent["died"] is not None, -agent["pages"]))[:MOST_AGENTS]
        return {
            "pages": len(folder.history),
            "total": len(agents),
            "living": sum(agent["died"] is None for agent in agents.values()),
            "owns": "wealth" if any(agent["sales"] for agent in agents.values()) else "energy",
            "agents": sorted(kept, key=lambda agent: int(agent["agent"])),
        }


def _hits(folder: CrawlFolder) -> dict[Url, bool]:
    """Map the URL of each page on topic to whether it is a seed."""
    return {page.url: page.depth == 0 for page in folder.history.marks() if page.relevant}


def _agents(folder: CrawlFolder, hits: Mapping[Url, bool]) -> dict[int, dict[str, Any]]:
    agents: dict[int, dict[str, Any]] = {}
    for event in folder.history.strategy_events():
        number = event.facts.get("agent")
        if isinstance(number, int):
            _update(agents, number, event)
            if event.kind in ("fed", "sold") and event.url is not None and event.url in hits:
                agents[number]["hits"] += 1
                agents[number]["new_hits"] += not hits[event.url]
    for number, saved in saved_agents(folder).items():
        agent = agents.setdefault(number, _newborn(number, 0))  # agents of a trained model existed before the crawl
        if "wealth" in saved:
            agent |= {"owned": saved["wealth"], "parent": saved["parent"], "words": saved["features"]}
    return agents


def _update(agents: dict[int, dict[str, Any]], number: int, event: Event) -> None:
    agent = agents.setdefault(number, _newborn(number, event.n))
    facts = event.facts
    if event.kind == "born":
        parent = facts.get("parent")
        agent |= {"parent": parent, "born": event.n, "words": _words(facts), "owned": facts.get("energy")}
        if parent in agents:
            agents[parent]["children"] += 1
            if "energy" in facts:  # the parent keeps as much as it gives to the child
                agents[parent]["owned"] = facts["energy"]
    elif event.kind == "died":
        agent |= {"died": event.n, "why": str(facts.get("why", "ran out of money"))}
        agent["owned"] = next((facts[resource] for resource in RESOURCES if resource in facts), agent["owned"])
    elif event.kind in ("fed", "sold"):
        agent["pages"] += 1
        agent["sales"] += event.kind == "sold"
        agent["owned"] = facts.get("energy", agent["owned"])


def _newborn(number: int, n: int) -> dict[str, Any]:
    """An agent without any data yet. The birth event of an old agent may have been deleted."""
    return {
        "agent": number,
        "parent": None,
        "born": n,
        "died": None,
        "why": "",
        "owned": None,
        "words": [],
        "pages": 0,
        "hits": 0,
        "new_hits": 0,
        "sales": 0,
        "children": 0,
    }


def _words(facts: Mapping[str, Any]) -> list[str]:
    words = facts.get("keywords", facts.get("features", []))
    return [str(word) for word in words] if isinstance(words, list) else []


def agent_of(path: Path, number: int) -> dict[str, Any] | None:
    """One agent with its children, pages and transactions; None if it does not exist."""
    with CrawlFolder.look(path) as folder:
        hits = _hits(folder)
        agents = _agents(folder, hits)
        if number not in agents:
            return None
        own_events = [
            event for event in folder.history.strategy_events(agent=number) if event.kind not in ("born", "died")
        ]
        all_sales = folder.history.strategy_events("sold")
        sales = [event for event in all_sales if event.facts.get("seller") == number != event.facts.get("agent")]
        latest = sorted([*own_events[-MOST_EVENTS:], *sales[-MOST_EVENTS:]], key=lambda event: event.n)[-MOST_EVENTS:]
        page_titles = titles(folder.database, {event.url for event in latest if event.url is not None})
        children = [agent for agent in agents.values() if agent["parent"] == number]
        return {
            **agents[number],
            "saved": json_facts(dict(saved_agents(folder).get(number, {}))),
            "offspring": sorted(children, key=lambda child: int(child["agent"])),
            "events": [
                {
                    **event_line(event),
                    "title": "" if event.url is None else page_titles.get(event.url, ""),
                    "is_hit": event.url in hits,
                    "is_seed": event.url is not None and hits.get(event.url, False),
                }
                for event in latest
            ],
        }


def agent_number(raw: str) -> int:
    """Parse the agent number in a path. Raises `BadUsage`."""
    number = whole_number(raw)
    if number is None or number < 0:
        raise BadUsage(f"not an agent number: {raw[:40]}", "use a whole number")
    return number
