"""The WARC files of a crawl record who crawled and how: warcinfo, a request for each response, no false address."""

from __future__ import annotations

import asyncio
import gzip
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.testing import repository_contract
from scenthound.loop.folder import CrawlFolder
from scenthound.store.warc_read import WarcRecord, members, records
from scenthound.store.warc_repository import problem_of
from support.small_crawl import small_crawl


def stored(folder: Path) -> list[WarcRecord]:
    found = []
    for path in sorted(folder.glob("pages/*.warc.gz")):
        for member in members(path):
            assert not problem_of(member)
            found += records(member.data)
    return found


def test_each_response_has_its_request_before_it(tmp_path: Path) -> None:
    found = stored(small_crawl(tmp_path / "crawl", contact="me@example.org"))[1:]
    assert [record.kind for record in found] == ["request", "response"] * (len(found) // 2)
    for request, response in zip(found[::2], found[1::2], strict=True):
        assert request.target == response.target
        assert request.headers["warc-concurrent-to"] == response.headers["warc-record-id"]
        assert response.headers["warc-concurrent-to"] == request.headers["warc-record-id"]
        assert request.headers["content-type"] == "application/http; msgtype=request"
    head = next(record.block.decode() for record in found if record.target == "http://b.test/one.html")
    assert head.startswith("GET /one.html HTTP/1.1\r\nHost: b.test\r\nUser-Agent: scenthound/")
    assert "(+me@example.org)\r\n" in head
    assert head.endswith("\r\n\r\n")


def test_warcinfo_says_who_crawled_and_how(tmp_path: Path) -> None:
    info = stored(small_crawl(tmp_path / "crawl", contact="me@example.org"))[0]
    lines = dict(line.split(": ", 1) for line in info.block.decode().splitlines())
    assert info.kind == "warcinfo"
    assert lines["operator"] == "me@example.org"
    assert lines["robots"] == "ignore"  # the small crawl is told to
    assert re.fullmatch(r"scenthound/\S+", lines["software"])
    assert lines["http-header-user-agent"] == f"{lines['software']} (+me@example.org)"
    assert lines["description"] == "hot air balloons"


def test_what_is_recorded_is_what_was_sent(tmp_path: Path) -> None:
    """Compare the headers of the record with those that a server received."""
    received: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\nConnection: close\r\n\r\n<p>bees</p>"
        )
        await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        seed = f"http://127.0.0.1:{port}/a%20b?q=1&r="
        options = {"out": tmp_path / "crawl", "allow_private": ["loopback"], "robots": False, "pages": 1}
        (await scenthound.crawl_async("bees", seed, **options)).close()  # type: ignore[arg-type]
        server.close()

    asyncio.run(main())
    request, response = stored(tmp_path / "crawl")[1:]
    assert request.block.split(b"\r\n") == received[0].split(b"\r\n")
    assert response.headers["warc-ip-address"] == "127.0.0.1"


def test_behind_a_proxy_no_address_is_claimed(tmp_path: Path) -> None:
    web = GeneratedWeb(100, 3)
    with serving(web) as address:
        scenthound.crawl(
            web.topics[0].keywords, web.topics[0].seeds, pages=2, out=tmp_path / "crawl", proxy=address, delay=0
        ).close()
    found = stored(tmp_path / "crawl")
    assert any(record.kind == "response" for record in found)
    assert not [record for record in found if "warc-ip-address" in record.headers]


def test_the_repository_keeps_its_contract_with_requests(tmp_path: Path) -> None:
    from itertools import count

    from scenthound.ports import Repository
    from scenthound.store.warc_repository import WarcRepository

    numbers = count()

    def make() -> WarcRepository:
        return WarcRepository(tmp_path / str(next(numbers)), request_headers=(("User-Agent", "test/1"),))

    def reopen(old: Repository) -> Repository:
        assert isinstance(old, WarcRepository)
        old.close()
        return WarcRepository(old.folder, request_headers=(("User-Agent", "test/1"),))

    for _, check in repository_contract(make, reopen):
        check()


def test_other_tools_read_the_records(tmp_path: Path) -> None:
    archive = pytest.importorskip("warcio.archiveiterator")
    folder = small_crawl(tmp_path / "crawl")
    with (folder / "pages" / "pages-00001.warc.gz").open("rb") as file:
        kinds = [record.rec_type for record in archive.ArchiveIterator(file, check_digests="raise")]
    assert kinds[:3] == ["warcinfo", "request", "response"]


def test_a_write_that_is_cut_between_request_and_response_leaves_a_crawl_that_resumes(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (warc,) = folder.glob("pages/*.warc.gz")
    *_, request, _ = members(warc)
    with warc.open("r+b") as file:
        file.truncate(request.offset + request.length)
    with CrawlFolder.reopen(folder) as opened:
        assert len(opened.forgotten) == 1
    gzip.decompress(warc.read_bytes())


@pytest.mark.parametrize("url", ["http://a.test/", "http://b.test/é?q=1"])
def test_a_record_id_is_a_uuid_of_its_content(url: str) -> None:
    import hashlib
    import uuid

    from scenthound.model import Response
    from scenthound.store.warc_write import exchange_records

    record = exchange_records(Response(url, 200, "OK", (), b"bees"), 1.5).response
    head, _, block = record.partition(b"\r\n\r\n")
    identity = f"{url} 1.5 {hashlib.sha1(block[:-4]).hexdigest()}"
    assert f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, identity)}>".encode() in head
