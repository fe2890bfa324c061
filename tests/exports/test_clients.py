"""Other people's programs open our exports, and see what the crawl recorded. `make clients` prints the whole table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import replaywebpage
from support.client_checks import CLIENTS
from support.client_exports import client_python, export_everything

CHECKS = Path(__file__).parents[1] / "support" / "client_checks.py"


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow", reason="the export to Parquet needs pyarrow")
    return export_everything(tmp_path_factory.mktemp("clients") / "crawl")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_reads_our_exports(client: str, exports: Path) -> None:
    command = [client_python(), str(CHECKS), client, str(exports)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    results = [line for line in lines if "format" in line]
    if results[0]["result"] == "not installed":
        pytest.skip(f"{results[0]['detail']}: `make clients` installs it in an environment of its own")
    assert [line for line in results if line["result"] != "ok"] == []


@pytest.mark.parametrize("name", ["wacz", "zip64"])
def test_the_viewer_of_web_archives_shows_the_pages(name: str, exports: Path) -> None:
    if why := replaywebpage.missing():
        pytest.skip(why)
    with replaywebpage.browser() as browser:
        assert replaywebpage.replay(browser, exports, name).endswith("3 shown")
