"""Beds: written, opened, indexed; and the errors of broken ones."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed, topic_line, write_bed
from scenthound.model import Response
from scenthound.topic_list import BedTopic
from scenthound.url import make

HTML = ("Content-Type", "text/html")
BEES = BedTopic(
    "bees", ("nature", "bees"), "bees", "all about bees", (make("http://a.test/"),), (make("http://b.test/"),)
)


def page(url: str, body: bytes = b"<p>hello</p>", status: int = 200) -> Response:
    return Response(url, status, "OK", (HTML, ("Content-Length", str(len(body)))), body)


PAGES = [page("http://a.test/"), page("http://b.test/~x/index.html", b"tilde"), page("http://c.test/", b"", 404)]


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    bed = write_bed(tmp_path / "bed", "small", PAGES, [BEES], title='A "small" bed', licence="none")
    assert (bed.name, bed.about["title"], bed.about["pages"]) == ("small", 'A "small" bed', 3)
    assert bed.topics == [BEES]
    assert list(bed.responses()) == PAGES
    assert [bed.get(url) for url in bed.index()] == PAGES
    assert bed.faults == []


def test_pages_are_found_by_their_canonical_url(tmp_path: Path) -> None:
    bed = write_bed(tmp_path / "bed", "small", PAGES, [])
    response = bed.get(make("HTTP://B.test:80/%7ex/"))
    assert response is not None
    assert response.body == b"tilde"
    assert bed.get(make("http://b.test/other")) is None
    assert make("http://a.test/") in bed
    assert len(bed) == 3


def test_the_crawler_does_not_see_the_answers() -> None:
    topic = BEES.topic
    assert (topic.keywords, topic.description) == ("bees", "")
    assert "b.test" not in repr(topic)


def test_of_two_records_of_a_url_the_success_wins_then_the_first(tmp_path: Path) -> None:
    records = [
        page("http://a.test/", b"busy", 503),
        page("http://a.test/", b"first"),
        page("http://a.test/index.html", b"second"),
    ]
    bed = write_bed(tmp_path / "bed", "twice", records, [])
    response = bed.get(make("http://a.test/"))
    assert response is not None
    assert response.body == b"first"
    assert len(list(bed.responses())) == 3


def test_the_digest_knows_content_not_files(tmp_path: Path) -> None:
    bed = write_bed(tmp_path / "one", "one", PAGES, [BEES])
    other = write_bed(tmp_path / "two", "two", PAGES[::-1], [BEES], title="another name, another order")
    archive = next((tmp_path / "two").glob("*.warc.gz"))
    archive.rename(archive.with_name("z.warc.gz"))
    plain = tmp_path / "two" / "y.warc"
    plain.write_bytes(gzip.decompress((tmp_path / "two" / "z.warc.gz").read_bytes()))
    (tmp_path / "two" / "z.warc.gz").unlink()
    assert bed.digest == bed.about["digest"] == Bed.open(tmp_path / "two").digest == other.about["digest"]
    changed = write_bed(tmp_path / "three", "one", [*PAGES[:2], page("http://c.test/", b"x", 404)], [BEES])
    assert changed.digest != bed.digest
    assert write_bed(tmp_path / "four", "one", PAGES, []).digest != bed.digest


def test_a_plain_warc_can_be_read_at_its_offsets(tmp_path: Path) -> None:
    write_bed(tmp_path / "bed", "small", PAGES, [])
    (packed,) = (tmp_path / "bed").glob("*.warc.gz")
    (tmp_path / "bed" / "pages.warc").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    bed = Bed.open(tmp_path / "bed")
    assert [bed.get(url) for url in bed.index()] == PAGES


def test_a_warc_compressed_as_one_member_is_refused_with_the_way_out(tmp_path: Path) -> None:
    write_bed(tmp_path / "bed", "small", PAGES, [])
    (packed,) = (tmp_path / "bed").glob("*.warc.gz")
    packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes())))
    with pytest.raises(BadConfig, match="its own gzip member"):
        Bed.open(tmp_path / "bed").index()


def test_equal_arguments_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_bed(tmp_path / name, "same", PAGES, [BEES], title="t")
    files = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("one", "two")]
    assert files[0] == files[1]
    for name in files[0]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_bed_is_not_written_over_another(tmp_path: Path) -> None:
    write_bed(tmp_path / "bed", "small", PAGES, [])
    with pytest.raises(BadConfig, match="already"):
        write_bed(tmp_path / "bed", "small", PAGES, [])


def test_the_error_for_a_folder_that_is_not_a_bed_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"bed\.toml is missing"):
        Bed.open(tmp_path)
    (tmp_path / "bed.toml").write_text("name = ")
    with pytest.raises(BadConfig, match="is not TOML"):
        Bed.open(tmp_path)
    (tmp_path / "bed.toml").write_text('name = "x"\n')
    with pytest.raises(BadConfig, match="no WARC file"):
        Bed.open(tmp_path)
    (tmp_path / "pages.warc.gz").write_bytes(b"")
    with pytest.raises(BadConfig, match=r"topics\.jsonl is missing"):
        Bed.open(tmp_path)


GOOD = json.loads(topic_line(BEES))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: Expecting"),
        ("[]", "line 2: not a JSON object"),
        (json.dumps({key: GOOD[key] for key in GOOD if key != "seeds"} | {"id": "x"}), "line 2: `seeds` is missing"),
        (json.dumps(GOOD | {"id": "x", "targets": "http://a.test/"}), "line 2: `targets` is not a list"),
        (json.dumps(GOOD | {"id": "x", "path": "a/b"}), "line 2: `path` is not a list"),
        (json.dumps(GOOD | {"id": 7}), "line 2: `id` is not text"),
        (json.dumps(GOOD), "line 2: a second topic called `bees`"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "{", "line 2: "),
    ],
)
def test_a_broken_topic_is_named_by_its_line(tmp_path: Path, line: str, complaint: str) -> None:
    write_bed(tmp_path / "bed", "small", PAGES, [BEES])
    with (tmp_path / "bed" / "topics.jsonl").open("a", encoding="latin-1") as file:
        file.write(line + "\n")
    with pytest.raises(BadConfig, match=complaint):
        Bed.open(tmp_path / "bed")


def test_bad_urls_are_listed_and_left_out(tmp_path: Path) -> None:
    write_bed(tmp_path / "bed", "small", [*PAGES, page("http://[bad/")], [])
    line = json.dumps(GOOD | {"seeds": ["http://a.test/", "ftp://a.test/", 7, "http://a.test/index.html"]})
    (tmp_path / "bed" / "topics.jsonl").write_text(line + "\n\n")
    bed = Bed.open(tmp_path / "bed")
    assert bed.topics[0].seeds == ("http://a.test/",)
    assert len(bed) == 3
    assert [fault.partition(":")[0] for fault in bed.faults[:2]] == ["topics.jsonl line 1, seeds"] * 2
    assert len(bed.faults) == 3


def test_a_truncated_archive_gives_what_is_whole_and_says_so(tmp_path: Path) -> None:
    write_bed(tmp_path / "bed", "small", PAGES, [])
    (packed,) = (tmp_path / "bed").glob("*.warc.gz")
    packed.write_bytes(packed.read_bytes()[:-20])
    bed = Bed.open(tmp_path / "bed")
    assert len(bed) == 2
    assert len(bed.faults) == 1


def test_several_threads_may_read_a_bed(tmp_path: Path) -> None:
    bed = write_bed(tmp_path / "bed", "small", [page(f"http://a.test/{n}", b"%d" % n) for n in range(50)], [])
    wrong: list[int] = []

    def read() -> None:
        for number in range(50):
            response = bed.get(make(f"http://a.test/{number}"))
            if response is None or response.body != b"%d" % number:
                wrong.append(number)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@settings(max_examples=25, deadline=None)
@given(bodies=st.lists(st.binary(max_size=300), min_size=1, max_size=4), status=st.integers(200, 599))
def test_any_bytes_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], status: int
) -> None:
    pages = [page(f"http://a.test/{number}", body, status) for number, body in enumerate(bodies)]
    bed = write_bed(tmp_path_factory.mktemp("beds") / "bed", "any", pages, [])
    assert [response.body for response in bed.responses()] == bodies
    assert bed.faults == []


@settings(max_examples=50)
@given(text=st.text(max_size=40))
def test_whatever_a_bed_says_about_itself_is_valid_toml(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    bed = write_bed(tmp_path_factory.mktemp("beds") / "bed", "any", PAGES, [], title=clean)
    assert bed.about["title"] == clean


SIZES = {"generated": (753, 6), "schools": (5232, 60), "apache": (8316, 30)}


def test_beds_are_whole(any_bed: Bed) -> None:
    bed = any_bed
    assert (len(bed), len(bed.topics), bed.faults) == (*SIZES[bed.folder.name], [])
    assert all(url in bed for topic in bed.topics for url in (*topic.seeds, *topic.targets))
