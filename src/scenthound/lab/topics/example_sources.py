"""Collects example pages from URLs, bookmarks, files or a crawl.

URLs are fetched as in any crawl, with robots.txt, delays, and no access to private networks, or looked up in a web that
is already recorded.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from scenthound import url as urls
from scenthound.errors import BadConfig, BadUsage, from_os_error
from scenthound.lab.run.lesson_sources import Source
from scenthound.lab.run.topic_lessons import page_at
from scenthound.lab.topics.taxonomies import PAGES, category_files, page_on_disk
from scenthound.loop.crawl_toml import check_seeds, read_seeds
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.ports import Fetcher
from scenthound.wiring import page_limits
from scenthound.wiring.fetch_pages import GatheredPages, fetch_pages

MAX_EXAMPLES = 1_000  # of one topic
MAX_FROM_CRAWL = 50  # best pages of a crawl without labels
MAX_LIST = 20_000_000  # bytes of a list of URLs
_HINTS = {  # by reason
    ": refused-address": "--allow-private NET gives access to private networks, such as `loopback`",
    ": robots": "robots.txt forbids these pages: give others, or describe in words what you look for",
}
_HINT = "give URLs, a file with one URL per line, bookmarks, a folder of pages, or a crawl folder"


def gather(
    sources: Sequence[str],
    settings: Settings | None = None,
    known: Source | None = None,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> GatheredPages:
    """The pages of these sources, without duplicates. With `known`, URLs are looked up there instead of fetched.

    Raises `BadConfig` with the reasons if no page can be read.
    """
    gathered = GatheredPages()
    to_fetch: dict[Url, str] = {}
    for source in sources:
        for item in _read_source(source, gathered):
            if isinstance(item, Page):
                gathered.pages.append(item)
            else:
                to_fetch.setdefault(urls.make(item), item)
    if len(to_fetch) + len(gathered.pages) > MAX_EXAMPLES:
        raise BadConfig(
            f"{len(to_fetch) + len(gathered.pages):,} examples are too many", f"choose {MAX_EXAMPLES:,} of them"
        )
    if to_fetch and known is not None:
        _look_up(to_fetch, known, gathered)
    elif to_fetch:
        fetched = asyncio.run(fetch_pages(to_fetch, settings or Settings(), fetcher, tick))
        gathered.pages += fetched.pages
        gathered.problems += fetched.problems
    with_text = [page for page in gathered.pages if page.text.strip()]
    gathered.problems += [f"{page.url}: it has no text" for page in gathered.pages if not page.text.strip()]
    gathered.pages = list({page.url: page for page in with_text}.values())
    if not gathered.pages:
        lines = "".join(f"\n{problem}" for problem in gathered.problems[:10])
        hints = (hint for reason, hint in _HINTS.items() if any(reason in line for line in gathered.problems))
        raise BadConfig(f"no example can be read{lines}", next(hints, _HINT))
    return gathered


def _read_source(source: str, gathered: GatheredPages) -> Iterator[str | Page]:
    """The URLs or pages of one source."""
    if source.lower().startswith(("http://", "https://")):
        yield from check_seeds([("--examples", source)])
        return
    path = Path(source)
    if source == "-":
        yield from _urls_in(sys.stdin.buffer.read(MAX_LIST), "stdin")
    elif path.is_dir():
        yield from _pages_in_folder(path, gathered)
    elif not path.is_file():
        raise BadConfig(f"there are no examples at {source}", _HINT)
    else:
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_LIST)
        except OSError as error:
            raise from_os_error(
                error, path, BadConfig(f"{path} can't be read: {error.strerror}", "check the path")
            ) from None
        head = raw[:4096].lower()
        if path.suffix.lower() in PAGES and b"netscape-bookmark" not in head and b"<dt" not in head:
            page = page_on_disk(path, path.parent)
            yield from [] if page is None else [page]
        else:
            yield from _urls_in(raw, source)


def _urls_in(raw: bytes, where: str) -> list[str]:
    addresses = list(dict.fromkeys(read_seeds(raw.decode("utf-8-sig", "replace"), where)))
    if not addresses:
        raise BadConfig(f"there are no addresses in {where}", "give one per line, or a browser's bookmarks in HTML")
    return addresses


def _pages_in_folder(folder: Path, gathered: GatheredPages) -> Iterator[Page]:
    if (folder / "bed.toml").is_file():
        raise BadUsage(
            f"{folder} is a bed, and not all of its pages are examples", f"list URLs, and add --from {folder}"
        )
    if (folder / "crawl.toml").is_file():
        yield from _pages_of_crawl(folder, gathered)
        return
    for _, file in category_files(folder):
        page = page_on_disk(file, folder)
        if page is not None:
            yield page


def _pages_of_crawl(folder: Path, gathered: GatheredPages) -> Iterator[Page]:
    """The pages labelled as on topic; without labels, the relevant pages among the most similar."""
    with CrawlFolder.look(folder) as opened:
        labelled = [url for url, on_topic in opened.database.labels().items() if on_topic]
        relevant = [step.url for step in opened.history.best(MAX_FROM_CRAWL) if step.relevant]
        for url in labelled or relevant:
            where = opened.history.where(url)
            page = None
            if where is not None:
                page = land(Candidate(url, 0.0), opened.repository.get(where), page_limits(opened.request.settings))
            if isinstance(page, Page):
                yield page
            else:
                gathered.problems.append(f"{url}: the crawl has no such page")


def _look_up(requested: Iterable[Url], known: Source, gathered: GatheredPages) -> None:
    for url in requested:
        if (page := page_at(known.bed, url)) is not None:
            gathered.pages.append(page)
        else:
            gathered.problems.append(f"{url}: not in {known.name}")
