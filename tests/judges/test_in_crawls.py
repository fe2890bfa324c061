"""A crawl counts by the verdicts of its judge: while it runs, after a restart, in old folders, with moved seeds."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import BadConfig, UnknownName
from scenthound.formats import trail_line
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.model import Response, Step, Topic
from scenthound.report.crawl_facts import gather
from scenthound.report.crawl_report import render
from scenthound.store.sqlite_frontier import CrawlDatabase
from scenthound.wiring import begin, resume
from support.resuming import SETTINGS, TOPIC, Recorded, born, step_through


def crawled(folder: Path, **settings: Any) -> list[Step]:
    session = born(folder, **settings)
    asyncio.run(session.run())
    session.close()
    return steps(folder)


def steps(folder: Path) -> list[Step]:
    with CrawlFolder.look(folder) as opened:
        return list(opened.history.trail())


def test_the_default_judge_is_topic_and_its_verdicts_are_stored(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl")
    targets = set(TOPIC.targets)
    assert any(step.relevance != step.similarity for step in found)
    flagged = [step for step in found if step.relevant and step.url not in TOPIC.seeds]
    right = sum(step.url in targets for step in flagged)
    assert len(flagged) > 5
    share = sum(step.url in targets for step in found) / len(found)
    assert right / len(flagged) > 2 * share
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        facts = gather(opened)
        assert 'judge = "topic"' in opened.request.to_toml()
    assert facts.figures.relevant == sum(step.relevant for step in found)
    assert facts.as_plain()["relevance"] == pytest.approx(sum(step.relevance for step in found) / len(found))
    assert facts.best[0].relevance > 0.9
    assert [step.relevance for step in facts.best] == sorted((step.relevance for step in facts.best), reverse=True)
    assert facts.as_plain()["judge"] == "topic"


def test_a_trail_line_has_similarity_relevance_and_flag(tmp_path: Path) -> None:
    line = trail_line(crawled(tmp_path / "crawl", pages=5)[0])
    names = list(line)
    assert names[6:9] == ["similarity", "relevance", "relevant"]
    assert isinstance(line["relevance"], float)
    assert line["relevant"] in (True, False)


def test_another_judge_can_be_chosen_with_its_parameters(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl", judge="keywords:threshold=0.2")
    assert all(step.relevance == step.similarity for step in found)
    assert [step.relevant for step in found] == [step.similarity >= 0.2 for step in found]
    strict = crawled(tmp_path / "strict", judge="keywords", relevant=0.3)
    assert [step.relevant for step in strict] == [step.similarity >= 0.3 for step in strict]


@pytest.mark.parametrize(
    ("judge", "error", "match"),
    [
        ("keyword", UnknownName, "keywords"),
        ("keywords:threshold", BadConfig, "not a parameter"),
        ("keywords:limit=1", UnknownName, "limit"),
        ("keywords:threshold=2", BadConfig, "threshold"),
        ("classifier", BadConfig, "classifier"),
    ],
)
def test_a_wrong_judge_is_refused_before_anything_is_written(
    tmp_path: Path, judge: str, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        born(tmp_path / "crawl", judge=judge)
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize("judge", ["topic", "seed-pages", "pagerank"])
def test_a_killed_and_resumed_crawl_judges_as_an_undisturbed_one(tmp_path: Path, judge: str) -> None:
    whole = born(tmp_path / "whole", judge=judge)
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut", judge=judge, snapshot=20)
    for requests in (13, 29, 1000):
        if step_through(session, requests):
            break
        session.folder.close()  # without a commit: what came after the last one is gone
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    once, twice = ([(s.url, s.relevance, s.relevant) for s in steps(tmp_path / name)] for name in ("whole", "cut"))
    assert once == twice
    with CrawlFolder.look(tmp_path / "whole") as first, CrawlFolder.look(tmp_path / "cut") as second:
        assert first.history.revised() == second.history.revised()
        assert gather(first).figures.relevant == gather(second).figures.relevant


def test_a_label_changes_the_verdicts_at_once_and_survives_a_restart(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", snapshot=1000)
    step_through(session, 40)
    session.folder.commit(1.0)
    before = session.crawl.judging.revised()
    wrong = max(before, key=lambda url: (url not in TOPIC.seeds, before[url].relevance))
    assert before[wrong].relevant
    with contextlib.closing(CrawlDatabase(tmp_path / "crawl" / "crawl.db")) as other:
        other.save_label(wrong, False, 1.0)
        other.commit()
    session.listen()
    after = session.crawl.judging.revised()
    assert not after[wrong].relevant
    others = [url for url in before if url != wrong and before[url].relevance != after[url].relevance]
    assert others, "similar pages count less too"
    session.close()
    again = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0)
    assert again.crawl.judging.revised() == after
    again.close()


class MovedSeed:
    """Every seed redirects to a page on another path."""

    async def fetch(self, url: str, most: int | None = None) -> Response:
        if url.endswith("/old"):
            return Response(url, 301, "Moved", (("Location", url[:-3] + "new"),), b"")
        words = "zeppelin airship hangar mast hydrogen gondola" if "seed" in url else "bank loan credit interest"
        links = "".join(f'<a href="http://other{n}.test/">x</a>' for n in range(12)) if "seed" in url else ""
        html = f"<title>page</title><p>{words * 5} {links}</p>".encode()
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), html)


def test_a_seed_that_has_moved_is_still_a_seed(tmp_path: Path) -> None:
    settings = read(Settings, {**SETTINGS, "judge": "seed-pages", "pages": 10})
    session = begin(
        Topic("airship"), ["http://seed.test/old"], tmp_path / "crawl", settings=settings, fetcher=MovedSeed()
    )
    asyncio.run(session.run())
    session.close()
    first, *others = steps(tmp_path / "crawl")
    assert (str(first.url), first.relevance) == ("http://seed.test/new", 1.0)
    assert not any(step.relevant for step in others)


def test_doubts_are_shown_in_status_and_report(tmp_path: Path) -> None:
    odd = replace(TOPIC.topic, keywords="zeppelin hangar", description="")
    settings = read(Settings, SETTINGS)
    session = begin(odd, TOPIC.seeds, tmp_path / "crawl", settings=settings, fetcher=Recorded())
    asyncio.run(session.run())
    session.close()
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        facts = gather(opened)
    assert any("little in common" in doubt and TOPIC.seeds[0] in doubt for doubt in facts.doubts)
    assert facts.as_plain()["doubts"] == facts.doubts
    assert "little in common" in render(facts)
    assert json.loads(json.dumps(facts.as_plain()))
