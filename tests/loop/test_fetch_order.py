"""The order of requests while hosts rest: turns, patience and time. No test sleeps: time is an argument."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest

from scenthound.hosts import HostClock
from scenthound.lab.testing import TinyWeb
from scenthound.loop.core import Crawl
from scenthound.loop.fetch_order import Order, OrderRule, Turns
from scenthound.loop.figures import Figures, SavedFigures
from scenthound.loop.messages import FOREVER, Done, Fetch, Limits, RobotsLanded, Wait
from scenthound.loop.selection import ALL_RESTS
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.web.robots import ALLOW_ALL

GOOD, ALSO, POOR = Url("http://good.test/1"), Url("http://good.test/2"), Url("http://poor.test/")


@dataclass
class Listed:
    """A strategy with a fixed list of scores; links don't matter."""

    scores: dict[Url, float]

    def start(self, topic: Topic, seeds: object) -> list[Candidate]:
        return [Candidate(url, score) for url, score in self.scores.items()]

    def read(self, page: Page) -> list[Candidate]:
        return []

    def miss(self, miss: Miss) -> list[Candidate]:
        return []


def crawl_of(scores: dict[Url, float], rule: OrderRule, limits: Limits | None = None) -> Crawl:
    crawl = Crawl(
        Listed(scores),
        MemoryFrontier(),
        MemoryHistory(),
        Topic("bees"),
        [(url, url) for url in scores],
        limits=limits or Limits(pages=10),
        host_clock=HostClock(rule.delay, obey=False),
        order=rule,
    )
    crawl.start()
    return crawl


def pages_of(*urls: Url) -> TinyWeb:
    return TinyWeb({url: f"<title>{url}</title>" for url in urls})


def fetched(crawl: Crawl, web: TinyWeb, latency: float = 0.1) -> list[tuple[float, Url]]:
    """Run a crawl, one reply at a time. Returns when each URL was requested."""
    now, requests = 0.0, []
    while True:
        step = crawl.next(now)
        match step:
            case Fetch():
                requests.append((round(now, 3), step.candidate.url))
                now += latency
                crawl.landed(web.fetch(step.candidate), now)
            case Wait():
                now = step.until
            case Done():
                return requests


def test_quality_waits_for_the_better_host() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    crawl = crawl_of(scores, OrderRule("quality", window=1), Limits(pages=2))
    assert [url for _, url in fetched(crawl, pages_of(*scores))] == [GOOD, ALSO]
    assert crawl.figures.out_of_order == 0
    assert crawl.figures.waited == pytest.approx(1.0)


def test_speed_takes_the_host_that_is_awake() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    crawl = crawl_of(scores, OrderRule("speed"), Limits(pages=2))
    assert [url for _, url in fetched(crawl, pages_of(*scores))] == [GOOD, POOR]
    assert crawl.figures.out_of_order == 1
    assert crawl.figures.waited == 0


def test_without_a_delay_there_is_nothing_to_wait_for() -> None:
    assert not Turns(OrderRule("quality", delay=0.0), Figures(), Limits(), HostClock()).is_patient


def test_pages_are_read_in_the_order_of_turns_whichever_reply_comes_first() -> None:
    scores = {GOOD: 0.9, POOR: 0.1}
    web, crawl = pages_of(*scores), crawl_of(scores, OrderRule("quality", 2))
    first, second = crawl.next(0.0), crawl.next(0.0)
    assert isinstance(first, Fetch)
    assert isinstance(second, Fetch)
    crawl.landed(web.fetch(second.candidate), 0.1)
    assert crawl.pages == 0, "the better page has to be read first"
    assert crawl.in_flight == 2, "after a crash both are requested again"
    crawl.landed(web.fetch(first.candidate), 0.2)
    assert [step.url for step in crawl.history.trail()] == [GOOD, POOR]


def test_a_host_that_rests_long_is_passed_over() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    web, crawl = pages_of(*scores), crawl_of(scores, OrderRule("quality", window=1), Limits(pages=3))
    first = crawl.next(0.0)
    assert isinstance(first, Fetch)
    crawl.landed(Miss(first.candidate, "http-503", status=503, retry_after=300.0), 0.1)
    second = crawl.next(0.1)
    assert isinstance(second, Fetch)
    assert second.candidate.url == POOR, "nobody waits five minutes for a better host"
    crawl.landed(web.fetch(second.candidate), 0.2)
    assert [url for _, url in fetched(crawl, web)] == [GOOD, ALSO], "it is asked again when it is awake"


@pytest.mark.parametrize("order", ["auto", "quality", "speed"])
def test_a_crawl_ends_when_all_hosts_rest_too_long_and_not_before(order: Order) -> None:
    hosts = [[Url(f"http://{host}.test/{number}") for number in range(4)] for host in "abc"]
    scores = {url: 0.9 - 0.1 * place for place, host in enumerate(hosts) for url in host}
    web = pages_of(*scores)
    crawl = crawl_of(scores, OrderRule(order, window=2, delay=100.0), Limits(pages=20, longest_wait=60.0))
    assert [url for _, url in fetched(crawl, web)] == [host[0] for host in hosts], "each awake host is asked first"
    assert crawl.end_reason == ALL_RESTS


def test_a_page_that_came_before_its_turn_is_read_before_a_crawl_ends_because_everything_rests() -> None:
    web, scores = pages_of(GOOD, ALSO, POOR), {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    crawl = crawl_of(scores, OrderRule("quality", window=3, delay=100.0), Limits(longest_wait=60.0))
    first, second = crawl.next(0.0), crawl.next(0.0)
    assert isinstance(first, Fetch)
    assert isinstance(second, Fetch)
    crawl.landed(web.fetch(second.candidate), 0.1)
    crawl.landed(web.fetch(first.candidate), 0.2)
    assert crawl.next(0.2) == Done(ALL_RESTS)
    assert crawl.pages == 2


def test_a_request_that_hangs_holds_up_the_others_for_ten_delays_only() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    crawl = crawl_of(scores, OrderRule("quality", window=1))
    assert isinstance(crawl.next(0.0), Fetch)
    waits = crawl.next(0.0)
    assert waits == Wait(10.0)
    after = crawl.next(10.0)
    assert isinstance(after, Fetch)
    assert after.candidate.url == POOR


def test_a_new_host_that_the_driver_does_not_wait_for_is_passed_over_at_once() -> None:
    crawl = crawl_of({GOOD: 0.9, POOR: 0.1}, OrderRule("quality", window=1))
    first = crawl.next(0.0)
    assert isinstance(first, Fetch)
    second = crawl.next(0.5, slow=[first])
    assert isinstance(second, Fetch)
    assert second.candidate.url == POOR


def test_a_page_that_comes_before_its_turn_is_read_when_the_budget_allows_no_other() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    web, crawl = pages_of(*scores), crawl_of(scores, OrderRule("quality", 3), Limits(pages=10, ends_at=5.0))
    for step in (crawl.next(0.0), crawl.next(0.0)):
        assert isinstance(step, Fetch)
        if step.candidate.url == POOR:
            crawl.landed(web.fetch(step.candidate), 0.1)
    assert crawl.pages == 0
    assert crawl.next(5.0) == Wait(FOREVER)
    assert [step.url for step in crawl.history.trail()] == [POOR]


@pytest.mark.parametrize(("time_left", "waits"), [(5.0, False), (60.0, True)])
def test_with_a_time_limit_the_crawl_waits_if_its_pages_fit_into_the_time(time_left: float, waits: bool) -> None:
    turns = Turns(OrderRule("auto"), Figures(), Limits(pages=10, ends_at=time_left), HostClock())
    turns.advance_to(0.0)
    assert turns.is_patient == waits


def test_a_crawl_that_falls_behind_stops_waiting_and_tells_the_frontier_which_hosts_rest() -> None:
    scores = {GOOD: 0.9, ALSO: 0.8, POOR: 0.1}
    web = pages_of(*scores)
    crawl = crawl_of(scores, OrderRule("auto", window=1), Limits(pages=3, ends_at=5.0))
    first = crawl.next(0.0)
    assert isinstance(first, Fetch)
    assert crawl.turns.is_patient
    crawl.landed(web.fetch(first.candidate), 3.0)  # three seconds for a page: two more don't fit into the rest
    second = crawl.next(3.0)
    assert not crawl.turns.is_patient
    assert isinstance(second, Fetch)
    assert second.candidate.url == POOR, "the better host rests until 4.0"


def test_what_order_cost_is_saved_and_old_folders_have_none() -> None:
    figures = Figures(out_of_order=3, waited=1.5)
    again = Figures()
    again.load(figures.save())
    assert (again.out_of_order, again.waited) == (3, 1.5)
    again.load(SavedFigures(attempts=1))
    assert (again.out_of_order, again.waited) == (0, 0.0)
    assert "waited" not in msgspec.to_builtins(Figures().save()), "a crawl without rest writes what it always wrote"


def test_a_turn_is_kept_while_robots_txt_is_fetched() -> None:
    crawl = crawl_of({GOOD: 0.9, POOR: 0.1}, OrderRule("quality", 1))
    assert crawl.host_clock is not None
    crawl.host_clock.obey = True
    robots = crawl.next(0.0)
    assert isinstance(robots, Fetch)
    assert robots.kind == "robots"
    crawl.landed(RobotsLanded(robots.candidate, ALLOW_ALL), 0.1)
    assert crawl.next(0.1) == Wait(1.1)
    page = crawl.next(1.1)
    assert isinstance(page, Fetch)
    assert page.candidate.url == GOOD
