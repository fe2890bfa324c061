"""Settings, topics and seeds: what users write, and the error messages for what can't be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.errors import BadConfig, FolderBroken, UnknownName
from scenthound.loop.crawl_toml import CrawlRequest, check_seeds, load_toml, read_seeds, topic_from
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic


def test_times_and_sizes_take_units() -> None:
    made = read(Settings, {"delay": "500 ms", "page_bytes": "2 MB", "time": "2 h", "warc_roll": "1 GiB"})
    assert (made.delay, made.page_bytes, made.time, made.warc_roll) == (0.5, 2_000_000, 7200.0, 1 << 30)


def test_lists_come_from_toml_or_from_commas() -> None:
    assert read(Settings, {"hosts": ["a", "b"]}).hosts == read(Settings, {"hosts": "a, b"}).hosts == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"delai": 1}, "did you mean `delay`"),
        ({"delay": "soon"}, 'a time such as "500 ms"'),
        ({"min_rate_time": 5}, "leave it out: `min_rate` is measured over 15 seconds"),
        ({"delay": -1}, "0 or more"),
        ({"delay": float("nan")}, "can't be"),
        ({"pages": 0}, "1 or more"),
        ({"pages": 2.5}, "a whole number"),
        ({"pages": True}, "a whole number"),
        ({"pages": 10**400}, "a whole number"),
        ({"delay": 10**400}, 'a time such as "500 ms"'),
        ({"robots": "perhaps"}, "true or false"),
        ({"page_bytes": "3 s"}, "a size such as"),
        ({"hosts": [1]}, "a list of strings"),
        ({"contact": 7}, "a string"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_with_a_way_out(given: dict[str, object], says: str) -> None:
    with pytest.raises((BadConfig, UnknownName)) as caught:
        read(Settings, given)
    assert next(iter(given)) in str(caught.value)
    assert says in str(caught.value)


def test_what_was_asked_survives_being_written_down() -> None:
    request = CrawlRequest(
        Topic('hot "air"\n\x7f balloons', "n", "d\t", ("http://a.test/",), ("Top/Sport",)),
        ("http://a.test/", "http://b.test/ü"),
        "best-n-first",
        {"n": 16, "shuffle": False, "eviction": "literal"},
        read(Settings, {"pages": 7, "hosts": ["a.test"], "delay": 0.25}),
        {"python": "3.11"},
        "2026-01-02T03:04:05+00:00",
    )
    again = CrawlRequest.from_toml(request.to_toml(), Path("crawl.toml"))
    assert again == request


def test_a_crawl_begun_with_a_setting_that_is_no_more_is_resumed_without_it() -> None:
    request = CrawlRequest(Topic("x"), ("http://a.test/",), settings=read(Settings, {"min_rate": 7}))
    old = request.to_toml().replace("[settings]", "[settings]\ngroup_time = 0.5\nmin_rate_time = 3.0")
    assert CrawlRequest.from_toml(old, Path("crawl.toml")) == request


def test_a_folder_of_a_newer_version_is_refused() -> None:
    text = CrawlRequest(Topic("x"), ("http://a.test/",)).to_toml().replace("format = 3", "format = 9")
    with pytest.raises(FolderBroken, match="newer"):
        CrawlRequest.from_toml(text, Path("crawl.toml"))


def test_seeds_of_equal_key_count_once_in_their_first_spelling() -> None:
    request = CrawlRequest(Topic("x"), ("http://A.test:80/~u", "http://a.test/%7eu", "http://b.test"))
    assert request.keyed_seeds() == [("http://a.test/%7Eu", "http://a.test/~u"), ("http://b.test/", "http://b.test/")]


def test_seed_files_may_have_comments_and_say_which_lines_are_wrong() -> None:
    assert read_seeds("# mine\nhttp://a.test/\n\n  http://b.test/x \n", "seeds.txt") == [
        "http://a.test/",
        "http://b.test/x",
    ]
    with pytest.raises(BadConfig) as caught:
        read_seeds("http://a.test/\nnot a url\nftp://b.test/\n", "seeds.txt")
    assert "seeds.txt line 2" in str(caught.value)
    assert "seeds.txt line 3" in str(caught.value)


def test_bookmarks_of_a_browser_are_seeds() -> None:
    text = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p><DT><A HREF="https://a.test/x" ADD_DATE="1">A</A><DT><A HREF="place:sort=8">smart</A>
<DT><A HREF="javascript:void(0)">b</A><DT><A HREF="http://b.test/">B</A></DL>"""
    assert read_seeds(text, "bookmarks.html") == ["https://a.test/x", "http://b.test/"]


def test_many_bad_seeds_are_not_all_printed() -> None:
    with pytest.raises(BadConfig, match="and 15 more"):
        check_seeds([(f"line {n}", "nonsense") for n in range(20)])


def test_broken_toml_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('keywords = "x"\nname = \n')
    with pytest.raises(BadConfig, match="line 2"):
        load_toml(tmp_path / "t.toml", "topic file")
    with pytest.raises(BadConfig, match="no topic file"):
        load_toml(tmp_path / "nothing.toml", "topic file")


def test_a_topic_needs_keywords_and_knows_its_keys() -> None:
    assert topic_from({"keywords": ["solar", "panel"]}, "t.toml") == Topic("solar panel")
    with pytest.raises(BadConfig, match="no keywords"):
        topic_from({"name": "x"}, "t.toml")
    with pytest.raises(UnknownName, match="did you mean `keywords`"):
        topic_from({"keyword": "x"}, "t.toml")
    with pytest.raises(BadConfig, match="description"):
        topic_from({"keywords": "x", "description": 3}, "t.toml")
