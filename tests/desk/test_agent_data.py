"""The agents of a crawl at the desk: families, energy, nets, keys and transactions, as the strategies recorded them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.desk.agent_data import agent_of, population_of
from scenthound.loop.folder import CrawlFolder
from support.desk import client
from support.small_crawl import small_crawl

WORDS = "hot air balloons"
HUB = "http://hub.test/"


def web() -> dict[str, tuple[str, str, list[str]]]:
    """A page with links to relevant pages, each of which links to the next."""
    pages = {HUB: (WORDS, WORDS, [f"http://b.test/{n}" for n in range(40)])}
    for n in range(40):
        pages[f"http://b.test/{n}"] = (f"{WORDS} club", f"{WORDS} club {n}", [f"http://b.test/{n + 1}", HUB])
    return pages


@pytest.fixture(scope="module")
def spiders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("spiders") / "spiders", web(), WORDS, "infospiders", pages=40)


@pytest.fixture(scope="module")
def traders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traders") / "traders"
    return small_crawl(folder, web(), WORDS, "hayek-estimating", pages=40)


def test_the_tree_of_spiders_is_that_of_the_recorded_births(spiders: Path) -> None:
    found = population_of(spiders)
    with CrawlFolder.look(spiders) as folder:
        births = {event.facts["agent"]: event.facts["parent"] for event in folder.history.strategy_events("born")}
        meals = list(folder.history.strategy_events("fed"))
        deaths = {event.facts["agent"]: event.n for event in folder.history.strategy_events("died")}
    assert {agent["agent"]: agent["parent"] for agent in found["agents"]} == births
    assert len(births) > 3, "they have multiplied"
    assert (found["total"], found["living"]) == (len(births), len(births) - len(deaths))
    assert {agent["agent"]: agent["died"] for agent in found["agents"] if agent["died"] is not None} == deaths
    assert found["owns"] == "energy"
    assert sum(agent["pages"] for agent in found["agents"]) == len(meals)
    for agent in found["agents"]:
        assert agent["children"] == sum(parent == agent["agent"] for parent in births.values())


def test_a_spider_says_which_of_its_pages_are_hits_and_which_were_not_among_the_seeds(spiders: Path) -> None:
    found = population_of(spiders)["agents"]
    assert sum(agent["hits"] for agent in found) > sum(agent["new_hits"] for agent in found) > 0
    first = agent_of(spiders, 0)
    assert first is not None
    seeds = [event["url"] for event in first["events"] if event["is_seed"]]
    assert seeds == [HUB]
    assert first["hits"] == sum(event["is_hit"] for event in first["events"])
    with client(spiders.parent / "home", spiders) as desk:
        page = desk.get("/c/spiders/agents/0").text
        assert f"On topic: {first['hits']}, not counting starting pages: {first['new_hits']}." in page
        assert "starting page" in page


def test_the_energy_of_a_spider_is_what_it_has_after_meals_and_births(spiders: Path) -> None:
    from scenthound.papers.saved_agents import saved_agents

    with CrawlFolder.look(spiders) as folder:
        saved = saved_agents(folder)
    shown = {agent["agent"]: agent["owned"] for agent in population_of(spiders)["agents"] if agent["died"] is None}
    assert shown == pytest.approx({number: agent["energy"] for number, agent in saved.items()}, abs=1e-5)


def test_a_spider_has_words_a_net_children_and_pages(spiders: Path) -> None:
    agents = population_of(spiders)["agents"]
    parent = next(agent for agent in agents if agent["children"] and agent["died"] is None)
    found = agent_of(spiders, parent["agent"])
    assert found is not None
    assert len(found["offspring"]) == parent["children"]
    assert set(found["saved"]["words"]) == set(parent["words"]) >= {"hot", "air", "balloon"}
    assert len(found["saved"]["net"]["w1"][0]) == len(parent["words"])
    meal = found["events"][0]
    assert meal["event"] == "fed"
    assert meal["facts"]["energy"] == pytest.approx(meal["facts"]["before"] + meal["facts"]["similarity"])
    assert agent_of(spiders, 10_000) is None


def test_traders_have_wealth_keys_and_transactions(traders: Path) -> None:
    found = population_of(traders)
    assert found["owns"] == "wealth"
    with CrawlFolder.look(traders) as folder:
        sales = list(folder.history.strategy_events("sold"))
    assert sum(agent["sales"] for agent in found["agents"]) == len(sales) > 0
    buyer = agent_of(traders, sales[-1].facts["agent"])
    assert buyer is not None
    assert buyer["owned"] == buyer["saved"]["wealth"]
    assert buyer["words"] == buyer["saved"]["features"]
    shown = [event["facts"] for event in buyer["events"]]
    number = buyer["agent"]
    assert dict(sales[-1].facts) in shown
    assert len(shown) == sum(number in (sale.facts["agent"], sale.facts["seller"]) for sale in sales)


def test_the_pages_say_it_in_words(spiders: Path, traders: Path, tmp_path: Path) -> None:
    with client(tmp_path / "home", spiders, traders) as desk:
        page = desk.get("/c/spiders/agents").text
        found = population_of(spiders)
        assert f"{found['living']} alive, {found['total'] - found['living']} dead" in page
        assert "Created " in desk.get("/c/spiders/agents/0").text
        living = next(agent for agent in found["agents"] if agent["died"] is None)
        assert "Weights of its network" in desk.get(f"/c/spiders/agents/{living['agent']}").text
        assert desk.get("/c/spiders/agents/99999").status_code == 404
        assert desk.get("/api/collections/spiders/agents/x").status_code == 400
        sale = next(agent for agent in population_of(traders)["agents"] if agent["sales"])
        assert "Bought from" in desk.get(f"/c/traders/agents/{sale['agent']}").text


def test_a_crawl_without_agents_has_no_such_page_in_its_navigation(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "plain")
    with client(tmp_path / "home", folder) as desk:
        assert "/c/plain/agents" not in desk.get("/c/plain").text
        assert "No agents" in desk.get("/c/plain/agents").text


def test_a_page_says_which_agent_read_it(spiders: Path, tmp_path: Path) -> None:
    with client(tmp_path / "home", spiders) as desk:
        answer = desk.get("/c/spiders/page", params={"url": HUB})
        assert answer.status_code == 200
        assert 'href="/c/spiders/agents/0"' in answer.text
