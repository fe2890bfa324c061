"""A growing crawl stays fast and exact: seen URLs, eviction, rows by number, files of old versions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.lab.generate.on_the_fly import EndlessWeb
from scenthound.lab.testing.frontier import ModelFrontier, same
from scenthound.model import Candidate, Miss, Step, Url
from scenthound.page.record import Record
from scenthound.ports import Where
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteFrontier, SqliteHistory
from support.long_form import long_form

URLS = [Url(f"http://h{number % 5}.test/{number}") for number in range(40)]

HALF = {"page": 0.5}


def step(n: int, url: Url, **more: Any) -> Step:
    return Step(n, url, None, "", 0.5, {"page": 0.5}, 0.25, 1, 200, 10, float(n), f"title {n}", **more)


@settings(deadline=None, max_examples=long_form(20, 60))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["page", "dead", "retry", "alias", "commit", "kill", "look"]), st.integers(0, len(URLS) - 1)
        ),
        max_size=60,
    )
)
def test_seen_urls_equal_a_plain_set_across_restarts(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("seen") / "crawl.db"
    database = CrawlDatabase(path)
    history = SqliteHistory(database)
    seen: set[Url] = set()
    safe: set[Url] = set()
    pages = safe_pages = 0
    for call, number in calls:
        url = URLS[number]
        if call == "page" and url not in seen:
            pages += 1
            history.record(step(pages, url))
            history.link(url, URLS[:3])
            seen.add(url)
        elif call in ("dead", "retry"):
            history.lost(Miss(Candidate(url, 0.5), "timeout"), 1.0, dead=call == "dead")
            seen |= {url} if call == "dead" else set()
        elif call == "alias":
            history.alias(url, URLS[0])
            seen.add(url)
        elif call == "look":
            assert sum(1 for _ in history.trail()) == pages, "including pages that are not yet written"
        elif call in ("commit", "kill"):
            if call == "commit":
                database.commit()
                safe, safe_pages = set(seen), pages
            database.close()
            database = CrawlDatabase(path)
            history, seen, pages = SqliteHistory(database), set(safe), safe_pages
        assert {url for url in URLS if history.seen(url)} == seen
        assert len(history) == pages
    database.close()


@pytest.mark.parametrize("eviction", ["scored", "literal", "refuse"])
@pytest.mark.parametrize("scores", [4, 1000])
def test_a_full_frontier_evicts_the_last_of_the_whole_order(eviction: Any, scores: int) -> None:
    rng = random.Random(7)
    frontier, model = MemoryFrontier(150, eviction), ModelFrontier(150, eviction, 1)
    for turn in range(2500):
        lot = rng.random()
        if lot < 0.06:
            assert same(frontier.pop(0.0), model.pop(0.0))
            continue
        known = list(model.waiting)
        url = rng.choice(known) if lot < 0.2 and known else Url(f"http://h{turn % 20}.test/{turn}")
        offer = Candidate(url, rng.randrange(scores) / scores, rescored=lot < 0.13)
        assert same(frontier.push(offer), model.push(offer))
    assert {candidate.url for _, candidate in frontier.entries()} == set(model.waiting)


def test_a_frontier_in_sqlite_survives_restarts_at_its_bound() -> None:
    rng = random.Random(3)
    database = CrawlDatabase(":memory:")
    frontier, model = SqliteFrontier(database, 60), ModelFrontier(60, "scored", 1)
    for turn in range(1500):
        if turn % 97 == 0:
            database.commit()
            database._before_commit.clear()
            frontier = SqliteFrontier(database, 60)
        if turn % 5 == 4:
            popped = frontier.pop(0.0)
            assert same(popped, model.pop(0.0))
            assert popped is not None
            frontier.settle(popped.candidate.url)
            model.settle(popped.candidate.url)
        else:
            offer = Candidate(Url(f"http://h{turn % 9}.test/{rng.randrange(300)}"), rng.randrange(50) / 50)
            assert same(frontier.push(offer), model.push(offer))
    database.commit()
    rows = dict(database.rows("SELECT number, url FROM frontier"))
    assert rows == {number: candidate.url for number, candidate in frontier.entries()}


def test_links_of_one_page_share_common_values_after_a_restart() -> None:
    database = CrawlDatabase(":memory:")
    frontier = SqliteFrontier(database)
    parts = {"page": 0.5}
    for url in URLS[:3]:
        frontier.push(Candidate(url, 0.5, {}, parts, Url("http://p.test/"), "some words", 1, url))
    database.commit()
    one, other = [candidate for _, candidate in SqliteFrontier(database).entries()][:2]
    assert one.parts == parts
    assert one.parts is other.parts
    assert one.parent is other.parent
    assert one.anchor is other.anchor
    assert one.spelling is one.url


def test_a_url_handed_back_while_in_flight_is_in_the_file_once() -> None:
    database = CrawlDatabase(":memory:")
    frontier = SqliteFrontier(database)
    frontier.push(Candidate(URLS[0], 0.5))
    database.commit()
    popped = frontier.pop(0.0)
    assert popped is not None
    frontier.push(popped.candidate._replace(due=5.0))
    database.commit()
    assert list(database.rows("SELECT number, url, due FROM frontier")) == [(1, URLS[0], 5.0)]


def test_links_of_one_page_keep_their_own_parts() -> None:
    database = CrawlDatabase(":memory:")
    frontier = SqliteFrontier(database)
    pushed = [
        Candidate(URLS[number], 0.5, {}, parts, parent)
        for number, (parts, parent) in enumerate(
            [(HALF, URLS[9]), ({"page": 0.25}, URLS[9]), (dict(HALF), URLS[9]), ({}, URLS[9]), (HALF, None)]
        )
    ]
    for candidate in pushed[:2]:
        frontier.push(candidate)
    database.commit()
    for candidate in pushed[2:]:
        frontier.push(candidate)
    frontier.rescore([Candidate(URLS[0], 0.75, parts={"page": 0.75}, rescored=True)])
    database.commit()
    rescored = pushed[0]._replace(score=0.75, parts={"page": 0.75})
    assert [candidate for _, candidate in SqliteFrontier(database).entries()] == [rescored, *pushed[1:]]


def test_a_parent_without_waiting_links_is_forgotten_when_the_crawl_is_opened_again() -> None:
    database = CrawlDatabase(":memory:")
    frontier = SqliteFrontier(database)
    for url, parent in ((URLS[0], URLS[8]), (URLS[1], URLS[9])):
        frontier.push(Candidate(url, 0.5, parent=parent))
    database.commit()
    frontier.settle(URLS[0])
    frontier.push(Candidate(URLS[2], 0.5, parent=URLS[9]))
    database.commit()
    assert [row[0] for row in database.rows("SELECT url FROM parents")] == [URLS[8], URLS[9]], "each once"
    SqliteFrontier(database)
    assert [row[0] for row in database.rows("SELECT url FROM parents")] == [URLS[9]]


def test_a_waiting_url_takes_at_most_150_bytes_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    database = CrawlDatabase(path)
    empty = path.stat().st_size
    frontier = SqliteFrontier(database)
    for page in range(2000):
        score, parent = page * 7919 % 10_007 / 10_007, Url(f"http://h{page}.frontier.test/parents/page-{page:06}.html")
        for link in range(10):
            url = Url(f"http://h{link * page}.frontier.test/some/folder/page-{page:06}{link}.html")
            frontier.push(Candidate(url, score, {}, {"page": score}, parent, "some words", 3, url))
    database.commit()
    database.row("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    assert (path.stat().st_size - empty) / 20_000 <= 150


def test_a_page_that_was_forgotten_and_fetched_again_has_its_links_once() -> None:
    history = SqliteHistory(database := CrawlDatabase(":memory:"))
    for n, url in enumerate(URLS[:3], start=1):
        history.record(step(n, url), Where("pages-00001.warc.gz", 100 * n, 100))
        history.link(url, [Url("http://old.test/")])
    assert history.recorded_files() == {"pages-00001.warc.gz": (3, 400)}
    lost = [place.event for place in history.records_in("pages-00001.warc.gz") if place.offset + place.length > 350]
    forgotten = history.forget_events(lost)
    assert [one.url for one in forgotten] == [URLS[2]]
    history.record(step(4, URLS[2]))
    history.link(URLS[2], [Url("http://new.test/")])
    database.commit()
    assert dict(database.links())[URLS[2]] == ["http://new.test/"]
    assert sum(source == URLS[2] for source, _ in database.links()) == 1


def test_marks_have_what_running_figures_need() -> None:
    history = SqliteHistory(CrawlDatabase(":memory:"))
    history.record(step(1, URLS[0], requested=URLS[5], relevance=0.75, relevant=True))
    history.lost(Miss(Candidate(URLS[1], 0.5), "timeout"), 1.0)
    assert list(history.marks()) == [(1, URLS[0], 0.25, 10, 1.0, "title 1", 1, URLS[5], 0.75, True)]


def said(record: Record) -> tuple[object, ...]:
    return record.title, record.text, list(record.links)


def test_the_endless_web_is_deterministic_and_never_repeats_a_fresh_link() -> None:
    web, again = EndlessWeb(hosts=50), EndlessWeb(hosts=50)
    fresh: set[Url] = set()
    ahead = [web.home(0)]
    for _ in range(300):
        url = ahead.pop(0)
        page = web.fetch(Candidate(url, 0.5))
        assert page.record.to_bytes() == again.record(url).to_bytes()
        new = [link.url for link in page.links[: web.fresh]]
        assert fresh.isdisjoint(new)
        fresh.update(new)
        ahead += new
    assert len(fresh) == 300 * web.fresh
    other = EndlessWeb(hosts=50, seed=2)
    assert other.record(web.home(0)).to_bytes() != web.record(web.home(0)).to_bytes()
