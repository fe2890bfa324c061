"""What all pages of the desk share: head, header, terms, figures, results."""

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
    "pages to start from": "seeds",
    "not followed": "refused links",
    "way of searching": "strategy",
    "pages taken to try something": "exploration rate",
}


def page(title: str, *content: Content, script: str = "", nav: Content = None) -> str:
    """A whole page. `script` is the name of its module."""
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
            "button", "?", type="button", class_="quiet", data_do="help", aria_label="Keyboard and help", title="?"
        ),
        class_="top",
    )
    body = element("body", top, element("main", *content, id="content", tabindex=-1), _help(), _messages())
    return f"<!doctype html>\n{element('html', element('head', head), body, lang='en')}"


def _messages() -> Markup:
    return element("div", id="messages", role="status", aria_live="polite")


def _help() -> Markup:
    keys = [
        ("/", "search in this collection"),
        ("j k", "next, previous result"),
        ("y n", "on topic, off topic"),
        ("o", "open the stored copy"),
        ("Enter", "why is it here"),
        ("?", "this help"),
    ]
    rows = [
        (element("dt", *[element("kbd", key) for key in names.split()]), element("dd", what)) for names, what in keys
    ]
    terms = element(
        "label", element("input", type="checkbox", id="technical"), " Technical terms (harvest rate, frontier, …)"
    )
    close = element("form", element("button", "Close"), method="dialog")
    return element("dialog", element("h2", "Keyboard"), element("dl", *rows, class_="keys"), terms, close, id="help")


def term(plain: str) -> Markup:
    """A word of ours, with the literature's word in the tooltip."""
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
    """The pages of one collection, apart from those that it does not have."""
    return join(
        *(
            element("a", label, href=f"/c/{quote(name)}{path}", aria_current="page" if path == here else None)
            for path, label in COLLECTION_PAGES.items()
            if path not in without
        )
    )


def collection_address(name: str, **query: str) -> str:
    """The address of a collection's first page."""
    return f"/c/{quote(name)}?{urlencode(query)}"


def address(name: str, where: str, **query: str) -> str:
    """The address of a page of a collection."""
    return f"/c/{quote(name)}/{where}?{urlencode(query)}"


def short(url: str, most: int = LONGEST_URL) -> str:
    """A URL without its scheme, cut in the middle.

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


def marked(parts: Sequence[Mapping[str, Any]]) -> list[Markup | str]:
    """A passage with the marked words."""
    return [element("mark", part["text"]) if part["marked"] else str(part["text"]) for part in parts]


def relevance_mark(relevance: float, on_topic: bool) -> Markup:
    """A page's relevance, with a shape that says on topic (full) or off topic (hollow)."""
    words = "on topic" if on_topic else "off topic"
    return element(
        "span",
        element("span", "●" if on_topic else "○", class_="shape", aria_hidden="true"),
        f"{relevance:.2f}",
        class_=f"score {'on' if on_topic else 'off'}",
        title=f"{words}: relevance {relevance:.3f} of 1",
        aria_label=f"{words}, relevance {relevance:.2f}",
    )


def result(name: str, row: Mapping[str, Any]) -> Markup:
    """One page in a list of results."""
    why = address(name, "page", url=row["url"])
    found = None
    if row.get("parent"):
        anchor = f"“{row['anchor'][:80]}” on " if row.get("anchor") else ""
        found = element("span", f"found from {anchor}", url_shown(row["parent"], 48), class_="from")
    elif "parent" in row:
        found = element("span", "a page to start from", class_="from")
    because = f" because: {'; '.join(row['why'])}" if row.get("why") else None
    return element(
        "li",
        relevance_mark(row["relevance"], row.get("on_topic", True)),
        element(
            "div",
            element("h3", element("a", row["title"] or "(no title)", href=why)),
            element("p", url_shown(row["url"]), class_="where"),
            element("p", marked(row["snippet"]), class_="snippet") if row.get("snippet") else None,
            element("p", found, because, class_="facts") if found is not None else None,
            class_="body",
        ),
        label_buttons(row["url"], row.get("label"), name),
        class_="result",
        data_url=row["url"],
        tabindex=-1,
    )


def label_buttons(url: str, label: str | None, name: str, like: bool = False) -> Markup:
    """Buttons that label a page, a link to its stored copy, and perhaps one to pages like it."""

    def button(words: str, value: str) -> Markup:
        shape = "●" if value == "true" else "○"
        return element(
            "button",
            element("span", shape, aria_hidden="true"),
            f" {words}",
            type="button",
            data_do="label",
            data_url=url,
            data_on_topic=value,
            aria_pressed="true" if label == words else "false",
        )

    more = element("a", "more like this", href=address(name, "search", like=url), class_="button") if like else None
    copy = element("a", "copy", href=address(name, "page", url=url) + "#copy", class_="button", data_do="copy")
    return element("div", button("on topic", "true"), button("off topic", "false"), copy, more, class_="labels")


def state_chip(state: str, words: str = "") -> Markup:
    shape = {"running": "▶", "paused": "❚❚"}.get(state, "■")
    return element(
        "span",
        element("span", shape, aria_hidden="true"),
        f" {words or state}",
        class_=f"chip {state.replace(' ', '-')}",
    )


def empty(title: str, *content: Content) -> Markup:
    return element("div", element("p", title, class_="empty-title"), *content, class_="empty")


def problem(message: str, hint: str, *content: Content) -> Markup:
    """What is wrong and what to do, as sentences: errors are written for terminals, with `names` in backticks."""
    return empty(_sentence(message), element("p", _sentence(hint)) if hint else None, *content)


def _sentence(words: str) -> str:
    quoted = re.sub(r"`([^`]*)`", r"“\1”", words)
    return quoted[:1].upper() + quoted[1:]


def reason_list(counts: Mapping[str, int], list_address: Callable[[str], str], none: str) -> Markup:
    """Reasons in words with how often they were counted; each leads to the list behind it."""
    if not counts:
        return element("p", none, class_="quiet-text")
    rows = [
        element(
            "li",
            element("span", in_words(reason), title=reason),
            element("b", element("a", f"{times:,}", href=list_address(reason), aria_label=f"{times:,}: list them")),
        )
        for reason, times in counts.items()
    ]
    return element("ul", *rows, class_="counts")


def card(title: Content, *content: Content, id_: str | None = None) -> Markup:
    head = None if title is None else element("h2", title)
    return element("section", head, *content, class_="card", id=id_)
