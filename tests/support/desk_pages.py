"""Every page of the desk: its routes, and addresses that show each with something on it, empty, and failing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scenthound.desk.apps.portal.build_portal import build_portal
from scenthound.desk.web_app import ROUTES
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.compare_crawlers import measure_if_stale
from scenthound.lab.run.experiment import RunOptions, run
from scenthound.search import index_folder
from support.small_crawl import WEB, small_crawl

NO_PAGES = ("/api/", "/metrics", "/static/")


def page_routes() -> set[str]:
    """The paths of the routes that show a page."""
    return {route.path for route in ROUTES if not route.path.startswith(NO_PAGES)}


def addresses(start: str) -> Mapping[str, tuple[str, ...]]:
    """For each route of a page, addresses to visit. `start` is the first page of the crawl."""
    return {
        "/": ("/", "/?topic=balloons&source=collections:crawl"),
        "/ask": ("/ask", "/ask?q=balloons"),
        "/companion": ("/companion",),
        "/c/{name}": ("/c/crawl", "/c/crawl?order=best", "/c/crawl?on_topic=no", "/c/none"),
        "/c/{name}/failed": ("/c/crawl/failed", "/c/crawl/failed?reason=none"),
        "/c/{name}/waiting": ("/c/crawl/waiting", "/c/spiders/waiting"),
        "/c/{name}/hosts": ("/c/crawl/hosts", "/c/crawl/hosts?state=asleep", "/c/crawl/hosts?state=none"),
        "/c/{name}/not-followed": ("/c/crawl/not-followed", "/c/crawl/not-followed?host=a.test"),
        "/c/{name}/page": (f"/c/crawl/page?url={start}", "/c/crawl/page", "/c/crawl/page?url=x"),
        "/c/{name}/why": ("/c/crawl/why", f"/c/crawl/why?url={start}x", "/c/crawl/why?url=x"),
        "/c/{name}/copy": (f"/c/crawl/copy?url={start}", "/c/crawl/copy?url=http://never.test/"),
        "/c/{name}/search": (
            *("/c/crawl/search", "/c/crawl/search?q=balloons", "/c/crawl/search?q=nothingatall"),
            *('/c/crawl/search?q="open', f"/c/crawl/search?like={start}"),
        ),
        "/c/{name}/map": ("/c/crawl/map",),
        "/c/{name}/site-map": ("/c/crawl/site-map", "/c/crawl/site-map?folded=no"),
        "/c/{name}/related": ("/c/crawl/related",),
        "/c/{name}/agents": ("/c/spiders/agents", "/c/crawl/agents"),
        "/c/{name}/agents/{agent}": ("/c/spiders/agents/0", "/c/spiders/agents/99999"),
        "/c/{name}/portal": ("/c/crawl/portal", "/c/spiders/portal"),
        "/c/{name}/portal/{file:path}": ("/c/crawl/portal/index.html", "/c/crawl/portal/search.html"),
        "/lab/{name}": ("/lab/lab", "/lab/none"),
    }


Web = Mapping[str, tuple[str, str, list[str]]]


def experiment(home: Path) -> Path:
    """A small experiment called `lab`."""
    generate(home / "bed", 120, 3)
    measure_if_stale(run(home / "bed", "breadth-first,best-first", home / "lab", RunOptions(pages=20)))
    return home / "lab"


def shown_folders(home: Path, lab: Path, web: Web = WEB, pages: int = 50) -> list[str]:
    """A crawl with an index and a portal, a crawl with agents, and an experiment, for `addresses`."""
    folder = small_crawl(home / "crawl", web, pages=pages)
    spiders = small_crawl(home / "spiders", web, strategy="infospiders", pages=min(pages, 60))
    index_folder(folder)
    build_portal(folder)
    return [str(folder), str(spiders), str(lab)]
