"""The companion in Firefox: installed for a session, paired, switched on, and it suggests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.desk.apps.companion import extension_folder
from support.companion import PAGES, companion_process
from support.firefox import firefox
from support.running_crawl import WEB, served, until

pytestmark = pytest.mark.slow
ID = "companion@scenthound.invalid"


def test_firefox_loads_pairs_and_suggests(tmp_path: Path) -> None:
    profile = tmp_path / "kept" / "profile.json"
    with (
        served(tmp_path / "log.jsonl") as proxy,
        companion_process(tmp_path / "kept", "--port", "0", "--delay", "0.1", "--set", f"proxy={proxy}") as printed,
        firefox(tmp_path / "profile", proxy) as browser,
    ):
        pages = browser.install(extension_folder())
        browser.grant(ID, ["bookmarks"], [*PAGES, "http://127.0.0.1/*"])
        panel = browser.new_tab()
        browser.goto(f"{pages}/options.html")
        browser.run("document.getElementById('code').value = arguments[0]", printed["code"])
        browser.click("#pairing button")
        said = "return document.getElementById('said').textContent"
        until(lambda: "Paired" in browser.run(said), "it was not paired")
        browser.goto(f"{pages}/panel.html")
        browser.click("#switch")
        until(lambda: browser.run("return document.getElementById('switch').textContent") == "On", "it stays off")
        browser.new_tab()
        browser.goto(WEB.topics[0].seeds[0])
        until(lambda: profile.exists() and json.loads(profile.read_text())["pages"] == 1, "the page was not sent")
        browser.switch(panel)
        count = "return document.querySelectorAll('#suggestions li').length"
        until(lambda: browser.run(count) >= 3, "there are no suggestions")
