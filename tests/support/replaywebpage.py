"""Open web archives in ReplayWeb.page in a real browser, as `client_checks.py` does with other clients.

    python tests/support/replaywebpage.py FOLDER     # FOLDER is what `client_exports.py` wrote

ReplayWeb.page is a page with a service worker, which reads the archive with range requests. `scripts/replaywebpage.sh`
downloads it. A picture of what was shown is left in FOLDER/pictures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

VIEWER = Path(__file__).resolve().parents[2] / ".clients" / "replaywebpage"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
KINDS = {"html": "text/html", "js": "text/javascript"}
FILES = {"wacz": "crawl.wacz", "zip64": "crawl.zip64.wacz", "warc": "pages/pages-00001.warc.gz"}
PATIENCE = 60.0  # seconds; it takes three on a quiet machine


def missing() -> str:
    """Why the check can't run; empty if it can."""
    if not (VIEWER / "version").is_file():
        return "ReplayWeb.page is not there: scripts/replaywebpage.sh downloads it"
    if os.environ.get("BROWSER_TESTS") == "0":
        return "BROWSER_TESTS=0"
    if not any(map(shutil.which, BROWSERS)):
        return "there is no Chromium: scripts/system_tools.sh says how to install it"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is not installed"
    return ""


def version() -> str:
    return (VIEWER / "version").read_text().strip()


def replay(browser: Browser, folder: Path, name: str) -> str:
    """Open one of `FILES`: its list of pages, its first and last page, and a page by a link. Returns what was shown."""
    expected = json.loads((folder / "expected.json").read_text())
    pages = expected["pages"]
    file = folder / FILES[name]
    with _serving(file) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        context.route(lambda url: not url.startswith(address), lambda route: route.abort())
        page = context.new_page()
        viewer = f"{address}/?source=/archive/{file.name}"
        try:
            if name != "warc":  # a WARC has no list of pages: ReplayWeb.page guesses it
                page.goto(f"{viewer}#view=pages")
                page.get_by_text(re.compile(rf"\b{len(pages)} Pages", re.IGNORECASE)).first.wait_for()
                page.get_by_text(expected["topic"]).first.wait_for()
            for number in (0, len(pages) - 1):
                page.goto("about:blank")
                page.goto(f"{viewer}#view=pages&url={quote(pages[number]['url'], safe='')}")
                _wait_for_text(page, pages[number]["url"], pages[number]["heading"])
            by_url = {found["url"]: found for found in pages}
            child = next(one for one in pages if one["parent"] in by_url and not one["requested"])
            page.goto("about:blank")
            page.goto(f"{viewer}#view=pages&url={quote(child['parent'], safe='')}")
            frame = _wait_for_text(page, child["parent"], by_url[child["parent"]]["heading"])
            frame.locator(f'a[href$="{child["url"]}"]').first.click()
            _wait_for_text(page, child["url"], child["heading"])
        finally:
            (folder / "pictures").mkdir(exist_ok=True)
            page.screenshot(path=folder / "pictures" / f"{name}.png")
            context.close()
    return f"{len(pages)} pages listed, 3 shown" if name != "warc" else "3 pages shown"


def _wait_for_text(page: Page, url: str, text: str) -> Frame:
    """Wait until the frame with the archived page shows a text. Raises `TimeoutError` with what is shown instead."""
    end = time.monotonic() + PATIENCE
    shown = "no archived page"
    while time.monotonic() < end:
        for frame in page.frames:
            if "/w/" in frame.url and frame.url.endswith(f"mp_/{url}"):
                shown = frame.evaluate("document.body ? document.body.innerText : ''")
                if text in shown:
                    return frame
        page.wait_for_timeout(100)
    message = page.evaluate("document.querySelector('replay-app-main')?.innerText") or ""
    raise TimeoutError(f"{url} does not show {text!r}, but {shown[:100]!r} {message[:200]!r}")


@contextmanager
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def _serving(archive: Path) -> Iterator[str]:
    """A server on loopback with the viewer and one archive, which answers range requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0].lstrip("/") or "index.html"
            file = archive if path == f"archive/{archive.name}" else VIEWER / path
            if file is not archive and path not in ("index.html", "ui.js", "sw.js"):
                self.send_error(404)
                return
            size = file.stat().st_size
            start, end = _range(self.headers.get("Range", ""), size)
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("Content-Type", KINDS.get(path.rpartition(".")[2], "application/octet-stream"))
            self.send_header("Content-Length", str(end - start))
            self.send_header("Accept-Ranges", "bytes")
            if "Range" in self.headers:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
            self.end_headers()
            if self.command == "GET":
                self._send(file, start, end)

        def _send(self, file: Path, start: int, end: int) -> None:
            with file.open("rb") as content:
                content.seek(start)
                try:
                    while (left := end - content.tell()) > 0:
                        self.wfile.write(content.read(min(left, 1 << 20)))
                except OSError:  # the viewer asks for the whole file, and stops when it sees that ranges work
                    self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _range(header: str, size: int) -> tuple[int, int]:
    """The first byte and the end of a range of bytes."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header)
    if match is None:
        return 0, size
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(size, int(last) + 1 if last else size)


def main(folder: Path) -> None:
    """Print a JSON line for each file, as `client_checks.py` does."""
    if why := missing():
        print(json.dumps({"format": "", "result": "not installed", "detail": why}))
        return
    print(json.dumps({"version": version()}))
    with browser() as opened:
        for name in FILES:
            try:
                result, detail = "ok", replay(opened, folder, name)
            except Exception as error:  # whatever goes wrong is the verdict
                result, detail = "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            print(json.dumps({"format": name, "result": result, "detail": detail}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
