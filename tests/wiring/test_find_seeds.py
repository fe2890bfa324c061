"""A crawl that gets its seeds from a source: at its start, again while it runs, and from crawl.toml after a resume."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from scenthound import url as urls
from scenthound.errors import SourceFailed, UnknownName
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.store.order_table import Orders
from scenthound.wiring import Session, begin, resume
from scenthound.wiring.find_seeds import RESEEDED
from support.resuming import SETTINGS, TOPIC, trail
from support.searching import SOURCE, SearchableWeb
from support.small_crawl import small_crawl


def begun(out: Path, web: SearchableWeb, seeds: list[str] | None = None, **more: Any) -> Session:
    settings = read(Settings, {**SETTINGS, "sources": [SOURCE], "found_seeds": 5, "group_pages": 1, **more})
    return begin(TOPIC.topic, seeds or [], out, strategy="best-first", settings=settings, fetcher=web)


def run(session: Session) -> str:
    try:
        return asyncio.run(session.run())
    finally:
        session.close()


def events(out: Path) -> list[dict[str, Any]]:
    with CrawlFolder.look(out) as folder:
        return [{"n": event.n, **event.facts} for event in folder.history.strategy_events(RESEEDED)]


def test_a_crawl_without_seeds_starts_where_its_source_says_and_records_that(tmp_path: Path) -> None:
    web = SearchableWeb()
    run(begun(tmp_path / "crawl", web, pages=15))
    assert web.searches == [TOPIC.topic.keywords]
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        request = folder.request
        assert request.found == {SOURCE: request.seeds}
        assert request.settings.sources == [SOURCE]
        assert len(request.seeds) == 5
        assert {step.url for step in folder.history.trail() if step.depth == 0} <= set(map(urls.make, request.seeds))


def test_a_resume_needs_no_source(tmp_path: Path) -> None:
    run(begun(tmp_path / "crawl", SearchableWeb(), pages=10))
    down = SearchableWeb(is_down=True)
    run(resume(tmp_path / "crawl", fetcher=down, pages=25))
    assert down.searches == []
    assert len(trail(tmp_path / "crawl")) == 25


@pytest.mark.parametrize("kind", ["bookmarks", "collections"])
def test_a_folder_can_not_make_its_resume_read_files_of_this_machine(kind: str, tmp_path: Path) -> None:
    """Someone who gives away a crawl with their own proxy would see the URLs in the files."""
    out, web = tmp_path / "crawl", SearchableWeb()
    private = "http://intranet.example/secret"
    if kind == "bookmarks":
        place = tmp_path / "bookmarks.html"
        place.write_text(f'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="{private}">{TOPIC.keywords}</A></DL>')
    else:
        place = small_crawl(tmp_path / "mine", {private: (TOPIC.keywords, TOPIC.keywords, [])}, TOPIC.keywords)
    local = f"{kind}:{place}"
    run(begun(out, web, seeds=list(TOPIC.seeds), pages=6, reseed_every=20))
    settings = (out / "crawl.toml").read_text()
    (out / "crawl.toml").write_text(settings.replace(f'"{SOURCE}"', f'"{local}", "{SOURCE}"'))
    session = resume(out, fetcher=web, pages=50)
    assert f"{local} is not asked again" in session.folder.recovered[0]
    run(session)
    assert private not in web.asked
    assert {event["source"] for event in events(out)} == {SOURCE}, "a server may be asked"


def test_with_given_seeds_no_source_is_asked(tmp_path: Path) -> None:
    web = SearchableWeb()
    run(begun(tmp_path / "crawl", web, list(TOPIC.seeds), pages=10))
    assert web.searches == []


def test_a_source_without_an_answer_stops_the_crawl_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match="can't be reached: timeout"):
        begun(tmp_path / "crawl", SearchableWeb(is_down=True))
    with pytest.raises(UnknownName, match="no seed source called `altavista`"):
        begun(tmp_path / "crawl", SearchableWeb(), ["http://a.test/"], sources=["altavista:http://a.test/"])
    assert not (tmp_path / "crawl").exists()


def test_the_source_is_asked_again_at_a_page_interval(tmp_path: Path) -> None:
    web = SearchableWeb()
    run(begun(tmp_path / "crawl", web, pages=70, reseed_every=20))
    asked = events(tmp_path / "crawl")
    assert [event["source"] for event in asked] == [SOURCE] * 3
    assert [20 <= event["n"] < 40 for event in asked] == [True, False, False]
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        orders = [order.value for order in Orders(folder.database).all()]
        assert orders == [url for event in asked for url in event["seeds"]]
        assert orders, "the engine knows more pages than the first five"
        assert not set(orders) & set(folder.request.seeds)
        fetched = {step.url for step in folder.history.trail() if step.depth == 0}
        assert set(map(urls.make, asked[0]["seeds"])) <= fetched


def test_a_resumed_crawl_asks_next_when_the_old_one_would_have(tmp_path: Path) -> None:
    run(begun(tmp_path / "crawl", SearchableWeb(), pages=30, reseed_every=20))
    before = events(tmp_path / "crawl")
    assert len(before) == 1
    web = SearchableWeb()
    run(resume(tmp_path / "crawl", fetcher=web, pages=38))
    assert web.searches == []
    assert events(tmp_path / "crawl") == before
    run(resume(tmp_path / "crawl", fetcher=web, pages=55))
    assert len(events(tmp_path / "crawl")) == 2
    assert len({url for _, url, *_ in trail(tmp_path / "crawl")}) == 55, "no page twice"


def test_re_seeding_is_off_by_default(tmp_path: Path) -> None:
    run(begun(tmp_path / "crawl", SearchableWeb(), pages=60))
    assert events(tmp_path / "crawl") == []


def test_a_source_that_fails_later_does_not_stop_the_crawl(tmp_path: Path) -> None:
    web = SearchableWeb()
    session = begun(tmp_path / "crawl", web, pages=50, reseed_every=20)
    web.is_down = True
    assert run(session) == "pages"
    assert [bool(event["problem"]) for event in events(tmp_path / "crawl")] == [True, True]


def test_a_source_can_not_widen_the_scope(tmp_path: Path) -> None:
    host = urls.host(TOPIC.seeds[0])
    session = begun(tmp_path / "crawl", SearchableWeb(), [TOPIC.seeds[0]], pages=40, reseed_every=2, hosts=[host])
    run(session)
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        assert {urls.host(step.url) for step in folder.history.trail()} == {host}
    assert events(tmp_path / "crawl")
