"""The bed server: over sockets on loopback, with a very small bed."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response
from scenthound.topic_list import BedTopic
from support.running_crawl import command

HTML = ("Content-Type", "text/html; charset=utf-8")


def response(url: str, body: bytes = b"<p>hello</p>", status: int = 200, *headers: tuple[str, str]) -> Response:
    return Response(url, status, "", (HTML, *headers), body)


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    pages = [
        response("http://a.test/"),
        response("http://a.test/long", b"<p>" + b"bees " * 200 + b"</p>"),
        response("http://a.test/old", b"", 301, ("Location", "http://a.test/")),
        response("http://a.test/zipped", gzip.compress(b"<p>zipped</p>", mtime=0), 200, ("Content-Encoding", "gzip")),
        response("http://a.test/robots.txt", b"User-agent: *\nDisallow: /x\n"),
        response("http://b.test:8080/", b"<p>on a port</p>"),
        response("https://secure.test/page", b"<p>was https</p>"),
        response("http://a.test/chunked", b"<p>c</p>", 200, ("Transfer-Encoding", "chunked"), ("Connection", "close")),
    ]
    return write_bed(tmp_path / "bed", "small", pages, [])


def ask(address: str, path: str, host: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(method, path, headers={"Host": host, **headers})
        answer = connection.getresponse()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def raw(address: str, data: bytes) -> bytes:
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def test_the_host_comes_from_the_host_header(bed: Bed) -> None:
    with serving(bed) as address:
        assert ask(address, "/", "a.test")[::2] == (200, b"<p>hello</p>")
        assert ask(address, "/", "nobody.test")[0] == 404
        assert ask(address, "/nothing", "a.test")[0] == 404


def test_a_proxy_request_has_the_whole_url(bed: Bed) -> None:
    with serving(bed) as address:
        assert ask(address, "http://a.test/", "ignored.test")[2] == b"<p>hello</p>"
        assert ask(address, "http://b.test:8080/", "x.test")[2] == b"<p>on a port</p>"


def test_pages_recorded_under_https_are_served_under_http(bed: Bed) -> None:
    with serving(bed) as address:
        assert ask(address, "/page", "secure.test")[2] == b"<p>was https</p>"
        assert ask(address, "https://secure.test/page", "x.test")[2] == b"<p>was https</p>"


def test_a_port_in_the_host_header_is_ignored(bed: Bed) -> None:
    with serving(bed) as address:
        assert ask(address, "/", "a.test:12345")[0] == 200


def test_a_redirect_comes_as_recorded(bed: Bed) -> None:
    with serving(bed) as address:
        status, headers, _ = ask(address, "/old", "a.test")
    assert (status, headers["location"]) == (301, "http://a.test/")


def test_a_crawler_gets_from_page_to_page_of_a_bed_that_was_recorded_under_https(tmp_path: Path) -> None:
    links = b'<a href="https://b.test/two">two</a>'
    pages = [
        response("http://a.test/", b"", 301, ("Location", "https://a.test/")),
        response("https://a.test/", gzip.compress(links, mtime=0), 200, ("Content-Encoding", "gzip")),
        response("https://b.test/two", b"", 302, ("Location", "https://b.test/three")),
        response("https://b.test/three", b"<p>three</p>"),
    ]
    web = write_bed(tmp_path / "bed", "secure", pages, [])
    with serving(BedServer(web, ServerOptions(as_http=True))) as address:
        done = command("crawl", "bees", "--seed", "http://a.test/", "--out", str(tmp_path / "crawl"), "--proxy",
                f"http://{address}", "--delay", "0", "--set", "retries=0")  # fmt: skip
        assert done.returncode in (0, 11), done.stderr
        assert ask(address, "https://a.test/", "x.test")[2] == links.replace(b"https", b"http")
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        assert [step.url for step in folder.history.trail()] == ["http://a.test/", "http://b.test/three"]


def test_a_tunnel_is_refused_with_the_reason(bed: Bed) -> None:
    with serving(bed) as address:
        answer = raw(address, b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 501 ")
    assert b"no TLS" in answer
    assert b"--as-http" in answer


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", 405),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", 413),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\nX: " + b"x" * 70_000, 431),
    ],
)
def test_unsupported_requests_are_refused(bed: Bed, request_: bytes, status: int) -> None:
    with serving(bed) as address:
        assert raw(address, request_).startswith(f"HTTP/1.1 {status} ".encode())


def test_head_has_the_headers_of_get_and_no_body(bed: Bed) -> None:
    with serving(bed) as address:
        _, of_get, body = ask(address, "/long", "a.test")
        status, of_head, nothing = ask(address, "/long", "a.test", "HEAD")
    assert (status, nothing) == (200, b"")
    assert of_head == of_get
    assert of_head["content-length"] == str(len(body))


def test_one_connection_carries_many_requests_even_sent_at_once(bed: Bed) -> None:
    with serving(bed) as address:
        request = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
        last = b"GET /old HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
        answer = raw(address, request * 50 + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 50
    assert answer.count(b"HTTP/1.1 301 Moved Permanently") == 1


def test_headers_of_the_recorded_connection_are_left_out(bed: Bed) -> None:
    with serving(bed) as address:
        _, headers, body = ask(address, "/chunked", "a.test")
    assert "transfer-encoding" not in headers
    assert body == b"<p>c</p>"


def test_gzip_is_sent_only_to_clients_that_accept_it(bed: Bed) -> None:
    accepting = {"Accept-Encoding": "gzip"}
    with serving(BedServer(bed, ServerOptions(compress=True))) as address:
        _, headers, body = ask(address, "/long", "a.test", **accepting)
        assert headers["content-encoding"] == "gzip"
        assert gzip.decompress(body).startswith(b"<p>bees")
        assert ask(address, "/long", "a.test")[2].startswith(b"<p>bees")
        assert ask(address, "/zipped", "a.test")[2] == b"<p>zipped</p>"
        assert gzip.decompress(ask(address, "/zipped", "a.test", **accepting)[2]) == b"<p>zipped</p>"


def test_a_client_that_takes_no_gzip_gets_plain_bytes_after_one_that_does(bed: Bed) -> None:
    with serving(BedServer(bed)) as address:
        zipped = ask(address, "/zipped", "a.test", **{"Accept-Encoding": "gzip"})[2]
        assert gzip.decompress(zipped) == b"<p>zipped</p>"
        assert ask(address, "/zipped", "a.test")[2] == b"<p>zipped</p>", "not the cached reply to the first client"


def test_robots_txt_is_as_recorded_or_as_set(bed: Bed) -> None:
    for robots, expected in (
        (None, b"User-agent: *\nDisallow: /x\n"),
        ("allow", b"User-agent: *\nDisallow:\n"),
        ("deny", b"User-agent: *\nDisallow: /\n"),
        ("User-agent: x\nDisallow: /y\n", b"User-agent: x\nDisallow: /y\n"),
    ):
        with serving(BedServer(bed, ServerOptions(robots=robots))) as address:
            assert ask(address, "/robots.txt", "a.test")[2] == expected
    with pytest.raises(BadConfig, match="robots can't be `maybe`"):
        BedServer(bed, ServerOptions(robots="maybe"))


def statuses(bed: Bed, seed: int) -> list[int]:
    with serving(BedServer(bed, ServerOptions(error_rate=0.5, seed=seed))) as address:
        return [ask(address, path, "a.test")[0] for path in ("/", "/long", "/old") for _ in range(8)]


def test_errors_depend_on_seed_number_url_and_attempt_only(bed: Bed) -> None:
    first = statuses(bed, 1)
    assert first == statuses(bed, 1)
    assert first != statuses(bed, 2)
    assert {503, 200} <= set(first)


def test_latency_delays_every_response(bed: Bed) -> None:
    server = BedServer(bed, ServerOptions(latency=0.05))
    with serving(server) as address:
        ask(address, "/", "a.test")
    (served,) = server.log
    assert served.end - served.start >= 0.045  # timers may fire a clock tick early


def test_the_log_is_on_disk_as_soon_as_the_response_is_sent(bed: Bed, tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    server = BedServer(bed, ServerOptions(log_file=path))
    with serving(server) as address:
        host, _, port = address.partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            for number in range(1, 4):
                connection.sendall(b"GET /old HTTP/1.1\r\nHost: a.test\r\n\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 301")
                deadline = time.monotonic() + 60
                while len(path.read_text().splitlines()) < number and time.monotonic() < deadline:
                    time.sleep(0.001)
                assert len(path.read_text().splitlines()) == number, "without closing server or connection"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["host"], line["path"], line["status"]) for line in lines] == [("a.test", "/old", 301)] * 3
    assert all(line["start"] <= line["end"] for line in lines)
    assert [served.status for served in server.log] == [301] * 3


def test_a_request_whose_client_disconnected_is_in_the_log_too(bed: Bed) -> None:
    server = BedServer(bed, ServerOptions(latency=30))
    with serving(server) as address:
        host, _, port = address.partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            time.sleep(0.05)
        deadline = time.monotonic() + 60
        while not server.log and time.monotonic() < deadline:
            time.sleep(0.005)
    assert [(served.host, served.path, served.status) for served in server.log] == [("a.test", "/", 0)]


def test_line_ends_in_recorded_headers_cannot_split_the_response(tmp_path: Path) -> None:
    class Evil:
        name, digest, traps = "evil", "", False
        topics: list[BedTopic] = []  # noqa: RUF012

        def get(self, url: str) -> Response:
            return response(url, b"x", 200, ("X-Bad", "a\r\nSet-Cookie: b=1\r\n\r\n<script>"))

        def responses(self) -> Iterator[Response]:
            return iter(())

    with serving(Evil()) as address:
        _, headers, body = ask(address, "/", "a.test")
    assert "set-cookie" not in headers
    assert body == b"x"


def test_a_generated_web_is_served_without_being_written_and_its_traps_never_end() -> None:
    web = GeneratedWeb(100, 1)
    with serving(web) as address:
        url = web.url(5)
        host, _, path = url[7:].partition("/")
        assert ask(address, "/" + path, host)[2] == web.response(5).body
        for start in ("/calendar/2024-01.html", "/view?page=1&sid=000000000000", "/files/a/b/"):
            status, _, body = ask(address, start, host)
            assert status == 200, start
            assert b"<a href=" in body
    with serving(GeneratedWeb(100, 1, traps=False)) as address:
        assert ask(address, "/calendar/2024-01.html", host)[0] == 404


def test_the_server_has_a_page_about_itself(bed: Bed) -> None:
    with serving(bed) as address:
        assert b"bed `small`" in ask(address, "/", address)[2]


def test_a_port_in_use_raises_in_the_caller(bed: Bed) -> None:
    with serving(bed) as address, pytest.raises(OSError, match="address"):  # noqa: SIM117
        with serving(BedServer(bed, ServerOptions(port=int(address.partition(":")[2])))):
            pass
