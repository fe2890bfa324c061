"""The page of a crawl: figures, steering, results, failed requests and links not followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scenthound.desk import page_layout as layout
from scenthound.desk.harvest_curve import curve_figure
from scenthound.desk.markup import Content, Markup, element, join
from scenthound.looking_for import CHOICES
from scenthound.store.live_queries import Wanted


def head(facts: Mapping[str, Any]) -> Markup:
    """The topic, the state in figures, and the buttons that steer the crawl."""
    running = facts["is_running"]

    def button(label: str, action: str, is_shown: bool, kind: str = "") -> Markup:
        return element(
            "button",
            label,
            type="button",
            data_do="order",
            data_action=action,
            class_=kind or None,
            hidden=not is_shown,
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
        "progress", value=facts["pages"], max=max(1, facts["budget"]), id="progress", aria_label="Pages fetched"
    )
    return element(
        "section",
        element("div", element("h1", facts["topic"]), steer, class_="head"),
        line,
        _looking_for(facts),
        bar,
        _more(name, facts["blocked"]),
        element("p", "", id="why", class_="quiet-text"),
        class_="crawl-head",
        id="crawl",
        data_name=facts["name"],
        data_state=facts["state"],
    )


def _looking_for(facts: Mapping[str, Any]) -> Markup:
    """What the crawl looks for, and a button to look for the other."""
    other = next(choice for choice in CHOICES if choice != facts["looking_for"])
    button = element(
        "button",
        f"Look for {other} instead",
        type="button",
        id="look-for-other",
        data_do="order",
        data_action="looking-for",
        data_value=other,
    )
    sentence = element("span", facts["looking_for_in_words"], id="looking-for")
    return element("p", sentence, " ", button, class_="quiet-text")


def on_topic_address(name: str) -> str:
    """The path of the list of pages on topic."""
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
        form("budget", "Total pages", "Set", type="number", min=1, placeholder="1000"),
        form("seed", "Fetch this page next", "Fetch", type="url", placeholder="https://example.org/page"),
        form("block", "Block this host", "Block", placeholder="ads.example.org"),
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
    link = element("a", host, href=layout.address(name, "not-followed", host=host))
    return element("li", link, " is blocked ", button)


def now_sentence(facts: Mapping[str, Any]) -> str:
    """What the crawl is doing now, or why it ended. `crawl.js` builds the same sentence."""
    hosts = facts["hosts"]
    if not facts["is_running"]:
        return f"{facts['why'][:1].upper()}{facts['why'][1:]}."
    if facts["state"] == "paused":
        return "Paused. No pages are requested until you continue."
    if hosts["next_in"] is None:
        return "Fetching pages."
    return f"Fetching pages. The next resting host is available in {hosts['next_in']:.1f} s."


def outlook_sentence(facts: Mapping[str, Any]) -> str:
    """An estimate for the rest of the budget. `crawl.js` builds the same sentence."""
    return f"Estimate for the remaining pages: {facts['outlook']}." if facts["pages"] < facts["budget"] else ""


def figures(facts: Mapping[str, Any]) -> Markup:
    """Two cards: the curve of the on-topic share, and the current state of hosts and waiting list."""
    hosts, name = facts["hosts"], facts["name"]

    def hosts_in(state: str) -> str:
        return layout.address(name, "hosts", state=state)

    rows: list[tuple[Content, int, str, str]] = [
        ("hosts that delivered pages in the last 10 s", hosts["working"], "hosts-working", hosts_in("working")),
        ("hosts resting between requests", hosts["resting"], "hosts-resting", hosts_in("resting")),
        ("hosts asleep (too many failures or nothing relevant)", hosts["asleep"], "hosts-asleep", hosts_in("asleep")),
        ("hosts with pages", hosts["with_pages"], "hosts-pages", hosts_in("with pages")),
        (layout.term("waiting list"), facts["waiting"], "waiting", layout.address(name, "waiting")),
    ]
    now = [
        element("li", element("span", label), element("b", element("a", f"{count:,}", id=id_, href=address)))
        for label, count, id_, address in rows
    ]
    estimate = element("p", outlook_sentence(facts), id="outlook")
    if facts["exploration"] is not None:
        share = element("b", f"{facts['exploration']:.0%}", id="exploration")
        now.append(element("li", layout.term("exploratory pages"), share))
    return join(
        layout.card(layout.term("on-topic share"), curve_figure(facts["curve"])),
        layout.card("Now", element("p", now_sentence(facts), id="now"), estimate, element("ul", *now, class_="counts")),
    )


def results(rows: list[dict[str, Any]], facts: Mapping[str, Any], wanted: Wanted) -> Markup:
    """The list of pages, with its filters set as in `wanted`."""
    name = facts["name"]

    def tab(label: str, value: str) -> Markup:
        here = "page" if wanted.order == value else None
        return element("a", label, href=f"/c/{quote(name)}?order={value}", data_order_by=value, aria_current=here)

    search = element(
        "form",
        element(
            "input",
            name="q",
            type="search",
            placeholder="Search this collection (/)",
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
            element("option", "any label", value=""),
            element("option", "● labelled on topic", value="on"),
            element("option", "○ labelled off topic", value="off"),
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
    empty = None if rows else _no_results(facts, wanted)
    items = element("ol", *(layout.result(name, row) for row in rows), id="results", class_="results")
    new_bar = element("button", "", type="button", id="new-bar", hidden=True, data_do="show-new")
    more = element("button", "More", type="button", id="more-results", hidden=len(rows) < 30, data_do="more-results")
    return element(
        "section", element("h2", "Results", class_="hidden"), head, new_bar, empty, items, more, class_="found"
    )


def _no_results(facts: Mapping[str, Any], wanted: Wanted) -> Markup:
    if wanted.is_filtered:
        return layout.empty("No pages match these filters")
    hint = "The first pages will appear here in a moment." if facts["is_running"] else "This crawl fetched no pages."
    return layout.empty("No pages yet", element("p", hint))


def losses(facts: Mapping[str, Any]) -> Markup:
    """The counts of failed requests and of links not followed."""

    def list_of(kind: str) -> Callable[[str], str]:
        return lambda reason: layout.address(facts["name"], kind, reason=reason)

    return element(
        "div",
        layout.card(
            "Failed",
            layout.reason_list(facts["failed"], list_of("failed"), "Every request returned a page."),
            id_="failed",
        ),
        layout.card(
            layout.term("not followed"),
            layout.reason_list(facts["not_followed"], list_of("not-followed"), "No link was left out."),
            element("p", facts["links_in_words"], id="links", class_="quiet-text"),
            id_="not-followed",
        ),
        class_="cards",
    )
