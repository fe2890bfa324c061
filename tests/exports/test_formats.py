"""Exports can be read by other tools and contain nothing that they would run."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.exports import EXPORTERS
from scenthound.exports.gexf import xml_text
from scenthound.exports.tables import cell
from scenthound.formats import json_line, json_number, printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import PageTable, Selection
from support.client_exports import zip64_from
from support.small_crawl import small_crawl

EVIL = "=cmd|'/c calc'!A1 \x1b]0;owned\x07\u202e<b>&\"'\x00\x0b"
EVIL_WEB = {
    "http://a.test/": (EVIL, "hot air balloons", ["http://b.test/?q=<script>&x=1", "http://c.test/"]),
    "http://b.test/?q=%3Cscript%3E&x=1": ("@SUM(1)", "hot air", ["http://a.test/"]),
    "http://c.test/": ("-1+1", "air", ["http://a.test/", "http://b.test/?q=<script>&x=1"]),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("exports") / "crawl")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("evil") / "crawl", EVIL_WEB)


def exported(folder: Path, name: str) -> bytes:
    out = io.BytesIO()
    with CrawlFolder.look(folder) as opened:
        pages = EXPORTERS.get(name)(opened, out)
    assert pages == 4 or "evil" in str(folder)
    return out.getvalue()


def test_the_formats_are_registered() -> None:
    assert {"csv", "gexf", "jsonl", "parquet", "tar", "wacz"} <= set(EXPORTERS.names())
    with pytest.raises(UnknownName, match="did you mean `jsonl`"):
        EXPORTERS.get("json")


@pytest.mark.parametrize("which", ["crawled", "evil"])
def test_tar_has_a_file_for_each_page_named_by_the_md5_of_its_url(which: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(which)
    with tarfile.open(fileobj=io.BytesIO(exported(folder, "tar"))) as archive:
        names = archive.getnames()
        files = {name: archive.extractfile(name).read() for name in names}  # type: ignore[union-attr]
    listed = [line.split("\t") for line in files["urls.tsv"].decode().splitlines()]
    assert [name for name, _ in listed] == names[:-1]
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name, _ in listed)
    assert all(hashlib.md5(url.encode()).hexdigest() == name for name, url in listed)
    with CrawlFolder.look(folder) as opened:
        for page, (name, url) in zip(opened.pages(), listed, strict=True):
            assert (page.url, page.content) == (url, files[name])
            assert page.content


def test_jsonl_has_a_row_for_each_page(crawled: Path) -> None:
    lines = [json.loads(line) for line in exported(crawled, "jsonl").splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3, 4]
    first = lines[0]
    assert first["url"] == "http://a.test/"
    assert first["host"] == "a.test"
    assert first["score"] is None
    assert first["parent"] is None
    assert first["title"] == "Balloons"
    assert first["content_type"] == "text/html; charset=utf-8"
    assert "hot air balloons" in first["text"]
    assert datetime.fromisoformat(first["time"]).tzinfo is not None
    assert first["digest"].startswith("sha1:")
    assert first["warc_file"] == "pages-00001.warc.gz"
    assert 0 <= first["relevance"] <= 1
    assert first["relevant"] is True
    assert lines[1]["parent"] == "http://a.test/"
    assert lines[1]["anchor"] == "Balloons"
    assert lines[1]["part_page"] == lines[1]["score"]


def test_a_text_table_has_no_infinite_numbers(crawled: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(crawled, "csv").decode())))
    assert [row["score"] == "" for row in rows] == [True, False, False, False]
    for name in ("jsonl", "csv", "gexf"):
        assert not re.search(rb"\b(inf|nan)", exported(crawled, name), re.IGNORECASE)


def test_columns_of_parts_have_plain_and_different_names(crawled: Path) -> None:
    names = ["words of the link", "Words-of the link", "best leaf Top/Arts", "words of the link 2"]
    with CrawlFolder.look(crawled) as opened:
        steps = [step._replace(parts=dict.fromkeys(names, float(step.n))) for step in opened.history.trail()]
        pages = list(opened.pages())
    table = PageTable.of(steps, Selection(("parts",)))
    assert [column.name for column in table.columns] == [
        "part_words_of_the_link", "part_words_of_the_link_2", "part_best_leaf_top_arts", "part_words_of_the_link_2_2",
    ]  # fmt: skip
    assert len(pages) == len(list(table.rows(pages)))
    (chosen,) = PageTable.of(steps, Selection(("part_best leaf Top/Arts",))).columns
    assert (chosen.name, "best leaf Top/Arts" in chosen.doc) == ("part_best_leaf_top_arts", True)


def test_the_digest_and_offset_are_those_of_the_archive(crawled: Path) -> None:
    index = [json.loads(line.split(" ", 2)[2]) for line in (crawled / "pages" / "index.cdxj").read_text().splitlines()]
    by_url = {line["url"]: line for line in index}
    for line in map(json.loads, exported(crawled, "jsonl").splitlines()):
        indexed = by_url[line["url"]]
        assert (line["digest"], str(line["warc_offset"])) == (indexed["digest"], indexed["offset"])


def exported_selection(folder: Path, name: str, selection: Selection) -> bytes:
    out = io.BytesIO()
    with CrawlFolder.look(folder) as opened:
        EXPORTERS.get(name)(opened, out, selection)
    return out.getvalue()


def test_fields_are_chosen_in_order(crawled: Path) -> None:
    raw = exported_selection(crawled, "csv", Selection(("title", "url", "text", "parts")))
    rows = list(csv.reader(io.StringIO(raw.decode())))
    assert rows[0] == ["title", "url", "text", "part_page"]
    assert rows[2][:2] == ["One", "http://b.test/one.html"]
    with pytest.raises(UnknownName, match="did you mean `title`"):
        exported_selection(crawled, "jsonl", Selection(("titel",)))
    for name in ("gexf", "wacz", "tar"):
        with pytest.raises(BadUsage, match="no fields"):
            exported_selection(crawled, name, Selection(("title",)))


@pytest.mark.parametrize("name", ["jsonl", "csv", "gexf", "wacz", "parquet", "tar"])
def test_an_export_can_be_limited_to_relevant_pages(name: str, crawled: Path) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    with CrawlFolder.look(crawled) as opened:
        relevance = sorted(page.relevance for page in opened.pages())
        relevant = sum(page.is_relevant for page in opened.pages())
        write = EXPORTERS.get(name)
        assert write(opened, io.BytesIO(), Selection(only_relevant=True)) == relevant < 4
        assert write(opened, io.BytesIO(), Selection(min_relevance=relevance[-1])) == relevance.count(relevance[-1])


def test_exact_duplicates_point_to_the_first(tmp_path: Path) -> None:
    text = ("Balloons", "hot air balloons", ["http://b.test/", "http://c.test/"])
    copy = ("Copy", "hot air balloons", [])
    folder = small_crawl(tmp_path / "crawl", {"http://a.test/": text, "http://b.test/": copy, "http://c.test/": copy})
    lines = [json.loads(line) for line in exported_any(folder, "jsonl").splitlines()]
    assert [line["duplicate_of"] for line in lines] == [None, None, lines[1]["url"]]


def exported_any(folder: Path, name: str) -> bytes:
    return exported_selection(folder, name, Selection())


def test_a_page_that_cannot_be_read_has_empty_cells(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with CrawlFolder.look(folder) as opened:
        where = next(page.where for page in opened.pages() if page.n == 2)
        assert where is not None
        file = folder / "pages" / where.file
        raw = bytearray(file.read_bytes())
        raw[where.offset : where.offset + where.length] = bytes(where.length)
        file.write_bytes(raw)
        out = io.BytesIO()
        assert EXPORTERS.get("jsonl")(opened, out) == 4
        assert opened.recovered[-1].startswith("1 stored pages can't be read")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [bool(line["text"]) for line in lines] == [True, False, True, True]
    assert lines[1]["title"] == "One"


def test_language_and_main_text_need_an_extra(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadUsage, match=r"scenthound\[text\]"):
        exported_selection(crawled, "jsonl", Selection(("main_text",)))
    with CrawlFolder.look(crawled) as opened:
        EXPORTERS.get("jsonl")(opened, io.BytesIO())
        assert any("language is left out" in sentence for sentence in opened.recovered)


def test_csv_has_a_heading_and_no_formulas(evil: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(evil, "csv").decode())))
    assert [row["n"] for row in rows] == ["1", "2", "3"]
    assert {row["title"][0] for row in rows} == {"'"}
    for row in rows:
        for name in ("url", "parent", "anchor", "title"):
            assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text())
def test_no_text_cell_starts_like_a_formula(text: str) -> None:
    result = cell(text)
    assert not result.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert result.endswith(text.replace("\x00", ""))


def test_numbers_in_cells_stay_numbers() -> None:
    assert [cell(value) for value in (-1.5, 0, None, {}, {"a": 1.0})] == [-1.5, 0, "", "", '{"a": 1.0}']


def test_parquet_has_typed_columns(crawled: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(exported(crawled, "parquet")))
    assert table.num_rows == 4
    assert table.column("n").to_pylist() == [1, 2, 3, 4]
    assert math.isinf(table.column("score")[0].as_py())
    assert str(table.schema.field("similarity").type) == "double"
    assert str(table.schema.field("time").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("relevant").type) == "bool"
    assert "hot air balloons" in table.column("text")[0].as_py()


def test_parquet_without_pyarrow_says_what_to_install(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadConfig, match=r"scenthound\[parquet\]"):
        exported(crawled, "parquet")


def test_gexf_is_the_graph_of_crawled_pages(crawled: Path) -> None:
    space = {"g": "http://gexf.net/1.3"}
    tree = ElementTree.fromstring(exported(crawled, "gexf"))
    nodes = {node.get("id"): node.get("label") for node in tree.findall(".//g:node", space)}
    assert sorted(nodes.values()) == ["Balloons", "One", "Three", "Two"]
    edges = {(nodes[e.get("source")], nodes[e.get("target")]) for e in tree.findall(".//g:edge", space)}
    assert edges == {("Balloons", "One"), ("Balloons", "Two"), ("One", "Balloons"), ("Two", "One"), ("Two", "Three")}
    hosts = [v.get("value") for v in tree.findall(".//g:attvalue", space) if v.get("for") == "host"]
    assert sorted(hosts) == ["a.test", "b.test", "c.test", "c.test"]


def test_gexf_of_hostile_pages_is_still_xml(evil: Path) -> None:
    tree = ElementTree.fromstring(exported(evil, "gexf"))
    labels = [node.get("label") or "" for node in tree.iter("{http://gexf.net/1.3}node")]
    assert any("<b>" in label for label in labels)


@given(st.text(st.characters(codec=None)))
def test_any_text_becomes_xml(text: str) -> None:
    ElementTree.fromstring(f'<a b="{xml_text(text)}">{xml_text(text)}</a>'.encode())


def test_wacz_holds_what_its_package_says(crawled: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(crawled, "wacz"))) as archive:
        assert archive.testzip() is None
        package = json.loads(archive.read("datapackage.json"))
        names = {resource["path"] for resource in package["resources"]}
        assert names | {"datapackage.json", "datapackage-digest.json"} == set(archive.namelist())
        assert {"indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"} <= names
        stored = {info.filename for info in archive.infolist() if info.compress_type == zipfile.ZIP_STORED}
        assert {name for name in names if name.endswith(".gz")} <= stored
        pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
        assert pages[0]["format"] == "json-pages-1.0"
        assert pages[0]["hasText"] is True
        assert [page.get("seed", False) for page in pages[1:]] == [True, False, False, False]
        assert "hot air balloons" in pages[1]["text"]
        assert [page["url"] for page in pages[1:3]] == ["http://a.test/", "http://b.test/one.html"]
        packed = archive.read("indexes/index.cdx.gz")
        lines = gzip.decompress(packed).decode().splitlines()
        assert lines == sorted(lines)
        meta, block = archive.read("indexes/index.idx").decode().splitlines()
        assert meta.startswith("!meta 0 ")
        assert json.loads(block.split(" ", 2)[2])["length"] == len(packed)
        line = next(line for line in lines if line.startswith("test,b)/one.html "))
        fields = json.loads(line.split(" ", 2)[2])
        warc = archive.read("archive/" + fields["filename"])
        start = int(fields["offset"])
        assert b"WARC-Target-URI: http://b.test/one.html" in gzip.decompress(
            warc[start : start + int(fields["length"])]
        )


@pytest.mark.parametrize("limit", [0, 700, zipfile.ZIP64_LIMIT])
def test_a_zip64_field_is_in_both_headers_of_a_member_or_in_none(limit: int, crawled: Path) -> None:
    with zip64_from(limit):
        raw = exported(crawled, "wacz")
    large = 0
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            extra_length = int.from_bytes(raw[entry.header_offset + 28 : entry.header_offset + 30], "little")
            assert bool(extra_length) <= bool(entry.extra), entry.filename
            assert bool(extra_length) == (entry.file_size > limit), entry.filename
            large += bool(extra_length)
        assert (large > 0) == (limit < zipfile.ZIP64_LIMIT)


def test_wacz_goes_into_a_pipe_too(crawled: Path) -> None:
    command = [sys.executable, "-m", "scenthound", "export", str(crawled), "--to", "wacz", "--output", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        assert [len(entry.extra) for entry in archive.infolist()] == [0] * len(archive.infolist())


def test_wacz_says_what_it_is_about(crawled: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(crawled, "wacz"))) as archive:
        package = json.loads(archive.read("datapackage.json"))
        digest = json.loads(archive.read("datapackage-digest.json"))
        assert digest["hash"] == "sha256:" + hashlib.sha256(archive.read("datapackage.json")).hexdigest()
        for resource in package["resources"]:
            content = archive.read(resource["path"])
            assert (resource["bytes"], resource["hash"]) == (
                len(content), "sha256:" + hashlib.sha256(content).hexdigest()
            )  # fmt: skip
    assert package["title"] == package["metadata"]["title"] == "hot air balloons"
    assert "hot air balloons" in package["description"]
    assert package["mainPageUrl"] == "http://a.test/"
    assert package["software"].startswith("scenthound/")


@pytest.mark.parametrize("which", ["crawled", "evil"])
def test_wacz_passes_the_reference_validator(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pytest.importorskip("wacz")
    file = tmp_path / "crawl.wacz"
    file.write_bytes(exported(request.getfixturevalue(which), "wacz"))
    done = subprocess.run(
        [sys.executable, "-m", "wacz", "validate", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert "Validation succeeded" in done.stdout, done.stdout + done.stderr


# ---- text from the web


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b[2J\x1b[1;1Hb", "ab"),
        ("\x1b]0;new title\x07rest", "rest"),
        ("\x1b]8;;http://evil.test\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b31mred", "red"),
        ("\x9d0;t\x9crest", "rest"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1bcreset", "reset"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("\u202eexe.txt\u202c \u2066x\u2069", "exe.txt x"),
        ("two\r\nlines\tand\u2028more", "two lines and more"),
        ("zero\x00 del\x7f c1\x85x", "zero del c1 x"),
        ("\ud800lone", "lone"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\x1b", ""),
        ("\x1b[", ""),
    ],
)
def test_text_is_cleaned_of_terminal_control_codes(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_is_one_printable_line_and_cleaning_is_done_once(text: str) -> None:
    cleaned = printable(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in cleaned)
    assert printable(cleaned) == cleaned


def test_cleaned_text_is_shortened() -> None:
    assert printable("abcdef", 4) == "abc…"
    assert len(printable("\x1b[31m" * 1_000_000 + "x", 10)) <= 10


@given(st.dictionaries(st.text(max_size=5), st.text()))
def test_a_line_is_json_without_terminal_control_codes(fields: dict[str, str]) -> None:
    line = json_line(fields)
    assert line.isprintable()
    assert json.loads(line) == fields


def test_numbers_that_json_lacks_are_null() -> None:
    assert json_number(math.inf) is None
    assert json_number(-math.inf) is None
    assert json_number(math.nan) is None
    assert json_number(0.25) == 0.25
