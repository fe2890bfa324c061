"""Build the tree of a site: each page is below the page it was found on; branches with no page on topic are folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenthound import url as urls
from scenthound.desk import live_queries
from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.looking_for import SITES
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.plugin_calls import USUAL_THRESHOLD
from scenthound.model import Url

MOST_PAGES = 10_000
LONGEST_TITLE = 120


@dataclass(slots=True, eq=False)
class Branch:
    """A page and the pages found from it."""

    n: int
    url: Url
    title: str
    relevance: float
    on_topic: bool
    anchor: str = ""
    """Text of the link to this page."""
    time: float = 0.0
    children: list[Branch] = field(default_factory=list)
    pages_below: int = 0
    found_below: int = 0
    """Pages on topic among `pages_below`."""
    folded: int = 0
    """Pages in off-topic branches below this page, which are not in `children`."""

    @property
    def folded_label(self) -> str:
        """The number of folded pages, as a phrase."""
        return f"{self.folded:,} off-topic {'page' if self.folded == 1 else 'pages'}"

    def as_plain(self) -> dict[str, Any]:
        """Return JSON data, without the children."""
        return {
            "n": self.n,
            "url": self.url,
            "title": self.title,
            "relevance": round(self.relevance, 4),
            "on_topic": self.on_topic,
            "pages_below": self.pages_below,
            "on_topic_below": self.found_below,
            "folded": self.folded,
        }


@dataclass(frozen=True, slots=True)
class SiteMap:
    """The map of a crawl: its front page and the pages found from there."""

    topic: str
    site: str
    roots: Sequence[Branch]
    pages: int
    on_topic: int

    def rows(self) -> Iterator[tuple[int, Branch]]:
        """Yield the branches in display order, each with its depth."""
        stack = [(0, branch) for branch in reversed(self.roots)]
        while stack:
            depth, branch = stack.pop()
            yield depth, branch
            stack += [(depth + 1, child) for child in reversed(branch.children)]

    def as_plain(self) -> dict[str, Any]:
        """Return JSON data: the branches in display order, each with its depth."""
        branches = [{"depth": depth, **branch.as_plain()} for depth, branch in self.rows()]
        facts = {"topic": self.topic, "site": self.site, "pages": self.pages, "on_topic": self.on_topic}
        return {**facts, "branches": branches}


def site_map(folder: CrawlFolder, unfolded: bool = False) -> SiteMap:
    """Build the map of a crawl; `unfolded` keeps every page. Raises `BadUsage` if there are no pages yet."""
    request = folder.request
    query = live_queries.Wanted("best", limit=MOST_PAGES)
    rows = live_queries.pages(folder.database, query)
    if not rows:
        raise BadUsage(
            "this crawl has no pages yet", f"wait, or find out why: scenthound status {printable(str(folder.path))}"
        )
    if request.topic.looking_for == SITES:  # there only home pages count, but a map shows all pages on the topic
        least = request.settings.relevant or USUAL_THRESHOLD
        rows = [row._replace(relevant=int(row.relevant or row.relevance >= least)) for row in rows]
    site = urls.host(request.keyed_seeds()[0][0])
    return tree_of(rows, live_queries.redirects(folder.database), request.topic.keywords, site, unfolded)


def tree_of(
    rows: Sequence[live_queries.PageRow], moved: dict[Url, Url], topic: str, site: str, unfolded: bool = False
) -> SiteMap:
    """Build the tree of these pages. A page whose parent is not among them goes below the first root."""
    branches = {
        row.url: Branch(
            row.n,
            row.url,
            printable(row.title, LONGEST_TITLE),
            min(max(row.relevance, 0.0), 1.0),
            bool(row.relevant),
            printable(row.anchor or "", LONGEST_TITLE),
            row.time,
        )
        for row in sorted(rows, key=lambda row: row.n)
    }
    parents = {row.url: row.parent for row in rows}
    roots: list[Branch] = []
    for url, branch in branches.items():
        parent = _parent_branch(parents[url], branches, moved)
        if parent is not None and parent.n < branch.n:
            parent.children.append(branch)
        elif roots and urls.host(url) == site and parents[url] is not None:
            roots[0].children.append(branch)
        else:
            roots.append(branch)
    for branch in reversed(branches.values()):  # a child has a larger number than its parent
        _count(branch, unfolded)
    on_topic = sum(branch.on_topic for branch in branches.values())
    return SiteMap(topic, site, roots, len(branches), on_topic)


def _parent_branch(parent: Url | None, branches: dict[Url, Branch], moved: dict[Url, Url]) -> Branch | None:
    """Return the branch of the page that a page was found on, following redirects."""
    visited: set[Url] = set()
    while parent is not None and parent not in branches and parent in moved and parent not in visited:
        visited.add(parent)
        parent = moved[parent]
    return None if parent is None else branches.get(parent)


def _count(branch: Branch, unfolded: bool) -> None:
    """Count the pages below a branch whose children are already counted; fold off-topic children, sort the others."""
    branch.pages_below = sum(1 + child.pages_below for child in branch.children)
    branch.found_below = sum(child.on_topic + child.found_below for child in branch.children)
    if not unfolded:
        kept = [child for child in branch.children if child.on_topic or child.found_below]
        branch.folded = branch.pages_below - sum(1 + child.pages_below for child in kept)
        branch.children = kept
    branch.children.sort(key=lambda child: (-(child.on_topic + child.found_below), -child.relevance, child.n))
