"""A topic from examples: read, proposed, corrected, written, and honest about how little is known."""

from __future__ import annotations

import io
import json
import os
import threading
import tomllib
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.crawl_request import CrawlOptions, crawl_request
from scenthound.cli.root_command import run
from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.run.lesson_sources import open_source
from scenthound.lab.run.train_model import user_lessons
from scenthound.lab.topics.example_file import (
    Example,
    TopicFile,
    different,
    examples_beside,
    read_topic_file,
    write_examples,
    write_topic_file,
)
from scenthound.lab.topics.example_sources import gather
from scenthound.lab.topics.from_examples import leave_one_out, propose_keywords, wilson
from scenthound.lab.topics.taxonomies import check_good, read_categories
from scenthound.model import Response, Topic, Url
from scenthound.store.database import CrawlDatabase
from scenthound.topic_list import BedTopic
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]
HTML = (("Content-Type", "text/html"),)
REEFS = [
    "Coral reefs grow where warm sea water is clear. A reef is built by coral polyps.",
    "The polyps of a coral take lime from the sea. Reef fish live among corals.",
    "Divers visit the reef to see coral and fish. The great barrier reef is the largest.",
    "A coral that bleaches has lost its algae; warm water harms reefs.",
]
CARS = [
    "An engine drives the wheels of a car.",
    "Cars need petrol, and roads.",
    "The gear box of a car has five gears.",
]


def html(text: str, title: str = "") -> bytes:
    return f"<title>{title}</title><p>{text}</p>".encode()


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("background") / "bed"
    texts = [f"{CARS[n % 3]} The town of number {n} has a river and a market with warm bread." for n in range(30)]
    pages = [Response(f"http://b{n}.test/", 200, "OK", HTML, html(text)) for n, text in enumerate(texts)]
    pages += [Response(f"http://r{n}.test/", 200, "OK", HTML, html(text, f"Reef {n}")) for n, text in enumerate(REEFS)]
    topics = [
        BedTopic("cars", ("machines", "cars"), "cars", "", (Url("http://b0.test/"), Url("http://b1.test/")), ()),
        BedTopic("sea", ("nature", "sea"), "sea", "", (Url("http://r0.test/"), Url("http://r1.test/")), ()),
    ]
    write_bed(folder, "towns", pages, topics)
    return folder


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, text in enumerate(REEFS):
        (folder / f"{number}.html").write_bytes(html(text, f"Reef {number}"))
    return folder


def new(file: Path, *words: str, capsys: Talk, code: int = 0) -> dict[str, Any]:
    assert run(["topic", "new", str(file), *words, "--json"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_pages_on_disk_become_a_topic_that_can_be_crawled(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    told = new(tmp_path / "reefs.toml", "--examples", str(pages), "--background", str(background), capsys=capsys)
    assert {"coral", "reef"} <= set(told["keywords"].split())
    assert "car" not in told["keywords"].split()
    assert told["examples"] == 4
    asked = crawl_request(CrawlOptions(str(tmp_path / "reefs.toml"), ["http://a.test/"]))
    assert asked.topic.keywords == told["keywords"]
    assert asked.topic.name == "reefs"
    kept = [json.loads(line) for line in (tmp_path / "reefs.examples.jsonl").read_text().splitlines()]
    assert [one["title"] for one in kept] == ["Reef 0", "Reef 1", "Reef 2", "Reef 3"]
    assert kept[0]["text"] == REEFS[0]
    assert {one["category"] for one in kept} == {"reefs"}
    assert tomllib.loads((tmp_path / "reefs.toml").read_text())["background"]["source"] == os.path.relpath(
        background, tmp_path
    )


def test_it_says_how_sure_it_is_and_how_little_that_means(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    assert (
        run(["topic", "new", str(tmp_path / "t.toml"), "--examples", str(pages), "--background", str(background)]) == 0
    )
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 't.toml'}\n"
    assert "4 different examples." in told.err
    assert "recognised 4 of 4 (95% interval 51% to 100%)" in told.err
    assert "AUC 1.000 ±" in told.err
    assert "the interval is wide" in told.err


def test_without_a_background_the_generated_web_is_used_and_named(pages: Path, tmp_path: Path, capsys: Talk) -> None:
    told = new(tmp_path / "t.toml", "--examples", str(pages), capsys=capsys)
    assert told["background"]["kind"] == "generated"
    assert "generated web" in told["told"][-1]
    assert {"coral", "reef"} <= set(told["keywords"].split())


def test_categories_are_shown_with_probabilities_and_good_ones_are_kept(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    told = new(
        tmp_path / "t.toml", "--examples", str(pages), "--background", str(background), "--taxonomy", str(background),
        "--good", "nature", "--add-category", "nature/reefs", "--keywords", "coral reef", capsys=capsys,
    )  # fmt: skip
    assert told["categories"][0]["name"] in ("nature", "nature/sea")
    assert told["categories"][0]["probability"] > 0.9
    assert told["keywords"] == "coral reef"
    known = read_topic_file(tmp_path / "t.toml")
    assert known.topic.good == ("nature",)
    assert {one.category for one in known.examples} == {"nature/reefs"}
    assert Path(known.taxonomy).resolve() == background.resolve()
    assert run(["topic", "show", str(tmp_path / "t.toml")]) == 0
    shown = capsys.readouterr().out
    assert "coral reef" in shown
    assert "Reef 3" in shown
    assert run(["topic", "show", str(tmp_path / "t.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["good"] == ["nature"]


def test_it_can_be_learned_from_without_asking_the_web_again(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    new(tmp_path / "t.toml", "--examples", str(pages), "--taxonomy", str(background), "--good", "nature/sea",
        "--background", str(background), capsys=capsys)  # fmt: skip
    words = ["train", "focused-soft", "--topic", str(tmp_path / "t.toml"), "--from", str(background), "--out"]
    assert run([*words, str(tmp_path / "model"), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["trained_on"]["counts"]
    assert counts["examples"] == 4
    assert counts["categories"] == 3


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_terminal_it_asks(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("coral polyps\nno-such\n1\nsea/reefs\n"))
    words = ["--examples", str(pages), "--background", str(background), "--taxonomy", str(background)]
    assert run(["topic", "new", str(tmp_path / "t.toml"), *words]) == 0
    told = capsys.readouterr().err
    assert "no category called `no-such`" in told
    known = read_topic_file(tmp_path / "t.toml")
    assert known.topic.keywords == "coral polyps"
    assert known.topic.good[0].startswith("nature")
    assert known.examples[0].category == "sea/reefs"


# ---- where examples come from


class Web(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        pages = {f"/{n}": html(text, f"Reef {n}") for n, text in enumerate(REEFS)}
        if self.path == "/robots.txt":
            body, code, kind = b"User-agent: *\nDisallow: /2\n", 200, "text/plain"
        else:
            body, code, kind = pages.get(self.path, b"gone"), 200 if self.path in pages else 404, "text/html"
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_addresses_are_fetched_politely_and_what_cannot_be_had_is_named(
    server: str, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    (tmp_path / "urls.txt").write_text("# mine\n" + "".join(f"{server}/{n}\n" for n in (0, 1, 2, 3, 9)))
    words = ["--examples", str(tmp_path / "urls.txt"), "--background", str(background), "--delay", "0"]
    told = new(tmp_path / "t.toml", *words, "--allow-private", "loopback", capsys=capsys)
    assert told["examples"] == 3
    assert [line.removeprefix(server) for line in told["problems"]] == ["/2: robots", "/9: http-404 (Not Found)"]
    assert list(read_topic_file(tmp_path / "t.toml").topic.examples) == [f"{server}/{n}" for n in (0, 1, 3)]


def test_examples_that_cannot_be_fetched_leave_nothing_behind(server: str, tmp_path: Path, capsys: Talk) -> None:
    told = new(tmp_path / "t.toml", "--examples", f"{server}/0", "--delay", "0", capsys=capsys, code=4)
    assert "no example can be read" in told["error"]
    assert "refused-address" in told["error"]
    assert "--allow-private" in told["hint"]
    assert not list(tmp_path.glob("t.*"))


def test_addresses_can_be_looked_up_in_a_bed(background: Path, tmp_path: Path, capsys: Talk) -> None:
    (tmp_path / "marks.html").write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><DT><A HREF='http://r0.test/'>a</A>"
        "<DT><A HREF='http://r1.test/'>b</A><DT><A HREF='http://nowhere.test/'>c</A></DL>"
    )
    words = ["--examples", str(tmp_path / "marks.html"), "--from", str(background), "--background", str(background)]
    told = new(tmp_path / "t.toml", *words, capsys=capsys)
    assert told["examples"] == 2
    assert told["problems"] == ["http://nowhere.test/: not in towns"]


def test_of_a_crawl_labelled_pages_are_taken_or_else_its_best(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    liked = {page.url for page in gather([str(folder)]).pages}
    assert liked == {"http://a.test/", "http://b.test/one.html", "http://c.test/three"}
    database = CrawlDatabase(folder / "crawl.db")
    database.save_label(Url("http://c.test/two"), True, 1.0)
    database.save_label(Url("http://a.test/"), False, 2.0)
    database.commit()
    database.close()
    assert [page.url for page in gather([str(folder)]).pages] == ["http://c.test/two"]


def test_one_example_is_enough_to_begin_and_not_to_be_sure(background: Path, tmp_path: Path, capsys: Talk) -> None:
    (tmp_path / "one.html").write_bytes(html(REEFS[0], "One"))
    told = new(
        tmp_path / "t.toml", "--examples", str(tmp_path / "one.html"), "--background", str(background), capsys=capsys
    )
    assert told["sureness"] is None
    assert told["told"] == [
        "1 example.",
        "How well a classifier would do can't be estimated: that takes at least two examples, preferably ten.",
    ]
    assert "reef" in told["keywords"]


def test_examples_that_are_all_equal_count_as_one(background: Path, tmp_path: Path, capsys: Talk) -> None:
    (tmp_path / "pages").mkdir()
    for number in range(4):
        (tmp_path / "pages" / f"{number}.txt").write_text(REEFS[0])
    told = new(
        tmp_path / "t.toml", "--examples", str(tmp_path / "pages"), "--background", str(background), capsys=capsys
    )
    assert (told["examples"], told["same"], told["sureness"]) == (1, 3, None)
    assert "3 more have the same text as another example and are left out." in told["told"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "no examples of what you are looking for"),
        (["--examples", "nowhere.txt"], 4, "there are no examples at nowhere.txt"),
        (["--examples", "EMPTY"], 4, "there are no addresses in"),
        (["--examples", "FOLDER"], 4, "no example can be read"),
        (["--examples", "BED"], 2, "is a bed, and not all of its pages are examples"),
        (["--examples", "WRONG"], 4, "line 2: not a URL"),
        (["--examples", "PAGES", "--good", "x"], 2, "there is no taxonomy"),
        (["--examples", "PAGES", "--taxonomy", "BED", "--good", "natur"], 2, "no category called `natur`"),
        (["--examples", "PAGES", "--taxonomy", "BED", "--good", "nature", "--good", "nature/sea"], 4, "is above"),
        (["--examples", "PAGES", "--taxonomy", "FOLDER"], 4, "has 0 categories with pages in them"),
        (["--examples", "PAGES", "--taxonomy", "nowhere"], 4, "there is no taxonomy at nowhere"),
        (["--examples", "PAGES", "--background", "FOLDER"], 4, "there are no pages in"),
        (["--examples", "PAGES", "--background", "BED", "--keywords", "the of"], 4, "has only stop words"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    words: Sequence[str], code: int, said: str, background: Path, pages: Path, tmp_path: Path, capsys: Talk
) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "wrong.txt").write_text("http://a.test/\nno url\n")
    known = {"EMPTY": "empty.txt", "FOLDER": "folder", "WRONG": "wrong.txt", "PAGES": "pages"}
    spelled = [
        str(background) if word == "BED" else str(tmp_path / known[word]) if word in known else word for word in words
    ]
    told = new(tmp_path / "t.toml", *spelled, capsys=capsys, code=code)
    assert said in told["error"]
    assert told["hint"]
    assert not list(tmp_path.glob("t.*"))


def test_a_file_that_is_there_is_not_overwritten_unasked(
    pages: Path, background: Path, tmp_path: Path, capsys: Talk
) -> None:
    (tmp_path / "t.toml").write_text("precious")
    words = ["--examples", str(pages), "--background", str(background)]
    assert "exists" in new(tmp_path / "t.toml", *words, capsys=capsys, code=2)["error"]
    assert (tmp_path / "t.toml").read_text() == "precious"
    new(tmp_path / "t.toml", *words, "--force", capsys=capsys)
    assert "t.toml" in new(tmp_path / "t.txt", *words, capsys=capsys, code=2)["hint"]


def test_an_example_moves_to_another_category_and_is_learned_there(
    background: Path, tmp_path: Path, capsys: Talk
) -> None:
    file = tmp_path / "t.toml"
    pages = [Example(Url(f"http://r.test/{n}"), f"Reef {n}", text, "reefs") for n, text in enumerate(REEFS)]
    write_examples(examples_beside(file), pages)
    told = Topic("coral reef", "reefs", "", tuple(str(page.url) for page in pages), ("nature/sea",))
    write_topic_file(file, TopicFile(told, tuple(pages), str(background), 0, str(background)))
    file.write_text("# mine\n" + file.read_text())

    def move(category: str, code: int = 0) -> dict[str, Any]:
        assert run(["topic", "move", str(file), "http://r.test/1", category, "--json"]) == code
        return dict(json.loads(capsys.readouterr().out))

    assert move("nature/zoos")["on_topic"] is False
    assert "http://r.test/1" not in read_topic_file(file).topic.examples
    assert file.read_text().startswith("# mine"), "what the user wrote stays"
    source = open_source(str(background))
    lessons = user_lessons(read_topic_file(file), source, read_categories(background))
    assert [page.url for page in lessons.examples] == ["http://r.test/0", "http://r.test/2", "http://r.test/3"]
    assert "http://r.test/1" in [page.url for page in lessons.others]
    assert lessons.taxonomy is not None
    assert [page.url for page in lessons.taxonomy.examples["nature/zoos"]] == ["http://r.test/1"]
    assert set(lessons.taxonomy.good) == {"nature/sea", "reefs"}
    assert move("nature/sea/reefs")["on_topic"] is True, "below a good category"
    assert "http://r.test/1" in read_topic_file(file).topic.examples
    assert "lists them" in _error(["topic", "move", str(file), "http://r.test/9", "x"], capsys)["hint"]


def _error(words: list[str], capsys: Talk) -> dict[str, Any]:
    assert run([*words, "--json"]) == 4
    return dict(json.loads(capsys.readouterr().out))


# ---- taxonomies


def test_a_folder_of_folders_is_a_taxonomy_and_a_loop_of_links_is_none(tmp_path: Path) -> None:
    for path, text in {"nature/sea/a.txt": "reef", "nature/sea/b.html": "<p>coral</p>", "machines/c.md": "car"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "nature" / "again").symlink_to(tmp_path)
    (tmp_path / "machines" / "self").symlink_to("self")
    os.mkfifo(tmp_path / "machines" / "pipe.txt")
    found = read_categories(tmp_path)
    assert {path: len(pages) for path, pages in found.pages.items()} == {("nature", "sea"): 2, ("machines",): 1}
    assert found.names == ["machines", "nature", "nature/sea"]
    assert read_categories(tmp_path, 1).names == ["machines", "nature"]


def test_a_dump_is_a_taxonomy_to_a_depth(tmp_path: Path) -> None:
    entries = "".join(
        f'<ExternalPage about="http://{n}.test/"><d:Title>{word}</d:Title><d:Description>about {word}</d:Description>'
        f"<topic>Top/{path}</topic></ExternalPage>"
        for n, (word, path) in enumerate(
            [("reef", "Science/Biology/Sea"), ("car", "Autos"), ("gene", "Science/Biology")]
        )
    )
    (tmp_path / "content.rdf.u8").write_text(f"<?xml version='1.0'?><RDF>{entries}</RDF>")
    found = read_categories(tmp_path / "content.rdf.u8")
    assert {path: len(pages) for path, pages in found.pages.items()} == {("Science", "Biology"): 2, ("Autos",): 1}
    (tmp_path / "bad").write_bytes(b"\x00\x01")
    with pytest.raises(BadConfig, match="0 categories"):
        read_categories(tmp_path / "bad")


def test_a_good_category_must_be_there_and_not_above_another() -> None:
    assert check_good(["a / b"], ["a", "a/b"]) == ["a/b"]
    with pytest.raises(BadConfig, match="is above"):
        check_good(["a/b", "a"], ["a", "a/b"])
    with pytest.raises(UnknownName, match="no category called `c`"):
        check_good(["c"], ["a"])


# ---- the figures


def page(text: str, number: int = 0) -> Any:
    return Example(Url(f"http://x.test/{number}"), "", text).page()


def test_keywords_are_written_as_the_examples_write_them() -> None:
    ours = [page(text, number) for number, text in enumerate(REEFS)]
    found = propose_keywords(ours, [page(text, number) for number, text in enumerate(CARS)], 3)
    assert [one.word for one in found][:2] == ["coral", "reef"]
    assert found[0].examples == 4
    assert found[0].others == 0
    assert propose_keywords(ours, [], 2), "also with no background at all"


def test_pages_like_the_background_are_not_recognised() -> None:
    same = [page(CARS[n % 3] + f" word{n}", n) for n in range(12)]
    sure = leave_one_out(same[:6], same[6:])
    assert sure is not None
    assert sure.auc < 0.9
    assert leave_one_out(same[:1], same[1:]) is None


def test_wilson_s_interval_is_that_of_the_books() -> None:
    assert (round(wilson(8, 10).least, 4), round(wilson(8, 10).most, 4)) == (0.4902, 0.9433)
    assert wilson(0, 5).least == 0.0
    assert wilson(0, 0).most == 1.0


def test_texts_that_differ_in_space_and_case_only_are_the_same() -> None:
    ones = [Example(Url(f"http://{n}.test/"), "", text) for n, text in enumerate(["A  b", "a b", "c"])]
    assert [one.text for one in different(ones)] == ["A  b", "c"]
