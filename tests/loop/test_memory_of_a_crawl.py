"""The memory that one hostile reply takes in a crawl, from the request to the commit, with the default settings.

Each crawl is a process of its own. Its peak is compared with that of a crawl of a small page.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(
    not STATUS.exists() or "VmHWM:" not in STATUS.read_text(), reason="needs Linux: /proc tells the peak of a process"
)
CRAWL = """
import sys
from scenthound.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    print("peak", end.code, int(peak) // 1024)
"""
SMALL = b"<title>bees</title><p>bees and honey"


class Hostile(ThreadingHTTPServer):
    """Serves one page at `/`, and a sitemap that robots.txt names."""

    def __init__(self, page: bytes = SMALL, addresses: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site = f"http://127.0.0.1:{self.server_port}"
        entries = b"".join(b"<url><loc>%s/page/%d.html</loc></url>" % (self.site.encode(), n) for n in range(addresses))
        self.replies = {
            "/": ("text/html", page),
            "/robots.txt": ("text/plain", f"User-agent: *\nSitemap: {self.site}/sitemap.xml.gz\n".encode()),
            "/sitemap.xml.gz": ("application/gzip", gzip.compress(b"<urlset>" + entries + b"</urlset>", 1)),
        }

    def __enter__(self) -> Hostile:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Hostile

    def do_GET(self) -> None:
        kind, body = self.server.replies.get(self.path, ("text/html", SMALL))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


def peak(folder: Path, server: Hostile) -> int:
    """The megabytes that a crawl of the server takes at most."""
    with server:
        command = ["crawl", "bees honey", "--seed", f"{server.site}/", "--out", str(folder), "--pages", "2"]
        command += ["--allow-private", "loopback", "--delay", "0", "--set", "sitemaps=true", "--set", "workers=0"]
        done = subprocess.run([sys.executable, "-P", "-c", CRAWL, *command], capture_output=True, text=True, check=True)
    words = done.stdout.split()
    return int(words[words.index("peak") + 2])


def cost(folder: Path, server: Hostile, small: int) -> int:
    """The megabytes that a crawl takes above a small one, which `pytest -rP` prints."""
    megabytes = peak(folder, server) - small
    print(f"{megabytes} MB above a small crawl")
    return megabytes


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> int:
    return peak(tmp_path_factory.mktemp("small") / "crawl", Hostile())


def test_a_page_of_a_million_links_costs_a_crawl_at_most_100_megabytes(small: int, tmp_path: Path) -> None:
    page = b"".join(b"<a href=/%d>x</a>" % number for number in range(1_000_000))
    assert cost(tmp_path / "crawl", Hostile(page), small) <= 100


def test_an_endless_body_costs_a_crawl_at_most_80_megabytes(small: int, tmp_path: Path) -> None:
    page = "".join(f"\u0436{number:x}\u044f " for number in range(1_200_000)).encode()
    assert len(page) > 10_000_000
    assert cost(tmp_path / "crawl", Hostile(page), small) <= 80


def test_a_sitemap_of_a_million_urls_costs_a_crawl_at_most_96_megabytes(small: int, tmp_path: Path) -> None:
    assert cost(tmp_path / "crawl", Hostile(addresses=1_000_000), small) <= 96
