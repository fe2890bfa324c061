"""Imports: WARC files of all kinds, topics in a file, and errors for bad input."""

from __future__ import annotations

import gzip
import json
import os
from base64 import b32encode
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import Bed
from scenthound.lab.importers import IMPORTERS, Notes, Options, SourceContent, import_bed, importer
from scenthound.model import Response, Url
from scenthound.store.warc_read import Problem, read_records
from scenthound.topic_list import BedTopic
from scenthound.url import make
from support.long_form import long_form

PAGE = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(kind: str, target: str, block: str | bytes, **more: str) -> bytes:
    data = block.encode() if isinstance(block, str) else block
    headers = {"WARC-Type": kind, "WARC-Target-URI": target, "WARC-Date": "2020-01-01T00:00:00Z"}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    headers["WARC-Record-ID"] = f"<urn:uuid:{sha1(repr((kind, target, block)).encode()).hexdigest()}>"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    return f"WARC/1.1\r\n{lines}Content-Length: {len(data)}\r\n\r\n".encode() + data + b"\r\n\r\n"


def page(url: str, text: str = "hello") -> bytes:
    return record("response", url, f"{PAGE}<p>{text}</p>", WARC_Payload_Digest=digest(f"<p>{text}</p>"))


def digest(text: str) -> str:
    return f"sha1:{b32encode(sha1(text.encode()).digest()).decode()}"


def save(path: Path, records: list[bytes], packing: str = "each") -> Path:
    whole = b"".join(records)
    packed = {
        "plain": lambda: whole,
        "each": lambda: b"".join(map(gzip.compress, records)),
        "one": lambda: gzip.compress(whole),
        "pairs": lambda: b"".join(gzip.compress(b"".join(records[n : n + 2])) for n in range(0, len(records), 2)),
    }
    path.write_bytes(packed[packing]())
    return path


def bodies(bed: Path) -> dict[str, str]:
    return {response.url: response.body.decode("utf-8", "replace") for response in Bed.open(bed).responses()}


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


MIXED = [
    record("warcinfo", "", "software: another tool"),
    record("request", "http://a.test/", "GET / HTTP/1.1\r\n\r\n"),
    page("http://a.test/", "first"),
    record("metadata", "http://a.test/", "outlink: http://b.test/"),
    record("conversion", "http://a.test/", "first"),
    record("resource", "http://b.test/", "<p>resource</p>", Content_Type="text/html"),
    record("response", "dns:a.test", "20200101000000\na.test. 1 IN A 192.0.2.1"),
    record("response", "http://a.test/x.png", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"),
    record("response", "http://a.test/gone", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\ngone"),
    record("response", "http://a.test/old", "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n"),
    page("http://A.test:80/index.html", "again"),
]


@pytest.mark.parametrize("packing", ["plain", "each", "one", "pairs"])
def test_of_a_warc_with_everything_in_it_pages_and_redirects_are_kept(tmp_path: Path, packing: str) -> None:
    source = save(tmp_path / "all.warc.gz", MIXED, packing)
    report = import_bed("warc", source, tmp_path / "bed", {"licence": "CC0", "title": "Some pages"})
    assert (report.pages, report.redirects, report.topics) == (2, 1, 0)
    assert bodies(tmp_path / "bed") == {
        "http://a.test/": "<p>first</p>",
        "http://b.test/": "<p>resource</p>",
        "http://a.test/old": "",
    }
    assert report.problems == (
        "1 skipped, metadata records: http://a.test/",
        "1 skipped, conversion records: http://a.test/",
        "1 skipped, not an http(s) URL: dns:a.test",
        "1 skipped, not HTML (image/png): http://a.test/x.png",
        "1 skipped, status 404: http://a.test/gone",
        "1 skipped, a second record of a URL: http://A.test:80/index.html",
    )
    about = Bed.open(tmp_path / "bed").about
    assert (about["name"], about["licence"], about["origin"]) == ("bed", "CC0", "WARC: all.warc.gz")


def test_a_revisit_gets_the_payload_it_points_to_wherever_that_is(tmp_path: Path) -> None:
    folder = tmp_path / "warcs"
    folder.mkdir()
    same = digest("<p>same</p>")
    moved = "HTTP/1.1 302 Found\r\nLocation: http://c.test/\r\n\r\n"
    first = [
        record("revisit", "http://b.test/", PAGE, WARC_Payload_Digest=same),
        record(
            "revisit",
            "http://c.test/",
            "",
            WARC_Refers_To_Target_URI="http://a.test/",
            WARC_Refers_To_Date="2020-01-01T00:00:00Z",
        ),
        record("revisit", "http://d.test/", moved, WARC_Payload_Digest=same),
        record(
            "revisit", "http://a.test/", "HTTP/1.1 304 Not Modified\r\n\r\n", WARC_Refers_To_Target_URI="http://a.test/"
        ),
        record("revisit", "http://e.test/", PAGE, WARC_Payload_Digest=digest("elsewhere")),
    ]
    save(folder / "1.warc.gz", first)
    save(folder / "2.warc", [page("http://a.test/", "same")], "plain")
    report = import_bed("warc", folder, tmp_path / "bed")
    same_page = dict.fromkeys(["http://a.test/", "http://b.test/", "http://c.test/"], "<p>same</p>")
    assert bodies(tmp_path / "bed") == {**same_page, "http://d.test/": ""}
    assert report.problems == (
        "1 skipped, revisits of pages that were kept: http://a.test/",
        "1 skipped, revisits whose original is missing: http://e.test/",
    )


def test_a_revisited_body_has_the_encoding_of_its_original(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>packed</p>", mtime=0)
    head = PAGE.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n").encode()
    records = [
        record("response", "http://a.test/", head + packed),
        record("revisit", "http://b.test/", PAGE, WARC_Refers_To_Target_URI="http://a.test/"),
    ]
    import_bed("warc", save(tmp_path / "a.warc", records, "plain"), tmp_path / "bed")
    response = Bed.open(tmp_path / "bed").get(make("http://b.test/"))
    assert response is not None
    assert (response.body, response.header("content-encoding")) == (packed, "gzip")


def test_a_redirect_to_itself_does_not_hide_the_page(tmp_path: Path) -> None:
    moved = record("response", "http://a.test/index.html", "HTTP/1.1 301 M\r\nLocation: http://a.test/\r\n\r\n")
    report = import_bed("warc", save(tmp_path / "a.warc.gz", [moved, page("http://a.test/")]), tmp_path / "bed")
    assert (report.pages, report.redirects) == (1, 0)


def test_a_page_without_a_media_type_is_recognised_by_its_first_bytes(tmp_path: Path) -> None:
    head = "HTTP/1.1 200 OK\r\n\r\n"
    records = [
        record("response", "http://a.test/", head + "<!DOCTYPE html><p>yes"),
        record("response", "http://b.test/", head + "%PDF"),
    ]
    assert import_bed("warc", save(tmp_path / "a.warc", records, "plain"), tmp_path / "bed").pages == 1


def test_damage_costs_only_the_record_that_it_hits(tmp_path: Path) -> None:
    records = [page(f"http://a.test/{n}", f"text {n} " * 50) for n in range(10)]
    members = [gzip.compress(data) for data in records]
    members[3] = members[3][:60] + bytes(40) + members[3][100:]
    (tmp_path / "a.warc.gz").write_bytes(b"".join(members) + b"\0" * 100)
    report = import_bed("warc", tmp_path / "a.warc.gz", tmp_path / "bed")
    assert report.pages == 9
    assert any("damaged" in line for line in report.problems)
    records[5] = records[5].replace(b"Content-Length: ", b"Content-Length: 9")
    report = import_bed("warc", save(tmp_path / "b.warc", records, "plain"), tmp_path / "other")
    assert report.pages == 9


def test_a_truncated_file_gives_its_whole_records_and_says_so(tmp_path: Path) -> None:
    records = [page(f"http://a.test/{n}", os.urandom(500).hex()) for n in range(10)]
    for packing in ("plain", "each", "one"):
        path = save(tmp_path / f"{packing}.warc.gz", records, packing)
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 55 // 100])
        report = import_bed("warc", path, tmp_path / packing)
        assert report.pages == 5, packing
        assert any("cut short" in line for line in report.problems), packing


@settings(max_examples=long_form(50, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["plain", "each", "one", "pairs"]), st.data())
def test_damaged_bytes_do_not_break_the_reader(tmp_path: Path, packing: str, data: st.DataObject) -> None:
    path = save(tmp_path / "hurt.warc.gz", MIXED, packing)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        offset = data.draw(st.integers(0, len(raw) - 1))
        raw[offset : offset + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=20))
    path.write_bytes(raw)
    assert len(list(read_records(path, [].append))) <= len(MIXED) + 1


@settings(max_examples=long_form(20, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=300), max_size=6), st.sampled_from(["plain", "each", "one", "pairs"]))
def test_whole_records_come_out_as_they_went_in(tmp_path: Path, blocks: list[bytes], packing: str) -> None:
    path = save(tmp_path / "whole.warc.gz", [record("resource", "http://a.test/", block) for block in blocks], packing)
    problems: list[Problem] = []
    assert [placed.record.block for placed in read_records(path, problems.append)] == blocks
    assert problems == []


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"<html>no archive</html>", "WARC/1."),
        (gzip.compress(b"something else", mtime=0), "WARC/1."),
        (b"\x1f\x8b\x08 not gzip at all", "WARC/1."),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (gzip.compress(b"filedesc://x.arc 0.0.0.0 2001 text/plain 200", mtime=0), "ARC"),
        (gzip.compress(bytes(10_000_000), mtime=0), "WARC/1."),
    ],
    ids=["html", "gzip", "bad-gzip", "zstd", "arc", "zeros"],
)
def test_a_file_that_is_not_warc_is_named_and_nothing_is_written(tmp_path: Path, content: bytes, hint: str) -> None:
    (tmp_path / "x.warc.gz").write_bytes(content)
    save(tmp_path / "y.warc.gz", MIXED)
    with pytest.raises(BadConfig, match=r"x\.warc\.gz is not a WARC file") as raised:
        import_bed("warc", tmp_path / "y.warc.gz", tmp_path / "deep" / "bed", {"also": [str(tmp_path / "x.warc.gz")]})
    assert hint in raised.value.hint
    assert left(tmp_path) == ["x.warc.gz", "y.warc.gz"]


def test_pages_can_be_left_out(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", [*MIXED, page("http://b.test/list/1", "more")])
    import_bed("warc", source, tmp_path / "less", {"without": ["http://b.test/list/"]})
    assert "http://b.test/list/1" not in Bed.open(tmp_path / "less")
    assert "http://a.test/" in Bed.open(tmp_path / "less")


def test_a_source_without_a_page_is_refused(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", MIXED[6:9])
    with pytest.raises(BadConfig, match="no HTML page") as raised:
        import_bed("warc", source, tmp_path / "deep" / "er" / "bed")
    assert "status 404" in raised.value.hint
    assert left(tmp_path) == ["a.warc.gz"]


def test_unusable_sources_folders_and_names_are_refused(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", MIXED)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(BadConfig, match="not empty"):
        import_bed("warc", source, tmp_path / "full")
    with pytest.raises(BadConfig, match="does not exist"):
        import_bed("warc", tmp_path / "missing.warc", tmp_path / "bed")
    with pytest.raises(BadConfig, match="inside its own source"):
        import_bed("warc", tmp_path, tmp_path / "bed")
    with pytest.raises(UnknownName, match="`wrac`"):
        import_bed("wrac", source, tmp_path / "bed")
    with pytest.raises(UnknownName, match="`licens`"):
        import_bed("warc", source, tmp_path / "bed", {"licens": "CC0"})
    (tmp_path / "empty").mkdir()
    assert import_bed("warc", source, tmp_path / "empty").pages == 2
    assert left(tmp_path) == ["a.warc.gz", "empty", "full"]


def test_an_importer_that_fails_halfway_leaves_nothing_behind(tmp_path: Path) -> None:
    @importer("failing")
    def failing(source: Path, options: Options, notes: Notes) -> SourceContent:
        """Yields one page, then fails."""

        def responses() -> Any:
            yield Response("http://a.test/", 200, "OK", (("Content-Type", "text/html"),), b"<p>")
            raise RuntimeError("the source fell apart")

        return SourceContent(responses())

    try:
        assert IMPORTERS.get("failing").about == "Yields one page, then fails."
        with pytest.raises(RuntimeError, match="fell apart"):
            import_bed("failing", tmp_path, tmp_path.parent / "elsewhere" / "bed")
        assert not (tmp_path.parent / "elsewhere").exists()
    finally:
        del IMPORTERS._plugins["failing"]


def test_progress_is_reported_in_bytes_up_to_the_total(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", MIXED)
    reports: list[tuple[int, int]] = []
    import_bed("warc", source, tmp_path / "bed", progress=lambda done, total: reports.append((done, total)))
    size = source.stat().st_size
    assert reports[-1] == (size, size)
    assert reports == sorted(reports)


# --- topics in a file --------------------------------------------------------------------------


def line(**fields: Any) -> str:
    return json.dumps({"id": "bees", "keywords": "bees", "seeds": [], "targets": [], **fields})


def test_topics_of_a_file_are_compared_with_the_pages(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", MIXED)
    topics = tmp_path / "t.jsonl"
    lines = [
        line(
            seeds=["http://a.test/index.html", "nonsense"], targets=["http://b.test/", "http://gone.test/"], path=["x"]
        ),
        line(id="empty", colour="red"),
    ]
    topics.write_text("\n".join(lines) + "\n\n")
    report = import_bed("warc", source, tmp_path / "bed", {"topics": str(topics)})
    assert report.topics == 2
    assert set(report.problems) >= {
        "1 seeds that are not URLs: nonsense (line 1)",
        "1 unknown topic keys: colour (line 2)",
        "1 targets that are not in the bed: http://gone.test/ (bees)",
        "1 topics without targets: empty",
        "1 topics without seeds: empty",
    }
    first = Bed.open(tmp_path / "bed").topics[0]
    assert first == BedTopic(
        "bees", ("x",), "bees", "", (Url("http://a.test/"),), (Url("http://b.test/"), Url("http://gone.test/"))
    )


def test_every_wrong_line_of_a_topic_file_is_named(tmp_path: Path) -> None:
    source = save(tmp_path / "a.warc.gz", MIXED)
    topics = tmp_path / "t.jsonl"
    wrong = ["{", "[1]", '{"id": "x"}', line(id=3), line(seeds="http://a.test/"), line(), line(), "[" * 100_000]
    topics.write_text("\n".join(wrong))
    with pytest.raises(BadConfig) as raised:
        import_bed("warc", source, tmp_path / "bed", {"topics": str(topics)})
    for problem in (
        "line 1: Expecting property name",
        "line 2: not a JSON object",
        "line 3: `keywords` is missing",
        "line 4: `id` is not text",
        "line 5: `seeds` is not a list",
        "and 2 more",
    ):
        assert problem in raised.value.message
    assert not (tmp_path / "bed").exists()
