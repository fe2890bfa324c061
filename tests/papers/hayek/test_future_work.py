"""The future work of section 4 of [ECON], each item on a small example and alone; off by default."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, strategy_contract
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.hayek.agents import AgentFactory
from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.difficulty import Difficulty
from scenthound.papers.hayek.economy import Economy, EconomyOptions
from scenthound.papers.hayek.hayek_crawler import HayekEpsilon, HayekEstimating
from scenthound.papers.hayek.known_web import KnownWeb
from scenthound.papers.hayek.market import ROOT, Market, MarketRules, Purchase, coins, joint_bid, units
from scenthound.papers.hayek.page_features import (
    FEATURE_CLASSES,
    bayes_levels,
    draw_condition,
    holds,
    ngrams,
    probabilities,
)
from scenthound.text.tokens import Analyser


def known(pages: dict[str, str], *classes: str, keeps_order: bool = False) -> KnownWeb:
    """A web of which every page was fetched; a page with the word `prize` is a goal."""
    made = KnownWeb(
        Analyser(stem=False), lambda page: "prize" in page.text, 1000, (*FEATURE_CLASSES, *classes), keeps_order
    )
    web = TinyWeb(pages)
    for url in web.html:
        page = web.fetch(Candidate(Url(url), 0.0))
        assert isinstance(page, Page)
        made.learn(page)
    return made


def names(web: KnownWeb, url: str, kind: str) -> list[str]:
    number = web.numbers[f"http://{url}"]
    return sorted(name for one in web.features(number) if (name := web.lexicon.names[one]).startswith(kind))


# ---- features


def test_neighbouring_words_are_features() -> None:
    assert ngrams(["beach", "volleyball", "final"]) == {"ngram:beach_volleyball": 1, "ngram:volleyball_final": 1}
    web = known({"a.example/": "beach volleyball final"}, "ngrams")
    assert names(web, "a.example/", "ngram:") == ["ngram:beach_volleyball", "ngram:volleyball_final"]
    assert names(known({"a.example/": "beach volleyball final"}), "a.example/", "ngram:") == []


def test_a_bayesian_level_says_how_far_a_goal_is_likely_to_be() -> None:
    # One page at distance 0 that has both words, three farther ones of which none and one have them:
    # (1+1) · 2/3 · 2/3 = 8/9 against (3+1) · 1/5 · 2/5 = 8/25, so 8/9 : 8/25 = 25 : 9.
    near, far = probabilities([1, 3], [[1, 1], [0, 1]])
    assert near == pytest.approx(25 / 34)
    assert far == pytest.approx(9 / 34)
    assert bayes_levels([1, 3], [[1, 1], [0, 1]]) == ["bayes:0:50"]
    assert bayes_levels([1, 30], [[1, 1, 1, 1], [0, 0, 0, 0]]) == ["bayes:0:50", "bayes:0:80", "bayes:0:95"]
    pages = {f"g{n}.example/": "prize cup" for n in range(5)} | {f"x{n}.example/": "rain" for n in range(5)}
    web = known({**pages, "new.example/": "prize cup"}, "bayes")
    assert "bayes:0:80" in names(web, "new.example/", "bayes:")


def test_sites_have_features_by_how_many_pages_and_goals_they_gave() -> None:
    pages = {"a.example/": "one", "a.example/2": "two -> a.example/7", "a.example/g": "prize", "b.example/": "alone"}
    web = known(pages, "sites")
    assert names(web, "a.example/7", "visits:") == ["visits:2"], "3 pages were fetched: the bin from 2 to 4"
    assert names(web, "a.example/7", "goals:") == ["goals:1"]
    assert names(web, "b.example/", "goals:") == []
    web.label("http://a.example/g", False)
    assert names(web, "a.example/7", "goals:") == []


def test_a_site_that_links_to_goals_is_a_hub() -> None:
    pages = {"h.example/": "list -> g.example/1 g.example/2", "g.example/1": "prize", "g.example/2": "prize"}
    assert names(known(pages, "hubs"), "h.example/", "hub:") == ["hub:2"]
    late = {"g.example/1": "prize", "h.example/": "list -> g.example/1"}
    assert names(known(late, "hubs"), "h.example/", "hub:") == ["hub:1"]


def test_agents_that_know_a_bin_bid_no_more_when_the_site_leaves_it() -> None:
    web = known({"a.example/": "one -> a.example/7"}, "sites")
    market = Market()
    factory = AgentFactory(web, market, random.Random(0), "uniform", (*FEATURE_CLASSES, "sites"))
    agent = market.admit(web.lexicon.add(["visits:1"]).tolist(), virtual=True)
    seventh = web.numbers["http://a.example/7"]
    assert factory.matches(seventh) == [agent.number]
    page = TinyWeb({"a.example/2": "two"}).fetch(Candidate(Url("http://a.example/2"), 0.0))
    assert isinstance(page, Page)
    web.learn(page)
    assert factory.matches(seventh) == []


# ---- operators


def test_conditions_hold_or_not() -> None:
    words = ["beach", "bar", "and", "a", "late", "volleyball"]

    def says(condition: str) -> bool:
        return holds(condition, words.__contains__, words)

    assert [says("or:sea|bar"), says("or:sea|sun"), says("not:sea"), says("not:bar")] == [True, False, True, False]
    assert says("near:beach|volleyball"), "five words apart"
    assert not holds("near:beach|volleyball", words.__contains__, ["beach", *words[1:5], "x", "volleyball"])


def test_an_agent_with_conditions_knows_pages_where_all_hold() -> None:
    pages = {"a.example/": "ball beach", "b.example/": "ball hockey", "c.example/": "ball coast", "d.example/": "beach"}
    web, market = known(pages), Market()
    market.rarity = web.document_count
    factory = AgentFactory(web, market, random.Random(0), "uniform")
    ids = web.lexicon.add(["ball", "not:hockey", "or:beach|coast"]).tolist()
    agent = market.admit(ids)
    matched = [url for url in web.numbers if agent.number in factory.matches(web.numbers[url])]
    assert matched == ["http://a.example/", "http://c.example/"]
    assert [web.pages[number].url for number in web.pages_with(ids)] == matched


def test_a_drawn_condition_holds_for_the_page_it_was_drawn_for() -> None:
    own, order = ["beach", "ball"], ["beach", "ball", "beach"]
    for seed in range(30):
        condition = draw_condition(random.Random(seed), ("or", "near", "not"), own, ["hockey"], order)
        assert condition is not None
        assert holds(condition, own.__contains__, order)


# ---- the loop


def test_difficulty_is_reset() -> None:
    difficulty = Difficulty(level=4, success=3.5)
    difficulty.restart()
    assert (difficulty.level, difficulty.success) == (1, 0.0)


def two_sites() -> dict[str, str]:
    """Pages in a row on one site, of which the last links to a goal elsewhere."""
    pages = {f"a.example/{n}": f"step word{n} -> a.example/{n + 1} a.example/{min(n + 2, 20)}" for n in range(20)}
    return pages | {"a.example/20": "step -> g.example/ h.example/", "g.example/": "prize", "h.example/": "other"}


@pytest.mark.parametrize("few_sites", [0, 1])
def test_a_sequence_that_stays_on_few_sites_is_aborted(few_sites: int) -> None:
    options = EconomyOptions(
        sequences="restarted", few_sites=few_sites, long_interval=1, long_offset=100, agents=0, forget=False
    )
    web = known(two_sites())
    economy = Economy(MarketRules(), options, web, random.Random(1))
    while economy.counts.sequences < 1:
        assert economy.decide(1) is None
    assert (economy.counts.auctions == 10) if few_sites else (economy.counts.auctions > 10)


@pytest.mark.parametrize("asks", [False, True])
def test_a_goal_found_in_training_is_crawled_backwards(asks: bool) -> None:
    pages = {"s.example/": "start -> g.example/ m.example/", "m.example/": "road -> n.example/ s.example/"}
    pages |= {"g.example/": "prize", "n.example/": "prize more", "back.example/": "hidden -> n.example/ x.example/"}
    strategy = HayekEstimating(training=30, back_crawl_goals=asks, back=1)
    seen: list[str] = []
    lessons = TinyLessons(TinyWeb(pages), "prize", "g.example/")
    inner = lessons.back_links
    lessons.back_links = lambda url, most=None: seen.append(url) or inner(url, most)  # type: ignore[method-assign,func-returns-value]
    strategy.train(lessons, random.Random(1), lambda _: None)
    assert ("http://n.example/" in seen) == asks


# ---- money


def test_links_of_a_page_count_in_what_it_was_worth() -> None:
    market = Market(MarketRules(rate=0.5, links_valued=0.1))
    agent = market.admit([1])
    market.set_first_bid(agent, 50.0)
    market.value(Purchase(agent.number, 7, coins(50), 0, ROOT, links=coins(200)), coins(30))
    assert agent.factor == pytest.approx(50.0), "50 + .5 · (30 + .1 · 200 - 50)"


def test_agents_bid_together_and_share() -> None:
    group = joint_bid(7, [(40, 1), (100, 2), (60, 3)], most=3)
    assert group is not None
    assert (group.bid, group.leader) == (140, 2), "100 + 60/2 + 40/4"
    assert group.partners == ((3, 30 / 140), (1, 10 / 140))


def test_a_group_wins_where_its_members_alone_would_not() -> None:
    market = Market(MarketRules(cooperation=2, q=0.0, s=0.0, p=0.0))
    trading = Trading(market)
    lead, partner, other = (market.admit([number]) for number in (1, 2, 3))
    for agent, bid in ((lead, 60.0), (partner, 60.0), (other, 80.0)):
        market.set_first_bid(agent, bid)
    trading.corona.enter(10, [lead.number, partner.number])
    trading.corona.enter(11, [other.number])
    sale = trading.auction()
    assert sale is not None
    assert (sale.page, units(sale.bid), units(sale.price)) == (10, 90.0, 80.0), "60 + 60/2 over 80; the price is 80"
    trading.settle(sale, goal=True)
    # The younger of the two leads with 2/3. It pays 2/3 of 80 and gets 2/3 of the reward of 100.
    assert units(partner.wealth) == pytest.approx(100 - 80 * 2 / 3 + 100 * 2 / 3)
    assert units(lead.wealth) == pytest.approx(100 - 80 / 3 + 100 / 3)
    again = trading.auction()
    assert again is not None
    trading.settle(again, goal=False)
    assert again.price == 0, "nobody else bids"
    assert market.balance() == 0


# ---- all of it


FUTURE: list[dict[str, Any]] = [
    {"features": "words url links distance ngrams bayes sites hubs"},
    {"operators": "or near not"},
    {"reset_interval": 5, "few_sites": 1, "sequences": "restarted"},
    {"links_valued": 0.2, "cooperation": 3},
]


@pytest.mark.parametrize("kind", [HayekEstimating, HayekEpsilon])
@pytest.mark.parametrize("given", FUTURE, ids=str)
def test_each_extension_keeps_the_contract(kind: type[HayekEstimating], given: dict[str, Any]) -> None:
    for _, check in strategy_contract(lambda: kind(**given, training=20)):
        check()


@pytest.mark.parametrize(
    "wrong", [{"operators": "xor"}, {"features": "words smell"}, {"cooperation": 2, "pay": "afterwards"}], ids=str
)
def test_a_wrong_extension_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig) as raised:
        HayekEstimating(**{"sequences": "restarted", **wrong})
    assert raised.value.hint


def test_all_are_off_by_default() -> None:
    made = HayekEstimating()
    off = (made.operators, made.reset_interval, made.few_sites, made.back_crawl_goals, made.links_valued)
    assert off == ("", 0, 0, False, 0.0)
    assert made.cooperation == 1
    assert not {"ngrams", "bayes", "sites", "hubs"} & set(made.features.split())
    made.start(Topic("prize"), [Url("http://a.example/")])
    assert not made.economy_.web.sites
