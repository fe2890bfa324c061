"""A question: hits as they are found, their origin, the ranking, keeping or deleting the crawl, stopping."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.apps.ask import Hit, HitList, ranked, strategy_for_question
from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Response, Step, Url
from scenthound.wiring import begin
from support.running_crawl import WEB, command, environment, requests, served, until

TOPIC = WEB.topics[0]
SEEDS = [word for seed in TOPIC.seeds for word in ("--seed", seed)]


def step(n: int, url: str, parent: str | None, relevant: bool = True, **parts: float) -> Step:
    return Step(n, Url(url), Url(parent) if parent else None, "here", 1.0, parts, 0.5, 0, 200, 1, 0.0, f"Title {n}",
                relevance=0.5, relevant=relevant)  # fmt: skip


def test_hits_keep_the_order_in_which_they_were_found_and_say_where_from() -> None:
    told: list[Hit] = []
    hits = HitList(told.append)
    hits.watch(step(1, "http://a.test/", None))
    hits.watch(step(2, "http://b.test/", "http://a.test/", relevant=False))
    hits.watch(step(3, "http://c.test/", "http://b.test/", agent=4.0))
    hits.watch("something else")
    assert [(hit.number, hit.page, hit.is_seed, hit.spider) for hit in told] == [(1, 1, True, None), (2, 3, False, 4)]
    assert told[0].origin == "a starting page"
    assert told[1].origin == "found through “here” on Title 2, by spider 4"
    assert hits.hits == told


def test_a_question_prints_hits_then_a_ranking_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with served(tmp_path / "log") as address:
        done = command("ask", TOPIC.keywords, *SEEDS, "--pages", "25", "--proxy", address, "--delay", "0.02", "--json")
    assert done.returncode == 0, done.stderr
    *hits, last = map(json.loads, done.stdout.splitlines())
    assert len(hits) == last["hits"] > 3
    assert [hit["hit"]["number"] for hit in hits] == list(range(1, len(hits) + 1))
    assert any(hit["hit"]["is_seed"] for hit in hits)
    found = [hit["hit"] for hit in hits if not hit["hit"]["is_seed"]]
    assert found
    assert all(hit["parent"] for hit in found)
    assert last["pages"] == 25
    assert last["kept"] is None
    relevances = [hit["relevance"] for hit in last["ranked"]]
    assert relevances == sorted(relevances, reverse=True)
    assert not list(tmp_path.glob("scenthound-ask-*"))


def test_a_kept_question_is_a_collection_and_spiders_are_named(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with served(tmp_path / "log") as address:
        done = command(
            "ask", TOPIC.keywords, *SEEDS, "--pages", "15", "--proxy", address, "--delay", "0.02",
            "--strategy", "infospiders", "--keep", str(kept),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "spider" in done.stdout
    assert "a starting page" in done.stdout
    with CrawlFolder.look(kept) as folder:
        assert len(folder.history) == 15
        assert folder.request.strategy == "infospiders"
        assert all(hit.spider is not None for hit in ranked(folder))
    again = command("ask", TOPIC.keywords, *SEEDS, "--keep", str(kept))
    assert again.returncode == 4
    assert "there is a crawl in" in again.stderr


def test_ctrl_c_ends_it_with_a_ranking(tmp_path: Path) -> None:
    words = ["ask", TOPIC.keywords, *SEEDS, "--pages", "2000", "--delay", "0.3", "--json"]
    with served(tmp_path / "log") as address:
        process = subprocess.Popen(
            [sys.executable, "-m", "scenthound", *words, "--proxy", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        try:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            until(lambda: len(requests(tmp_path / "log")) > 5, "the crawl did not go on")
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
    assert first["hit"]["number"] == 1
    last = json.loads(rest.splitlines()[-1])
    assert process.returncode == 0
    assert last["ended"] == "interrupted"
    assert 0 < last["pages"] < 2000


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["ask", " ", "--seed", "http://a.test/"], 2, "no question"),
        (["ask", "balloons"], 2, "no seeds"),
        (["ask", "balloons", "--seed", "ftp://a.test/"], 4, "ftp"),
        (["ask", "balloons", "--seed", "http://a.test/", "--pages", "0"], 2, "--pages"),
        (["ask", "balloons", "--seed", "http://a.test/", "--strategy", "clever"], 2, "clever"),
    ],
)
def test_bad_questions_say_what_is_wrong(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == code
    assert said in capsys.readouterr().err


def test_a_question_without_an_answer_says_why(tmp_path: Path) -> None:
    with served(tmp_path / "log") as address:
        done = command("ask", "balloons", "--seed", "http://nowhere.test/", "--proxy", address, "--set", "retries=0")
    assert done.returncode == 1
    assert "error:" in done.stderr
    assert "hint:" in done.stderr


class OneByOne:
    """Answers the first request at once, and no other before the first result was reported."""

    def __init__(self) -> None:
        self.reported, self.replies = asyncio.Event(), 0

    async def fetch(self, url: str, most: int | None = None) -> Response:
        if url != "http://a.test/":
            await asyncio.wait_for(self.reported.wait(), 30)
        self.replies += 1
        html = b"<title>Bees</title><p>honey bees</p><a href=/b>honey</a>"
        return Response(url, 200, "", (("Content-Type", "text/html"),), html)


def test_the_first_result_is_reported_before_any_other_reply_is_needed(tmp_path: Path) -> None:
    web = OneByOne()
    seen: list[tuple[str, int]] = []

    def report(hit: Hit) -> None:
        seen.append((hit.url, web.replies))
        web.reported.set()

    hits, settings = HitList(report), Settings(robots=False, retries=0, pages=4, delay=0.0)
    name, parameters = strategy_for_question("hound")
    session = begin("honey bees", ["http://a.test/", "http://c.test/"], tmp_path / "crawl", strategy=name,
                    parameters=parameters, settings=settings, fetcher=web, watch=hits.watch)  # fmt: skip
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    assert seen[0] == ("http://a.test/", 1)


def test_a_question_may_have_one_frontier_for_each_page_to_start_from() -> None:
    assert strategy_for_question("hound", per_seed=True) == ("per-seed", {"inner": "hound:exploration=0.0"})
    with pytest.raises(BadUsage, match="already has its own frontier"):
        strategy_for_question("infospiders", per_seed=True)
