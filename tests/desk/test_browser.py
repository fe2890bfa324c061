"""The desk in a real browser: first visit to first collection, steering, labels, why not, search, hostile text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import STEERED
from scenthound.search import index_folder
from scenthound.store.lock import holder
from support.desk import browser_page, chromium, desk_process
from support.desk_pages import addresses, experiment, page_routes, shown_folders
from support.running_crawl import WEB, command, pages, served, until
from support.small_crawl import small_crawl
from support.suites import Suites

pytestmark = pytest.mark.slow
LONG = "http://" + "a" * 60 + ".test/" + "b" * 300


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    chromium()


def text_of(page: Any, selector: str) -> str:
    return str(page.inner_text(selector))


def test_from_the_first_visit_to_a_collection_that_is_steered_labelled_and_searched(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        served(tmp_path / "log.jsonl") as proxy,
        desk_process(home, "--set", f"proxy={proxy}", "--set", "delay=0.2") as address,
        browser_page() as page,
    ):
        page.goto(address)
        assert "token" not in page.url
        page.click("button.primary")
        assert text_of(page, "#start-error") == "Enter what you are looking for."
        page.fill("#topic", WEB.topics[0].keywords)
        page.fill("#seeds", "\n".join(WEB.topics[0].seeds))
        page.fill("#pages", "2000")
        page.click("button.primary")
        page.wait_for_url(re.compile("/c/"))
        (folder,) = [path for path in home.iterdir() if path.is_dir()]
        try:
            _steer(page, folder)
            _label(page, folder)
            _explain(page)
            _search(page)
        finally:
            if holder(folder) is not None:
                command("control", str(folder), "stop")
                until(lambda: holder(folder) is None, "the crawl did not stop")


def _steer(page: Any, folder: Path) -> None:
    until(lambda: int(text_of(page, "#pages")) >= 10, "there are no pages")
    page.click("[data-action=pause]")
    page.wait_for_selector("#state .paused")
    before = pages(folder)
    page.click("[data-do=more]")
    page.fill("#order-budget", "1234")
    page.click("[data-order=budget] button")
    until(lambda: text_of(page, "#budget") == "1,234", "the budget did not change")
    page.fill("#order-block", "ads.test")
    page.click("[data-order=block] button")
    page.wait_for_selector("#blocked >> text=ads.test is blocked")
    page.click("#blocked button")
    page.wait_for_selector("#blocked li", state="detached")
    page.click("[data-action=continue]")
    page.wait_for_selector("#state .running")
    until(lambda: pages(folder) > before + 5, "it did not go on")
    with CrawlFolder.look(folder) as opened:
        steered = [event.facts["action"] for event in opened.history.strategy_events(STEERED)]
    assert steered == ["pause", "budget", "block", "unblock", "continue"]
    page.wait_for_selector("#new-bar:visible")
    page.click("#new-bar")
    page.wait_for_selector(".result:focus")


def _label(page: Any, folder: Path) -> None:
    page.keyboard.press("j")
    focused = page.evaluate("document.activeElement.dataset.url")
    page.keyboard.press("y")
    page.wait_for_selector(".result:focus [data-on-topic=true][aria-pressed=true]")

    def labels() -> dict[str, bool]:
        with CrawlFolder.look(folder) as opened:
            return {str(url): on_topic for url, on_topic in opened.database.labels().items()}

    assert until(labels, "there is no label") == {focused: True}


def _explain(page: Any) -> None:
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/page"))
    assert "Why this page is here" in text_of(page, "main")
    copy = page.frame_locator("iframe.copy").locator("body")
    assert copy.inner_text().strip()
    waiting = page.locator("td.waiting").first
    if waiting.count():
        waiting.locator("xpath=../td[1]/a").click()
        page.wait_for_url(re.compile("/page"))
        assert re.search(r"Number [\d,]+ of [\d,]+|Why this page is here", text_of(page, "main"))


def _search(page: Any) -> None:
    page.click("nav >> text=Search")
    page.wait_for_url(re.compile("/search"))

    def found() -> bool:
        page.fill("#search-box", "balloon*")
        with page.expect_navigation():
            page.press("#search-box", "Enter")
        return bool(page.locator(".results mark").count())

    until(found, "the index did not follow")
    assert "Ranking: text match 60 %, relevance to the topic 40 %." in text_of(page, ".found")
    page.click("text=more like this >> nth=0")
    page.wait_for_url(re.compile("like="))


def test_why_not_answers_for_pages_that_were_never_met(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with desk_process(tmp_path / "home", str(folder)) as address, browser_page() as page:
        page.goto(address)
        page.click(".collections a")
        page.click("nav >> text=Why not?")
        page.fill("#url", "http://elsewhere.test/page")
        page.click("button.primary")
        assert "Never found" in text_of(page, "main")
        page.fill("#url", "http://d.test/gone")
        page.click("button.primary")
        assert "not found (404)" in text_of(page, "main")
        page.click("nav >> text=Pages")
        page.click("#failed a")
        page.wait_for_url(re.compile("/failed"))
        assert "d.test/gone" in text_of(page, "main")


def test_reading_works_without_scripts(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    index_folder(folder)
    with desk_process(tmp_path / "home", str(folder)) as address, browser_page(java_script_enabled=False) as page:
        page.goto(address.partition("#")[0])
        page.click(".collections a")
        assert page.locator(".result").count() == 4
        page.fill("#search-box", "cars")
        page.press("#search-box", "Enter")
        assert page.locator(".result mark").count() >= 2
        page.click(".result h3 a >> nth=0")
        assert "Why this page is here" in text_of(page, "main")


def test_the_lists_of_pages_name_every_page() -> None:
    assert page_routes() == set(addresses(""))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("pyarrow", "scipy"):
        pytest.importorskip(package)
    return experiment(tmp_path_factory.mktemp("experiment"))


def _visited(page: Any, base: str, start: str, begins: str | tuple[str, ...] = "/") -> Iterator[str]:
    """Visit every page whose address begins so, and give its address."""
    for path in (*itertools.chain.from_iterable(addresses(start).values()), "/nowhere"):
        if path.startswith(begins):
            page.goto(base + path)
            yield path


def test_every_page_has_contrast_names_for_its_fields_and_fits_the_window(tmp_path: Path, lab: Path) -> None:
    web = {LONG: ("T" * 200, "balloons " + "x" * 400, ["http://a.test/"]), "http://a.test/": ("A", "balloons", [])}
    folders = shown_folders(tmp_path, lab, web)
    with desk_process(tmp_path / "home", *folders) as address, browser_page(may_fail=True) as page:
        page.goto(address)
        for path in _visited(page, address.partition("/#")[0], LONG):
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(CONTRAST) == [], f"{path}, {scheme}"
            assert page.evaluate(NAMELESS) == [], path
            for width in (400, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path}, {width} wide"


def test_hostile_text_is_shown_as_text_on_every_page(tmp_path: Path, lab: Path, suites: Suites) -> None:
    found = suites.cases("payloads/own", "payloads/dompurify_xss")
    payloads = [entry["payload"] for entry in found if entry.get("payload")]
    hub = "http://a.test/"
    web = {hub: ("hub", " ".join(payloads[:40]), [f"http://a.test/{n}" for n in range(len(payloads))])}
    for n, payload in enumerate(payloads):
        web[f"http://a.test/{n}"] = (payload[:500] or "x", f"balloons {payload}", [f"http://b.test/{payload[:80]}"])
    folders = shown_folders(tmp_path, lab, web, len(payloads) + 1)
    with desk_process(tmp_path / "home", *folders) as address, browser_page(may_fail=True) as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        base = address.partition("/#")[0]
        own = set()
        page.on("request", lambda request: own.add(request.url.split("/")[2]))
        for _ in _visited(page, base, hub, ("/c/crawl", "/c/spiders", "/?")):  # all that has text of the web
            page.wait_for_load_state()
        every = max(1, len(payloads) // 30)
        for path in (
            "search?q=balloons&limit=100",
            *(f"page?url=http://a.test/{n}" for n in range(0, len(payloads), every)),
            *(f"portal/p/{n}.html" for n in range(1, len(payloads), every)),
        ):
            page.goto(f"{base}/c/crawl/{path}")
            page.wait_for_load_state()
        assert dialogs == []
        assert own == {base.partition("://")[2]}, "nothing is loaded from elsewhere"


CONTRAST = """() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const solid = (node) => { for (; node; node = node.parentElement) {
    const c = parse(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return canvas; };
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.background = 'Canvas';
  const canvas = parse(getComputedStyle(probe).backgroundColor);
  probe.remove();
  const bad = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest('.skip, .hidden')) continue;
    const a = light(parse(getComputedStyle(node).color)), b = light(solid(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${node.tagName}.${node.className} ${node.textContent} ${ratio}`);
  }
  return bad;
}"""
NAMELESS = """() => [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, iframe')]
  .filter((node) => !(node.labels?.length || node.getAttribute('aria-label') || node.title || node.textContent.trim())
    && node.id !== 'new-bar')
  .map((node) => node.outerHTML.slice(0, 80))"""
