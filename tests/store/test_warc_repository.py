"""The repository: valid WARC files, whatever servers send and whenever the process dies."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from scenthound.errors import DiskFull, FolderBroken
from scenthound.lab.beds.bed import Bed
from scenthound.model import Response
from scenthound.ports import Where
from scenthound.store import warc_write
from scenthound.store.cdxj import refresh, surt, write_index
from scenthound.store.memory import MemoryRepository
from scenthound.store.warc_read import header_lines, records, response_of, unchunked
from scenthound.store.warc_repository import WarcRepository, read_responses
from support.warc_check import check

HTML = (("Content-Type", "text/html"), ("Server", "tiny"))
NOW = 1_700_000_000.25


def response(name: str = "a", body: bytes = b"<p>hello", headers: Any = HTML, **more: Any) -> Response:
    return Response(f"http://{name}.test/", 200, "OK", headers, body, **more)


_OPEN: list[WarcRepository] = []


def opened(folder: Path, **settings: Any) -> WarcRepository:
    """A repository that is closed at the end of the test."""
    _OPEN.append(WarcRepository(folder, **settings))
    return _OPEN[-1]


@pytest.fixture(autouse=True)
def _closes() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


def assert_valid(*paths: Path) -> None:
    """`warcio check` overlooks a truncated last member, `fastwarc check` a missing payload digest."""
    for path in paths:
        for command in (["warcio", "check"], ["fastwarc", "check", "-q", "-p"]):
            program = Path(sys.executable).with_name(command[0])
            done = subprocess.run([program, *command[1:], str(path)], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_responses_come_back_as_they_went_in_and_both_checkers_pass(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>packed" * 100)
    put = [
        response("plain", address="127.0.0.1"),
        response("empty", b""),
        response("packed", packed, (*HTML, ("Content-Encoding", "gzip"), ("Content-Length", str(len(packed))))),
        response("large", os.urandom(5_000_000), truncated="length"),
        Response("http://moved.test/", 301, "Moved", (("Location", "/x"), ("Location", "/y")), b"", "::1"),
    ]
    repository = opened(tmp_path, info={"operator": "me\r\nWARC-Type: x", "software": "scenthound 0.1"})
    places = [repository.put(one, NOW) for one in put]
    assert [repository.get(place) for place in places] == put
    assert {place.file for place in places} == {"pages-00001.warc.gz"}
    assert places[-1].offset + places[-1].length == (tmp_path / "pages-00001.warc.gz").stat().st_size
    assert repository.end() == (places[-1].file, places[-1].offset + places[-1].length)
    repository.sync()
    assert_valid(tmp_path / "pages-00001.warc.gz")
    assert [(offset, length) for offset, length, _ in read_responses(tmp_path / "pages-00001.warc.gz")] == [
        (place.offset, place.length) for place in places
    ]
    report = check(tmp_path)[0]
    assert (report.records, report.good, report.problems) == (6, report.size, ())


def test_the_record_says_when_where_and_what(tmp_path: Path) -> None:
    opened(tmp_path).put(response(address="10.0.0.1", truncated="odd"), NOW)
    with (tmp_path / "pages-00001.warc.gz").open("rb") as file:
        info, record = [one.rec_headers for one in ArchiveIterator(file)]
    assert (info.get_header("WARC-Type"), record.get_header("WARC-Type")) == ("warcinfo", "response")
    assert info.protocol == record.protocol == "WARC/1.1"
    assert record.get_header("WARC-Date") == "2023-11-14T22:13:20.250000Z"
    assert record.get_header("WARC-IP-Address") == "10.0.0.1"
    assert record.get_header("WARC-Truncated") == "unspecified"
    assert record.get_header("WARC-Target-URI") == "http://a.test/"


def test_headers_that_the_client_undid_are_renamed_and_the_length_is_correct(tmp_path: Path) -> None:
    repository = opened(tmp_path)
    chunked = repository.put(response(headers=(("Transfer-Encoding", "chunked"), *HTML)), NOW)
    short = repository.put(response(headers=(("Content-Length", "99"), *HTML), truncated="disconnect"), NOW)
    assert repository.get(chunked).headers == (
        ("X-Crawler-Transfer-Encoding", "chunked"),
        *HTML,
        ("Content-Length", "8"),
    )
    assert repository.get(short).headers == (("X-Crawler-Content-Length", "99"), *HTML, ("Content-Length", "8"))
    assert_valid(tmp_path / "pages-00001.warc.gz")


def test_hostile_heads_make_no_second_record(tmp_path: Path) -> None:
    repository = opened(tmp_path)
    evil = Response(
        "http://a.test/\r\nWARC-Type: request",
        200,
        "OK\r\n\r\nHTTP/1.1 500",
        (("X: y\r\nZ", "1"), ("\r\n", "2"), ("A", "b\r\n\r\n<html>"), ("B", "\udcff\x00"), ("C", "\ud800"), ("D", "é")),
        b"body",
        address="not an address",
        http_version="1.1 200\r\n",
    )
    found = repository.get(repository.put(evil, float("nan")))
    assert found.body == b"body"
    assert found.url == "http://a.test/%0D%0AWARC-Type:%20request"
    assert [name for name, _ in found.headers] == ["XyZ", "A", "B", "C", "D"]
    assert found.header("A") == "b <html>"
    assert_valid(tmp_path / "pages-00001.warc.gz")


NAMES = st.text(max_size=8)


@given(
    st.text(max_size=20),
    st.integers(100, 599),
    st.text(max_size=10),
    st.lists(st.tuples(NAMES, st.text(max_size=20)), max_size=5),
    st.binary(max_size=50),
    st.sampled_from([warc_write.STORED, 1]),
)
def test_whatever_a_server_says_the_body_comes_back(
    path: str, status: int, reason: str, headers: list[tuple[str, str]], body: bytes, level: int
) -> None:
    said = Response(f"http://a.test/{path}", status, reason, tuple(headers), body)
    record = warc_write.exchange_records(said, NOW).response
    member = gzip.decompress(warc_write.as_member(record, level))
    (only,) = records(member)
    back = response_of(only)
    assert back is not None
    assert (back.status, back.body) == (status, body)


@pytest.mark.parametrize("size", [0, 1, 65_534, 65_535, 65_536, 131_070, 200_000])
def test_an_uncompressed_member_comes_back(size: int) -> None:
    record = os.urandom(size)
    stored = warc_write.as_member(record, warc_write.STORED)
    assert gzip.decompress(stored) == record
    assert len(stored) == size + 18 + 5 * max(1, -(-size // 65_535))


@pytest.mark.parametrize(
    ("now", "date"),
    [
        (NOW, "2023-11-14T22:13:20.250000Z"),
        (1_699_999_999.9999999, "2023-11-14T22:13:20.000000Z"),
        (-0.5, "1969-12-31T23:59:59.500000Z"),
        (float("nan"), "1970-01-01T00:00:00Z"),
        (1e300, "1970-01-01T00:00:00Z"),
    ],
)
def test_dates_are_exact_to_the_microsecond(now: float, date: str) -> None:
    assert f"WARC-Date: {date}\r\n".encode() in warc_write.exchange_records(response(), now).response


def test_files_are_rolled_and_each_begins_with_its_warcinfo(tmp_path: Path) -> None:
    repository = opened(tmp_path, roll=3000)
    places = [repository.put(response(f"p{n}", os.urandom(800)), NOW) for n in range(7)]
    names = sorted({place.file for place in places})
    assert len(names) >= 3
    assert all(path.stat().st_size <= 3000 for path in repository.files())
    assert [repository.get(place).url for place in places] == [f"http://p{n}.test/" for n in range(7)]
    assert_valid(*repository.files())
    again = opened(tmp_path, roll=3000)
    assert again.put(response("last"), NOW).file == names[-1], "a new process continues in the last file"
    assert [path.name for path in again.files()] == names


def test_damage_in_the_middle_is_reported_and_later_records_are_still_read(tmp_path: Path) -> None:
    repository = opened(tmp_path)
    places = [repository.put(response(f"p{n}", os.urandom(500)), NOW) for n in range(4)]
    repository.close()
    path = tmp_path / places[0].file
    with path.open("r+b") as file:
        file.seek(places[1].offset + 30)
        file.write(b"\xff" * 40)
    os.truncate(path, path.stat().st_size - 5)
    report = check(tmp_path)[0]
    assert report.good == places[3].offset
    assert [problem.partition(":")[0] for problem in report.problems] == [
        f"{path.name} at {places[1].offset}",
        f"{path.name} at {places[3].offset}",
    ]
    problems: list[str] = []
    assert [one.url for _, _, one in read_responses(path, problems)] == ["http://p0.test/", "http://p2.test/"]
    assert len(problems) == 2
    with pytest.raises(FolderBroken, match=r"can't be read|has no response"):
        repository.get(places[1])


@pytest.mark.parametrize("file", ["../crawl.db", "/etc/passwd", "pages-1.warc.gz", "pages-99999.warc.gz"])
def test_an_unknown_position_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(FolderBroken):
        opened(tmp_path).get(Where(file, 0, 100))


def test_a_full_disk_leaves_valid_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = opened(tmp_path)
    place = repository.put(response("a"), NOW)
    assert repository._file is not None

    class Full:
        """A file on a disk with room for ten more bytes."""

        def __init__(self, file: Any) -> None:
            self.file = file
            self.fileno, self.close = file.fileno, file.close

        def write(self, data: bytes) -> int:
            if len(data) < 20:
                raise OSError(errno.ENOSPC, "No space left on device")
            written: int = self.file.write(data[:-10])
            return written

    monkeypatch.setattr(repository, "_file", Full(repository._file))
    with pytest.raises(DiskFull, match="no room left"):
        repository.put(response("b"), NOW)
    assert repository.end() == (place.file, place.offset + place.length)
    assert_valid(tmp_path / place.file)


def foreign(gzip_members: bool) -> bytes:
    """A WARC as warcio writes it: request, response, revisit, resource, metadata; chunked bodies unchanged."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=gzip_members)
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")], "HTTP/1.1")
    body = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
    asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a.test")], is_http_request=True)
    url = "http://a.test/"
    for kind, payload, http in (
        ("request", b"", asked),
        ("response", body, head),
        ("metadata", b"via: x\r\n", None),
        ("resource", b"plain", None),
    ):
        writer.write_record(writer.create_warc_record(url, kind, payload=BytesIO(payload), http_headers=http))
    writer.write_record(writer.create_revisit_record(url, "sha1:X", url, "2020-01-01T00:00:00Z", http_headers=head))
    return out.getvalue()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # warcio leaves its buffers open
@pytest.mark.parametrize("kind", ["members", "one member", "plain"])
def test_warcs_of_other_tools_are_read(tmp_path: Path, kind: str) -> None:
    data = foreign(gzip_members=kind == "members")
    path = tmp_path / "foreign.warc"
    path.write_bytes(gzip.compress(data) if kind == "one member" else data)
    problems: list[str] = []
    found = [one for _, _, one in read_responses(path, problems)]
    assert [(one.status, one.body) for one in found] == [(200, b"hello world"), (200, b"plain")]
    assert problems == []
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    list(read_responses(path, problems))


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"\x1f\x8b\x08 not gzip", gzip.compress(b"not a warc", mtime=0), b"WARC/1.0\r\n"]
)
def test_a_file_that_is_not_a_warc_gives_nothing_and_does_no_harm(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    problems: list[str] = []
    assert list(read_responses(path, problems)) == []
    assert len(problems) <= 2


@given(st.binary(max_size=80))
def test_bytes_that_are_not_chunked_are_left_alone_and_none_do_harm(data: bytes) -> None:
    unchunked(data)
    list(header_lines(data))


def test_a_body_that_only_claims_to_be_chunked_is_kept() -> None:
    assert unchunked(b"<html>") == b"<html>"
    assert unchunked(b"") == b""


def test_the_archive_of_a_bed_is_read_to_its_end(any_bed: Bed) -> None:
    problems: list[str] = []
    (path,) = any_bed.folder.glob("*.warc.gz")
    found = sum(1 for _ in read_responses(path, problems))
    assert found >= len(any_bed) > 500
    assert problems == []


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com/", "com,example)/"),
        ("https://www.example.com/a/", "com,example)/a"),
        ("http://www2.example.co.uk:8080/A?b=2&a=1", "uk,co,example:8080)/a?a=1&b=2"),
        ("https://example.com:443/?", "com,example)/"),
        ("http://192.168.0.1/x", "1,0,168,192)/x"),
        ("http://[::1]:8000/x", "[::1]:8000)/x"),
        ("http://a.test?q", "test,a)/?q"),
    ],
)
def test_the_surt_of_a_url(url: str, key: str) -> None:
    assert surt(url) == key


def test_the_index_is_sorted_and_points_at_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.store.cdxj._RUN", 3)
    repository = opened(tmp_path, roll=2000)
    for name in ("www.b", "a", "c", "d", "a"):
        repository.put(response(name, os.urandom(300)), NOW)
    repository.put(Response("http://e.test/ü", 404, "", (("Content-Type", "<script>"),), b""), NOW)
    lines = write_index(tmp_path).read_bytes().decode("ascii").splitlines()
    assert lines == sorted(lines)
    keys = [line.split(" ")[0] for line in lines]
    assert keys == ["test,a)/", "test,a)/", "test,b)/", "test,c)/", "test,d)/", "test,e)/\\xfc"]
    key, stamp, fields = lines[2].split(" ", 2)
    assert (key, stamp) == ("test,b)/", "20231114221320")
    said = json.loads(fields)
    assert list(said) == ["url", "mime", "status", "digest", "length", "offset", "filename"]
    found = repository.get(Where(said["filename"], int(said["offset"]), int(said["length"])))
    assert found.url == said["url"] == "http://www.b.test/"
    assert json.loads(lines[5].split(" ", 2)[2])["mime"] == "unk"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.cdxj", *(p.name for p in repository.files())]


def test_the_index_of_responses_just_written_equals_that_of_the_files(tmp_path: Path) -> None:
    repository = opened(tmp_path, roll=2000, request_headers=(("User-Agent", "bees"),))
    for name in ("www.b", "a", "c", "d", "a"):
        repository.put(response(name, os.urandom(300)), NOW)
    repository.put(Response("http://e.test/ü", 404, "", (("Content-Type", "<script>"),), b""), NOW + 0.25)
    repository.put(Response("http://f.test/\n", 200, "OK", (("content-type", " Text/HTML ; charset=x "),), b"f"), NOW)
    assert repository.written is not None
    quick = refresh(tmp_path, None, repository.written)
    assert quick is not None
    assert quick.read_bytes() == write_index(tmp_path, tmp_path / "other.cdxj").read_bytes()
    assert opened(tmp_path).written is None, "it has not written the existing records"


def test_the_memory_repository_keeps_the_port() -> None:
    repository = MemoryRepository()
    place = repository.put(response(), NOW)
    assert repository.get(place) == response()
    with pytest.raises(FolderBroken):
        repository.get(Where("memory", 1, 1))
