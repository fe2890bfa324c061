"""Generate the files of a portal from its templates, whose Content-Security-Policy forbids inline scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from scenthound import url as urls
from scenthound.desk.apps.portal.categories import PortalCategory
from scenthound.desk.apps.portal.collect import PortalPage
from scenthound.templates import environment

PER_PAGE = 100
STATIC = {
    "look.css": "scenthound.report",
    "portal.css": "scenthound.desk.apps.portal",
    "search.js": "scenthound.desk.apps.portal",
}
"""Static files and the packages that contain them. The desk uses the same look.css."""


@dataclass(frozen=True, slots=True)
class Site:
    """The content of the portal."""

    topic: str
    categories: Sequence[PortalCategory]
    entries: Mapping[int, PortalPage]
    category_of: Mapping[int, str]
    """Page number -> id of its category."""
    cites: Mapping[int, Sequence[int]]
    cited_by: Mapping[int, Sequence[int]]
    referred: Mapping[int, frozenset[int]]
    """The subset of `cites` found in reference lists."""
    related: Mapping[int, Sequence[int]]

    def members(self, category: str) -> list[PortalPage]:
        """The pages of a category, most relevant first, without the pages of its subcategories."""
        own = (entry for number, entry in self.entries.items() if self.category_of[number] == category)
        return sorted(own, key=lambda entry: (-entry.relevance, entry.n))


def site_files(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield every HTML and static file as (name, content)."""
    for name in STATIC:
        yield f"assets/{name}", static_file(name)
    members = {category.id: site.members(category.id) for category in site.categories}
    sizes = {category.id: _size(site, category, members) for category in site.categories}

    def page(template: str, **values: Any) -> bytes:
        html = TEMPLATES.get_template(template).render(site=site, members=members, sizes=sizes, **values)
        return html.encode("utf-8", "replace")

    yield "index.html", page("index.html")
    yield "search.html", page("search.html")
    for category in site.categories:
        own = members[category.id]
        starts = range(0, max(1, len(own)), PER_PAGE)
        files = [f"{category.id}{f'_{index + 1}' if index else ''}.html" for index in range(len(starts))]
        for file, start in zip(files, starts, strict=True):
            shown = {"entries": own[start : start + PER_PAGE], "first": start + 1, "files": files, "here": file}
            yield f"c/{file}", page("category.html", category=category, **shown)
    categories = {category.id: category for category in site.categories}
    for entry in site.entries.values():
        yield f"p/{entry.n}.html", page("page.html", entry=entry, category=categories[site.category_of[entry.n]])


def static_file(name: str) -> bytes:
    return resources.files(STATIC[name]).joinpath("static", name).read_bytes()


def _size(site: Site, category: PortalCategory, members: Mapping[str, list[PortalPage]]) -> int:
    below = (_size(site, child, members) for child in site.categories if child.parent == category.id)
    return len(members[category.id]) + sum(below)


def _about(entry: PortalPage) -> str:
    """Authors, date and host of a page."""
    authors = ", ".join(entry.authors[:3]) + (" and others" if len(entry.authors) > 3 else "")
    return " · ".join(part for part in (authors, entry.date, urls.host(urls.make(entry.url))) if part)


TEMPLATES = environment("scenthound.desk.apps.portal")
TEMPLATES.filters["about"] = _about
