"""Traps: whatever their kind, all good pages are fetched, and a trap gets few requests."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from scenthound import url as urls
from scenthound.lab.generate.trap_webs import KINDS, TOPIC, TrapWeb
from scenthound.lab.testing import named
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.plugin_calls import Judging
from scenthound.loop.replay import Landing, replay
from scenthound.loop.selection import ONLY_SUSPENDED
from scenthound.loop.trap_watch import (
    FIRST,
    FOLDER,
    HOST,
    MOST_HOSTS,
    MOST_TERMS,
    PATTERN,
    TrapWatch,
    patterns,
    repeats_itself,
)
from scenthound.model import Candidate, Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import make_strategy
from support import other_traps, third_traps
from support.other_traps import OtherTraps
from support.third_traps import ThirdTraps

SMALL = TrapWeb(clean=8, good=30)


class TrapCrawl:
    """A crawl of a web of traps, and what it requested."""

    def __init__(
        self,
        web: TrapWeb | OtherTraps | ThirdTraps,
        strategy: str,
        watch: TrapWatch | None,
        pages: int = 900,
        words: str = TOPIC,
    ) -> None:
        topic = Topic(words)
        self.web, self.in_traps, self.good = web, Counter[str](), set[Url]()
        self._wanted = {urls.make(url) for url in web.good_pages}
        self.crawl = Crawl(
            make_strategy(strategy),
            MemoryFrontier(100_000),
            MemoryHistory(),
            topic,
            [(urls.make(seed), seed) for seed in web.seeds],
            limits=Limits(pages=pages),
            traps=watch,
            judging=Judging(similarity=KeywordSimilarity(topic)),
        )
        self.crawl.start()
        self.reason = replay(self.crawl, self._fetch)

    def _fetch(self, candidate: Candidate) -> Landing:
        if candidate.url in self._wanted:
            self.good.add(candidate.url)
        else:
            self.in_traps[urls.host(candidate.url)] += 1
        return land(candidate, self.web.answer(candidate.spelling or candidate.url))


@pytest.mark.parametrize("strategy", ["breadth-first", "best-first", "random"])
def test_all_good_pages_are_fetched_and_traps_take_a_quarter_of_the_budget_at_most(strategy: str) -> None:
    without = TrapCrawl(SMALL, strategy, None)
    crawled = TrapCrawl(SMALL, strategy, TrapWatch())
    assert sum(without.in_traps.values()) > 450, "it is a web of traps"
    assert len(crawled.good) == len(SMALL.good_pages)
    assert sum(crawled.in_traps.values()) <= 0.25 * 900
    assert max(crawled.in_traps.values()) <= 60
    assert len(crawled.in_traps) == len(KINDS)


def test_the_web_on_which_no_limit_was_chosen_is_full_of_traps() -> None:
    without = TrapCrawl(OtherTraps(clean=4), "breadth-first", None, words=other_traps.TOPIC)
    assert sum(without.in_traps.values()) > 450


@pytest.mark.parametrize("strategy", ["breadth-first", "best-first", "shark-search", "random"])
def test_a_web_of_traps_on_which_no_limit_was_chosen_is_crawled_as_well(strategy: str) -> None:
    web = OtherTraps(clean=4)
    crawled = TrapCrawl(web, strategy, TrapWatch(), words=other_traps.TOPIC)
    assert len(crawled.good) == len(web.good_pages), (
        "also if a crawl falls into the trap of a host before it sees the rest"
    )
    assert sum(crawled.in_traps.values()) <= 0.25 * 900
    assert max(crawled.in_traps.values()) <= 60


@pytest.mark.parametrize("strategy", ["best-first", "random"])
def test_traps_of_other_kinds_take_a_quarter_of_the_budget_at_most(strategy: str) -> None:
    web = ThirdTraps(clean=2)
    crawled = TrapCrawl(web, strategy, TrapWatch(), words=third_traps.TOPIC)
    assert len(crawled.good) == len(web.good_pages)
    nested = crawled.in_traps.pop("www.nested.example")
    assert nested < 60 + third_traps.NESTED_TEXTS, "it has so many texts of its own"
    assert max(crawled.in_traps.values()) <= 60
    assert crawled.in_traps.total() + nested <= 0.25 * 1200


def test_a_suspended_host_keeps_what_was_found_on_a_page_that_owes_nothing() -> None:
    watch, copy = TrapWatch(), "<p>the same words on every page of this host</p>"
    for number in range(FIRST + HOST):
        watch.learn(page(f"a.test/{chr(97 + number % 20)}{number // 20}/copy/", copy), lambda url: True)
    assert "the host" in {suspended.pattern for suspended in watch}
    article, home, owing = named("a.test/articles/honey.html"), named("a.test/"), named("a.test/k1/copy/")
    assert watch.owes(owing)
    assert not watch.suspends(article, home)
    assert watch.suspends(article, owing)
    assert watch.suspends(article)
    assert watch.suspends(named("a.test/k7/copy/"), home), "its folder owes"


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_suspended_and_said_so(kind: str) -> None:
    watch = TrapWatch()
    crawled = TrapCrawl(TrapWeb((kind,), clean=2, good=30), "breadth-first", watch)
    assert crawled.reason == ONLY_SUSPENDED
    assert crawled.in_traps.total() <= 60
    notes = list(crawled.crawl.history.strategy_events("suspended"))
    assert notes
    assert {str(note.facts["host"]) for note in notes} == {f"{kind}0.example"}
    assert all("had nothing new" in note.facts["why"] for note in notes)
    assert len(crawled.crawl.suspended) > 0
    assert crawled.crawl.history.counts() == {}, "they wait; none of them counts as not followed"
    ended = list(crawled.crawl.history.strategy_events("reinstated"))
    assert len(list(watch)) == len(notes) - len(ended)


def test_a_clean_web_loses_nothing() -> None:
    clean = TrapWeb((), clean=10, good=60)
    watch = TrapWatch()
    assert len(TrapCrawl(clean, "breadth-first", watch).good) == 610
    assert not list(watch)


@pytest.mark.parametrize(
    ("url", "pattern", "folder", "shared"),
    [
        ("http://x.test/", "/", "/… at depth 1", "/…"),
        ("http://x.test/a.html", "/*.html", "/… at depth 1", "/…"),
        ("http://x.test/view?sid=12&id=3", "/view?id=&sid=", "/view… at depth 1?", "…?id=&sid="),
        ("http://x.test/a/2024/b/", "/a/#/b/", "/a… at depth 4", "/a…"),
        ("http://x.test/s/0a1b2c3d4e5f/x?q", "/s/*/x?q=", "/s… at depth 3?", "…?q="),
        ("http://x.test/a?b1=2&b2=3", "/a?b#=", "/a… at depth 1?", "…?b#="),
    ],
)
def test_urls_of_one_form_have_one_pattern(url: str, pattern: str, folder: str, shared: str) -> None:
    whole = "all URLs with parameters" if "?" in url else "the host"
    assert patterns(Url(url)) == (pattern, folder, shared, whole)


def test_a_trap_at_all_depths_of_a_folder_is_suspended_and_articles_of_another_do_not_pay_for_it() -> None:
    watch = TrapWatch()
    for number in range(FIRST + FOLDER):
        deeper = "/".join(f"d{n}" for n in range(number % 6 + 1))
        watch.learn(page(f"a.test/deep/{deeper}/{number}/", "<p>the same few words in the deep"), lambda url: True)
        words = " ".join(f"word{chr(97 + number % 26)}{chr(97 + n)}x{number // 26}y" for n in range(20))
        watch.learn(page(f"a.test/articles/{number}.html", f"<p>{words}"), lambda url: True)
    assert watch.suspends(named("a.test/deep/d0/d1/new/"), named("a.test/"))
    assert not watch.suspends(named("a.test/articles/new.html"), named("a.test/"))


def test_one_parameter_on_many_pages_is_suspended_for_all_of_them_and_the_pages_themselves_are_not() -> None:
    watch, home = TrapWatch(), named("a.test/")
    for number in range(40):
        words = " ".join(f"w{chr(97 + number % 26)}{chr(97 + number // 26)}{chr(97 + n)}" for n in range(20))
        watch.learn(page(f"a.test/{chr(97 + number % 26)}/story{number}", f"<p>{words}"), lambda url: True)
        for reply in range(2):
            watch.learn(
                page(f"a.test/{chr(97 + number % 26)}/story{number}?reply={reply}", f"<p>{words}"), lambda url: True
            )
    assert watch.suspends(named("a.test/z/other?reply=1"), home)
    assert not watch.suspends(named("a.test/z/other"), home)


def test_a_page_of_a_maze_is_known_by_its_links_though_it_has_the_menu_of_its_host() -> None:
    watch, menu = TrapWatch(), "".join(f'<a href="/menu{n}">m</a>' for n in range(6))
    for number in range(FIRST + PATTERN):
        words = " ".join(random.Random(number).sample([f"{a}{b}word" for a in "abcdefgh" for b in "klmnopqr"], 20))
        links = "".join(f'<a href="/node/{number * 100 + n}">n</a>' for n in range(4))
        watch.learn(page(f"a.test/node/{number}", f"<p>{words}</p>{menu}{links}"), lambda url: "menu" in url)
    assert watch.suspends(named("a.test/node/99999"), named("a.test/"))


@pytest.mark.parametrize("path", ["a/b/a/b/a/b/", "x/x/x/", "a/1/a/2/a/3/a/4", "en/en/en/about"])
def test_paths_that_repeat_themselves_wait_until_such_pages_say_something_new(path: str) -> None:
    watch = TrapWatch()
    assert watch.suspends(named(f"a.test/{path}"), named("a.test/"))
    for number in range(FIRST + 3):
        words = " ".join(f"{letter}{number}{path[0]}word" for letter in "abcdefghijkl")
        watch.learn(page(f"a.test/{path}", f"<p>{words}"), lambda url: True)
    assert not watch.suspends(named(f"a.test/{path}"), named("a.test/"))


@pytest.mark.parametrize("path", ["a/b/c/d/e/f", "2024/01/01/a", "news/2024/news-archive/news", "a/a/b"])
def test_ordinary_paths_do_not_repeat_themselves(path: str) -> None:
    assert not repeats_itself(f"/{path}")


def page(name: str, html: str) -> Page:
    url = named(name)
    return Page(url, Candidate(url, 0.0, parent=named("a.test/")), read_html(html, url))


def fed(watch: TrapWatch, pages: int) -> None:
    for number in range(pages):
        watch.learn(
            page(f"a.test/copy/{number}", "<p>the same words on every page of this folder</p>"), lambda url: True
        )


def test_copies_are_suspended_at_the_limit_and_only_their_pattern() -> None:
    watch = TrapWatch()
    fed(watch, FIRST + PATTERN - 1)
    assert not watch.suspends(named("a.test/copy/999"))
    fed(watch, 1)
    assert watch.suspends(named("a.test/copy/999"))
    assert not watch.suspends(named("a.test/other/999"))
    assert not watch.suspends(named("b.test/copy/999"))


def test_pages_with_a_number_of_their_own_are_not_copies_unless_they_lead_on() -> None:
    still, leading = TrapWatch(), TrapWatch()
    for number in range(80):
        html = f"<p>entry {number} of our list of bees</p>"
        still.learn(page(f"a.test/list/{number}", html), lambda url: False)
        leading.learn(page(f"a.test/list/{number}", f"{html}<a href={number + 1}>next</a>"), lambda url: False)
    assert not still.suspends(named("a.test/list/99")), "they come to an end"
    assert leading.suspends(named("a.test/list/99"))


def test_something_new_now_and_then_keeps_a_pattern_alive() -> None:
    watch = TrapWatch()
    for number in range(200):
        text = (
            "the same words" if number % 6 else f"word{'abcdefghij'[number // 6 % 10] * 9}{'xyzuvw'[number // 60] * 9}"
        )
        watch.learn(page(f"a.test/n/{number}", f"<p>{text}</p>"), lambda url: True)
    assert not watch.suspends(named("a.test/n/999"))


def test_what_is_suspended_and_owed_survives_a_restart() -> None:
    watch, again = TrapWatch(), TrapWatch()
    fed(watch, FIRST + PATTERN)
    again.load(watch.save())
    assert again.suspends(named("a.test/copy/999"))
    assert list(again) == list(watch)
    half, resumed = TrapWatch(), TrapWatch()
    fed(half, FIRST + PATTERN // 2)
    resumed.load(half.save())
    fed(resumed, 1)  # what its pages say is learned again
    fed(resumed, PATTERN // 2 + 6)
    assert resumed.suspends(named("a.test/copy/999"))
    assert TrapWatch().save() == {}


def test_memory_is_bounded() -> None:
    watch = TrapWatch()
    for number in range(MOST_HOSTS + 500):
        watch.learn(
            page(f"h{number}.test/", "<p>" + " ".join(f"w{number}x{term}" for term in range(100))), lambda url: True
        )
    assert watch.hosts <= MOST_HOSTS
    assert watch.terms <= MOST_TERMS + 200
