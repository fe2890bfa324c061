"""The start page: a form that starts a crawl, and the list of collections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scenthound.desk import page_layout as layout
from scenthound.desk.markup import Content, Markup, element


def start_form(topic: str = "", sources: Sequence[tuple[str, str]] = (), source: str = "") -> Markup:
    """The form that starts a crawl, prefilled with `topic` and `source`, which may come from a search."""
    topic_field = element(
        "div",
        element("label", "What are you looking for?", for_="topic", class_="ask"),
        element(
            "div",
            element(
                "input",
                id="topic",
                name="topic",
                value=topic,
                required=True,
                autofocus=True,
                autocomplete="off",
                maxlength=2000,
                placeholder="hot air ballooning clubs in Australia",
            ),
            element("button", "Start", class_="primary"),
            class_="row",
        ),
        element(
            "p",
            "Enter keywords, choose ",
            element("label", "a topic file", element("input", id="topic-file", type="file"), class_="file"),
            ", or ",
            element("button", "derive keywords", type="button", id="find-words", class_="link"),
            " from the pages below. ",
            element("span", id="topic-said", role="status"),
            class_="quiet-text",
        ),
    )
    seeds = element(
        "div",
        element(
            "label",
            "Start from ",
            element("span", "pages you know, one address per line", class_="quiet-text"),
            for_="seeds",
        ),
        element(
            "textarea",
            id="seeds",
            name="seeds",
            rows=4,
            required=True,
            spellcheck="false",
            placeholder="https://example.org/balloons",
        ),
        element(
            "p",
            "Paste addresses, drop a file here (a list, or your browser’s bookmarks), or ",
            element("label", "choose a file", element("input", id="file", type="file"), class_="file"),
            class_="quiet-text",
        ),
        seed_finder(sources, source),
    )
    budget = element(
        "div",
        _setting(
            "Pages",
            element(
                "input", id="pages", name="pages", type="number", value=500, min=1, max=10_000_000, inputmode="numeric"
            ),
        ),
        _setting(
            "Looking for",
            element(
                "select",
                element("option", "pages", value="pages", selected=True),
                element("option", "sites and organisations", value="sites"),
                name="looking_for",
            ),
        ),
        _setting(
            "Where",
            element(
                "select",
                element("option", "anywhere", value="any"),
                element("option", "only the hosts above", value="host"),
                element("option", "only their domains", value="domain"),
                name="scope",
            ),
        ),
        class_="row settings",
    )
    return element(
        "form",
        topic_field,
        seeds,
        budget,
        element("p", class_="error", id="start-error", role="alert"),
        id="start",
        class_="start",
        novalidate=True,
    )


def _setting(label: str, field: Markup) -> Markup:
    return element("label", label, field, class_="setting")


def seed_finder(sources: Sequence[tuple[str, str]], chosen: str) -> Markup:
    """The choice of a seed source, and a button to search it."""
    options = [
        element("option", label, value=value, selected=value == chosen, data_asks="true" if value[-1] == ":" else None)
        for value, label in sources
    ]
    return element(
        "div",
        element("label", "or find pages with", for_="source"),
        element("select", element("option", "choose a source…", value=""), *options, id="source", name="source"),
        element(
            "input",
            id="address",
            placeholder="https://search.example.org/",
            aria_label="Address of the source",
            hidden=True,
        ),
        element("button", "Find pages", type="button", id="find"),
        element("span", id="found", class_="quiet-text", role="status"),
        class_="row settings finding",
    )


def collections(rows: list[dict[str, Any]], experiments: Iterable[str] = ()) -> Markup:
    if not rows:
        body: Content = layout.empty(
            "No collections yet", element("p", "Your first collection appears here as soon as it starts.")
        )
    else:
        body = element("ul", *map(_collection, rows), class_="collections")
    open_form = element(
        "form",
        element("label", "Open the folder of a crawl or an experiment", for_="folder"),
        element(
            "div",
            element("input", id="folder", name="folder", placeholder="/home/me/balloons", autocomplete="off"),
            element("button", "Open"),
            class_="row",
        ),
        element("p", class_="error", id="open-error", role="alert"),
        id="open",
        class_="open",
    )
    labs = [element("li", element("a", name, href=f"/lab/{quote(name)}")) for name in experiments]
    lab_section = [element("h2", "Experiments"), element("ul", *labs, class_="collections")] if labs else []
    return element("section", element("h2", "Your collections"), body, *lab_section, open_form, class_="list")


def _collection(row: Mapping[str, Any]) -> Markup:
    if row["state"] == "broken":
        facts = element("span", row["error"], class_="error")
    else:
        facts = element("span", f"{row['pages']:,} pages", class_="number")
    return element(
        "li",
        element("a", row["topic"] or row["name"], href=f"/c/{quote(row['name'])}"),
        element("span", row["name"], class_="quiet-text"),
        layout.state_chip(row["state"]) if row["state"] in ("running", "paused") else None,
        facts,
    )
