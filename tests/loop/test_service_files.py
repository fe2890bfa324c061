"""Redirects of robots.txt files and sitemaps are requests, too: each waits for its target host."""

from __future__ import annotations

import pytest

from scenthound.hosts import ADDRESS_SHARE, AddressDelay, HostClock, seconds_between
from scenthound.lab.testing import named
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.resume import LoopState
from scenthound.model import Response, Topic
from scenthound.ports import Failure
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.addresses import parse_networks
from support.virtual_web import VirtualWeb, reply

HOSTS = [f"h{number}.example" for number in range(30)]
ALMOST = 1e-9


def crawl_of(*seeds: str, delay: float = 1.0, **limits: int) -> Crawl:
    crawl = Crawl(
        BreadthFirst(),
        MemoryFrontier(),
        MemoryHistory(),
        Topic("bees"),
        [(named(seed), named(seed)) for seed in seeds],
        limits=Limits(**limits),  # type: ignore[arg-type]
        host_clock=HostClock(delay),
    )
    crawl.start()
    return crawl


def page(url: str) -> Response:
    return reply(url, "<p>bees and honey</p>")


def gaps_are_polite(web: VirtualWeb, delay: float, host: str | None = None) -> bool:
    gaps = web.gaps()
    return all(gap >= delay - ALMOST for name in ([host] if host else gaps) for gap in gaps[name])


def test_thirty_hosts_that_redirect_to_one_file_cost_one_request() -> None:
    def answer(url: str) -> Response:
        if url == "http://hub.example/robots.txt":
            return reply(url, "User-agent: *\nDisallow: /secret\nCrawl-delay: 3", kind="text/plain")
        return reply(url, status=301, location="http://hub.example/robots.txt") if "robots" in url else page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of(*(f"{host}/{path}" for host in HOSTS for path in ("", "secret")))
    assert web.crawl(crawl) == "frontier empty"
    assert web.asked("hub.example") == ["http://hub.example/robots.txt"]
    assert crawl.pages == 30
    assert crawl.figures.misses["robots"] == 30
    assert gaps_are_polite(web, 1.0)


def test_thirty_hosts_that_redirect_to_one_host_wait_for_its_delay_and_crawl_delay() -> None:
    def answer(url: str) -> Response:
        if url == "http://hub.example/robots.txt":
            return reply(url, "User-agent: *\nCrawl-delay: 3", kind="text/plain")
        if url.endswith("/robots.txt"):
            return reply(url, status=301, location=f"http://hub.example/for/{url.split('/')[2]}")
        return reply(url, kind="text/plain") if "/for/" in url else page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of("hub.example/", *(f"{host}/" for host in HOSTS))
    assert web.crawl(crawl) == "frontier empty"
    assert crawl.pages == 31
    assert len(web.asked("hub.example")) == 32
    assert gaps_are_polite(web, 3.0, "hub.example")


def test_a_redirect_to_the_same_host_waits_for_its_delay_and_asks_once() -> None:
    def answer(url: str) -> Response:
        if url.startswith("http:"):
            return reply(url, status=301, location=url.replace("http:", "https:"))
        return reply(url, "User-agent: *\nDisallow: /b", kind="text/plain") if "robots" in url else page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of(*(f"a.example/{path}" for path in "abcdefgh"))
    assert web.crawl(crawl) == "frontier empty"
    assert crawl.pages == 7
    robots = [url for _, url in web.requests if "robots" in url]
    assert robots == ["http://a.example/robots.txt", "https://a.example/robots.txt"], "its rules serve both origins"
    assert gaps_are_polite(web, 1.0)


def test_pages_of_a_host_whose_rules_are_under_way_stay_in_the_frontier() -> None:
    def answer(url: str) -> Response | Failure:
        if url.endswith("a.example/robots.txt"):
            return reply(url, status=301, location="http://slow.example/a")
        return reply(url, kind="text/plain") if "robots" in url or "slow" in url else page(url)

    crawl = crawl_of("slow.example/", *(f"a.example/{number}" for number in range(50)))
    most = 0

    def watching(url: str) -> Response | Failure:
        nonlocal most
        most = max(most, sum("a.example" in url for url in crawl.selection.chosen))
        return answer(url)

    assert VirtualWeb(watching).crawl(crawl) == "frontier empty"
    assert crawl.pages == 50
    assert most <= 2


@pytest.mark.parametrize("target", ["http://a.example/robots.txt", "http://b.example/robots.txt"])
def test_an_endless_chain_counts_as_no_file(target: str) -> None:
    def answer(url: str) -> Response:
        return reply(url, status=302, location=target) if "robots" in url else page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of("a.example/x")
    assert web.crawl(crawl) == "frontier empty"
    assert crawl.pages == 1
    assert len([url for _, url in web.requests if "robots" in url]) == 6, "five redirects; RFC 9309, 2.3.1.2"
    assert gaps_are_polite(web, 1.0)


def test_a_file_that_can_not_be_fetched_is_tried_again_and_then_its_host_given_up() -> None:
    def answer(url: str) -> Response | Failure:
        if "hub" in url:
            return Failure("timeout", may_retry=True)
        return reply(url, status=301, location="http://hub.example/r") if "robots" in url else page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of("a.example/x", longest_wait=3600)
    assert web.crawl(crawl) == "all that is left rests"
    assert len(web.asked("hub.example")) == 2
    assert crawl.figures.dropped["robots-unreachable"] == 1


def test_a_sitemap_redirect_obeys_crawl_delay() -> None:
    def answer(url: str) -> Response:
        if "robots" in url:
            text = "User-agent: *\nCrawl-delay: 4\nSitemap: http://a.example/map1.xml"
            return reply(url, text, kind="text/plain")
        if "map" in url:
            number = int(url[-5])
            if number < 4:
                return reply(url, status=302, location=f"/map{number + 1}.xml")
            return reply(url, "<urlset><url><loc>http://a.example/found</loc></url></urlset>", kind="text/xml")
        return page(url)

    web = VirtualWeb(answer)
    crawl = crawl_of("a.example/", sitemaps=5)
    assert web.crawl(crawl) == "frontier empty"
    assert crawl.pages == 2
    assert len(web.asked("a.example")) == 7
    assert gaps_are_polite(web, 4.0)


def test_a_redirected_robots_file_is_not_saved_and_simply_asked_for_again() -> None:
    seen: list[LoopState] = []

    def answer(url: str) -> Response:
        seen.append(LoopState.of(crawl))
        return reply(url, status=302, location="http://b.example/r") if "a.example/robots" in url else page(url)

    crawl = crawl_of("a.example/x", "b.example/y")
    VirtualWeb(answer).crawl(crawl)
    assert crawl.pages == 2
    saved = [loose[0] for state in seen for loose in state.loose]
    assert not any("#" in url or "robots" in url for url in saved)


# ---- addresses


def test_hosts_that_share_an_address_are_asked_one_after_the_other() -> None:
    def answer(url: str) -> Response:
        return reply(url, kind="text/plain") if "robots" in url else page(url)

    web = VirtualWeb(answer, address_delay=AddressDelay(lambda address: 0.25), address=lambda host: "192.0.2.7")
    crawl = crawl_of(*(f"{host}/{path}" for host in HOSTS for path in "ab"))
    assert web.crawl(crawl) == "frontier empty"
    assert crawl.pages == 60
    assert crawl.figures.attempts == 90
    gaps = web.gaps(lambda url: "address")["address"]
    assert min(gaps) >= 0.25 - ALMOST
    assert max(gaps) < 2.0, "and nobody waits for nothing"


def test_hosts_at_different_addresses_do_not_wait_for_each_other() -> None:
    def answer(url: str) -> Response:
        return reply(url, kind="text/plain") if "robots" in url else page(url)

    web = VirtualWeb(answer, address_delay=AddressDelay(lambda address: 0.25))
    web.crawl(crawl_of(*(f"{host}/" for host in HOSTS)))
    assert sum(moment == 0.0 for moment, _ in web.requests) == 30


def test_by_default_an_address_rests_a_quarter_of_the_delay_unless_it_is_ours() -> None:
    assert seconds_between("93.184.216.34", -1, 2.0) == 2.0 * ADDRESS_SHARE
    assert seconds_between("127.0.0.1", -1, 2.0, parse_networks(["loopback"])) == 0.0
    assert seconds_between("93.184.216.34", -1, 2.0, parse_networks(["loopback"])) == 2.0 * ADDRESS_SHARE
    assert seconds_between("127.0.0.1", 0.5, 2.0, parse_networks(["loopback"])) == 0.5, "an explicit delay counts"


def test_addresses_that_were_asked_long_ago_leave_memory() -> None:
    delay = AddressDelay(lambda address: 1.0)
    for number in range(50_000):
        assert delay.ready_at("h", str(number), number * 0.01) == number * 0.01
    assert len(delay) <= 20_000
