"""The loop, driven by hand: no clock, no socket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pytest

from scenthound import url as urls
from scenthound.errors import StrategyFailed
from scenthound.hosts import DAY, HostClock
from scenthound.lab.testing import TinyWeb, named, walk
from scenthound.loop.core import Crawl
from scenthound.loop.messages import (
    FOREVER,
    SITEMAP,
    Done,
    Dropped,
    Fetch,
    Limits,
    RobotsLanded,
    SitemapLanded,
    Wait,
)
from scenthound.loop.resume import LoopState, Saved, resume
from scenthound.loop.scope import Scope
from scenthound.model import Candidate, Miss, Moved, Topic, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.ports import Declaration
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.best_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.typed_data import from_plain
from scenthound.web.robots import parse


@dataclass
class Everything:
    """Gives every link the same score."""

    batch: int = 1

    @property
    def declaration(self) -> Declaration:
        return Declaration(batch=self.batch)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, FOREVER) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        return [page.offer(link, 0.5) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


def crawl_of(*seeds: str, host_clock: HostClock | None = None, scope: Scope | None = None, **limits: float) -> Crawl:
    made = Crawl(
        Everything(),
        MemoryFrontier(),
        MemoryHistory(),
        Topic("bees"),
        [(named(s), named(s)) for s in seeds],
        limits=Limits(**limits),  # type: ignore[arg-type]
        host_clock=host_clock,
        scope=scope,
    )
    made.start()
    return made


def fetched(crawl: Crawl, now: float) -> Fetch:
    step = crawl.next(now)
    assert isinstance(step, Fetch), step
    return step


def page_for(fetch: Fetch, html: str = "<p>bees</p>") -> Page:
    return Page(fetch.candidate.url, fetch.candidate, read_html(html, fetch.candidate.url))


def polite(delay: float = 5.0, obey: bool = False) -> HostClock:
    return HostClock(delay=delay, obey=obey)


def test_a_host_rests_after_each_request_for_its_delay() -> None:
    crawl = crawl_of("a.example/1", "a.example/2", host_clock=polite(5.0))
    first = fetched(crawl, 0.0)
    assert crawl.next(0.5) == Wait(FOREVER), "one request at a time"
    crawl.landed(Miss(first.candidate, "http-404", status=404), 1.0)
    assert crawl.next(1.0) == Wait(6.0), "counted from the reply"
    assert fetched(crawl, 6.0).candidate.url == "http://a.example/2"


def test_other_hosts_are_served_meanwhile() -> None:
    crawl = crawl_of("a.example/1", "a.example/2", "b.example/", host_clock=polite())
    assert [fetched(crawl, 0.0).candidate.url for _ in range(2)] == ["http://a.example/1", "http://b.example/"]
    assert crawl.next(0.0) == Wait(FOREVER)


def test_robots_txt_comes_before_the_first_page_of_an_origin() -> None:
    crawl = crawl_of("a.example/secret", "a.example/open", host_clock=polite(1.0, obey=True))
    robots = fetched(crawl, 0.0)
    assert (robots.kind, robots.spelling) == ("robots", "http://a.example/robots.txt")
    crawl.landed(RobotsLanded(robots.candidate, parse(b"User-agent: *\nDisallow: /secret", "scenthound")), 1.0)
    assert crawl.next(1.0) == Wait(2.0), "robots.txt is a request too"
    assert fetched(crawl, 2.0).candidate.url == "http://a.example/open"
    assert crawl.figures.misses["robots"] == 1


def test_the_crawl_delay_of_robots_txt_is_honoured() -> None:
    crawl = crawl_of("a.example/1", "a.example/2", host_clock=polite(1.0, obey=True))
    robots = fetched(crawl, 0.0)
    crawl.landed(RobotsLanded(robots.candidate, parse(b"User-agent: *\nCrawl-delay: 7", "scenthound")), 0.0)
    page = fetched(crawl, 7.0)
    crawl.landed(page_for(page), 8.0)
    assert crawl.next(8.0) == Wait(15.0)


def test_an_unreachable_robots_txt_means_no_for_a_while_and_then_for_a_day() -> None:
    crawl = crawl_of("a.example/", host_clock=HostClock(delay=1.0, backoff=10.0))
    first = fetched(crawl, 0.0)
    crawl.landed(RobotsLanded(first.candidate, None), 0.0)
    assert crawl.next(1.0) == Wait(10.0)
    second = fetched(crawl, 10.0)
    assert (first.kind, second.kind) == ("robots", "robots")
    crawl.landed(RobotsLanded(second.candidate, None), 11.0)
    assert crawl.next(14.0) == Wait(11.0 + DAY), "not dead: the crawl can be taken up when the site is back"
    assert crawl.figures.dropped["robots-unreachable"] == 1


class Impatient(MemoryFrontier):
    """Refuses candidates that are due later, as the frontiers of agents do."""

    def push(self, candidate: Candidate) -> Candidate | None:
        return candidate if candidate.due > 0.0 else super().push(candidate)


def test_a_seed_that_a_frontier_does_not_keep_for_a_day_is_not_asked_about_again_and_again() -> None:
    told: list[object] = []

    def watch(what: object) -> None:
        told.append(what)
        assert len(told) < 10, "the crawl goes round in circles"

    seed, host_clock = named("a.example/"), HostClock(delay=1.0, backoff=10.0)
    crawl = Crawl(
        Everything(),
        Impatient(),
        MemoryHistory(),
        Topic("bees"),
        [(seed, seed)],
        limits=Limits(),
        host_clock=host_clock,
        watch=watch,
    )
    crawl.start()
    for now in (0.0, 10.0):
        crawl.landed(RobotsLanded(fetched(crawl, now).candidate, None), now)
    assert crawl.next(14.0) == Wait(10.0 + DAY)
    assert fetched(crawl, 10.0 + DAY).kind == "robots", "it is asked for again when its time has come"


def test_429_backs_off_as_long_as_the_server_asks_and_the_url_is_tried_again() -> None:
    crawl = crawl_of("a.example/", host_clock=polite(1.0), retries=1)
    first = fetched(crawl, 0.0)
    crawl.landed(Miss(first.candidate, "http-429", status=429, retry_after=30.0), 1.0)
    assert crawl.next(1.0) == Wait(31.0)
    again = fetched(crawl, 31.0)
    assert again.candidate.url == first.candidate.url
    crawl.landed(Miss(again.candidate, "http-429", status=429, retry_after=30.0), 32.0)
    assert crawl.next(70.0) == Done("frontier empty"), "retries are bounded"


def test_a_host_that_only_fails_is_left_alone() -> None:
    crawl = crawl_of(
        *(f"a.example/{n}" for n in range(9)), host_clock=HostClock(delay=0.0, backoff=0.001, obey=False), retries=0
    )
    requests = 0
    now = 0.0
    while not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            requests += 1
            crawl.landed(Miss(step.candidate, "timeout", retry_after=0.0), now)
        now += 1.0
    assert requests == 6
    assert crawl.figures.dropped["host-failing"] == 3


def test_a_redirect_is_followed_as_a_request_of_its_own_and_remembered() -> None:
    crawl = crawl_of("a.example/old", host_clock=polite(1.0))
    first = fetched(crawl, 0.0)
    crawl.landed(Moved(first.candidate, named("b.example/new"), "http://b.example/new"), 0.5)
    second = fetched(crawl, 0.5)
    assert second.candidate.url == "http://b.example/new"
    crawl.landed(page_for(second), 1.0)
    (step,) = crawl.history.trail()
    assert (step.url, step.requested) == ("http://b.example/new", "http://a.example/old")
    assert crawl.history.seen(named("a.example/old"))


def test_a_redirect_loop_ends() -> None:
    web = TinyWeb({"a.example/": "=> b.example/", "b.example/": "=> a.example/", "c.example/": "=> c.example/"})
    walked = walk(web, Everything(), "bees", "a.example/ c.example/")
    assert walked.visited == []
    assert len(web.fetched) <= 12


def test_a_long_chain_of_redirects_is_cut_at_the_limit() -> None:
    web = TinyWeb({f"a.example/{n}": f"=> a.example/{n + 1}" for n in range(20)})
    walked = walk(web, Everything(), "bees", "a.example/0")
    assert len(web.fetched) == 11, "ten redirects, eleven requests"
    assert dict(walked.crawl.figures.misses) == {"redirect-loop": 1}


def test_a_redirect_to_a_known_page_costs_an_attempt_but_is_not_a_page() -> None:
    web = TinyWeb(
        {
            "a.example/": "x -> b.example/ c.example/",
            "b.example/": "=> a.example/",
            "c.example/": "=> d.example/",
            "d.example/": "y",
        }
    )
    walked = walk(web, Everything(), "bees", "a.example/")
    assert walked.visited == ["http://a.example/", "http://d.example/"]
    assert walked.crawl.figures.attempts == 4


def test_the_budget_is_exact_even_with_several_in_flight() -> None:
    web = TinyWeb({"a.example/": "x -> " + " ".join(f"a.example/{n}" for n in range(50)),
                   **{f"a.example/{n}": "y" for n in range(50)}})  # fmt: skip
    walked = walk(web, Everything(), "bees", "a.example/", pages=7, in_flight=5)
    assert len(walked.visited) == 7
    assert walked.reason == "pages"


def test_with_workers_busy_an_empty_frontier_is_not_the_end() -> None:
    crawl = crawl_of("a.example/")
    first = fetched(crawl, 0.0)
    assert crawl.next(0.0) == Wait(FOREVER)
    crawl.landed(page_for(first, '<a href="/b">b</a>'), 1.0)
    assert fetched(crawl, 1.0).candidate.url == "http://a.example/b"


def test_dead_urls_are_never_asked_for_again() -> None:
    web = TinyWeb({"a.example/": "x -> gone.example/ b.example/", "b.example/": "y -> gone.example/"})
    walk(web, Everything(), "bees", "a.example/")
    assert web.fetched.count(named("gone.example/")) == 1


def test_links_marked_nofollow_are_left_alone_unless_an_equal_one_is_not() -> None:
    html = '<a rel="nofollow" href="/no">n</a><a rel="nofollow" href="/both">b</a><a href="/both">b</a>'
    web = TinyWeb({"a.example/": html, "a.example/no": "x", "a.example/both": "y"})
    walked = walk(web, Everything(), "bees", "a.example/")
    assert "a.example/both" in walked
    assert "a.example/no" not in walked
    assert [d.reason for d in walked.dropped] == ["nofollow"]


def test_scope_budget_and_patience_say_why_a_link_was_not_followed() -> None:
    host_clock = HostClock(delay=0.0, obey=False)
    crawl = crawl_of("a.example/", host_clock=host_clock, scope=Scope(hosts=frozenset({"a.example"})), pages_per_host=2)
    crawl.landed(
        page_for(fetched(crawl, 0.0), '<a href="/1">1</a><a href="/2">2</a><a href="http://b.example/">b</a>'), 0.0
    )
    crawl.landed(page_for(fetched(crawl, 1.0)), 1.0)
    assert crawl.next(2.0) == Done("frontier empty")
    assert dict(crawl.figures.dropped) == {"out-of-scope": 1, "host-budget": 1}


def test_a_host_without_anything_relevant_goes_to_sleep() -> None:
    crawl = crawl_of(*(f"a.example/{n}" for n in range(5)), host_clock=polite(0.0), host_patience=3)
    pages = 0
    while isinstance(step := crawl.next(float(pages)), Fetch):
        crawl.landed(page_for(step), float(pages))
        pages += 1
    assert pages == 3
    assert crawl.figures.dropped["host-asleep"] == 2


def test_a_crawl_ends_when_all_that_is_left_rests_too_long() -> None:
    crawl = crawl_of("a.example/1", "a.example/2", host_clock=polite(1000.0), longest_wait=60.0)
    crawl.landed(page_for(fetched(crawl, 0.0)), 1.0)
    assert crawl.next(1.0) == Done("all that is left rests")


def test_time_runs_out() -> None:
    crawl = crawl_of("a.example/1", "a.example/2", ends_at=10.0)
    crawl.landed(page_for(fetched(crawl, 0.0)), 9.0)
    assert crawl.next(10.0) == Done("time")


def test_a_batch_whose_hosts_rest_does_not_keep_others_waiting() -> None:
    crawl = Crawl(
        Everything(batch=3),
        MemoryFrontier(),
        MemoryHistory(),
        Topic("bees"),
        [(named(s), named(s)) for s in ("a.example/1", "a.example/2", "a.example/3", "b.example/")],
        limits=Limits(),
        host_clock=polite(5.0),
    )
    crawl.start()
    assert [fetched(crawl, 0.0).candidate.url for _ in range(2)] == ["http://a.example/1", "http://b.example/"]
    assert crawl.next(0.0) == Wait(FOREVER)
    assert len(crawl.frontier) == 2


def test_sitemaps_offer_their_urls_at_score_zero_and_only_for_their_own_host() -> None:
    crawl = crawl_of("a.example/", host_clock=polite(1.0, obey=True), sitemaps=2)
    robots = fetched(crawl, 0.0)
    crawl.landed(RobotsLanded(robots.candidate, parse(b"Sitemap: http://a.example/map.xml", "scenthound")), 0.0)
    kinds = []
    now = 1.0
    while isinstance(step := crawl.next(now), Fetch):
        kinds.append((step.kind, str(step.candidate.url)))
        if step.kind == "sitemap":
            assert SITEMAP in step.candidate.carry
            listed = [(named("a.example/x"), "http://a.example/x"), (named("b.example/y"), "http://b.example/y")]
            crawl.landed(SitemapLanded(step.candidate, listed), now)
        else:
            crawl.landed(page_for(step), now)
        now += 1.0
    assert sorted(kinds) == [
        ("page", "http://a.example/"),
        ("page", "http://a.example/x"),
        ("sitemap", "http://a.example/map.xml"),
    ]


def test_candidates_dropped_from_a_full_frontier_are_reported_and_counted() -> None:
    web = TinyWeb({"a.example/": "x -> b.example/ c.example/ d.example/"})
    walked = walk(web, Everything(), "bees", "a.example/", bound=2)
    assert [(d.candidate.url, d.reason) for d in walked.dropped if isinstance(d, Dropped)] == [
        ("http://d.example/", "frontier-full")
    ]


def test_the_state_of_the_loop_is_plain_json_and_can_be_taken_up() -> None:
    crawl = crawl_of("a.example/old", "c.example/", host_clock=polite(1.0))
    first = fetched(crawl, 0.0)
    crawl.landed(Moved(first.candidate, named("b.example/new"), "http://b.example/new"), 0.5)
    state = from_plain(json.loads(json.dumps(msgspec.to_builtins(LoopState.of(crawl)))), LoopState)
    other = Crawl(
        Everything(), MemoryFrontier(), MemoryHistory(), Topic("bees"), [], limits=Limits(), host_clock=polite()
    )
    other.frontier.push(Candidate(named("c.example/"), 1.0))
    resume(other, Saved(state), lambda step, where: None)
    assert {fetched(other, 0.5).candidate.url for _ in range(2)} == {"http://b.example/new", "http://c.example/"}


def test_ranking_time_leaves_out_the_reading_of_pages() -> None:
    web = TinyWeb({"a.example/": "bees " * 20000 + "-> b.example/", "b.example/": "x"})
    walked = walk(web, Everything(), "bees", "a.example/")
    assert walked.crawl.rank_seconds >= 0.0
    assert walked.crawl.calls.links_scored == 1


def spelt(*spellings: str) -> Crawl:
    seeds = [(named(spelling), spelling) for spelling in spellings]
    frontier, history = MemoryFrontier(), MemoryHistory()
    made = Crawl(Everything(), frontier, history, Topic("x"), seeds, limits=Limits(), host_clock=polite(0.0))
    made.start()
    return made


def test_a_redirect_to_another_spelling_of_the_same_page_is_followed() -> None:
    crawl = spelt("http://a.example/~bob")
    first = fetched(crawl, 0.0)
    crawl.landed(Moved(first.candidate, first.candidate.url, "http://a.example/%7Ebob"), 0.0)
    second = fetched(crawl, 0.0)
    assert second.spelling == "http://a.example/%7Ebob"
    crawl.landed(page_for(second), 0.0)
    assert [step.url for step in crawl.history.trail()] == ["http://a.example/%7Ebob"]


def test_two_spellings_that_send_each_other_round_are_a_loop() -> None:
    crawl = spelt("http://a.example/~bob")
    requests = 0
    while isinstance(step := crawl.next(0.0), Fetch):
        requests += 1
        other = "http://a.example/%7Ebob" if "~" in step.spelling else "http://a.example/~bob"
        crawl.landed(Moved(step.candidate, step.candidate.url, other), 0.0)
    assert requests == 11
    assert dict(crawl.figures.misses) == {"redirect-loop": 1}


def test_a_host_with_a_dot_at_its_end_is_the_same_host() -> None:
    crawl = crawl_of("a.example/x", host_clock=polite(1.0, obey=True))
    crawl = Crawl(
        Everything(),
        MemoryFrontier(),
        MemoryHistory(),
        Topic("bees"),
        [(named("a.example/x"), "http://a.example./x")],
        limits=Limits(),
        host_clock=polite(1.0, obey=True),
    )
    crawl.start()
    robots = fetched(crawl, 0.0)
    assert robots.spelling == "http://a.example./robots.txt"
    crawl.landed(RobotsLanded(robots.candidate, parse(b"", "scenthound"), answered=True), 0.0)
    assert fetched(crawl, 1.0).spelling == "http://a.example./x"


def test_seeds_may_be_out_of_scope_and_where_they_lead_is_in_it() -> None:
    crawl = crawl_of("a.example/", host_clock=polite(0.0), scope=Scope(hosts=frozenset({"A.example"})))
    first = fetched(crawl, 0.0)
    crawl.landed(Moved(first.candidate, named("www.a.example/"), "http://www.a.example/"), 0.0)
    crawl.landed(page_for(fetched(crawl, 0.0), '<a href="/in">x</a><a href="http://b.example/">y</a>'), 0.0)
    assert fetched(crawl, 0.0).candidate.url == "http://www.a.example/in"
    assert crawl.figures.dropped["out-of-scope"] == 1


def test_what_goes_back_to_the_frontier_keeps_its_place() -> None:
    seeds = [f"a.example/{n}" for n in range(6)]
    crawl = Crawl(
        Everything(batch=3),
        MemoryFrontier(bound=6),
        MemoryHistory(),
        Topic("bees"),
        [(named(s), named(s)) for s in seeds],
        limits=Limits(),
        host_clock=polite(1.0),
    )
    crawl.start()
    order = []
    now = 0.0
    while not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            order.append(step.candidate.url)
            crawl.landed(page_for(step), now)
        else:
            now = step.until
    assert order == [named(s) for s in seeds]


def test_when_no_server_answers_the_crawl_waits_and_no_host_is_blamed() -> None:
    seeds = [f"h{n}.example/" for n in range(40)]
    crawl = crawl_of(*seeds, host_clock=HostClock(delay=0.0, backoff=0.01, obey=False), retries=0)
    now, requests = 0.0, 0
    while now < 100.0 and not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            requests += 1
            crawl.landed(Miss(step.candidate, "connect", retry_after=0.0), now)
        else:
            now = step.until
    assert crawl.figures.dropped["no-network"] > 0
    assert len(list(crawl.history.trail())) == 0
    lost = sum(crawl.figures.misses.values())
    pages = 0
    while not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            crawl.landed(page_for(step), now)
            pages += 1
        else:
            now = step.until
    assert pages + lost == 40
    assert lost <= 16, "only those that failed before the outage was noticed"


def test_an_answer_of_any_kind_shows_that_the_line_is_up() -> None:
    host_clock = HostClock(delay=0.0, backoff=0.001, obey=False)
    crawl = crawl_of(*(f"h{n}.example/" for n in range(60)), host_clock=host_clock, retries=0)
    now = 0.0
    for number in range(60):
        step = fetched(crawl, now)
        status = 404 if number % 10 == 0 else 0
        crawl.landed(Miss(step.candidate, "x", status=status, retry_after=None if status else 0.0), now)
        now += 1.0
    assert crawl.figures.dropped["no-network"] == 0


def silent(fetch: Fetch) -> Miss | RobotsLanded:
    if fetch.kind == "robots":
        return RobotsLanded(fetch.candidate, None, reason="timeout")
    return Miss(fetch.candidate, "timeout", retry_after=0.0)


def in_doubt(retries: int = 0, more: int = 60) -> Crawl:
    """A crawl in which one host answered and the next 16 did not."""
    seeds = ["up.example/", *(f"h{n:02}.example/" for n in range(more))]
    crawl = crawl_of(*seeds, host_clock=HostClock(delay=0.0, backoff=1.0, obey=False), retries=retries)
    crawl.landed(page_for(fetched(crawl, 0.0)), 0.0)
    for _ in range(16):
        crawl.landed(silent(fetched(crawl, 0.0)), 0.0)
    return crawl


def test_in_doubt_only_a_host_that_answered_before_is_probed() -> None:
    crawl = in_doubt()
    probe = fetched(crawl, 0.0)
    assert (probe.kind, probe.spelling) == ("robots", "http://up.example/robots.txt")
    assert crawl.next(0.0) == Wait(FOREVER)


def test_a_probe_that_is_answered_shows_that_the_silent_hosts_are_dead() -> None:
    crawl = in_doubt()
    crawl.landed(RobotsLanded(fetched(crawl, 0.0).candidate, parse(b"", "scenthound"), answered=True), 0.0)
    lost = sum(crawl.figures.misses.values())
    step = fetched(crawl, 0.0)
    assert step.candidate.url == "http://h16.example/", "the frontier goes on at once"
    crawl.landed(silent(step), 0.0)
    assert sum(crawl.figures.misses.values()) == lost + 1, "and failures count again"


def test_a_probe_without_an_answer_keeps_the_frontier_and_the_rules_of_its_host() -> None:
    crawl = in_doubt(retries=2, more=600)
    requests, now = 0, 0.0
    while now < 3600.0 and not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            requests += 1
            crawl.landed(silent(step), now)
        else:
            now = step.until
    assert requests < 600
    assert sum(crawl.figures.misses.values()) == 0, "an hour without a network costs nothing of the frontier"
    assert crawl.host_clock is not None
    assert crawl.host_clock.origin("http://up.example") is None, "a failed probe says nothing of its robots.txt"


@pytest.mark.parametrize("obey", [False, True])
def test_every_candidate_eventually_fails_if_no_server_answers(obey: bool) -> None:
    seeds = [f"h{n:02}.example/" for n in range(100)]
    crawl = crawl_of(*seeds, host_clock=HostClock(delay=0.0, backoff=1.0, obey=obey), retries=2, longest_wait=900.0)
    now, requests = 0.0, 0
    while not isinstance(step := crawl.next(now), Done):
        if isinstance(step, Fetch):
            requests += 1
            crawl.landed(silent(step), now)
        else:
            now = step.until
    assert len(crawl.frontier) == (100 if obey else 0), "a robots.txt that can't be had is asked for again in a day"
    assert requests <= 100 * 6, "three excuses and three tries"


def test_a_reset_shows_that_our_connection_is_up() -> None:
    crawl = crawl_of(*(f"h{n}.example/" for n in range(40)), host_clock=HostClock(delay=0.0, obey=False), retries=0)
    for _ in range(40):
        crawl.landed(Miss(fetched(crawl, 0.0).candidate, "reset", retry_after=0.0), 0.0)
    assert crawl.figures.dropped["no-network"] == 0


def test_the_retry_of_a_silent_host_lets_the_frontier_go_first_but_not_for_ever() -> None:
    seeds = ["dead.example/", *(f"h{n:02}.example/" for n in range(40))]
    crawl = crawl_of(*seeds, host_clock=HostClock(delay=0.0, backoff=1.0, obey=False), retries=1)
    crawl.landed(silent(fetched(crawl, 0.0)), 0.0)
    order = []
    for _ in range(20):
        step = fetched(crawl, 5.0)
        order.append((step.candidate.url, step.host))
        crawl.landed(page_for(step), 5.0)
    place = order.index(("http://dead.example/", "silent"))
    assert 0 < place < 8
    assert [standing for _, standing in order].count("silent") == 1


def test_a_long_chain_of_redirects_lets_the_frontier_go_first() -> None:
    seeds = ["loop.example/", *(f"h{n:02}.example/" for n in range(20))]
    crawl = crawl_of(*seeds, host_clock=polite(0.0))
    order = []
    for hop in range(14):
        step = fetched(crawl, 0.0)
        order.append(urls.host(step.candidate.url))
        if order[-1] == "loop.example":
            target = f"http://loop.example/{hop}"
            crawl.landed(Moved(step.candidate, Url(target), target), 0.0)
        else:
            crawl.landed(page_for(step), 0.0)
    assert order[:4] == ["loop.example"] * 3 + ["h00.example"]
    assert order.count("loop.example") == 4


def test_slow_pages_hold_no_place_in_the_budget() -> None:
    crawl = crawl_of("a.example/", "b.example/", "c.example/", host_clock=polite(0.0), pages=2)
    slow = fetched(crawl, 0.0)
    crawl.landed(page_for(fetched(crawl, 0.0)), 0.0)
    assert crawl.next(0.0) == Wait(FOREVER)
    step = crawl.next(0.0, [slow])
    assert isinstance(step, Fetch)
    crawl.landed(page_for(step), 0.0)
    assert crawl.next(0.0, [slow]) == Done("pages")
    crawl.landed(page_for(slow), 0.0)
    assert crawl.pages == 2, "what comes too late is not recorded"
    assert LoopState.of(crawl).pending == [slow.candidate.url]


def test_a_strategy_that_raises_is_named_and_its_page_is_not_half_recorded() -> None:
    class Clumsy(Everything):
        def read(self, page: Page) -> Iterable[Candidate]:
            yield page.offer(page.outlinks[0], 1.0)
            raise KeyError("food")

    crawl = Crawl(
        Clumsy(), MemoryFrontier(), MemoryHistory(), Topic("x"), [(named("a.example/"),) * 2], limits=Limits()
    )
    crawl.start()
    page = page_for(fetched(crawl, 0.0), '<a href="/b">b</a>')
    with pytest.raises(StrategyFailed, match=r"Clumsy failed on http://a\.example/: KeyError"):
        crawl.landed(page, 1.0)
    assert len(crawl.history) == 0
    assert len(crawl.frontier) == 0


def test_a_sitemap_that_names_itself_is_read_once() -> None:
    crawl = crawl_of("a.example/", host_clock=polite(0.0, obey=True), sitemaps=50)
    robots = fetched(crawl, 0.0)
    rules = parse(b"Sitemap: http://a.example/map.xml", "scenthound")
    crawl.landed(RobotsLanded(robots.candidate, rules, answered=True), 0.0)
    requests = 0
    while isinstance(step := crawl.next(0.0), Fetch):
        if step.kind == "sitemap":
            requests += 1
            crawl.landed(SitemapLanded(step.candidate, (), ["http://a.example/map.xml"]), 0.0)
        else:
            crawl.landed(page_for(step), 0.0)
    assert requests == 1


def test_the_bound_of_the_frontier_never_drops_a_seed() -> None:
    names = [f"{letter}.example/" for letter in "abcdef"]
    web = TinyWeb({name: f"bees -> x.example/{place} y.example/{place}" for place, name in enumerate(names)})
    for strategy in (BreadthFirst(), BestFirst(), BestFirst(eviction="literal"), Everything(batch=2), Lukewarm()):
        for bound in (1, 2, 5):
            for in_flight in (1, 3):
                walked = walk(web, strategy, "bees", names, bound=bound, in_flight=in_flight)
                assert set(map(named, names)) <= set(walked.visited), (strategy, bound, in_flight)
                assert not set(walked.evicted) & set(map(named, names))


@dataclass
class Lukewarm(Everything):
    """Scores links higher than seeds."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, 0.1) for url in seeds]


def test_a_seed_beyond_the_bound_survives_a_restart() -> None:
    def made(frontier: MemoryFrontier) -> Crawl:
        seeds = [(named(name), named(name)) for name in ("a.example/", "b.example/", "c.example/")]
        return Crawl(BreadthFirst(), frontier, MemoryHistory(), Topic("bees"), seeds, limits=Limits())

    crawl = made(MemoryFrontier(1, "refuse"))
    crawl.start()
    state = from_plain(json.loads(json.dumps(msgspec.to_builtins(LoopState.of(crawl)))), LoopState)
    again = made(crawl.frontier)  # type: ignore[arg-type]
    resume(again, Saved(state), lambda step, where: None)
    assert {fetched(again, 0.0).candidate.url for _ in range(3)} == set(again.seed_spellings)
