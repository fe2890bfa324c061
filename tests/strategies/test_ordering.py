"""Crawling by importance: backlink count and PageRank as orders of a crawl."""

from __future__ import annotations

import math
import random
from typing import Any

import networkx as nx
import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, Walk, named, walk
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.papers.backlink_count import BacklinkCount
from scenthound.papers.pagerank_order import PageRankOrder

FAN = {"a": "x y z", "b": "z", "x": "q", "y": "q", "z": "w", "q": "", "w": ""}


def web_of(links: dict[str, str]) -> TinyWeb:
    return TinyWeb({f"{page}.test/": "-> " + " ".join(f"{to}.test/" for to in links[page].split()) for page in links})


def crawl(strategy: Any, links: dict[str, str], seeds: str = "a b", **options: Any) -> Walk:
    return walk(web_of(links), strategy, "", [f"{seed}.test/" for seed in seeds.split()], **options)


def order(walked: Walk) -> str:
    return " ".join(url.removeprefix("http://").removesuffix(".test/") for url in walked.visited)


def random_links(seed: int, pages: int = 50) -> dict[str, str]:
    rng = random.Random(seed)
    names = [f"p{number}" for number in range(pages)]
    return {name: " ".join(rng.sample(names, rng.randrange(1, 6))) for name in names}


def hundred_thousand(carry: dict[str, Any]) -> Page:
    url, links = named("a.test/"), [Link(Url(f"http://n.test/{number}")) for number in range(100_000)]
    return Page(url, Candidate(url, 1.0, carry), Record(url, "", "", links))


# ---- backlink count


def test_the_url_most_pages_link_to_comes_first_and_ties_go_by_discovery() -> None:
    walked = crawl(BacklinkCount(), FAN)
    assert order(walked) == "a b z x y q w"
    assert [step.score for step in walked.steps] == [math.inf, math.inf, 2, 1, 1, 2, 1]
    assert [step.parts["backlinks"] for step in walked.steps] == [0, 0, 2, 1, 1, 2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_the_count_is_always_that_of_the_links_of_all_pages_read(seed: int) -> None:
    links = random_links(seed)
    strategy = BacklinkCount()
    walked = crawl(strategy, links, "p0", pages=25)
    read = [url.removeprefix("http://").removesuffix(".test/") for url in walked.visited]
    for page in links:
        right = sum(page in links[one].split() and page != one for one in read)
        found = strategy.counts_.get(named(f"{page}.test/"), 0)
        assert found == (-1 if page in read else right)


def test_a_seed_that_waits_stays_a_seed_whatever_links_to_it() -> None:
    walked = crawl(BacklinkCount(), {"a": "b c", "b": "", "c": ""})
    assert order(walked) == "a b c"
    assert (walked.steps[1].score, walked.steps[1].parts["backlinks"]) == (math.inf, 1)


def test_beyond_its_memory_a_url_is_worth_the_link_it_was_found_by() -> None:
    walked = crawl(BacklinkCount(memory=3), FAN)
    assert order(walked) == "a b x y z q w"
    assert {step.score for step in walked.steps[2:]} == {1.0}


def test_a_page_with_a_hundred_thousand_links_is_counted() -> None:
    strategy = BacklinkCount()
    strategy.start(Topic("x"), [named("a.test/")])
    assert len(list(strategy.read(hundred_thousand({})))) == 100_000
    assert len(list(strategy.read(hundred_thousand({})))) == 100_000, "read again after a loss: offered again,"
    assert set(strategy.counts_.values()) == {1, -1}, "but counted once"


# ---- PageRank


@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_those_of_networkx_on_what_is_known(seed: int) -> None:
    links = random_links(seed)
    strategy = PageRankOrder(every=1)
    walked = crawl(strategy, links, "p0 p1", pages=20)
    read = [url.removeprefix("http://").removesuffix(".test/") for url in walked.visited]
    known = nx.DiGraph()
    known.add_nodes_from(["p0", "p1"])
    known.add_edges_from((one, other) for one in read[:-1] for other in links[one].split() if one != other)
    ranks = nx.pagerank(known, alpha=0.85, tol=1e-13, max_iter=2000)
    waiting = {name: rank for name, rank in ranks.items() if name not in read[:-1]}
    assert walked.steps[-1].score == pytest.approx(ranks[read[-1]], abs=1e-9)
    assert ranks[read[-1]] == pytest.approx(max(waiting.values()), abs=1e-9)


def test_between_two_computations_a_new_url_is_worth_a_page_without_links() -> None:
    walked = crawl(PageRankOrder(every=3), FAN, pages=5)
    assert order(walked) == "a b x z q"
    scores = [step.score for step in walked.steps]
    assert scores[2] == pytest.approx(0.15 / 5), "a brought three: with the seeds there are five"
    assert scores[3] > scores[4] > 0.15 / 6, "after the third page all were computed: z has two links, q all of x"


def test_the_papers_formula_can_be_had() -> None:
    walked = crawl(PageRankOrder(every=1, form="cho", damping=0.9), FAN)
    scores = {step.url: step.score for step in walked.steps}
    assert scores[named("z.test/")] == pytest.approx(0.1 + 0.9 * (0.1 / 3 + 0.1))
    assert order(walked).startswith("a b z")


def test_dead_urls_are_not_nodes() -> None:
    strategy = PageRankOrder(every=1)
    strategy.start(Topic("x"), [named("a.test/"), named("b.test/")])
    strategy.miss(Miss(Candidate(named("b.test/"), math.inf), "http-404"))
    page = web_of({"a": "x"}).fetch(Candidate(named("a.test/"), math.inf, {"node": 0}))
    assert isinstance(page, Page)
    offers = list(strategy.read(page))
    assert offers[-1].score == pytest.approx(1.85 / 2.85), "a and x are the whole graph"
    assert len(strategy.graph_) == 2


def test_links_to_a_url_that_redirects_are_links_to_where_it_leads() -> None:
    web = web_of({"a": "x", "b": "x new", "new": "p", "p": ""})
    web.moved[named("x.test/")] = named("new.test/")
    strategy = PageRankOrder(every=1)
    walked = walk(web, strategy, "", "a.test/ b.test/")
    assert order(walked) == "a b new p"
    graph, _ = strategy.graph_.graph()
    assert sorted(graph.back_links(named("new.test/"))) == [named("a.test/"), named("b.test/")]


def test_a_graph_of_one_page_and_one_without_links() -> None:
    for strategy in (PageRankOrder(), PageRankOrder(every=1), BacklinkCount()):
        assert order(crawl(strategy, {"a": "a"}, "a")) == "a"
    assert order(crawl(PageRankOrder(damping=0.0), FAN)).startswith("a b")


def test_a_page_with_a_hundred_thousand_links_is_ranked() -> None:
    strategy = PageRankOrder(every=1)
    strategy.start(Topic("x"), [named("a.test/")])
    offers = list(strategy.read(hundred_thousand({"node": 0})))
    assert len(offers) == 200_000, "each once as found and once as ranked"
    assert len({offer.score for offer in offers}) == 2


def test_beyond_its_memory_the_graph_grows_no_more_and_the_crawl_goes_on() -> None:
    strategy = PageRankOrder(every=1, memory=2)
    assert sorted(order(crawl(strategy, FAN)).split()) == sorted("abxyzqw")
    assert len(strategy.graph_.names) <= 7


@pytest.mark.parametrize(
    "wrong",
    [{"every": 0}, {"every": 1.5}, {"damping": 1.0}, {"damping": -0.1}, {"damping": "x"}, {"form": "x"}, {"memory": 0}],
)
def test_a_parameter_that_makes_no_sense_is_refused_with_a_way_out(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig) as caught:
        PageRankOrder(**wrong)
    assert caught.value.hint
    with pytest.raises(BadConfig):
        BacklinkCount(memory=0)
