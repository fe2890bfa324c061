"""The report and stored copies in a browser: nothing is cut off on a narrow screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.report.crawl_report import write_report
from support.desk import browser_page
from support.small_crawl import small_crawl

# Text outside the window that can't be scrolled to: its box, or one around it, ends further right than the window, and
# none of those around it scrolls sideways.
CUT_OFF = """() => {
  const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.body.querySelectorAll("*")]
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("svg") && !scrolls(e))
    .map((e) => e.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_of_a_report_is_cut_off(tmp_path: Path, width: int) -> None:
    long = "http://" + "a" * 60 + ".test/" + "b" * 300
    web = {
        long: ("T" * 200, "hot air balloons " + "x" * 400, ["http://b.test/", "http://gone.test/" + "c" * 200]),
        "http://b.test/": ("Hot air balloons", "hot air balloons fly", []),
    }
    folder = small_crawl(tmp_path / "crawl", web)
    with CrawlFolder.look(folder) as opened:
        pages = [write_report(opened), *sorted((folder / "copies").iterdir())]
    assert len(pages) == 3
    with browser_page() as page:
        page.set_viewport_size({"width": width, "height": 800})
        for path in pages:
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            assert page.evaluate(CUT_OFF) == [], path.name
