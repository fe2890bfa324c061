"""`crawl`, `resume`, `demo` and `lab` from the outside: real processes, real HTTP on loopback."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.crawl_request import CrawlOptions, crawl_request, slug
from scenthound.cli.root_command import run
from scenthound.errors import BadUsage, ScenthoundError, UnknownName
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.model import Topic
from scenthound.store.lock import lock
from scenthound.topic_list import BedTopic
from support.small_crawl import small_crawl

COMMAND = [sys.executable, "-m", "scenthound"]


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(400, 3)


@pytest.fixture(scope="module")
def proxy(web: GeneratedWeb) -> Iterator[str]:
    with serving(web) as address:
        yield f"http://{address}"


def asked(topic: BedTopic, proxy: str, out: Path) -> list[str]:
    seeds = [word for seed in topic.seeds for word in ("--seed", str(seed))]
    return ["crawl", topic.keywords, *seeds, "--proxy", proxy, "--delay", "10 ms", "--out", str(out)]


def test_a_crawl_says_what_came_of_it(
    web: GeneratedWeb, proxy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "crawl"
    assert run([*asked(web.topics[0], proxy, out), "--pages", "40"]) == 0
    told = capsys.readouterr()
    assert "40 of 40" in told.out
    assert "all requested pages were fetched" in told.out
    assert f"report: {out / 'report.html'}" in told.err
    assert "add --contact" in told.err
    assert "\x1b" not in told.out + told.err, "no terminal, no colours, no bars"
    assert (out / "report.html").is_file()
    assert run(["resume", str(out), "--pages", "50", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["pages"] == 50
    assert f"note: the crawl.toml of this crawl sends all requests through the proxy {proxy}" in told.err
    assert run([*asked(web.topics[0], proxy, out), "--pages", "40"]) == 4
    assert f"hint: continue it: scenthound resume {out}" in capsys.readouterr().err


def test_json_is_all_that_is_printed(
    web: GeneratedWeb, proxy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = asked(web.topics[0], proxy, tmp_path / "crawl")
    assert run([*words, "--pages", "10", "--strategy", "breadth-first", "--json"]) == 0
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert (document["pages"], document["strategy"], document["ended"]) == (10, "breadth-first", "pages")
    assert Path(document["report"]).is_file()


def test_ctrl_c_saves_and_can_be_resumed(web: GeneratedWeb, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with serving(BedServer(web, ServerOptions(latency=0.1))) as address:
        words = asked(web.topics[0], f"http://{address}", out)
        process = subprocess.Popen(
            [*COMMAND, *words, "--pages", "300", "--concurrency", "4"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_for_pages(out, 5)
        process.send_signal(signal.SIGINT)
        told, talk = process.communicate(timeout=120)
        assert process.returncode == 11, talk
        assert "Press Ctrl-C again to stop now" in talk
        assert f"scenthound resume {out}" in talk
        assert "interrupted" in told
        assert (out / "report.html").is_file()
        done = subprocess.run(
            [*COMMAND, "resume", str(out), "--pages", "60"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "60 of" in done.stdout


@pytest.mark.parametrize("order", ["auto", "quality", "speed"])
def test_an_end_because_everything_rests_has_a_code_of_its_own(
    order: str, proxy: str, web: GeneratedWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, out = web.topics[0], tmp_path / "crawl"
    rests = [
        "--order",
        order,
        "--delay",
        "100 s",
        "--set",
        "longest_wait=0.5",
        "--set",
        "robots=false",
        "--pages",
        "500",
    ]
    command = ["crawl", topic.keywords, "--seed", topic.seeds[0], "--proxy", proxy, "--out", str(out), *rests]
    assert run(command) == 12
    assert f"Continue later with: scenthound resume {out}" in capsys.readouterr().err


def wait_for_pages(out: Path, pages: int) -> None:
    """Until so many pages are recorded."""
    for _ in range(2400):
        with contextlib.suppress(sqlite3.OperationalError):  # it is just being made
            with contextlib.closing(sqlite3.connect(f"file:{out / 'crawl.db'}?mode=ro", uri=True)) as database:
                count = database.execute("SELECT count(*) FROM history").fetchone()[0]
            if count >= pages:
                return
        time.sleep(0.05)
    raise AssertionError("the crawl did not begin")


def test_progress_without_a_terminal_is_a_plain_line(proxy: str, web: GeneratedWeb, tmp_path: Path) -> None:
    from scenthound.cli.progress import Progress
    from scenthound.wiring import begin

    session = begin(web.topics[0].topic, list(web.topics[0].seeds), tmp_path / "crawl")
    try:
        with Progress(session) as progress:
            progress.tick()
            line = progress.line()
    finally:
        session.close()
    assert re.fullmatch(
        r"0 of 1,000 pages, 0\.0/s, harvest 0\.0% \(last 100: 0\.0%\), frontier \d+, hosts 0, errors 0", line
    )


# ---- bad input, each with its message, its hint and its exit code


FROM = ["--seed", "http://a.test/"]
BEES = ["bees", *FROM]
BAD = {
    "no seeds": (["bees"], 2, "no seeds", "--seed URL"),
    "no topic": ([*FROM], 2, "no topic", "hot air ballooning"),
    "empty topic": ([" ", *FROM], 4, "no words", "say what you are looking for"),
    "unknown strategy": ([*BEES, "--strategy", "best-frist"], 2, "called `best-frist`", "`best-first`"),
    "unknown setting": ([*BEES, "--set", "dellay=1"], 2, "no setting called `dellay`", "`delay`"),
    "no value": ([*BEES, "--set", "delay"], 2, "not a pair of key and value", "KEY=VALUE"),
    "bad value": ([*BEES, "--pages", "many"], 4, "`pages` can't be 'many'", "a whole number"),
    "bad parameter": ([*BEES, "--set", "work=0"], 4, "`work` can't be '0'", "100 or more"),
    "no such target": ([*BEES, "--looking-for", "people"], 2, "people", "sites"),
    "no inference": ([*BEES, "--set", "looking_for=auto"], 4, "no longer derived", "pages or sites"),
    "of a judge": ([*BEES, "--set", "judge=topic:looking_for=sites"], 4, "the judge topic", "--looking-for sites"),
    "bad time": ([*BEES, "--delay", "soon"], 4, "`delay` can't be 'soon'", "500 ms"),
    "bad network": ([*BEES, "--allow-private", "home"], 4, "home", "loopback"),
    "bad pattern": ([*BEES, "--path", "(["], 4, "not a pattern", "RE2"),
    "seed no URL": (["bees", "--seed", "honey"], 4, "--seed: not a URL: `honey`", "write them in full"),
    "seed no web": (["bees", "--seed", "ftp://a.test/"], 4, "not an http(s) URL", "write them in full"),
    "missing file": (["bees", "--seeds", "missing.txt"], 4, "missing.txt can't be read", "check the path"),
    "bad lines": (["bees", "--seeds", "seeds.txt"], 4, "seeds.txt line 3: not a URL", "write them in full"),
    "empty file": (["bees", "--seeds", "empty.txt"], 4, "no seeds in empty.txt", "one URL per line"),
    "missing topic": (["bees.toml", *FROM], 4, "there is no topic file at bees.toml", "check the path"),
    "broken topic": (["broken.toml", *FROM], 4, "line 2", "keywords"),
    "odd topic": (["odd.toml", *FROM], 2, "no topic key in odd.toml called `keyword`", "`keywords`"),
    "only stop words": (["the of and", *FROM], 4, "the topic “the of and” has only stop words", "hot air ballooning"),
    "topic is a file": (["notes", *FROM], 4, "the topic file notes is not TOML", 'add a space: "notes "'),
    "no text": (["binary", *FROM], 4, "the topic file binary can't be read", 'add a space: "binary "'),
    "negative": ([*BEES, "--pages", "-5"], 4, "`pages` can't be -5", "1 or more"),
    "negative set": ([*BEES, "--set", "depth=-1"], 4, "`depth` can't be -1", "0 or more"),
    "broken config": ([*BEES, "--config", "broken.toml"], 4, "line 2", "a line looks like: pages = 500"),
    "odd config": ([*BEES, "--config", "odd.toml"], 2, "odd.toml: no setting called `keyword`", ""),
    "bad config": ([*BEES, "--config", "bad.toml"], 4, "bad.toml: setting `delay` can't be 'soon'", "500 ms"),
    "not a crawl": ([*BEES, "--out", "full"], 4, "full exists and is not a crawl", "`out`"),
    "out is a file": ([*BEES, "--out", "odd.toml"], 4, "odd.toml exists and is not a crawl", "`out`"),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("seeds.txt").write_text("# mine\nhttp://a.test/\nnot a url\nhttp://b.test/\n")
    Path("empty.txt").write_text("# nothing\n")
    Path("broken.toml").write_text('name = "x"\nkeywords = bees\n')
    Path("odd.toml").write_text('keyword = "bees"\n')
    Path("bad.toml").write_text('delay = "soon"\n')
    Path("notes").write_text("to do: bees\n")
    Path("binary").write_bytes(b"\xff\xfe\x00")
    Path("full").mkdir()
    Path("full/precious.txt").write_text("precious")
    return tmp_path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_nothing_is_written(case: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, code, message, hint = BAD[case]
    before = sorted(place.rglob("*"))
    assert run(["crawl", *words]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert hint in told.err
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize(
    ("number", "age", "hint"), [(99, "a newer", "install the newer version"), (1, "an older", "crawl again")]
)
def test_a_crawl_of_another_version_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int, age: str, hint: str
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    file = folder / "crawl.toml"
    file.write_text(file.read_text().replace("format = 3", f"format = {number}"))
    for words in (["status"], ["resume"], ["trail"], ["report"], ["export", "--to", "csv"]):
        assert run([words[0], str(folder), *words[1:]]) == 4
        told = capsys.readouterr().err
        assert f"was written by {age} scenthound (format {number}; this version reads 3)" in told
        assert f"hint: {hint}" in told


def test_a_damaged_database_is_named_and_what_can_be_read_is_recovered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small_crawl(tmp_path / "crawl", pages=3)
    sqlite3.connect(folder / "crawl.db").execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    raw = bytearray((folder / "crawl.db").read_bytes())
    raw[100:4096] = b"\xff" * 3996
    (folder / "crawl.db").write_bytes(raw)
    assert run(["status", str(folder)]) == 4
    assert "damaged" in capsys.readouterr().err
    code = run(["resume", str(folder), "--pages", "3"])
    told = capsys.readouterr().err
    assert "recovered" in told
    assert code in (0, 1, 4), "where no page could be saved, no seed can be fetched here either"
    assert list(folder.glob("crawl.db.damaged*")), "the damaged file is kept"


def test_a_second_process_gets_an_error_that_names_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with lock(folder):
        assert run(["resume", str(folder)]) == 4
        assert re.search(r"in use by process \d+", capsys.readouterr().err)
        assert run(["status", str(folder)]) == 0, "looking is allowed"
        assert "it is running now" in capsys.readouterr().out


def test_a_crawl_that_was_cut_off_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_crawl(tmp_path / "crawl")
    database = sqlite3.connect(folder / "crawl.db")
    with database:
        database.execute("DELETE FROM meta WHERE key = 'ended'")
    database.close()
    assert run(["status", str(folder)]) == 0
    assert "was killed" in capsys.readouterr().out


# ---- what was asked


def request(
    *pairs: str, topic: str | None = "bees", seeds: tuple[str, ...] = ("http://www.a.test/x",), **more: object
) -> object:
    names = ("scope", "config", "strategy", "seed_files", "looking_for", "topic_from", "topic_id", "profile")
    own = {key: more.pop(key) for key in names if key in more}
    return crawl_request(CrawlOptions(topic, seeds, pairs=pairs, settings=more, **own))  # type: ignore[arg-type]


def test_flags_win_over_set_and_set_over_the_file(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(
        'strategy = "best-n-first"\npages = 5\n[settings]\ndelay = "2 s"\ndepth = 3\n[parameters]\nn = 16\n'
    )
    made = request("depth=4", config=config, pages="7")
    assert (made.strategy, made.parameters) == ("best-n-first", {"n": 16})
    assert (made.settings.pages, made.settings.delay, made.settings.depth) == (7, 2.0, 4)


def test_the_crawl_toml_of_a_crawl_can_be_asked_again(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", depth=7)
    made = request(topic=None, seeds=(), config=folder / "crawl.toml")
    assert (made.topic.keywords, made.seeds, made.settings.depth) == ("hot air balloons", ("http://a.test/",), 7)


TOPICS = [
    {"id": "bees", "keywords": "bees honey", "seeds": ["http://b.test/"], "targets": ["http://t.test/"],
     "description": "the answers", "examples": ["http://t.test/", "http://e.test/"]},
    {"id": "cars", "keywords": "cars", "seeds": ["http://c.test/"], "targets": ["http://u.test/"]},
]  # fmt: skip


def test_a_topic_of_the_lab_can_be_crawled_live(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps({"path": [], "description": "", **topic}) + "\n" for topic in TOPICS))
    for place in (file, tmp_path):
        made = request(topic=None, seeds=(), topic_from=place, topic_id="bees")
        assert (made.topic.keywords, made.seeds) == ("bees honey", ("http://b.test/",))
        assert (made.topic.description, made.topic.examples) == ("", ("http://e.test/",)), "no answer is told"
    assert request(topic=None, topic_from=file, topic_id="cars").seeds == ("http://www.a.test/x",)
    with pytest.raises(BadUsage, match="2 topics"):
        request(topic=None, seeds=(), topic_from=file)
    with pytest.raises(UnknownName, match="did you mean `bees`"):
        request(topic=None, seeds=(), topic_from=file, topic_id="bee")
    with pytest.raises(BadUsage, match="both given"):
        request(topic_from=file, topic_id="bees")
    with pytest.raises(BadUsage, match="--id"):
        request(topic_id="bees")


def test_a_profile_sets_the_limits_of_a_paper_unless_others_are_given() -> None:
    made = request("frontier=512", profile="exp", strategy="best-n-first")
    assert (made.settings.pages, made.settings.frontier, made.settings.page_timeout) == (2000, 512, 10.0)
    assert made.settings.not_paths == [r"\?"]
    assert request(profile="biz", strategy="best-first", pages="7").settings.pages == 7
    assert request(profile="biz", strategy="best-first").settings.spread == 50
    assert request(profile="biz", strategy="cc-bfs").settings.spread == 1, "it chooses among hosts itself"
    assert request(profile="econ", strategy="bayes").parameters == {"score": "probability", "mode": "fetch-all"}
    assert request(strategy="bayes").parameters == {}
    with pytest.raises(UnknownName, match="profile"):
        request(profile="expo")


def test_scope_means_the_places_of_the_seeds() -> None:
    seeds = ("http://www.a.co.uk/", "http://b.test/x")
    assert request(seeds=seeds, scope="host").settings.hosts == ["www.a.co.uk", "b.test"]
    assert request("domains=c.test", seeds=seeds, scope="domain").settings.domains == ["c.test", "a.co.uk", "b.test"]
    assert request(seeds=seeds).settings.hosts == []


def test_seeds_come_from_bookmarks_too(tmp_path: Path) -> None:
    file = tmp_path / "bookmarks.html"
    file.write_text('<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><DT><A HREF="http://a.test/p">P</A></DL>')
    assert request(seeds=(), seed_files=(str(file),)).seeds == ("http://a.test/p",)


def test_seeds_come_from_stdin(tmp_path: Path) -> None:
    words = ["crawl", "bees", "--seeds", "-", "--out", str(tmp_path / "x"), "--pages", "1", "--json"]
    done = subprocess.run([*COMMAND, *words], input=b"nonsense\n", capture_output=True, check=False)
    assert done.returncode == 4
    assert "stdin line 1" in json.loads(done.stdout)["error"]


def test_the_folder_is_named_after_the_topic() -> None:
    assert slug(Topic("Hot Air: Ballooning!")) == "hot-air-ballooning"
    assert slug(Topic("../../etc")) == "etc"
    assert slug(Topic("!!!")) == "crawl"


def test_parameters_are_checked_and_typed() -> None:
    assert request("n=5", "stem=no", strategy="best-first").parameters == {"n": 5, "stem": False}
    with pytest.raises(ScenthoundError, match="stop_words"):
        request("stop_words=klingon", strategy="best-first")


def test_hound_is_the_default() -> None:
    assert request().strategy == "hound"


@pytest.mark.parametrize("strategy", ["hound", "best-first"])
def test_pages_are_looked_for_unless_sites_are_asked_for_whatever_the_strategy(tmp_path: Path, strategy: str) -> None:
    def looked_for(*pairs: str, **options: Any) -> str:
        made = request(*pairs, strategy=strategy, **options)
        assert made.parameters == {}
        return made.topic.looking_for

    homes = ["http://a.test/", "http://b.test/", "http://c.test/"]
    assert looked_for(seeds=homes) == "pages"
    assert looked_for(seeds=homes, looking_for="sites") == "sites"
    assert looked_for("looking_for=sites") == looked_for("looking-for=sites") == "sites"
    config = tmp_path / "c.toml"
    config.write_text('looking_for = "sites"\n')
    assert looked_for(config=config) == "sites"
    assert looked_for(config=config, looking_for="pages") == "pages"
    topic = tmp_path / "t.toml"
    topic.write_text('keywords = "bees"\nlooking_for = "sites"\n')
    assert looked_for(topic=str(topic)) == "sites"
    assert looked_for(topic=str(topic), looking_for="pages") == "pages"
    topic.write_text('keywords = "bees"\nlooking_for = "auto"\n')
    with pytest.raises(ScenthoundError, match="no longer derived"):
        looked_for(topic=str(topic))


# ---- demo and lab


def test_the_demo_compares_two_crawls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo"
    assert run(["demo", "--pages", "60", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    crawls = told["crawls"]
    assert told["verdict"].startswith("For the same effort (60 pages each), hound found ")
    assert [one["strategy"] for one in crawls] == ["hound", "breadth-first"]
    assert all(one["pages"] == 60 and Path(one["report"]).is_file() for one in crawls)
    assert run(["demo", "--pages", "61", "--out", str(out)]) == 0, "its own folders are replaced"
    captured = capsys.readouterr()
    told = captured.out
    assert "note:" not in captured.err, "a newcomer has no seeds to check"
    assert "For the same effort (61 pages each), hound found " in told
    assert told.count("Harvest rate:") == 1
    assert (out / "index.html").as_uri() in told
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Puppet theatre" in page
    assert "What to try next" in page
    links = re.findall(r'href="([^"]+)"', page)
    assert len(links) == 12
    assert all((out / link).is_file() for link in links), "reports and stored copies open from the page"


def test_the_demo_replaces_nothing_that_is_not_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "precious.txt").write_text("precious")
    assert run(["demo", "--out", str(tmp_path)]) == 4
    assert "was not made by the demo" in capsys.readouterr().err
    assert (tmp_path / "precious.txt").read_text() == "precious"


def test_a_bed_is_generated_and_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bed = tmp_path / "bed"
    assert run(["lab", "generate", str(bed), "--pages", "60", "--seed", "2", "--topics", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["topics"]
    assert run(["lab", "generate", str(bed)]) == 4
    assert "already contains a bed" in capsys.readouterr().err
    words = [*COMMAND, "lab", "serve", str(bed), "--json", "--log", str(tmp_path / "log")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        text = "".join(iter(process.stdout.readline, "}\n")) + "}"
        said = json.loads(text)
        words = ["crawl", said["topic"], "--seed", said["seeds"][0], "--proxy", said["proxy"], "--delay", "0"]
        assert run([*words, "--pages", "5", "--out", str(tmp_path / "crawl"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 5
    finally:
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=120)
    assert process.returncode == 0, talk
    assert len((tmp_path / "log").read_text().splitlines()) >= 5
    shutil.rmtree(bed)
