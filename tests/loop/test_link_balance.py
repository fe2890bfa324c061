"""Every link that is found is followed, waits, or is counted under the reason why not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.crawl_watch import Watch
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import LinkBalance, balance_of
from scenthound.loop.settings import Settings, read
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.report.crawl_facts import CrawlFacts, gather
from scenthound.report.crawl_report import render
from scenthound.report.explain import explain
from scenthound.wiring import begin, resume
from support.desk import client
from support.vanishing_links import GUARDED, MANY, SEED, SETTINGS, VanishingWeb, begun, links_on, steps

OWN_FRONTIER = ["infospiders", "per-seed"]
STRATEGIES = ["best-first", "hound", *OWN_FRONTIER]
LIMITED: dict[str, dict[str, Any]] = {
    "whole": {},
    "a small frontier": {"frontier": 6},
    "few pages": {"pages": 12},
    "few pages per host": {"pages_per_host": 5},
    "nothing looks relevant": {"host_patience": 4, "judge": "topic", "relevant": 0.999},
    "links marked nofollow are followed": {"nofollow": False},
    "nothing is forbidden": {"robots": False, "traps": False},
}


def balance(folder: Path) -> LinkBalance:
    """The balance of a stored crawl; the links on its pages are counted again in their HTML."""
    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
        trail = list(opened.history.trail())
    found = facts.links
    assert found.is_complete
    assert found.found.get("links", 0) == sum(links_on(step.url) for step in trail)
    assert found.pages == len(trail)
    assert found.waiting == facts.waiting
    assert found.unexplained == 0
    return found


@pytest.mark.parametrize("limits", LIMITED)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_links_found_are_links_followed_waiting_or_counted_by_reason(
    tmp_path: Path, strategy: str, limits: str
) -> None:
    session = begun(tmp_path / "crawl", strategy, **LIMITED[limits])
    assert steps(session)
    live = balance_of(session.crawl)
    session.close()
    assert balance(tmp_path / "crawl") == live


def test_a_crawl_watched_from_its_begin_accounts_for_its_latest_links(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl", "best-first")
    watch = Watch(tmp_path / "crawl")
    assert not steps(session, 15)
    session.close()
    assert watch.refresh(), "the folder is not opened again after this"
    assert watch.overview(0.0)["links"]["followed"] < 20
    session = resume(tmp_path / "crawl", fetcher=VanishingWeb())
    assert steps(session)
    live = balance_of(session.crawl)
    session.close()
    watch.refresh()
    assert watch.overview(0.0)["links"] == live.as_plain()
    assert live.followed > 20
    watch.close()


def test_the_balance_of_a_crawl_with_many_requests_at_once_is_exact(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl", "hound", longest_wait=5.0)
    asyncio.run(session.run())
    session.close()
    assert balance(tmp_path / "crawl").pages > 20


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_balance_is_exact_after_kills(tmp_path: Path, strategy: str) -> None:
    folder = tmp_path / "crawl"
    session = begun(folder, strategy)
    for count in (1, 7, 8, 20, 25, 100_000):
        ended = steps(session, count)
        session.folder.close()  # without a commit
        balance(folder)
        if ended:
            break
        session = resume(folder, fetcher=VanishingWeb())
        assert balance_of(session.crawl).unexplained == 0
    whole = begun(tmp_path / "whole", strategy)
    steps(whole)
    whole.close()
    if strategy not in OWN_FRONTIER:  # those are restored from the last snapshot
        assert "not-restored" not in balance(folder).not_followed
        assert "restored" not in balance(folder).found


def test_a_crawl_of_a_version_that_did_not_count_links_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    session = begun(folder, "best-first")
    steps(session, 12)
    session.crawl.figures.links.clear()
    session.folder.commit(session.clock())
    session.close()
    session = resume(folder, fetcher=VanishingWeb())
    session.steering.add_seed("http://b.test/extra", session.clock())
    steps(session)
    session.close()
    facts = gathered(folder)
    assert not facts.links.is_complete
    assert facts.as_plain()["links"] is None
    assert facts.links.not_followed["page-nofollow"] > 0


def test_each_reason_is_counted_where_it_is_decided(tmp_path: Path) -> None:
    session = begun(tmp_path / "crawl", "breadth-first", traps=False, pages=1000)
    steps(session)
    session.close()
    counted = balance(tmp_path / "crawl")
    assert counted.not_followed == {
        "page-nofollow": GUARDED + 4,
        "too-many-links": MANY - SETTINGS["links_per_page"],
        "nofollow": 2,
        "not-http": 4,
        "bad-url": 2,
        "too-long": 1,
        "out-of-scope": 2,
        "too-deep": 2,
        "robots": 1,
        "sitemap-other-host": 1,
    }


@pytest.mark.parametrize(
    ("path", "state", "why"),
    [
        ("vault/3", "refused", "never requested: the page says nofollow for all its links"),
        ("marked", "refused", "never requested: marked nofollow"),
        ("advert", "crawled", "fetched as page"),
        ("private/secret", "refused", "never requested: forbidden by robots.txt"),
        ("deep/6", "refused", "never requested: deeper than allowed"),
        ("shop/59", "unknown", "20 links were not read, because their pages have too many"),
        ("gone", "dead", "not found (404)"),
        ("moved", "crawled", "redirected from"),
        ("two", "crawled", "fetched as page"),
        ("waits-not", "unknown", "not seen"),
    ],
)
def test_the_explanation_of_a_single_url_agrees_with_the_counts(crawled: Path, path: str, state: str, why: str) -> None:
    with CrawlFolder.look(crawled) as opened:
        explanation = explain(opened, SEED + path)
    assert explanation.state == state
    assert why in explanation.why


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain") / "crawl"
    session = begun(folder, "breadth-first", traps=False)
    steps(session)
    session.close()
    return folder


GUARDED_SITE = {
    "http://a.test/": "<meta name=robots content=nofollow>" + "".join(f"<a href=/{n}>{n}</a>" for n in range(34))
}


class GuardedSite:
    """A site whose only page says nofollow."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        html = GUARDED_SITE.get(url, "<p>balloon")
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), html.encode())


def guarded(folder: Path, **settings: Any) -> str:
    """Crawl the site and return what `status` says about the end."""
    wanted = read(Settings, {"delay": 0, "robots": True, **settings})
    session = begin("balloon", ["http://a.test/"], folder, settings=wanted, fetcher=GuardedSite())
    asyncio.run(session.run())
    session.close()
    with CrawlFolder.look(folder) as opened:
        return gather(opened).why


def test_a_crawl_that_ends_because_of_nofollow_says_so_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    why = guarded(tmp_path / "crawl")
    assert why == (
        "no URL was left: 34 links were not followed because their pages say nofollow; "
        "a new crawl with --set nofollow=false follows them"
    )
    assert run(["status", str(tmp_path / "crawl")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert why in told
    assert "found 35: 34 links on pages, 1 seed; followed 1, waiting 0, repeated 0, not followed 34" in told
    assert run(["status", str(tmp_path / "crawl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"]["not_followed"] == {"page-nofollow": 34}
    report = render(gathered(tmp_path / "crawl"))
    assert why[3:] in report
    assert "page-nofollow" in report
    with client(tmp_path, tmp_path / "crawl") as desk:
        facts = desk.get("/api/collections/crawl").json()
        page = desk.get("/c/crawl", headers={"Accept": "text/html"}).text
    assert facts["why"].startswith(why)
    assert facts["not_followed"] == {"page-nofollow": 34}
    assert "the page says nofollow for all its links" in page
    assert guarded(tmp_path / "open", nofollow=False, traps=False) == "no URL was left to fetch", (
        "the setting that is named works"
    )
    assert len(gathered(tmp_path / "open").best) > 1


def gathered(folder: Path) -> CrawlFacts:
    with CrawlFolder.look(folder) as opened:
        return gather(opened)
