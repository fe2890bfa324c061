"""A crawl looks for pages unless it is asked for sites, says so, counts what it looks for, and can change it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.loop.steering import give_order
from scenthound.model import Step, Topic
from scenthound.report.crawl_facts import gather
from scenthound.store.order_table import Orders
from scenthound.url import is_home
from scenthound.wiring import Session, begin, resume
from support.clubs_web import PAGES, QUESTION, Clubs, is_about_chess

SETTINGS = {"delay": 0, "robots": False, "host_patience": 0, "concurrency": 1, "snapshot": 1000, "traps": False}
HOMES = ["http://club0.test/", "http://club1.test/", "http://club2.test/", "http://club3.test/", "http://club4.test/"]
INNER = ["http://club0.test/openings", "http://club1.test/gambit"]
SEEDS = {"one home page": HOMES[:1], "two": HOMES[:2], "five": HOMES, "inner pages": INNER, "a mix": HOMES[:1] + INNER}


def begun(folder: Path, seeds: Sequence[str], looking_for: Any = "pages", **more: Any) -> Session:
    options = {"strategy": more.pop("strategy", "hound"), "settings": read(Settings, {**SETTINGS, **more})}
    return begin(Topic(QUESTION, looking_for=looking_for), seeds, folder, fetcher=Clubs(), **options)


def finished(session: Session) -> list[Step]:
    asyncio.run(session.run())
    session.close()
    with CrawlFolder.look(session.folder.path) as opened:
        return list(opened.history.trail())


def relevant(steps: Sequence[Step]) -> set[str]:
    return {step.url for step in steps if step.relevant}


@pytest.mark.parametrize("seeds", SEEDS.values(), ids=SEEDS)
def test_a_crawl_finds_pages_wherever_it_starts(tmp_path: Path, seeds: list[str]) -> None:
    steps = finished(begun(tmp_path / "crawl", seeds, pages=40))
    found, others = relevant(steps), [step for step in steps if step.url not in seeds]
    assert sum(not is_home(step.url) for step in steps if step.url in found) > 10, "inner pages count"
    on_topic = [step for step in others if is_about_chess(step.url)]
    assert sum(step.relevant for step in on_topic) > 0.8 * len(on_topic) > 10
    assert not any(step.relevant for step in others if "other" in step.url)


@pytest.mark.parametrize("seeds", SEEDS.values(), ids=SEEDS)
@pytest.mark.parametrize("judge", ["topic", "keywords"])
def test_a_search_for_sites_counts_home_pages_and_rates_others_by_their_content(
    tmp_path: Path, seeds: list[str], judge: str
) -> None:
    steps = finished(begun(tmp_path / "crawl", seeds, "sites", pages=45, judge=judge))
    assert len(relevant(steps)) > 3
    assert all(map(is_home, relevant(steps)))
    inner = {step.url: step.relevance for step in steps if not is_home(step.url) and step.url not in seeds}
    on, off = ([value for url, value in inner.items() if is_about_chess(url) is wanted] for wanted in (True, False))
    assert len(on) > 3 < len(off)
    assert min(on) > max(value for url, value in inner.items() if "legal" in url or "other" in url)
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        facts = gather(opened)
        assert (facts.figures.relevant, facts.looking_for_in_words[:17]) == (len(relevant(steps)), "Looking for sites")
        assert any(not is_home(step.url) for step in facts.best), "the best pages are those with the best content"


def test_only_sites_count_for_what_is_expected_of_the_rest(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl", HOMES, "sites", pages=45)
    steps = finished(session)
    counted = sum(step.relevance for step in steps if is_home(step.url) and step.depth)
    assert session.crawl.figures.forecast.found == pytest.approx(counted)


def stepped(session: Session, pages: int) -> None:
    """Crawl until there are so many pages."""
    session.crawl.limits.pages, session.crawl.end_reason = pages, ""
    asyncio.run(session.run())


def ordered(session: Session, value: str) -> str:
    give_order(session.folder.path, "looking-for", value, 1.0)
    session.listen()
    return Orders(session.folder.database).all()[-1].outcome


@pytest.mark.parametrize("strategy", ["hound", "best-first", "per-seed"])
def test_a_crawl_can_be_changed_and_what_it_found_before_counts_by_the_new_rule(tmp_path: Path, strategy: str) -> None:
    folder = tmp_path / "crawl"
    session = begun(folder, HOMES[:2], strategy=strategy, pages=60)
    stepped(session, 20)
    before = relevant(list(session.folder.history.trail()))
    assert any(not is_home(url) for url in before)
    outcome = ordered(session, "sites")
    assert outcome.startswith("looking for sites")
    assert ("as before" in outcome) is (strategy == "best-first")
    steps = list(session.folder.history.trail())
    assert relevant(steps) == {url for url in before if is_home(url)}
    assert session.crawl.figures.relevant == len(relevant(steps)) == gather(session.folder).figures.relevant
    assert all(is_home(url) for url, (_, flag) in session.folder.history.revised().items() if flag)
    assert ordered(session, "pages").startswith("looking for pages")
    assert relevant(list(session.folder.history.trail())) >= before
    assert ordered(session, "pages") == "it is looking for pages already"
    assert ordered(session, "sites").startswith("looking for sites")
    session.close()
    with CrawlFolder.look(folder) as opened:
        assert gather(opened).looking_for_in_words.startswith("Looking for sites")
        assert 'looking_for = "pages"' in (folder / "crawl.toml").read_text(), "it stays as it was written"


@pytest.mark.parametrize("looking_for", ["pages", "sites"])
def test_a_killed_crawl_goes_on_with_what_it_was_changed_to(tmp_path: Path, looking_for: str) -> None:
    def changed(folder: Path, is_killed: bool) -> list[tuple[object, ...]]:
        session = begun(folder, HOMES[:2], "pages" if looking_for == "sites" else "sites", pages=60)
        stepped(session, 15)
        ordered(session, looking_for)
        if is_killed:
            session.folder.close()
            session = resume(folder, fetcher=Clubs())
            assert session.crawl.topic.looking_for == session.folder.request.topic.looking_for == looking_for
        stepped(session, 40)
        session.close()
        with CrawlFolder.look(folder) as opened:
            return [(s.url, s.parent, s.depth, round(s.relevance, 9), s.relevant) for s in opened.history.trail()]

    whole = changed(tmp_path / "whole", is_killed=False)
    assert changed(tmp_path / "killed", is_killed=True) == whole
    assert len(whole) == 40


def test_home_pages_that_are_offered_later_are_one_deeper_than_the_page_that_names_them(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl", ["http://club0.test/"], pages=200)
    stepped(session, 8)
    ordered(session, "sites")
    stepped(session, 60)
    steps = {step.url: step for step in session.folder.history.trail()}
    session.close()
    homes = [step for step in steps.values() if is_home(step.url) and step.n > 8]
    assert len(homes) > 8
    assert all(step.depth == steps[step.parent].depth + 1 for step in homes if step.parent is not None)


def test_the_sentence_says_what_is_looked_for_and_how_to_change_it(tmp_path: Path) -> None:
    def sentence(seeds: Sequence[str], looking_for: str) -> str:
        session = begun(tmp_path / f"{len(seeds)}{looking_for}", seeds, looking_for)
        session.close()
        with CrawlFolder.look(session.folder.path) as opened:
            return gather(opened).looking_for_in_words

    assert sentence(HOMES[:2], "pages") == (
        "Looking for pages about chess openings gambit. Your starting pages are home pages; for other sites like them: "
        "scenthound control DIR looking-for sites"
    )
    assert sentence(HOMES[:1], "pages").endswith("For sites: scenthound control DIR looking-for sites")
    assert sentence(HOMES[:2], "sites") == (
        "Looking for sites about chess openings gambit. Only home pages count as found; for pages: "
        "scenthound control DIR looking-for pages"
    )


OLD = {
    "nothing set, home pages": ("", "", HOMES, "sites"),
    "nothing set, one home page": ("", "", HOMES[:1], "pages"),
    "a parameter of hound": ('looking_for = "pages"', "", HOMES, "pages"),
    "a parameter of the judge": ("", "topic:looking_for=pages,terms=50", HOMES, "pages"),
    "another judge": ('looking_for = "sites"', "keywords:threshold=0.2", INNER, "sites"),
}


@pytest.mark.parametrize(("parameter", "judge", "seeds", "expected"), OLD.values(), ids=OLD)
def test_a_crawl_of_an_older_version_goes_on_as_it_began(
    tmp_path: Path, parameter: str, judge: str, seeds: list[str], expected: str
) -> None:
    folder = tmp_path / "crawl"
    session = begun(folder, seeds, pages=30)
    stepped(session, 8)
    session.close()
    toml = (folder / "crawl.toml").read_text().replace("format = 3", "format = 2")
    toml = toml.replace('looking_for = "pages"\n', "").replace("[parameters]\n", f"[parameters]\n{parameter}\n")
    toml = toml.replace('judge = "topic"', f'judge = "{judge or "topic"}"')
    (folder / "crawl.toml").write_text(toml)
    session = resume(folder, fetcher=Clubs())
    assert session.crawl.topic.looking_for == expected
    if judge:
        assert session.settings.judge == judge.replace("looking_for=pages,", "")
    stepped(session, 12)
    assert len(list(session.folder.history.trail())) == 12
    session.close()


def test_the_web_of_these_tests_has_what_they_need() -> None:
    assert sum(map(is_home, PAGES)) == 21
