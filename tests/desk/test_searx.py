"""Both directions with a real search engine: Debian's searx searches a collection of ours, and a crawl asks searx.

searx (AGPL) is a tool of this test only: `scripts/system_tools.sh searx` installs it where that is possible.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from scenthound.cli.root_command import run
from scenthound.search import index_folder
from support import system_tools
from support.desk import desk_process
from support.small_crawl import small_crawl

pytestmark = pytest.mark.slow
FILES = Path("/usr/share/python3-searx")  # where Debian puts its templates


def settings(port: int, engine: str) -> dict[str, Any]:
    """The settings of a searx with one engine: our service."""
    return {
        "general": {"debug": False, "instance_name": "searx", "contact_url": False, "enable_stats": False},
        "brand": dict.fromkeys(
            ["git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url"], ""
        ),
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "",
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
            "formats": ["html", "json"],
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "for tests",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.0",
            "method": "GET",
            "default_http_headers": {},
        },
        "ui": {
            "static_path": str(FILES / "static"),
            "templates_path": str(FILES / "templates"),
            "default_theme": "oscar",
            "default_locale": "",
            "theme_args": {},
        },
        "outgoing": {"request_timeout": 10.0, "useragent_suffix": "", "pool_connections": 10, "pool_maxsize": 10},
        "engines": [
            {
                "name": "scenthound",
                "engine": "json_engine",
                "shortcut": "sh",
                "categories": "general",
                "paging": True,
                "enable_http": True,
                "timeout": 10.0,
                "search_url": engine + "?q={query}&page={pageno}",
                "results_query": "results",
                "url_query": "url",
                "title_query": "title",
                "content_query": "content",
            }
        ],
        "locales": {"en": "English"},
        "doi_resolvers": {"none": "http://doi.invalid/"},
        "default_doi_resolver": "none",
        "checker": {"off_when_debug": True},
    }


@contextmanager
def searx(folder: Path, engine: str) -> Iterator[str]:
    """A running searx that knows one engine."""
    command = system_tools.searx()
    if not FILES.is_dir():
        pytest.skip(f"searx has no files in {FILES}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = folder / "settings.yml"
    file.write_text(json.dumps(settings(port, engine)), encoding="utf-8")  # JSON is YAML
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SEARX_SETTINGS_PATH": str(file)}
    with (folder / "searx.log").open("wb") as log:
        process = subprocess.Popen([command], stdout=log, stderr=log, env=environment, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if process.poll() is not None:
                pytest.skip("searx does not run here: " + (folder / "searx.log").read_text(errors="replace")[-300:])
            try:
                urllib.request.urlopen(f"{address}/robots.txt", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def test_searx_searches_a_collection_and_a_crawl_asks_searx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_crawl(tmp_path / "crawl")
    index_folder(folder)
    with desk_process(tmp_path / "home", str(folder)) as desk:
        base = f"http://{urlsplit(desk).netloc}/api/collections/crawl/opensearch.json"
        with searx(tmp_path, base) as address:
            query = urlencode({"q": "balloons", "format": "json"})
            with urllib.request.urlopen(f"{address}/search?{query}", timeout=30) as answer:
                found = json.load(answer)
            assert {one["url"] for one in found["results"]} >= {"http://a.test/", "http://b.test/one.html"}
            assert found["results"][0]["engines"] == ["scenthound"]
            words = ["seeds", "hot air balloons", "--allow-private", "loopback", "--set", "delay=0", "--source"]
            assert run([*words, f"searxng:{address}"]) == 1, "its robots.txt forbids programs to search"
            assert "robots=false" in capsys.readouterr().err
            assert run([*words, f"searxng:{address},robots=false"]) == 0
            assert set(capsys.readouterr().out.split()) == {"http://a.test/", "http://b.test/one.html"}
