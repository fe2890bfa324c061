"""A desk for tests: as an application in this process, or as a server with a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from scenthound.desk.api_base import Desk
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.security import Access
from scenthound.desk.web_app import make_app
from support.system_tools import chromium

TOKEN = "a-token-for-tests"
ADDRESS = "http://127.0.0.1:8770"
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}"}
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@contextmanager
def client(home: Path, *folders: Path, host: str = "127.0.0.1", **parts: Any) -> Iterator[TestClient]:
    """A client of a desk that shows these folders. It starts no indexer: the tests index themselves."""
    desk = Desk(Access(host, 8770, TOKEN), Collections(home, list(folders)), **parts)
    desk.processes.follow = lambda path: None  # type: ignore[method-assign]
    base = ADDRESS.replace("127.0.0.1", host)
    with TestClient(make_app(desk), base_url=base, raise_server_exceptions=True) as made:
        yield made


@contextmanager
def desk_process(home: Path, *words: str) -> Iterator[str]:
    """A desk in a process of its own; gives its address with the token."""
    command = [sys.executable, "-m", "scenthound", "desk", "--no-browser", "--port", "0", "--home", str(home), *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


@contextmanager
def browser_page(may_fail: bool = False, **options: Any) -> Iterator[Any]:
    """A page in a fresh browser. Errors of scripts, and what the policy blocks, fail the test.

    `may_fail`: addresses are visited that do not exist, which the browser reports as an error.
    """
    path = chromium()
    from playwright.sync_api import sync_playwright

    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
            yield page
        finally:
            browser.close()
    problems = [said for said in problems if not (may_fail and said.startswith("Failed to load resource"))]
    assert not problems, problems
