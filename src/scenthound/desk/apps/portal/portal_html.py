"""Generate a portal's HTML. All text from the web is escaped; the Content-Security-Policy forbids inline scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from scenthound import url as urls
from scenthound.desk.apps.portal.categories import PortalCategory
from scenthound.desk.apps.portal.collect import PortalPage
from scenthound.formats import printable
from scenthound.templates import link, text

PER_PAGE = 100
ON_HOME = 5
MOST_LINKS = 40
SHOWN_TEXT = 30_000  # characters
STATIC = {
    "look.css": "scenthound.report",
    "portal.css": "scenthound.desk.apps.portal",
    "search.js": "scenthound.desk.apps.portal",
}
"""Static files and the packages that contain them. The desk uses the same look.css."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'"
)


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
    yield "index.html", _home(site, members)
    yield "search.html", _search(site)
    for category in site.categories:
        yield from _category(site, category, members)
    for entry in site.entries.values():
        yield f"p/{entry.n}.html", _page(site, entry)


def static_file(name: str) -> bytes:
    return resources.files(STATIC[name]).joinpath("static", name).read_bytes()


def _document(site: Site, title: str, body: str, up: str = "", script: str = "") -> bytes:
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(printable(title, 200))} · {escape(printable(site.topic, 80))}</title>"
        f'<link rel="stylesheet" href="{up}assets/look.css"><link rel="stylesheet" href="{up}assets/portal.css">'
    )
    if script:
        head += f'<script type="module" src="{up}assets/{script}"></script>'
    top = (
        f'<header><a class="home" href="{up}index.html">{text(site.topic, 80)}</a>'
        f'<form role="search" action="{up}search.html"><input name="q" type="search" aria-label="Search" '
        'placeholder="Search"><button>Search</button></form></header>'
    )
    html = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{top}\n<main>\n{body}\n</main></body></html>\n'
    return html.encode("utf-8", "replace")


def _home(site: Site, members: Mapping[str, list[PortalPage]]) -> bytes:
    total = f"{len(site.entries):,} {'page' if len(site.entries) == 1 else 'pages'}"
    parts = [f"<h1>{text(site.topic, 200)}</h1><p>{total} in {len(site.categories)} categories.</p>"]
    parts += [_section(site, category, members, 2) for category in site.categories if not category.parent]
    return _document(site, "Home", "\n".join(parts))


def _section(site: Site, category: PortalCategory, members: Mapping[str, list[PortalPage]], level: int) -> str:
    """A category with its first pages, and its subcategories."""
    size, tag = _size(site, category, members), f"h{min(level, 6)}"
    shown = "".join(f"<li>{_page_link(entry, '')}</li>" for entry in members[category.id][:ON_HOME])
    below = "".join(
        _section(site, child, members, level + 1) for child in site.categories if child.parent == category.id
    )
    head = f'<{tag}><a href="c/{category.id}.html">{text(category.name, 120)}</a> <small>{size:,}</small></{tag}>'
    return f"<section>{head}{f'<ul>{shown}</ul>' if shown else ''}{below}</section>"


def _size(site: Site, category: PortalCategory, members: Mapping[str, list[PortalPage]]) -> int:
    below = (_size(site, child, members) for child in site.categories if child.parent == category.id)
    return len(members[category.id]) + sum(below)


def _search(site: Site) -> bytes:
    body = (
        '<h1>Search</h1><p id="said" role="status">Search needs JavaScript and a web server: '
        "it does not work on files opened from disk.</p>"
        '<ol id="found"></ol><button id="more" hidden>More</button>'
    )
    return _document(site, "Search", body, script="search.js")


def _category(
    site: Site, category: PortalCategory, members: Mapping[str, list[PortalPage]]
) -> Iterator[tuple[str, bytes]]:
    own = members[category.id]
    chunks = [own[begin : begin + PER_PAGE] for begin in range(0, len(own), PER_PAGE)] or [[]]
    below = "".join(
        f'<li><a href="{child.id}.html">{text(child.name, 120)}</a> <small>{_size(site, child, members):,}</small></li>'
        for child in site.categories
        if child.parent == category.id
    )
    for index, entries in enumerate(chunks):
        items = "".join(f"<li>{_page_link(entry, '../')}<br>{_about(entry)}</li>" for entry in entries)
        pages = "".join(
            f"<b>{other + 1}</b> " if other == index else f'<a href="{_name(category, other)}">{other + 1}</a> '
            for other in range(len(chunks))
        )
        body = f"<h1>{text(category.name, 200)}</h1>"
        body += f"<ul>{below}</ul>" if below else ""
        body += f'<ol class="list" start="{index * PER_PAGE + 1}">{items}</ol>' if items else ""
        body += f'<nav aria-label="Pagination">{pages}</nav>' if len(chunks) > 1 else ""
        yield f"c/{_name(category, index)}", _document(site, category.name, body, "../")


def _name(category: PortalCategory, index: int) -> str:
    return f"{category.id}.html" if not index else f"{category.id}_{index + 1}.html"


def _page_link(entry: PortalPage, up: str) -> str:
    return f'<a href="{up}p/{entry.n}.html">{text(entry.title or entry.url, 200)}</a>'


def _about(entry: PortalPage) -> str:
    authors = ", ".join(entry.authors[:3]) + (" and others" if len(entry.authors) > 3 else "")
    facts = [part for part in (authors, entry.date, urls.host(urls.make(entry.url))) if part]
    return f"<small>{text(' · '.join(facts), 300)}</small>"


def _page(site: Site, entry: PortalPage) -> bytes:
    category = next(category for category in site.categories if category.id == site.category_of[entry.n])
    facts = [f"By {text(', '.join(entry.authors), 600)}"] if entry.authors else []
    facts += [f'<time datetime="{escape(entry.date)}">{escape(entry.date)}</time>'] if entry.date else []
    facts += [f'in <a href="../c/{category.id}.html">{text(category.name, 120)}</a>', link(entry.url)]
    cut = entry.text[:SHOWN_TEXT]
    paragraphs = "\n".join(f"<p>{text(line, SHOWN_TEXT)}</p>" for line in cut.splitlines())
    if len(cut) < len(entry.text):
        paragraphs += f"<p>… {link(entry.url, 'Read the rest on the original page.')}</p>"
    referred = site.referred.get(entry.n, frozenset())
    body = (
        f"<article><h1>{text(entry.title or entry.url, 300)}</h1><p class=facts>{' · '.join(facts)}</p>{paragraphs}"
        "</article>"
        + _list(site, "Cites", site.cites.get(entry.n, ()), referred)
        + _list(site, "Cited by", site.cited_by.get(entry.n, ()))
        + _list(site, "Related", site.related.get(entry.n, ()))
    )
    return _document(site, entry.title or entry.url, body, "../")


def _list(site: Site, title: str, numbers: Sequence[int], referred: frozenset[int] = frozenset()) -> str:
    if not numbers:
        return ""
    notes = [" <small>in its references</small>" if number in referred else "" for number in numbers[:MOST_LINKS]]
    pairs = zip(numbers, notes, strict=False)
    shown = "".join(f"<li>{_page_link(site.entries[number], '../')}{note}</li>" for number, note in pairs)
    more = f"<p>and {len(numbers) - MOST_LINKS:,} more</p>" if len(numbers) > MOST_LINKS else ""
    return f"<section><h2>{title}</h2><ul>{shown}</ul>{more}</section>"
