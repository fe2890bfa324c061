"""A real crawl in a separate process, of a generated web on a local server: for tests that steer it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from scenthound.store.lock import holder

WEB = GeneratedWeb(pages=3000, seed=11)


def command(*words: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Run a command of scenthound in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "scenthound", *words],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=timeout,
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@contextmanager
def served(log: Path) -> Iterator[str]:
    """A proxy that knows the generated web, and writes each request to a log."""
    with serving(BedServer(WEB, ServerOptions(log_file=log))) as address:
        yield address


def start(folder: Path, address: str, *more: str) -> subprocess.Popen[bytes]:
    """Start the crawl, or resume it if there is one."""
    if (folder / "crawl.toml").exists():
        words = ["resume", str(folder), *more]
    else:
        topic = WEB.topics[0]
        seeds = [word for seed in topic.seeds for word in ("--seed", seed)]
        words = ["crawl", topic.keywords, *seeds, "--out", str(folder), "--proxy", address, "--delay", "0.05", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "scenthound", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )


@contextmanager
def crawling(folder: Path, address: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A running crawl that has a few pages; it is killed in the end."""
    process = start(folder, address, *more)
    try:
        until(lambda: holder(folder) == process.pid and pages(folder) >= 5, "the crawl never fetched five pages")
        yield process
    finally:
        process.kill()
        process.wait()


def until(is_true: Callable[[], Any], otherwise: str, seconds: float = 60.0) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := is_true():
            return value
        time.sleep(0.05)
    raise AssertionError(otherwise)


def pages(folder: Path) -> int:
    if not (folder / "crawl.toml").exists():
        return 0
    with CrawlFolder.look(folder) as opened:
        return len(opened.history)


def requests(log: Path) -> list[dict[str, Any]]:
    """What the server was asked for, oldest first."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")] if log.exists() else []
