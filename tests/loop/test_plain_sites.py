"""Sites without traps: the trap defence costs them no page, whatever their layout and content."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from scenthound import url as urls
from scenthound.cli.root_command import ONLY_TRAPS, run
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.messages import Limits
from scenthound.loop.plugin_calls import Judging
from scenthound.loop.replay import replay
from scenthound.loop.selection import ONLY_SUSPENDED
from scenthound.loop.settings import Settings
from scenthound.loop.suspended_urls import OF_HOST, SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Response, Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.ports import Failure
from scenthound.report.crawl_facts import gather
from scenthound.report.explain import explain
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import begin, make_strategy, resume
from support.plain_sites import TOPIC, PlainSite

CALENDAR = "http://a.test/cal?month="


def fetched(
    answer: Callable[[str], Response],
    seed: str,
    pages: int,
    watch: TrapWatch | None,
    strategy: str = "breadth-first",
    suspended: SuspendedUrls | None = None,
) -> tuple[set[Url], str]:
    """The pages that a crawl fetches, and why it ended."""
    topic = Topic(TOPIC)
    crawl = Crawl(
        make_strategy(strategy),
        MemoryFrontier(10_000),
        MemoryHistory(),
        topic,
        [(urls.make(seed), seed)],
        limits=Limits(pages=pages),
        traps=watch,
        suspended=SuspendedUrls() if suspended is None else suspended,
        judging=Judging(similarity=KeywordSimilarity(topic)),
    )
    crawl.start()
    reason = replay(crawl, lambda candidate: land(candidate, answer(candidate.spelling or candidate.url)))
    return {step.url for step in crawl.history.trail()}, reason


def crawled(site: PlainSite, watch: TrapWatch | None, pages: int = 0, strategy: str = "breadth-first") -> set[Url]:
    return fetched(site.answer, site.seeds[0], pages or 2 * site.size, watch, strategy)[0]


@pytest.mark.parametrize(
    ("layout", "content"),
    [
        ("tree", "prose"), ("menu", "prose"), ("further", "product"), ("paged", "numbers"), ("index", "register"),
        ("calendar", "arabic"), ("gallery", "captions"), ("wiki", "code"), ("forum", "tables"), ("wiki", "chinese"),
        ("tree", "template"), ("paged", "template"), ("menu", "before template"),
    ],
)  # fmt: skip
def test_with_enough_budget_a_site_without_traps_is_fetched_whole(layout: str, content: str) -> None:
    site = PlainSite(layout, content, 150)
    assert len(crawled(site, TrapWatch())) == site.size


def test_with_a_small_budget_the_same_targets_are_found() -> None:
    site = PlainSite("menu", "prose", 600)
    targets = {urls.make(url) for url in site.targets}
    without = len(crawled(site, None, 300, "best-first") & targets)
    found = len(crawled(site, TrapWatch(), 300, "best-first") & targets)
    assert found >= 0.98 * without > 20


def calendar(url: str, events_from: int = 10**9) -> Response:
    """An endless calendar, with words of its own from a month on, and a home page that leads to it."""
    month = int(url.partition("month=")[2] or 0)
    words = " ".join(f"event{month}x{n} takes place" for n in range(12)) if month >= events_from else "nothing planned"
    body = f"<p>our club calendar with all dates: {words}</p><a href='{CALENDAR}{month + 1}'>next month</a>"
    return Response(url, 200, "OK", (("Content-Type", "text/html"),), body.encode())


def test_an_endless_calendar_gets_few_requests_and_the_crawl_says_what_is_left() -> None:
    pages, reason = fetched(calendar, "http://a.test/", 500, TrapWatch())
    assert reason == ONLY_SUSPENDED
    assert len(pages) <= 30


def test_samples_take_no_more_than_their_share_of_the_rest_of_the_budget() -> None:
    none, reason = fetched(calendar, "http://a.test/", 500, TrapWatch(), suspended=SuspendedUrls(share=0.0))
    some, _ = fetched(calendar, "http://a.test/", 500, TrapWatch(), suspended=SuspendedUrls(share=0.01))
    assert reason == ONLY_SUSPENDED
    assert len(none) < len(some) <= len(none) + 5


def test_a_pattern_whose_samples_say_something_new_is_fetched_like_all_others() -> None:
    without, _ = fetched(calendar, "http://a.test/", 500, TrapWatch(), suspended=SuspendedUrls(share=0.0))
    pages, reason = fetched(lambda url: calendar(url, len(without) + 2), "http://a.test/", 300, TrapWatch())
    assert reason == "pages"
    assert len(pages) == 300, "the events begin after the suspension"


def test_relevant_pages_of_a_new_kind_are_no_trap_and_copies_are_one_though_they_are_relevant() -> None:
    def owing(is_copy: bool, is_relevant: bool) -> int:
        watch, rows = TrapWatch(), [f"w{n // 26}{chr(97 + n % 26)}" for n in range(60)]
        for number in range(60):
            said = rows[:20] if is_copy else [rows[(number * step) % 60] for step in range(1, 21)]
            url = urls.make(f"http://a.test/node/{number}")
            links = f"<a href='/node/{number + 1}'>on</a>"
            html = f"<p>{' '.join(said)}</p>{links}".encode()
            made = land(Candidate(url, 0.0), Response(url, 200, "OK", (("Content-Type", "text/html"),), html))
            assert isinstance(made, Page)
            watch.learn(made, lambda url: False, is_relevant=is_relevant)
        return len(list(watch))

    assert owing(is_copy=False, is_relevant=True) == 0
    assert owing(is_copy=True, is_relevant=True) > 0


def test_one_host_has_a_limited_number_of_samples_and_several_patterns_share_it() -> None:
    suspended, asked = SuspendedUrls(), Counter[str]()
    for number in range(200):
        suspended.put(Candidate(urls.make(f"http://a.test/{chr(97 + number % 7)}/{number}"), 0.0), 0)
    while samples := suspended.last_samples(10_000):
        for sample in samples:
            asked[sample.url.split("/")[3]] += 1
            suspended.result(sample.url, says_new=False)
    assert asked.total() == OF_HOST
    assert len(asked) > 1


class Calendar:
    """A fetcher for the endless calendar, which counts requests."""

    def __init__(self) -> None:
        self.requests = 0

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        self.requests += "robots" not in url
        return calendar(url)


SETTINGS = Settings(delay=0.0, robots=False, retries=0, host_patience=0, pages=300)


def calendar_crawl(out: Path, settings: Settings = SETTINGS) -> str:
    session = begin(TOPIC, ["http://a.test/"], out, strategy="breadth-first", settings=settings, fetcher=Calendar())
    try:
        return asyncio.run(session.run())
    finally:
        session.close()


def test_what_waits_as_a_trap_is_counted_as_waiting_and_explained(tmp_path: Path) -> None:
    assert calendar_crawl(tmp_path / "c") == ONLY_SUSPENDED
    with CrawlFolder.look(tmp_path / "c") as folder:
        facts = gather(folder)
        waiting = urls.make(f"{CALENDAR}{facts.figures.pages}")
        explained = explain(folder, waiting)
    assert facts.suspended_urls == facts.waiting == 1
    assert "trap-nothing-new" not in facts.figures.dropped
    assert "1 waiting, 1 of them behind all others" in facts.waiting_in_words
    assert explained.state == "waiting"
    assert "looks like a trap" in explained.why


def test_a_known_trap_is_not_fetched_again_after_a_restart_and_can_be_asked_for(tmp_path: Path) -> None:
    calendar_crawl(tmp_path / "c")
    again = Calendar()
    session = resume(tmp_path / "c", fetcher=again)
    assert asyncio.run(session.run()) == ONLY_SUSPENDED
    session.close()
    assert again.requests <= 2
    session = resume(tmp_path / "c", fetcher=again, traps="false")
    assert asyncio.run(session.run()) == "pages"
    session.close()
    assert session.crawl.pages == 300


@pytest.mark.parametrize("pages", [6, 9, 12])
def test_a_restart_does_not_make_a_trap_look_new(tmp_path: Path, pages: int) -> None:
    calendar_crawl(tmp_path / "c", Settings(delay=0.0, robots=False, retries=0, pages=pages))
    again = Calendar()
    session = resume(tmp_path / "c", fetcher=again, pages=300)
    assert asyncio.run(session.run()) == ONLY_SUSPENDED
    session.close()
    assert again.requests + pages <= 40


def test_the_command_ends_with_a_code_of_its_own_and_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calendar_crawl(tmp_path / "c")
    assert run(["resume", str(tmp_path / "c")]) == ONLY_TRAPS == 13
    said = capsys.readouterr().err
    assert "1 URL that looks like a trap is left" in said
    assert f"scenthound resume {tmp_path / 'c'} --set traps=false" in said
    assert run(["resume", str(tmp_path / "c"), "--set", "delay=3"]) == 2
    assert run(["resume", str(tmp_path / "c"), "--set", "traps=perhaps"]) == 2
