"""The companion: what it learns, what it suggests, what it looks at, and what it keeps."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scenthound.desk.apps.companion import (
    Companion,
    CompanionPage,
    PageLink,
    Profile,
    Reader,
    Visit,
    extension_folder,
    vector,
)
from scenthound.errors import BadUsage, FileDamaged, UnsafeFile
from scenthound.loop.settings import Settings
from scenthound.model import Response, Url
from scenthound.ports import Failure
from scenthound.text.tokens import Analyser
from support.html_crawl import HtmlPages

BALLOONS = "hot air balloons, pilots, burners and baskets; a balloon flight with the balloon club"
CARS = "engines, tyres, gears and used vehicles; a car dealer repairs the car"


def words(text: str) -> dict[str, float]:
    return vector(Analyser().counts(text))


def summary(url: str, text: str, *links: tuple[str, str]) -> CompanionPage:
    return CompanionPage(Url(url), url, words(text), tuple(PageLink.of(Url(to), said, to) for to, said in links))


def read(reader: Reader, *pages: CompanionPage) -> None:
    for page in pages:
        reader.open(page, {})


# ---- the profile


def test_words_fade_with_every_page_until_they_are_forgotten() -> None:
    profile = Profile()
    profile.learn(words("balloon"), 1.0, {})
    for _ in range(20):
        profile.fade()
    assert profile.weights["balloon"] == pytest.approx(0.5)
    for _ in range(200):
        profile.fade()
    assert profile.words() == []


def test_a_word_that_was_removed_is_not_learned_again_until_it_is_given_a_weight() -> None:
    profile = Profile()
    profile.learn(words(BALLOONS), 1.0, {"balloon": "balloons"})
    assert "balloons" in [word for word, _ in profile.words()]
    profile.set("balloons", 0)
    profile.learn(words(BALLOONS), 1.0, {})
    assert "balloon" not in profile.weights
    assert profile.removed == {"balloon": "balloons"}
    profile.set("Ballooning", 2.0)
    assert profile.weights["balloon"] == 2.0
    assert profile.removed == {}


@pytest.mark.parametrize(("word", "weight"), [("", 1), ("the", 1), ("hot air", 1), ("bees", -1), ("bees", 101)])
def test_what_is_not_a_word_with_a_weight_is_refused(word: str, weight: float) -> None:
    with pytest.raises(BadUsage):
        Profile().set(word, weight)


def test_the_profile_is_bounded() -> None:
    profile = Profile()
    for number in range(30):
        profile.learn(words(" ".join(f"word{number}x{n}" for n in range(100))), 1.0 + number, {})
    assert len(profile.weights) == 500
    assert len(profile.spelling) == 500


# ---- suggestions


def test_links_that_fit_what_was_read_come_first_each_with_its_reason() -> None:
    reader = Reader()
    front = summary("http://a.test/", BALLOONS, ("http://cars.test/", "motors"), ("http://fly.test/", "club"))
    read(reader, front)
    for url, text in (("http://cars.test/", CARS), ("http://fly.test/", BALLOONS)):
        reader.add_fetched(summary(url, text), Url(url))
    (first, *others) = reader.suggestions(front)
    assert first.url == "http://fly.test/"
    assert first.reasons[0].startswith("matches your interests: ")
    assert "balloon" in first.reasons[0]
    assert "http://cars.test/" not in [one.url for one in others], "it shares no word with the profile"


def test_front_pages_of_other_sites_are_suggested_to_a_reader_who_goes_to_such_pages() -> None:
    reader = Reader()
    front = summary("http://a.test/links", BALLOONS, ("http://a.test/own", "balloon"), ("http://cars.test/", "motors"))
    for url, text in (("http://a.test/own", BALLOONS), ("http://cars.test/", CARS)):
        reader.add_fetched(summary(url, text), Url(url))
    read(reader, front)
    assert [one.url for one in reader.suggestions(front)] == ["http://a.test/own"]
    for site in ("b", "c", "d"):
        read(reader, summary(f"http://{site}.test/", "a site"))
    read(reader, front)
    last = reader.suggestions(front)[0]
    assert (last.url, last.reasons) == ("http://cars.test/", ("front page of another site",))


def test_a_page_two_clicks_away_is_suggested_through_the_page_between() -> None:
    reader = Reader()
    front = summary("http://a.test/", BALLOONS, ("http://list.test/", "Links"))
    read(reader, front)
    reader.add_fetched(
        summary("http://list.test/", "a list", ("http://far.test/", "balloon flights")), Url("http://list.test/")
    )
    (one,) = reader.suggestions(front)
    assert (one.url, one.clicks, one.through) == ("http://far.test/", 2, "Links")
    assert one.reasons == ("link text: balloon, flight",)


def test_nothing_that_was_read_is_suggested_and_nothing_before_anything_was_read() -> None:
    reader = Reader()
    front = summary("http://a.test/", BALLOONS, ("http://b.test/", "balloon club"))
    assert reader.suggestions(front) == []
    read(reader, front)
    assert len(reader.suggestions(front)) == 1
    read(reader, summary("http://b.test/", BALLOONS))
    assert reader.suggestions(front) == []


@pytest.mark.parametrize(("lesson", "seconds"), [("read", 60.0), ("bookmark", 0.0), ("follow", 0.0)])
def test_reading_bookmarks_and_following_teach(lesson: str, seconds: float) -> None:
    reader = Reader()
    front = summary("http://a.test/", BALLOONS)
    read(reader, front)
    before = reader.profile.weights["balloon"]
    reader.teach(front.url, lesson, seconds)
    once = reader.profile.weights["balloon"]
    assert once > before * 2
    if lesson != "read":
        reader.teach(front.url, lesson)
        assert reader.profile.weights["balloon"] == once, "it counts once"


def test_a_page_left_open_counts_three_minutes_at_most() -> None:
    short, long = Reader(), Reader()
    for reader, seconds in ((short, 180.0), (long, 100_000.0)):
        read(reader, summary("http://a.test/", BALLOONS))
        reader.teach(Url("http://a.test/"), "read", seconds)
    assert short.profile.weights == long.profile.weights


def test_following_teaches_when_the_page_is_opened() -> None:
    reader, other = Reader(), Reader()
    reader.teach(Url("http://a.test/"), "follow")
    for one in (reader, other):
        read(one, summary("http://a.test/", BALLOONS))
    assert reader.profile.weights["balloon"] > other.profile.weights["balloon"]


def test_words_of_every_page_say_little() -> None:
    reader = Reader()
    front = summary("http://a.test/", "imprint newsletter balloon", ("http://b.test/", ""), ("http://c.test/", ""))
    read(reader, front)
    for number in range(60):
        reader.add_fetched(summary(f"http://x.test/{number}", "imprint newsletter"), Url(f"http://x.test/{number}"))
    reader.add_fetched(summary("http://b.test/", "imprint newsletter"), Url("http://b.test/"))
    reader.add_fetched(summary("http://c.test/", "balloon envelope"), Url("http://c.test/"))
    assert next(one.url for one in reader.suggestions(front)) == "http://c.test/"


# ---- the whole companion, on pages in memory


WEB = {
    "http://a.test/": BALLOONS,
    "http://b.test/": f"<title>Balloons</title><p>{BALLOONS}</p><a href=http://d.test/>balloon pilots</a>",
    "http://c.test/": f"<title>Cars</title><p>{CARS}</p>",
    "http://d.test/": f"<title>Pilots</title><p>{BALLOONS} pilots</p><a href=http://e.test/>on</a>",
    "http://e.test/": f"<title>Too far</title><p>{BALLOONS}</p>",
    "http://q.test/?user=1": f"<title>Query</title><p>{BALLOONS}</p>",
    "http://no.test/": f"<title>Excluded</title><p>{BALLOONS}</p>",
}
LINKS = [
    ("http://dead.test/", "balloon"),
    ("http://c.test/", "cars"),
    ("http://q.test/?user=1", "balloon unsubscribe"),
    ("http://b.test/", "club"),
]


def visited(folder: Path, *steps: Any, links: Sequence[tuple[str, str]] = LINKS) -> tuple[Companion, HtmlPages]:
    """A companion after a visit of the first page, when it has looked ahead; `steps` are called before."""
    fetcher = HtmlPages(WEB)

    async def work() -> Companion:
        companion = Companion(folder, Settings(delay=0.0), fetcher)
        for step in steps:
            step(companion)
        await companion.visit(Visit("http://a.test/#top", "A", BALLOONS, links))
        while companion.state()["looking"]:
            await asyncio.sleep(0.01)
        await companion.close()
        return companion

    return asyncio.run(work()), fetcher


def asked(fetcher: HtmlPages) -> list[str]:
    return [url for url in fetcher.asked if not url.endswith("/robots.txt")]


def test_it_looks_ahead_two_clicks_asks_robots_first_and_leaves_queries_alone(tmp_path: Path) -> None:
    companion, fetcher = visited(tmp_path)
    assert asked(fetcher) == ["http://dead.test/", "http://c.test/", "http://b.test/", "http://d.test/"]
    assert fetcher.asked.index("http://b.test/robots.txt") < fetcher.asked.index("http://b.test/")
    answer = companion.suggestions("http://a.test/")
    looked_at = {one.url: one.was_looked_at for one in answer.suggestions}
    assert looked_at == {"http://b.test/": True, "http://d.test/": True, "http://q.test/?user=1": False}
    assert answer.suggestions[0].title == "Balloons"
    assert answer.about == "3 pages checked."


def test_a_new_page_ends_the_look_from_the_one_before_even_if_a_host_hangs(tmp_path: Path) -> None:
    class Hangs(HtmlPages):
        async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
            if url.startswith("http://c.test/"):
                await asyncio.sleep(3600)
            return await super().fetch(url, most)

    async def work() -> list[str]:
        companion = Companion(tmp_path, Settings(delay=0.0), fetcher := Hangs(WEB))
        await companion.visit(Visit("http://a.test/", "", BALLOONS, [("http://c.test/", "cars")]))
        await asyncio.sleep(0.05)
        await companion.visit(Visit("http://z.test/", "", BALLOONS, [("http://b.test/", "club")]))
        async with asyncio.timeout(30):
            while "http://d.test/" not in fetcher.asked:
                await asyncio.sleep(0.01)
        await companion.close()
        return fetcher.asked

    assert "http://b.test/" in asyncio.run(work())


def test_excluded_sites_are_neither_read_nor_looked_at(tmp_path: Path) -> None:
    links = [("http://no.test/", "balloon"), ("http://sub.no.test/", "balloon"), ("http://b.test/", "club")]
    companion, fetcher = visited(tmp_path, lambda one: one.exclude(["https://www.no.test/x"]), links=links)
    assert companion.excluded == ("no.test",)
    assert asked(fetcher) == ["http://b.test/", "http://d.test/"]
    with pytest.raises(BadUsage, match=r"sub\.no\.test is excluded"):
        companion.checked_url("http://sub.no.test/page")
    companion.exclude(["a.test"])
    assert companion.state()["front"] is None, "what is known of it is dropped"


def test_a_second_look_fetches_nothing_again_and_keeps_the_robots_rules(tmp_path: Path) -> None:
    fetcher = HtmlPages(WEB)

    async def work() -> None:
        companion = Companion(tmp_path, Settings(delay=0.0), fetcher)
        for front in ("http://a.test/", "http://z.test/"):
            await companion.visit(Visit(front, "", BALLOONS, [("http://b.test/", "club"), ("http://c.test/", "cars")]))
            while companion.state()["looking"]:
                await asyncio.sleep(0.01)
        await companion.close()

    asyncio.run(work())
    assert len(fetcher.asked) == len(set(fetcher.asked))


def test_words_are_kept_for_the_user_alone_and_addresses_are_not(tmp_path: Path) -> None:
    visited(tmp_path / "kept")
    path = tmp_path / "kept" / "profile.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ".test" not in path.read_text()
    again = Companion(tmp_path / "kept")
    assert "balloons" in [one["word"] for one in again.state()["profile"]["words"]]


def test_forgetting_leaves_nothing_but_the_excluded_sites(tmp_path: Path) -> None:
    companion, _ = visited(tmp_path, lambda one: one.exclude(["no.test"]))
    asyncio.run(companion.forget())
    kept = json.loads((tmp_path / "profile.json").read_text())
    assert kept == {"version": 1, "pages": 0, "words": [], "removed": {}, "excluded": ["no.test"]}
    assert companion.suggestions("http://a.test/").suggestions == []


def test_a_profile_that_is_a_link_or_no_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (tmp_path / "profile.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(UnsafeFile):
        Companion(tmp_path)
    (tmp_path / "profile.json").unlink()
    for text in ("", "[]", "{}", '{"version": 1, "words": [{"term": "a", "word": "a", "weight": NaN}]}', "\x00"):
        (tmp_path / "profile.json").write_text(text)
        with pytest.raises(FileDamaged, match="not a companion profile"):
            Companion(tmp_path)


def test_it_takes_in_nothing_while_it_is_off(tmp_path: Path) -> None:
    companion = Companion(tmp_path)
    asyncio.run(companion.set_enabled(False))
    with pytest.raises(BadUsage, match="turned off"):
        asyncio.run(companion.visit(Visit("http://a.test/", "", BALLOONS, [])))
    assert companion.state()["profile"]["pages"] == 0


@pytest.mark.parametrize("site", ["", "a b", "..", "http://"])
def test_what_is_not_a_site_can_not_be_excluded(tmp_path: Path, site: str) -> None:
    with pytest.raises(BadUsage):
        Companion(tmp_path).exclude([site])


# ---- the extension's folder


def test_the_manifest_asks_for_little_and_names_files_that_there_are() -> None:
    folder = extension_folder()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["manifest_version"] == 3
    assert manifest["incognito"] == "not_allowed"
    assert manifest["permissions"] == ["storage", "scripting", "sidePanel"]
    assert manifest["host_permissions"] == ["http://127.0.0.1/*"], "other pages are asked for when it is switched on"
    assert "connect-src http://127.0.0.1:*" in manifest["content_security_policy"]["extension_pages"]
    background = manifest["background"]
    assert background["scripts"] == [background["service_worker"]], "Chromium and Firefox run the same file"
    named = [background["service_worker"], manifest["options_ui"]["page"], manifest["icons"]["128"]]
    named += [manifest["side_panel"]["default_path"], manifest["sidebar_action"]["default_panel"]]
    assert all((folder / name).is_file() for name in named)
    assert not [path.name for path in folder.iterdir() if path.name.startswith("_")], "Chromium refuses such a folder"


def test_the_extension_never_renders_text_as_markup_and_contacts_only_the_desk() -> None:
    for path in extension_folder().glob("*.js"):
        source = path.read_text()
        for word in ("innerHTML", "insertAdjacentHTML", "eval(", "document.write", "notifications", "setBadge"):
            assert word not in source, f"{path.name}: {word}"
        assert source.count("fetch(") == (path.name == "desk.js")
