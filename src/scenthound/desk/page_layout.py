"""Building blocks shared by all pages of the desk: page frame, navigation, terms, results, cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from scenthound.desk.markup import Content, Markup, element, join
from scenthound.report.miss_reasons import in_words

LONGEST_URL = 72
TECHNICAL = {
    "on-topic share": "harvest rate",
    "waiting list": "frontier",
    "starting pages": "seeds",
    "not followed": "refused links",
    "exploratory pages": "exploration rate",
}


def page(title: str, *content: Content, script: str = "", nav: Content = None) -> str:
    """Return the HTML of a complete page. `script` is the name of its JavaScript module, without `.js`."""
    head = join(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Scenthound"),
        element("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href="/static/look.css"),
        element("link", rel="stylesheet", href="/static/desk.css"),
        element("script", type="module", src="/static/desk.js"),
        element("script", type="module", src=f"/static/{script}.js") if script else None,
    )
    top = element(
        "header",
        element("a", "Skip to content", href="#content", class_="skip"),
        element("a", element("span", "◗", class_="mark", aria_hidden="true"), "Scenthound", href="/", class_="brand"),
        element("nav", nav, aria_label="This collection") if nav is not None else None,
        element(
            "button",
            "?",
            type="button",
            class_="quiet",
            data_do="help",
            aria_label="Keyboard shortcuts and help",
            title="?",
        ),
        class_="top",
    )
    body = element("body", top, element("main", *content, id="content", tabindex=-1), _help(), _messages())
    return f"<!doctype html>\n{element('html', element('head', head), body, lang='en')}"


def _messages() -> Markup:
    return element("div", id="messages", role="status", aria_live="polite")


def _help() -> Markup:
    keys = [
        ("/", "search this collection"),
        ("j k", "next or previous result"),
        ("y n", "label on topic or off topic"),
        ("o", "open the stored copy"),
        ("Enter", "why this page is here"),
        ("?", "show this help"),
    ]
    rows = [
        (element("dt", *[element("kbd", key) for key in names.split()]), element("dd", action))
        for names, action in keys
    ]
    terms = element(
        "label", element("input", type="checkbox", id="technical"), " Use technical terms (harvest rate, frontier, …)"
    )
    close = element("form", element("button", "Close"), method="dialog")
    return element(
        "dialog", element("h2", "Keyboard shortcuts"), element("dl", *rows, class_="keys"), terms, close, id="help"
    )


def term(plain: str) -> Markup:
    """A plain term, with the technical term in the tooltip."""
    technical = TECHNICAL[plain]
    return element(
        "span", plain, class_="term", data_plain=plain, data_technical=technical, title=f"also called: {technical}"
    )


COLLECTION_PAGES = {
    "": "Pages",
    "/map": "Map",
    "/site-map": "Site map",
    "/related": "Related",
    "/agents": "Agents",
    "/search": "Search",
    "/portal": "Portal",
    "/why": "Why not?",
}


def collection_nav(name: str, here: str, without: Collection[str] = ()) -> Markup:
    """Navigation links to the pages of a collection, except those in `without`."""
    return join(
        *(
            element("a", label, href=f"/c/{quote(name)}{path}", aria_current="page" if path == here else None)
            for path, label in COLLECTION_PAGES.items()
            if path not in without
        )
    )


def collection_address(name: str, **query: str) -> str:
    """The path of the main page of a collection."""
    return f"/c/{quote(name)}?{urlencode(query)}"


def address(name: str, page: str, **query: str) -> str:
    """The path of another page of a collection."""
    return f"/c/{quote(name)}/{page}?{urlencode(query)}"


def short(url: str, most: int = LONGEST_URL) -> str:
    """A URL without its scheme, shortened in the middle.

    >>> short("https://example.org/a/very/long/path/to/a/page.html", 28)
    'example.org/a/ve/…/page.html'
    """
    bare = url.partition("://")[2] or url
    if len(bare) <= most:
        return bare
    end = bare.rstrip("/").rpartition("/")[2][-most // 2 :]
    return f"{bare[: most - len(end) - 3].rstrip('/')}/…/{end}"


def url_shown(url: str, most: int = LONGEST_URL) -> Markup:
    return element("span", short(url, most), class_="url", title=url)


def marked_snippet(parts: Sequence[Mapping[str, Any]]) -> list[Markup | str]:
    """A snippet with its search terms marked."""
    return [element("mark", part["text"]) if part["marked"] else str(part["text"]) for part in parts]


def relevance_mark(relevance: float, on_topic: bool) -> Markup:
    """The relevance of a page, with a filled dot for on topic or a hollow one for off topic."""
    verdict = "on topic" if on_topic else "off topic"
    return element(
        "span",
        element("span", "●" if on_topic else "○", class_="shape", aria_hidden="true"),
        f"{relevance:.2f}",
        class_=f"score {'on' if on_topic else 'off'}",
        title=f"{verdict}: relevance {relevance:.3f} of 1",
        aria_label=f"{verdict}, relevance {relevance:.2f}",
    )


def result(name: str, row: Mapping[str, Any]) -> Markup:
    """A page in a list of results."""
    why = address(name, "page", url=row["url"])
    origin = None
    if row.get("parent"):
        anchor = f"“{row['anchor'][:80]}” on " if row.get("anchor") else ""
        origin = element(
            "span", f"found through {anchor}" if anchor else "found on ", url_shown(row["parent"], 48), class_="from"
        )
    elif "parent" in row:
        origin = element("span", "starting page", class_="from")
    because = f" · why: {'; '.join(row['why'])}" if row.get("why") else None
    return element(
        "li",
        relevance_mark(row["relevance"], row.get("on_topic", True)),
        element(
            "div",
            element("h3", element("a", row["title"] or "(no title)", href=why)),
            element("p", url_shown(row["url"]), class_="where"),
            element("p", marked_snippet(row["snippet"]), class_="snippet") if row.get("snippet") else None,
            element("p", origin, because, class_="facts") if origin is not None else None,
            class_="body",
        ),
        label_buttons(row["url"], row.get("label"), name),
        class_="result",
        data_url=row["url"],
        tabindex=-1,
    )


def label_buttons(url: str, label: str | None, name: str, like: bool = False) -> Markup:
    """Buttons to label a page, a link to its stored copy and, with `like`, a link to similar pages."""

    def button(text: str, value: str) -> Markup:
        shape = "●" if value == "true" else "○"
        return element(
            "button",
            element("span", shape, aria_hidden="true"),
            f" {text}",
            type="button",
            data_do="label",
            data_url=url,
            data_on_topic=value,
            aria_pressed="true" if label == text else "false",
        )

    more = element("a", "more like this", href=address(name, "search", like=url), class_="button") if like else None
    copy = element("a", "stored copy", href=address(name, "page", url=url) + "#copy", class_="button", data_do="copy")
    return element("div", button("on topic", "true"), button("off topic", "false"), copy, more, class_="labels")


def state_chip(state: str, text: str = "") -> Markup:
    shape = {"running": "▶", "paused": "❚❚"}.get(state, "■")
    return element(
        "span",
        element("span", shape, aria_hidden="true"),
        f" {text or state}",
        class_=f"chip {state.replace(' ', '-')}",
    )


def empty(title: str, *content: Content) -> Markup:
    return element("div", element("p", title, class_="empty-title"), *content, class_="empty")


def problem(message: str, hint: str, *content: Content) -> Markup:
    """An error and its hint as sentences. Errors are written for terminals, with names in backticks."""
    return empty(_sentence(message), element("p", _sentence(hint)) if hint else None, *content)


def _sentence(message: str) -> str:
    quoted = re.sub(r"`([^`]*)`", r"“\1”", message)
    return quoted[:1].upper() + quoted[1:]


def reason_list(counts: Mapping[str, int], list_address: Callable[[str], str], if_empty: str) -> Markup:
    """Reasons with their counts; each count links to the list behind it. `if_empty` is shown if there are none."""
    if not counts:
        return element("p", if_empty, class_="quiet-text")
    rows = [
        element(
            "li",
            element("span", in_words(reason), title=reason),
            element("b", element("a", f"{count:,}", href=list_address(reason), aria_label=f"Show all {count:,}")),
        )
        for reason, count in counts.items()
    ]
    return element("ul", *rows, class_="counts")


def card(title: Content, *content: Content, id_: str | None = None) -> Markup:
    head = None if title is None else element("h2", title)
    return element("section", head, *content, class_="card", id=id_)
