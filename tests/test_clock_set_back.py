"""After the clock was set back between two runs, nothing stalls, nothing fails, and no figure is negative."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.agent_tools.tool_methods import Tools
from scenthound.desk.api_base import Desk
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.pairing import CODE_SECONDS, Pairings
from scenthound.desk.security import Access
from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder
from support.application_webs import CLUB_SEEDS, CLUBS
from support.desk import client
from support.html_crawl import html_crawl

Talk = pytest.CaptureFixture[str]
SEED = CLUB_SEEDS[0]
COMMANDS = {
    "status": ["status", "{}", "--json"],
    "report": ["report", "{}"],
    "search": ["search", "{}", "balloons", "--json"],
    "index": ["index", "{}", "--follow"],
    "portal": ["portal", "{}"],
    "related": ["related", "{}"],
    "map": ["map", "{}"],
    "label": ["label", "{}", SEED, "--on-topic"],
    "control": ["control", "{}", "budget", "9"],
    "export": ["export", "{}", "--to", "csv"],
    "resume": ["resume", "{}", "--pages", "6"],
}
AHEAD = 1e9  # seconds: 32 years


@pytest.fixture(scope="module")
def from_the_future(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl whose times are all ahead of the clock."""
    folder = html_crawl(tmp_path_factory.mktemp("ahead") / "crawl", CLUBS, CLUB_SEEDS, "hot air balloons")
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as database:
        for table, column in (("history", "time"), ("hosts", "next_allowed"), ("robots", "until")):
            database.execute(f"UPDATE {table} SET {column} = {column} + {AHEAD}")
        ahead = json.dumps([[time.time() + AHEAD, time.time() + AHEAD + 1]])
        database.execute("UPDATE meta SET value = ? WHERE key = 'runs'", (ahead,))
        database.execute("UPDATE meta SET value = value + ? WHERE key = 'ended_at'", (AHEAD,))
    return folder


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_every_command_works_on_a_crawl_from_the_future(from_the_future: Path, capsys: Talk) -> None:
    for name, words in COMMANDS.items():
        code = run([word.format(from_the_future) for word in words])
        output = capsys.readouterr()
        assert code == 0, (name, output)
        assert "-1," not in output.out, name


def test_desk_and_agents_show_it_without_negative_figures(from_the_future: Path, tmp_path: Path) -> None:
    assert run(["resume", str(from_the_future), "--pages", "6"]) == 0
    with client(tmp_path, from_the_future) as desk:
        figures = desk.get("/api/collections/crawl").json()
        assert desk.get("/c/crawl").status_code == 200
    assert figures["state"] not in ("running", "cut off"), "it ended after the clock was set back"
    assert figures["pages_per_second"] >= 0
    assert not figures["hosts"]["next_in"]
    assert Tools(tmp_path, [from_the_future]).crawl_status("crawl")["is_running"] is False
    with CrawlFolder.look(from_the_future) as folder:
        assert len(folder.history) >= 6


def test_a_code_for_pairing_holds_no_longer_if_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(Access("127.0.0.1", 1, "t"), Collections(tmp_path, []), pairings=Pairings(tmp_path / "kept"))
    assert desk.pairings is not None
    desk.pairings.new_code(desk.clock())
    elapsed = time.monotonic() + CODE_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: elapsed)
    with pytest.raises(BadUsage, match="no valid code"):
        desk.pairings.pair("chrome-extension://abc", desk.clock())
