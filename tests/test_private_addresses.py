"""No request reaches a private address, whether a source, a redirect, an agent or a browser names it."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.apps.companion import Companion, Visit
from scenthound.desk.start_processes import NewCrawl
from scenthound.loop.settings import Settings, read
from support.seed_servers import cdx_line, searxng_reply
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]
HOSTS = (
    "127.0.0.1", "localhost", "LOCALHOST.", "127.1", "2130706433", "0x7f.0.0.1", "017700000001", "0.0.0.0", "[::1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "a.localhost", "127。0。0。1",
)  # fmt: skip
FRONT = "127.0.0.2"
"""The address of the server that `--allow-private` allows; the private server is on 127.0.0.1."""
ALLOWED = f"{FRONT}/32"
Answer = Callable[[str], tuple[int, str]]
"""The status and body for a path; for a redirect, its target."""


@contextmanager
def serving(host: str, answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """Run a server. Yields its address and the list of requested paths."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, body = answer(self.path)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", body)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            return None

    made = ThreadingHTTPServer((host, 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield f"http://{host}:{made.server_address[1]}", asked
    finally:
        made.shutdown()
        made.server_close()


@pytest.fixture
def private() -> Iterator[tuple[list[str], list[str]]]:
    """The addresses of a server that must not be reached, in every spelling, and the list of requested paths."""
    with serving("127.0.0.1", lambda path: (200, "<title>balloons</title>hot air balloons")) as (address, asked):
        port = address.rpartition(":")[2]
        yield [f"http://{host}:{port}/balloons" for host in HOSTS], asked


def seeds(source: str, capsys: Talk) -> tuple[int, str]:
    words = ["--source", source, "--allow-private", ALLOWED, "--set", "delay=0"]
    code = run(["seeds", "hot air balloons", *words])
    return code, "".join(capsys.readouterr())


def test_private_addresses_in_answers_of_sources_are_left_out(
    private: tuple[list[str], list[str]], tmp_path: Path, capsys: Talk
) -> None:
    named, asked = private
    links = "".join(f'<DT><A HREF="{url}">balloons</A>' for url in named)
    (tmp_path / "marks.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>x</TITLE><DL><p>{links}</DL>")
    small_crawl(tmp_path / "crawl", {named[0]: ("balloons", "hot air balloons", [])})

    def answer(path: str) -> tuple[int, str]:
        if path.startswith("/search"):
            return 200, searxng_reply("balloons", [(url, "balloons") for url in named]).decode()
        return (200, "\n".join(map(cdx_line, named))) if "-index" in path else (404, "")

    with serving(FRONT, answer) as (front, _):
        sources = (f"searxng:{front}", f"commoncrawl:site.test,server={front},crawl=CC")
        for source in (*sources, f"bookmarks:{tmp_path / 'marks.html'}", f"collections:{tmp_path / 'crawl'}"):
            code, output = seeds(source, capsys)
            assert code == 1, output
            assert "it knows no page about this" in output, output
    assert asked == []


@pytest.mark.parametrize("first", ["robots.txt", "answer"])
def test_no_source_leads_to_a_private_address(first: str, private: tuple[list[str], list[str]], capsys: Talk) -> None:
    named, asked = private

    def answer(path: str) -> tuple[int, str]:
        return (404, "") if path == "/robots.txt" and first == "answer" else (302, named[0])

    with serving(FRONT, answer) as (front, _):
        for source in (f"searxng:{front}", f"sitemap:{front}/sitemap.xml", f"commoncrawl:site.test,server={front}"):
            code, output = seeds(source, capsys)
            assert code == 1, output
            assert "refused-address" in output or "another server" in output, output
    assert asked == []


def test_no_page_before_the_companion_leads_to_a_private_address(
    private: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    named, asked = private
    settings = read(Settings, {"delay": "0", "allow_private": [ALLOWED], "contact": "test@example.org"})

    async def browse(front: str) -> None:
        companion = Companion(tmp_path / "kept", settings)
        links = [(url, "balloons") for url in (f"{front}/there", *named)]
        await companion.visit(Visit("http://site.test/", "Balloons", "hot air balloons", links))
        while companion.state()["looking"]:
            await asyncio.sleep(0.02)
        await companion.close()

    with serving(FRONT, lambda path: (302, named[1]) if path == "/there" else (404, "")) as (front, reached):
        asyncio.run(browse(front))
    assert "/there" in reached
    assert asked == []


def test_no_crawl_that_desk_or_agents_start_reaches_a_private_address(
    private: tuple[list[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, asked = private
    wanted = NewCrawl("hot air balloons", "\n".join(named), options=("--set", "delay=0", "--set", "retries=0"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(wanted.seeds.encode())))
    assert run(wanted.arguments(tmp_path / "crawl")) == 1, "not a page was fetched"
    assert asked == []
