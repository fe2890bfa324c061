"""The ideas of the first strategies, on tiny webs."""

from __future__ import annotations

import pytest

from scenthound.lab.testing import TinyWeb, Walk, walk
from scenthound.model import Topic
from scenthound.papers.random_order import RandomOrder
from scenthound.strategies.best_first import BestFirst, BestNFirst
from scenthound.strategies.breadth_first import BreadthFirst

BEES = Topic("bees honey")


@pytest.fixture
def web() -> TinyWeb:
    """A page about cars comes before one about honey; what honey leads to is about bees."""
    return TinyWeb(
        {
            "start.example/": "a list -> cars.example/ honey.example/ dull.example/",
            "cars.example/": "cars engines -> cars.example/1 cars.example/2",
            "honey.example/": "honey jars -> hive.example/ bees.example/",
            "dull.example/": "nothing much",
            "cars.example/1": "wheels",
            "cars.example/2": "doors",
            "hive.example/": "bees hive",
            "bees.example/": "bees honey",
        }
    )


def names(walked: Walk) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "") for url in walked.visited]


def test_breadth_first_goes_level_by_level_in_document_order(web: TinyWeb) -> None:
    walked = walk(web, BreadthFirst(), BEES, "start.example/")
    assert names(walked) == ["start", "cars", "honey", "dull", "cars1", "cars2", "hive", "bees"]


def test_best_first_follows_the_links_of_a_relevant_page_before_all_others(web: TinyWeb) -> None:
    walked = walk(web, BestFirst(), BEES, "start.example/")
    assert names(walked) == ["start", "cars", "honey", "hive", "bees", "dull", "cars1", "cars2"]
    assert walked.steps[3].parts == {"page": walked.steps[3].score}


def test_a_larger_batch_explores_more_before_it_exploits(web: TinyWeb) -> None:
    walked = walk(web, BestFirst(n=3, shuffle=False), BEES, "start.example/")
    assert names(walked) == ["start", "cars", "honey", "dull", "hive", "bees", "cars1", "cars2"]


def test_a_batch_is_fetched_in_an_order_that_the_seed_number_decides() -> None:
    targets = [f"p{n}.example/" for n in range(40)]
    web = TinyWeb({"start.example/": f"-> {' '.join(targets)}", **dict.fromkeys(targets, "page")})
    orders = {n: tuple(walk(web, BestNFirst(), BEES, "start.example/", seed_number=n).visited) for n in (0, 0, 1)}
    assert orders[0] != orders[1]
    assert set(orders[0]) == set(orders[1])
    assert orders[0] == tuple(walk(web, BestNFirst(), BEES, "start.example/", seed_number=0).visited)


def test_random_visits_everything_in_an_order_that_its_seed_decides(web: TinyWeb) -> None:
    orders = [tuple(names(walk(web, RandomOrder(seed), BEES, "start.example/"))) for seed in range(20)]
    assert len(set(orders)) > 5
    assert all(len(order) == 8 and order[0] == "start" for order in orders)
    assert orders[3] == tuple(names(walk(web, RandomOrder(3), BEES, "start.example/")))
