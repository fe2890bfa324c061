"""Search finds the pages of a crawl, in an order that it explains; its index follows the crawl and survives a kill."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenthound.cli.root_command import run
from scenthound.errors import BadUsage, ScenthoundError, UnknownName
from scenthound.loop.folder import CrawlFolder
from scenthound.search import Filters, index_folder, like, search
from scenthound.store.lock import lock
from scenthound.store.text_index import FILE, INDEX, TextIndex
from support.long_form import long_form
from support.running_crawl import command, crawling, pages, served, until
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]
WEB = {
    "http://clubs.test/": (
        "Balloon clubs",
        "The oldest hot air balloon club in Australia meets on Sundays. Envelopes are repaired here.",
        ["http://clubs.test/burners", "http://www.repair.test/", "http://cars.test/", "http://fr.test/"],
    ),
    "http://clubs.test/burners": ("Burners", "A burner heats the air of a hot air balloon. Propane burners roar.", []),
    "http://www.repair.test/": ("Envelope repair", "Repairing envelopes of balloons, with fabric and propane.", []),
    "http://cars.test/": ("Used cars", "Cars with air conditioning, and hot offers. Propane too.", []),
    "http://fr.test/": ("Ballons", "Un ballon à air chaud, café et château.", []),
}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_crawl(tmp_path_factory.mktemp("search") / "crawl", WEB)
    assert index_folder(folder) == 5
    return folder


def found(folder: Path, query: str, **more: object) -> list[str]:
    return [one.url for one in search(folder, query, **more).found]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("propane", {"http://clubs.test/burners", "http://www.repair.test/", "http://cars.test/"}),
        ('"hot air"', {"http://clubs.test/", "http://clubs.test/burners"}),
        ("hot air", {"http://clubs.test/", "http://clubs.test/burners", "http://cars.test/"}),
        ("repairs", {"http://clubs.test/", "http://www.repair.test/"}),
        ("title:repair", {"http://www.repair.test/"}),
        ("host:clubs.test", {"http://clubs.test/", "http://clubs.test/burners"}),
        (
            'anchor:"balloon clubs" propane',
            {"http://clubs.test/burners", "http://www.repair.test/", "http://cars.test/"},
        ),
        ("text:sundays", {"http://clubs.test/"}),
        ("propane -cars", {"http://clubs.test/burners", "http://www.repair.test/"}),
        ("burner OR sundays", {"http://clubs.test/", "http://clubs.test/burners"}),
        ("envel*", {"http://clubs.test/", "http://www.repair.test/"}),
        ("cafe chateau", {"http://fr.test/"}),
        ("nothing-like-it", set()),
    ],
)
def test_a_query_finds_its_pages(collection: Path, query: str, urls: set[str]) -> None:
    assert set(found(collection, query)) == urls


def test_filters_narrow_the_results(collection: Path) -> None:
    assert found(collection, "propane", filters=Filters(hosts=("repair.test",))) == ["http://www.repair.test/"]
    assert not found(collection, "propane", filters=Filters(hosts=("air.test",)))
    relevance = {one.url: one.relevance for one in search(collection, "propane").found}
    assert len(set(relevance.values())) == 3
    least = sorted(relevance.values())[1]
    above = found(collection, "propane", filters=Filters(least_relevance=least))
    assert set(above) == {url for url, value in relevance.items() if value >= least}
    with CrawlFolder.look(collection) as opened:
        times = [step.time for step in opened.history.trail()]
    assert len(found(collection, "propane", filters=Filters(since=times[0]))) == 3
    assert not found(collection, "propane", filters=Filters(since=times[-1] + 1))
    assert not found(collection, "propane", filters=Filters(until=times[0]))


def test_the_language_that_a_page_declares_is_a_filter(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    index_folder(folder)
    with TextIndex(folder / INDEX) as index:
        assert index.languages() == {"": 5}
    assert not found(folder, "propane", filters=Filters(languages=("en",)))
    assert len(found(folder, "propane", filters=Filters(languages=("", "en")))) == 3


def test_the_order_blends_text_and_topic_and_says_how(collection: Path) -> None:
    by_text = search(collection, "propane", weight=1.0)
    by_topic = search(collection, "propane", weight=0.0)
    assert by_text.order == "text match 100 %, relevance to the topic 0 %"
    texts = [one.text_part for one in by_text.found]
    topics = [one.topic_part for one in by_topic.found]
    assert texts == sorted(texts, reverse=True)
    assert texts[0] == 1.0
    assert topics == sorted(topics, reverse=True)
    for one in search(collection, "propane", weight=0.25).found:
        assert one.score == pytest.approx(0.25 * one.text_part + 0.75 * one.topic_part)
    assert [one.url for one in by_topic.found] != [one.url for one in by_text.found]


def test_a_snippet_marks_the_words_that_were_searched_for(collection: Path) -> None:
    (one,) = search(collection, "envelopes sundays").found
    assert [text for text, marked in one.snippet if marked] == ["Sundays", "Envelopes"]
    assert "".join(text for text, _ in one.snippet).startswith("Balloon clubs The oldest")


def test_text_of_a_page_can_not_forge_marks(tmp_path: Path) -> None:
    web = {"http://a.test/": ("T\x02itle\x03", "balloon \x02forged\x03 <b>bold</b>", [])}
    folder = small_crawl(tmp_path / "crawl", web)
    index_folder(folder)
    (one,) = search(folder, "balloon").found
    assert [text for text, marked in one.snippet if marked] == ["balloon"]


def test_more_like_this_finds_pages_on_the_same_subject(collection: Path) -> None:
    urls = [one.url for one in like(collection, "http://clubs.test/burners").found]
    assert "http://clubs.test/burners" not in urls
    assert urls
    assert "http://fr.test/" not in urls[:1]
    with pytest.raises(BadUsage, match="no such page"):
        like(collection, "http://nowhere.test/")


@settings(max_examples=long_form(20, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=40))
def test_no_query_breaks_the_search(collection: Path, query: str) -> None:
    with contextlib.suppress(BadUsage, UnknownName):
        search(collection, query)


def test_indexing_again_adds_nothing_and_a_lost_index_is_rebuilt(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    assert index_folder(folder) == 5
    assert index_folder(folder) == 0
    before = search(folder, "propane").as_plain()
    for file in (folder / INDEX).iterdir():
        file.unlink()
    assert index_folder(folder) == 5
    assert search(folder, "propane").as_plain() == before
    (folder / INDEX / FILE).write_bytes(b"damaged" * 1000)
    assert index_folder(folder) == 5
    assert search(folder, "propane").as_plain() == before
    assert index_folder(folder, rebuild=True) == 5


def test_an_index_that_is_ahead_of_the_crawl_is_rebuilt(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    index_folder(folder)
    with TextIndex(folder / INDEX, write=True) as index:
        index.add([], 10_000)
    assert index_folder(folder) == 5


def test_a_page_without_its_record_is_found_by_its_title(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    for file in (folder / "pages").glob("*.warc.gz"):
        file.unlink()
    assert index_folder(folder) == 5
    assert found(folder, "title:burners") == ["http://clubs.test/burners"]
    assert not found(folder, "propane")


def test_a_page_that_was_fetched_again_is_indexed_once(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    index_folder(folder)
    with TextIndex(folder / INDEX, write=True) as index:
        from scenthound.store.text_index import Document

        index.add([Document("http://cars.test/", "cars.test", "Zeppelins", "", "zeppelin", 0.5, "de", 1.0, 9)], 9)
        assert len(index) == 5
    assert found(folder, "zeppelin") == ["http://cars.test/"]
    assert "http://cars.test/" not in found(folder, "propane")


def test_a_link_planted_in_place_of_the_index_is_refused(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    (folder / INDEX).mkdir(exist_ok=True)
    (tmp_path / "victim").write_bytes(b"")
    (folder / INDEX / FILE).symlink_to(tmp_path / "victim")
    with pytest.raises(ScenthoundError):
        index_folder(folder)
    assert (tmp_path / "victim").read_bytes() == b""


def test_the_command_prints_results_and_json(tmp_path: Path, capsys: Talk) -> None:
    folder = str(small_crawl(tmp_path / "crawl", WEB))
    assert run(["search", folder, "propane"]) == 0
    shown = capsys.readouterr()
    assert "*Propane*" in shown.out
    assert "3 of 5 pages match; ranking: text match 60 %, relevance to the topic 40 %" in shown.err
    assert run(["search", folder, "--like", "http://clubs.test/burners", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"]
    assert run(["search", folder, "propane", "--since", "2020-01-01", "--limit", "1", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 1
    assert run(["index", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["indexed"] == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["x", "--like", "http://a.test/"], 2),
        (['"open'], 2),
        (["x", "--since", "soon"], 2),
        (["--like", "nowhere"], 2),
        (["--like", "http://nowhere.test/"], 2),
        (["x", "--weight", "2"], 2),
    ],
)
def test_a_bad_search_is_refused_with_a_hint(collection: Path, capsys: Talk, words: list[str], code: int) -> None:
    assert run(["search", str(collection), *words]) == code
    assert "hint: " in capsys.readouterr().err


def test_a_search_while_another_process_indexes_uses_the_present_index(tmp_path: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "crawl", WEB)
    index_folder(folder)
    with lock(folder / INDEX):
        assert run(["search", str(folder), "propane", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3


@pytest.mark.slow
def test_the_index_follows_a_running_crawl_and_ends_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with served(tmp_path / "log.jsonl") as address, crawling(folder, address, "--pages", "3000"):
        follower = subprocess.Popen([sys.executable, "-m", "scenthound", "index", str(folder), "--follow", "--json"])
        try:
            until(lambda: indexed(folder) >= 20, "the index did not follow")
            assert command("control", str(folder), "stop").returncode == 0
            assert follower.wait(timeout=120) == 0
        finally:
            follower.kill()
            follower.wait()
    assert indexed(folder) == pages(folder)


@pytest.mark.slow
def test_a_killed_indexer_leaves_an_index_that_can_be_continued(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with served(tmp_path / "log.jsonl") as address, crawling(folder, address, "--pages", "300") as process:
        process.wait(timeout=120)
    luck = random.Random(4)
    for _ in range(6):
        indexer = subprocess.Popen(
            [sys.executable, "-m", "scenthound", "index", str(folder)], stdout=subprocess.DEVNULL
        )
        until((folder / INDEX / FILE).exists, "it made no index")
        time.sleep(luck.uniform(0.0, 0.3))
        indexer.send_signal(signal.SIGKILL)
        indexer.wait()
    index_folder(folder)
    assert indexed(folder) == pages(folder) == 300
    whole = search(folder, "air", limit=300).as_plain()
    index_folder(folder, rebuild=True)
    assert search(folder, "air", limit=300).as_plain() == whole


def indexed(folder: Path) -> int:
    try:
        with TextIndex(folder / INDEX) as index:
            return len(index)
    except ScenthoundError:
        return 0
