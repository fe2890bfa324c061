"""Sitemaps: each is requested once per crawl, even after restarts, and their saved state stays small."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from scenthound.loop.messages import SITEMAP, Fetch, RobotsLanded, SitemapLanded
from scenthound.loop.new_urls import Sitemaps
from scenthound.loop.resume import LoopState
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Url
from scenthound.web.robots import parse
from scenthound.wiring import Session, begin, resume

MAP, OTHER = "http://a.test/map.xml", "http://a.test/other.xml"


def requested(sitemaps: Sitemaps, *spellings: str, host: str = "a.test") -> list[str]:
    return [candidate.spelling for candidate in sitemaps.to_request(spellings, host)]


def test_a_sitemap_is_asked_for_once_and_only_by_its_own_host() -> None:
    sitemaps = Sitemaps(50)
    assert requested(sitemaps, MAP, MAP, "http://b.test/map.xml", OTHER) == [MAP, OTHER]
    assert requested(sitemaps, OTHER, MAP) == []
    assert sitemaps.save() == {"a.test": [MAP, OTHER]}


def test_the_number_of_sitemaps_per_host_is_limited() -> None:
    sitemaps = Sitemaps(3)
    many = [f"http://a.test/{number}.xml" for number in range(5)]
    assert requested(sitemaps, *many[:2]) == many[:2]
    assert requested(sitemaps, *many) == [many[2]]
    assert requested(Sitemaps(0), *many) == []


def test_a_host_that_names_none_takes_no_room() -> None:
    sitemaps = Sitemaps(50)
    assert requested(sitemaps) == []
    assert sitemaps.save() == {}


def test_sitemaps_recorded_elsewhere_are_not_kept_twice_and_still_count() -> None:
    sitemaps, kept = Sitemaps(3), {}
    sitemaps.recall = lambda host: kept.get(host, ())
    assert requested(sitemaps, MAP) == [MAP]
    kept.update(sitemaps.take_requested())
    assert sitemaps.save() == {}
    assert requested(sitemaps, MAP) == []
    assert sitemaps.take_requested() == {}, "nothing new: nothing to write"
    assert requested(sitemaps, MAP, OTHER) == [OTHER]
    kept.update(sitemaps.take_requested())
    assert kept == {"a.test": [MAP, OTHER]}


def test_what_a_sitemap_lists_of_its_own_host_is_offered_at_score_0() -> None:
    there = SitemapLanded(
        Candidate(Url(MAP), 0.0, {SITEMAP: True}),
        [(Url("http://a.test/x"), "http://a.test/x#1"), (Url("http://b.test/y"), "http://b.test/y")],
    )
    assert [(c.url, c.score, c.parent, c.depth, c.spelling) for c in Sitemaps.listed_pages(there)] == [
        ("http://a.test/x", 0.0, MAP, 1, "http://a.test/x#1")
    ]


def begun(out: Path) -> Session:
    return begin("bees", ["http://a.test/"], out, settings=Settings(sitemaps=True))


def fetch(session: Session, now: float) -> Fetch:
    step = session.crawl.next(now)
    assert isinstance(step, Fetch), step
    return step


def test_a_resumed_crawl_remembers_which_sitemaps_it_asked_for(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl")
    now = session.clock()
    rules = parse(f"Sitemap: {MAP}".encode(), "scenthound")
    session.crawl.landed(RobotsLanded(fetch(session, now).candidate, rules, answered=True), now)
    session.folder.commit(now)
    state = session.folder.database.state("crawl")
    assert state is not None
    assert state["sitemaps"] == {}, "written once, beside it"
    assert [fields[0] for fields in state["loose"]] == [MAP], "it has yet to be asked for"
    session.close()
    again = resume(tmp_path / "crawl")
    assert requested(again.crawl.sitemaps, MAP, OTHER) == [OTHER]
    again.close()


def test_a_folder_that_kept_them_with_the_state_of_the_loop_is_taken_up(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl")
    database = session.folder.database
    database.save_state(
        "crawl", {**msgspec.to_builtins(LoopState.of(session.crawl)), "sitemaps": {"a.test": [MAP], "b.test": []}}
    )
    database.commit()
    session.close()
    for _ in range(2):
        again = resume(tmp_path / "crawl")
        assert requested(again.crawl.sitemaps, MAP) == []
        again.close()


@pytest.mark.parametrize("state", [{"asked": 5}, {"asked": MAP}, {}])
def test_a_damaged_list_is_taken_for_none(tmp_path: Path, state: dict[str, object]) -> None:
    session = begun(tmp_path / "crawl")
    session.folder.database.save_state("sitemaps of a.test", state)
    session.folder.database.commit()
    session.close()
    again = resume(tmp_path / "crawl")
    assert requested(again.crawl.sitemaps, MAP) == [MAP]
    again.close()
