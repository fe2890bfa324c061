"""The page of a crawl: figures, steering, results, and what was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scenthound.desk import page_layout as layout
from scenthound.desk.harvest_curve import curve_figure
from scenthound.desk.markup import Content, Markup, element, join
from scenthound.store.live_queries import Wanted


def head(facts: Mapping[str, Any]) -> Markup:
    running = facts["is_running"]

    def button(words: str, action: str, shown: bool, kind: str = "") -> Markup:
        return element(
            "button", words, type="button", data_do="order", data_action=action, class_=kind or None, hidden=not shown
        )

    steer = element(
        "div",
        button("Pause", "pause", facts["state"] == "running"),
        button("Continue", "continue", facts["state"] == "paused", "primary"),
        button("Stop", "stop", running),
        element("button", "Resume", type="button", data_do="resume", class_="primary", hidden=running),
        element("button", "More…", type="button", data_do="more", aria_expanded="false", aria_controls="more"),
        class_="steer",
    )
    name = facts["name"]
    share = f"{facts['share']:.0%}" if facts["pages"] else "–"
    recent = f"{facts['share_recent']:.0%}" if facts["pages"] else "–"
    line = element(
        "p",
        element("span", layout.state_chip(facts["state"], facts["state_in_words"]), id="state"),
        element(
            "span",
            element("b", element("a", f"{facts['pages']:,}", href=layout.collection_address(name), id="pages")),
            " of ",
            element("span", f"{facts['budget']:,}", id="budget"),
            " pages",
        ),
        element(
            "span",
            element("b", element("a", f"{facts['on_topic']:,}", href=on_topic_address(name), id="on-topic")),
            " on topic, ",
            element("b", share, id="share"),
            " ",
            layout.term("on-topic share"),
            " (last 50: ",
            element("span", recent, id="share-recent"),
            ")",
        ),
        element("span", element("b", f"{facts['pages_per_second']:.1f}", id="speed"), " pages/s"),
        class_="figures",
    )
    bar = element(
        "progress", value=facts["pages"], max=max(1, facts["budget"]), id="progress", aria_label="Pages of the budget"
    )
    return element(
        "section",
        element("div", element("h1", facts["topic"]), steer, class_="head"),
        line,
        bar,
        _more(name, facts["blocked"]),
        element("p", "", id="why", class_="quiet-text"),
        class_="crawl-head",
        id="crawl",
        data_name=facts["name"],
        data_state=facts["state"],
    )


def on_topic_address(name: str) -> str:
    """The pages of a crawl that are on topic."""
    return layout.collection_address(name, on_topic="yes", order="best")


def _more(name: str, blocked: Sequence[str]) -> Markup:
    def form(action: str, label: str, button: str, **field: Any) -> Markup:
        return element(
            "form",
            element("label", label, for_=f"order-{action}"),
            element(
                "div",
                element("input", id=f"order-{action}", name="value", required=True, autocomplete="off", **field),
                element("button", button),
                class_="row",
            ),
            data_order=action,
        )

    return element(
        "div",
        form("budget", "Pages in all", "Set", type="number", min=1, placeholder="1000"),
        form("seed", "Fetch this page next", "Fetch", type="url", placeholder="https://example.org/page"),
        form("block", "Nothing more from this host", "Block", placeholder="ads.example.org"),
        form("delay", "Seconds between requests to a host", "Set", type="number", min=0, step="0.1", placeholder="1"),
        element(
            "ul",
            *(_blocked(name, host) for host in blocked),
            id="blocked",
            class_="blocked",
            aria_label="Blocked hosts",
        ),
        id="more",
        class_="more",
        hidden=True,
    )


def _blocked(name: str, host: str) -> Markup:
    button = element("button", "Unblock", type="button", data_do="order", data_action="unblock", data_value=host)
    left = element("a", host, href=layout.address(name, "not-followed", host=host))
    return element("li", left, " is blocked ", button)


def now_sentence(facts: Mapping[str, Any]) -> str:
    """What the crawl does at this moment, and why."""
    hosts = facts["hosts"]
    if not facts["is_running"]:
        return f"{facts['why'][:1].upper()}{facts['why'][1:]}."
    if facts["state"] == "paused":
        return "Paused: nothing is requested until you continue."
    if hosts["next_in"] is None:
        return "Pages are being fetched."
    return f"Pages are being fetched. The next resting host may be asked in {hosts['next_in']:.1f} s."


def outlook_sentence(facts: Mapping[str, Any]) -> str:
    """What the rest of the budget is expected to bring."""
    return f"Still to come, by estimate: {facts['outlook']}." if facts["pages"] < facts["budget"] else ""


def figures(facts: Mapping[str, Any]) -> Markup:
    hosts, name = facts["hosts"], facts["name"]

    def of_state(state: str) -> str:
        return layout.address(name, "hosts", state=state)

    rows: list[tuple[Content, int, str, str]] = [
        ("hosts that gave pages in the last 10 s", hosts["working"], "hosts-working", of_state("working")),
        ("hosts that rest between requests", hosts["resting"], "hosts-resting", of_state("resting")),
        ("hosts asleep: too many failures or nothing relevant", hosts["asleep"], "hosts-asleep", of_state("asleep")),
        ("hosts with pages", hosts["with_pages"], "hosts-pages", of_state("with pages")),
        (layout.term("waiting list"), facts["waiting"], "waiting", layout.address(name, "waiting")),
    ]
    now = [
        element("li", element("span", words), element("b", element("a", f"{number:,}", id=identity, href=address)))
        for words, number, identity, address in rows
    ]
    left = element("p", outlook_sentence(facts), id="outlook")
    if facts["exploration"] is not None:
        tried = element("b", f"{facts['exploration']:.0%}", id="exploration")
        now.append(element("li", layout.term("pages taken to try something"), tried))
    return join(
        layout.card(layout.term("on-topic share"), curve_figure(facts["curve"])),
        layout.card("Now", element("p", now_sentence(facts), id="now"), left, element("ul", *now, class_="counts")),
    )


def results(rows: list[dict[str, Any]], facts: Mapping[str, Any], wanted: Wanted) -> Markup:
    """The list of pages, with its filters as `wanted` has set them."""
    name = facts["name"]

    def tab(words: str, value: str) -> Markup:
        here = "page" if wanted.order == value else None
        return element("a", words, href=f"/c/{quote(name)}?order={value}", data_order_by=value, aria_current=here)

    search = element(
        "form",
        element(
            "input",
            name="q",
            type="search",
            placeholder="Search this collection  /",
            aria_label="Search this collection",
            id="search-box",
        ),
        action=f"/c/{quote(name)}/search",
        method="get",
        role="search",
    )
    filters = element(
        "div",
        element(
            "input",
            id="filter-host",
            value=wanted.host,
            placeholder="host",
            aria_label="Only this host",
            autocomplete="off",
        ),
        element(
            "select",
            element("option", "any relevance", value=""),
            element("option", "on topic", value="yes", selected=wanted.on_topic is True),
            element("option", "off topic", value="no", selected=wanted.on_topic is False),
            id="filter-relevance",
            aria_label="Relevance",
        ),
        element(
            "select",
            element("option", "all labels", value=""),
            element("option", "● my on topic", value="on"),
            element("option", "○ my off topic", value="off"),
            id="filter-label",
            aria_label="My labels",
        ),
        class_="filters",
    )
    head = element(
        "div",
        element("nav", tab("New", "new"), tab("Best", "best"), class_="tabs", aria_label="Order"),
        filters,
        search,
        class_="results-head",
    )
    none = None if rows else _no_results(facts, wanted)
    shown = element("ol", *(layout.result(name, row) for row in rows), id="results", class_="results")
    new = element("button", "", type="button", id="new-bar", hidden=True, data_do="show-new")
    more = element("button", "More", type="button", id="more-results", hidden=len(rows) < 30, data_do="more-results")
    return element("section", element("h2", "Results", class_="hidden"), head, new, none, shown, more, class_="found")


def _no_results(facts: Mapping[str, Any], wanted: Wanted) -> Markup:
    if wanted.is_filtered:
        return layout.empty("No page passes these filters")
    waits = "The first pages appear here in a moment." if facts["is_running"] else "This crawl fetched no page."
    return layout.empty("No pages yet", element("p", waits))


def losses(facts: Mapping[str, Any]) -> Markup:
    def list_of(kind: str) -> Callable[[str], str]:
        return lambda reason: layout.address(facts["name"], kind, reason=reason)

    return element(
        "div",
        layout.card(
            "Failed",
            layout.reason_list(facts["failed"], list_of("failed"), "Every request brought a page."),
            id_="failed",
        ),
        layout.card(
            layout.term("not followed"),
            layout.reason_list(facts["not_followed"], list_of("not-followed"), "Every link was followed or waits."),
            id_="not-followed",
        ),
        class_="cards",
    )
