"""The map, the tree of agents, an experiment, and what a label does, in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scenthound.desk import live_queries
from scenthound.desk.agent_data import population_of
from scenthound.desk.map_pages import map_of
from scenthound.loop.folder import CrawlFolder
from support.desk import browser_page, chromium, desk_process
from support.running_crawl import crawling, pages, served, until
from support.small_crawl import small_crawl

pytestmark = pytest.mark.slow
HUB = "http://hub.test/"
WORDS = "hot air balloons"
COLOURED = """(canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
  return colours.size;
}"""


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    chromium()


def web() -> dict[str, tuple[str, str, list[str]]]:
    links = [f"http://h{n % 7}.test/{n}" for n in range(60)]
    pages_ = {HUB: (WORDS, WORDS, links)}
    for n, url in enumerate(links):
        words = WORDS if n % 2 else "cars and trains"
        pages_[url] = (f"page {n}", f"{words} {n}", [links[(n + 1) % 60], HUB])
    return pages_


class Shown(NamedTuple):
    """A desk with what does not change, and a page of a browser before it."""

    page: Any
    base: str
    home: Path


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    chromium()
    home = tmp_path_factory.mktemp("pictures")
    small_crawl(home / "crawl", web())
    small_crawl(home / "single", {HUB: (WORDS, WORDS, [])})
    folders = (str(home / "crawl"), str(home / "single"))
    with desk_process(home / "home", *folders) as address, browser_page(accept_downloads=True) as page:
        page.goto(address)
        yield Shown(page, address.partition("/#")[0], home)


def chosen(page: Any) -> str:
    return str(page.inner_text("#map-selected"))


def test_the_map_shows_pages_replays_the_crawl_and_is_used_with_mouse_and_keyboard(shown: Shown) -> None:
    page, found = shown.page, map_of(shown.home / "crawl")
    page.goto(f"{shown.base}/c/crawl")
    page.click("nav >> text=Map")
    page.wait_for_selector(f"#map[data-pages='{len(found['pages'])}']")
    canvas = page.locator("#map")
    until(lambda: canvas.evaluate(COLOURED) > 10, "nothing was drawn")
    drawn = canvas.screenshot()
    page.locator("#map-time").fill("1")
    assert page.inner_text("#map-time-words").startswith("page 1,")
    page.wait_for_timeout(300)
    assert canvas.screenshot() != drawn, "one page is another picture"
    page.click("#map-play")
    until(lambda: page.input_value("#map-time") == str(len(found["pages"])), "it was not replayed", 30)
    canvas.focus()
    page.keyboard.press(".")
    assert "Page 1," in chosen(page)
    page.keyboard.press(".")
    assert "Page 2," in chosen(page)
    page.click("#map-list button >> nth=0")
    page.click("#map-list button >> nth=0")
    assert "on topic" in chosen(page)
    page.click("#map-selected a")
    page.wait_for_url(re.compile("/page"))


def test_a_click_on_the_map_selects_the_page_at_that_point(shown: Shown) -> None:
    page = shown.page
    page.goto(f"{shown.base}/c/single/map")
    page.wait_for_selector("#map[data-pages='1']")
    page.wait_for_timeout(200)
    page.click("#map")  # the only page is in the middle
    assert HUB in chosen(page)
    page.click("#map", position={"x": 5, "y": 5})
    assert "Select a page" in chosen(page)


def test_no_two_hosts_of_the_map_overlap_and_the_layout_is_always_the_same(shown: Shown) -> None:
    script = """async () => {
      const { layout } = await import('/static/map_layout.js');
      let luck = 7;
      const random = () => { luck = (luck * 16807) % 2147483647; return luck / 2147483647; };
      const pages = Array.from({ length: 4000 }, (_, n) => ({ n: n + 1, host: `h${Math.floor(600 * random() ** 3)}` }));
      const copy = pages.map((page) => ({ ...page }));
      const discs = layout(pages);
      layout(copy);
      let overlaps = 0;
      for (const one of discs) for (const other of discs) {
        if (one !== other && Math.hypot(one.x - other.x, one.y - other.y) < one.r + other.r - 0.001) overlaps += 1;
      }
      const isOutside = (disc) => disc.pages.some((page) => Math.hypot(page.x - disc.x, page.y - disc.y) > disc.r);
      const outside = discs.some(isOutside);
      const same = pages.every((page, at) => page.x === copy[at].x && page.y === copy[at].y);
      return { hosts: discs.length, overlaps, outside, same };
    }"""
    shown.page.goto(shown.base)
    found = shown.page.evaluate(script)
    assert found["hosts"] > 300
    assert (found["overlaps"], found["outside"], found["same"]) == (0, False, True)


def test_the_tree_of_agents_grows_while_the_crawl_runs(shown: Shown, tmp_path: Path) -> None:
    folder, page = tmp_path / "spiders", shown.page
    with (
        served(tmp_path / "log.jsonl") as proxy,
        crawling(
            folder,
            proxy,
            "--strategy",
            "infospiders",
            "--pages",
            "2000",
            "--set",
            "delay=0.02",
            "--set",
            "population=64",
        ),
        desk_process(tmp_path / "home", str(folder)) as address,
    ):
        page.goto(address)
        page.click(".collections a")
        page.click("nav >> text=Agents")

        def agents() -> int:
            return int(page.locator("#tree").get_attribute("data-agents") or 0)

        first = until(agents, "there is no tree")
        before = pages(folder)
        until(lambda: agents() > first, f"it did not grow, after {before} pages", 90)
        page.click("main table a >> nth=0")
        page.wait_for_url(re.compile(r"/agents/\d+$"))
        assert "Weights of its network" in page.inner_text("main") or "Its words" in page.inner_text("main")
        page.goto("about:blank")  # before the desk ends
    assert population_of(folder)["total"] > first


def test_an_experiment_is_chosen_from_and_saved(shown: Shown, tmp_path: Path) -> None:
    for package in ("pyarrow", "scipy"):
        pytest.importorskip(package)
    from scenthound.lab.generate.simple_web import generate
    from scenthound.lab.measure.compare_crawlers import measure_if_stale
    from scenthound.lab.run.experiment import RunOptions, run

    generate(tmp_path / "bed", 200, 3)
    measure_if_stale(run(tmp_path / "bed", "breadth-first,best-first", tmp_path / "first", RunOptions(pages=30)))
    page = shown.page
    page.goto(shown.base)
    page.fill("#folder", str(tmp_path / "first"))
    page.click("#open button")
    page.wait_for_url(re.compile("/lab/first"))
    assert "best-first" in page.inner_text("#tests")
    page.select_option("#metric", "harvest_rate")
    page.click("#lab button.primary")
    page.wait_for_url(re.compile("metric=harvest_rate"))
    assert "harvest_rate" in page.inner_text("#tests")
    for picture in page.locator("img.chart").all():
        picture.scroll_into_view_if_needed()
        until(lambda one=picture: one.evaluate("(image) => image.naturalWidth"), "the picture is broken")
    with page.expect_download() as saved:
        page.click("#curves >> text=CSV")
    assert saved.value.suggested_filename == "harvest-rate-curves.csv"


def test_a_label_changes_the_order_of_the_waiting_list(shown: Shown, tmp_path: Path) -> None:
    folder, page = tmp_path / "crawl", shown.page

    def waiting() -> list[str]:
        with CrawlFolder.look(folder) as opened:
            return [one.url for one in live_queries.first_waiting(opened.database, 100)]

    with (
        served(tmp_path / "log.jsonl") as proxy,
        crawling(folder, proxy, "--strategy", "hound", "--pages", "2000"),
        desk_process(tmp_path / "home", str(folder)) as address,
    ):
        page.goto(address)
        page.click(".collections a")
        until(lambda: pages(folder) >= 60, "there are too few pages")
        page.click("[data-action=pause]")
        page.wait_for_selector("#state .paused")
        page.click("[data-order-by=best]")
        page.wait_for_selector("#results .result")
        before = until(lambda: _settled(waiting), "the waiting list does not settle")
        page.locator("#results .result").first.focus()
        page.keyboard.press("n")
        page.wait_for_selector("#results [data-on-topic=false][aria-pressed=true]")
        until(lambda: waiting() != before, "the order is the same")
        assert set(waiting()) & set(before), "the same URLs in another order"
        page.goto("about:blank")  # before the desk ends


def _settled(look: Any) -> Any:
    """What `look` returns once it returns the same for a second: requests in flight have landed."""
    first = look()
    time.sleep(1.0)
    return first if look() == first else None
