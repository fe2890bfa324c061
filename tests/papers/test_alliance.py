"""Alliance: first the pages most of whose neighbours are on topic."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, Walk, named, walk
from scenthound.model import Candidate, Link, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.papers.alliance import AllianceCrawler
from scenthound.papers.parts.clustering import alliance


def web_of(links: dict[str, str]) -> TinyWeb:
    return TinyWeb({f"{page}.test/": "-> " + " ".join(f"{to}.test/" for to in links[page].split()) for page in links})


def crawl(strategy: AllianceCrawler, links: dict[str, str], seeds: str, **options: Any) -> Walk:
    return walk(web_of(links), strategy, "", [f"{seed}.test/" for seed in seeds.split()], **options)


def order(walked: Walk) -> str:
    return " ".join(url.removeprefix("http://").removesuffix(".test/") for url in walked.visited)


def accepted(strategy: AllianceCrawler) -> set[str]:
    return {
        strategy.graph_.names[number].removeprefix("http://").removesuffix(".test/") for number in strategy.accepted_
    }


def test_pages_that_only_the_seeds_link_to_come_before_pages_that_others_link_to_as_well() -> None:
    links = {"a": "x y", "b": "y", "x": "p q r y", "y": "", "p": "", "q": "", "r": ""}
    walked = crawl(AllianceCrawler(), links, "a b")
    assert order(walked) == "a b x y p q r"
    scores = {step.url: step.score for step in walked.steps}
    assert scores[named("x.test/")] == 1.0, "known from a alone"
    assert scores[named("y.test/")] == pytest.approx(2 / 3), "from a and b, and from x, which is not on topic"
    assert scores[named("p.test/")] == 0.0


def test_a_page_is_on_topic_if_half_of_its_neighbours_are() -> None:
    links = {"a": "x y", "x": "p", "y": "q r", "p": "", "q": "", "r": ""}
    strategy = AllianceCrawler()
    crawl(strategy, links, "a")
    assert accepted(strategy) == {"a", "x", "p"}, "x has a and p, of which a is; y has a, q and r"
    strict = AllianceCrawler(threshold=0.6)
    crawl(strict, links, "a")
    assert accepted(strict) == {"a"}


def test_waiting_urls_are_rescored_when_a_neighbour_is_accepted() -> None:
    links = {"a": "x", "b": "", "x": "n m u", "n": "x", "m": "a b x", "u": ""}
    strategy = AllianceCrawler()
    walked = crawl(strategy, links, "a b")
    assert order(walked) == "a b x n m u"
    # x has one friend of four, until m, itself a friend of a and b, makes it two of four: u is worth 1 from then on
    assert walked.steps[-1].score == 1.0
    assert dict(walked.steps[-1].parts) == {"alliance": 1.0, "on topic": 1.0}
    assert {"x", "m", "u"} <= accepted(strategy)


def test_values_kept_up_step_by_step_are_those_of_the_whole_graph() -> None:
    for seed in range(8):
        rng = random.Random(seed)
        names = [f"p{number}" for number in range(40)]
        links = {name: " ".join(rng.sample(names, rng.randrange(5))) for name in names if rng.random() < 0.9}
        strategy = AllianceCrawler()
        walked = crawl(strategy, {"a": "p0 p1 p2 p3", "b": "p2 p4", **links}, "a b")
        assert len(walked.visited) > 20
        for number in range(len(strategy.graph_)):
            assert strategy.value(number) == alliance(strategy.graph_, number, strategy.accepted_).share
        fetched = strategy.fetched_ - strategy.accepted_
        assert all(strategy.value(number) < 0.5 for number in fetched)


def test_links_to_a_url_that_redirects_are_links_to_where_it_leads() -> None:
    web = web_of({"a": "x", "b": "x new", "new": "p q", "p": "", "q": ""})
    web.moved[named("x.test/")] = named("new.test/")
    strategy = AllianceCrawler()
    walked = walk(web, strategy, "", "a.test/ b.test/")
    assert order(walked) == "a b new p q"
    new = strategy.graph_.number(named("new.test/"))
    assert new is not None
    assert new == strategy.graph_.number(named("x.test/"))
    assert (strategy.friends_[new], strategy.graph_.degree(new)) == (4, 4), "a and b, and then p and q by its means"
    for number in range(len(strategy.graph_)):
        assert strategy.value(number) == alliance(strategy.graph_, number, strategy.accepted_).share


def test_counts_are_right_on_a_web_full_of_redirects() -> None:
    for seed in range(8):
        rng = random.Random(seed)
        names = [f"p{number}" for number in range(40)]
        web = web_of({name: " ".join(rng.sample(names, rng.randrange(1, 5))) for name in names})
        for name in rng.sample(names, 15):
            web.html.pop(named(f"{name}.test/"))
            web.moved[named(f"{name}.test/")] = named(f"{rng.choice(names)}.test/")
        strategy = AllianceCrawler()
        walk(web, strategy, "", "p0.test/ p1.test/ p2.test/")
        for number in range(len(strategy.graph_)):
            assert strategy.value(number) == alliance(strategy.graph_, number, strategy.accepted_).share


def test_a_seed_that_redirects_stays_on_topic() -> None:
    web = web_of({"new": "p", "p": ""})
    web.moved[named("a.test/")] = named("new.test/")
    strategy = AllianceCrawler()
    assert order(walk(web, strategy, "", "a.test/")) == "new p"
    assert accepted(strategy) == {"new", "p"}


def test_a_graph_of_one_page() -> None:
    strategy = AllianceCrawler()
    assert order(crawl(strategy, {"a": "a"}, "a")) == "a"
    assert strategy.value(0) == 0.0


def test_a_page_with_a_hundred_thousand_links() -> None:
    strategy = AllianceCrawler()
    strategy.start(Topic("x"), [named("a.test/")])
    url, links = named("a.test/"), [Link(Url(f"http://n.test/{number}")) for number in range(100_000)]
    offers = list(strategy.read(Page(url, Candidate(url, 1.0, {"node": 0}), Record(url, "", "", links))))
    assert len(offers) == 100_000
    assert {offer.score for offer in offers} == {1.0}


def test_beyond_its_memory_a_url_is_worth_what_its_page_is_worth() -> None:
    strategy = AllianceCrawler(memory=2)
    walked = crawl(strategy, {"a": "x y z", "x": "p q", "y": "", "z": "", "p": "", "q": ""}, "a")
    assert order(walked) == "a x y z p q"
    assert [step.score for step in walked.steps] == [math.inf, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert len(strategy.graph_) <= 6


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"threshold": 1.5}, {"threshold": "half"}, {"memory": 0}])
def test_a_parameter_that_makes_no_sense_is_refused_with_a_way_out(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig) as caught:
        AllianceCrawler(**wrong)
    assert caught.value.hint
