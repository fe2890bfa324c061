"""The page of one URL: why it was fetched or why it was not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from scenthound.desk import page_layout as layout
from scenthound.desk.markup import Content, Markup, element, join
from scenthound.report.miss_reasons import in_words

SHOWN_LINKS = 400
STATES = {
    "fetched": "fetched",
    "waiting": "waiting",
    "moved": "redirected",
    "failed": "failed",
    "not followed": "not followed",
}
NOT_FETCHED = {
    "dead": "Requested, but failed",
    "waiting": "Found and waiting",
    "refused": "Found, but not allowed",
    "not-kept": "Found, but not kept",
    "unknown": "Never found",
}


def fetched_page(name: str, explanation: Mapping[str, Any], links: Mapping[str, Any] | None) -> Markup:
    page = explanation["page"]
    head = element(
        "section",
        element("h1", page["title"] or "(no title)"),
        element(
            "p",
            layout.relevance_mark(page["relevance"], page["on_topic"]),
            layout.url_shown(page["url"], 100),
            element(
                "button", "Copy address", type="button", data_do="copy-text", data_text=page["url"], class_="quiet"
            ),
            element("a", "Open on the web", href=page["url"], rel="noreferrer noopener", target="_blank"),
            class_="figures",
        ),
        layout.label_buttons(page["url"], explanation["label"], name, like=True),
        class_="crawl-head result",
        data_url=page["url"],
    )
    copy = element(
        "iframe",
        src=layout.address(name, "copy", url=page["url"]),
        sandbox="",
        title="Stored copy of the page",
        loading="lazy",
        class_="copy",
        referrerpolicy="no-referrer",
    )
    stored = layout.card(
        "Stored copy",
        element("p", "As fetched, without scripts, images and links.", class_="quiet-text"),
        copy,
        id_="copy",
    )
    why = layout.card(
        "Why this page is here",
        _sentence(page, explanation),
        _path(name, explanation["path"]),
        _score(page, explanation),
        _events(name, explanation),
    )
    columns = element("div", stored, element("div", why, _links(name, links)), class_="two")
    return element("div", head, columns, id="crawl", data_name=name)


def _sentence(page: Mapping[str, Any], explanation: Mapping[str, Any]) -> Markup:
    if page["parent"] is None:
        sentence = f"Fetched as page {page['n']:,}. It is one of the starting pages."
    else:
        anchor = f" with the text “{page['anchor'][:120]}”" if page["anchor"] else ""
        sentence = (
            f"Fetched as page {page['n']:,}. It was found through a link{anchor}; with a score of "
            f"{_score_text(page['score'])}, it was number {page['rank']:,} in the waiting list when it was chosen."
        )
    return element("p", sentence)


def _score_text(score: Any) -> str:
    return f"{score:.3g}" if isinstance(score, float | int) else "infinity (fetched first)"


def _path(name: str, path: list[Mapping[str, Any]]) -> Markup:
    steps: list[Content] = []
    for index, step in enumerate(path):
        anchor = f"through “{step['anchor'][:80]}”, score {_score_text(step['score'])}" if index else "starting page"
        title = step["title"] or step["url"]
        is_last = index == len(path) - 1
        link = (
            element("b", title) if is_last else element("a", title, href=layout.address(name, "page", url=step["url"]))
        )
        steps.append(
            element(
                "li",
                element("span", anchor, class_="quiet-text"),
                element("br"),
                link,
                " ",
                layout.url_shown(step["url"], 40),
            )
        )
    return join(element("h3", "Path from the starting page"), element("ol", *steps, class_="path"))


def _score(page: Mapping[str, Any], explanation: Mapping[str, Any]) -> Content:
    parts: Mapping[str, float] = page["parts"]
    if not parts:
        return None
    meanings: Mapping[str, str] = explanation["parts_in_words"]
    most = max((abs(value) for value in parts.values()), default=1.0) or 1.0
    rows = [
        element(
            "tr",
            element("th", part, scope="row", title=meanings.get(part)),
            element("td", f"{value:.3g}", class_="number"),
            element("td", element("meter", min=0, max=1, value=f"{abs(value) / most:.3f}", aria_hidden="true")),
            element("td", meanings.get(part, ""), class_="quiet-text"),
        )
        for part, value in parts.items()
    ]
    because = element("ul", *(element("li", reason) for reason in explanation["reasons"]), class_="reasons")
    table = element("table", element("tbody", *rows), class_="parts")
    parts_shown = element("details", element("summary", "Parts of the score"), element("div", table, class_="wide"))
    return join(element("h3", "Reasons"), because, parts_shown)


def _events(name: str, explanation: Mapping[str, Any]) -> Content:
    events = [event for event in explanation["told"] if event["event"] != "exploration" or event["facts"].get("rate")]
    if not events:
        return None
    rows = [element("li", *_event(name, event)) for event in events[:20]]
    return join(element("h3", "Strategy notes"), element("ul", *rows, class_="events"))


def _event(name: str, event: Mapping[str, Any]) -> list[Content]:
    facts = event["facts"]
    if event["event"] == "exploration" and isinstance(facts.get("rate"), float | int):
        this_page = "this page is one of them" if facts.get("tried") else "this page is not"
        return [f"{facts['rate']:.0%} of the pages are chosen to explore; {this_page}"]
    return [element("b", event["event"].replace("_", " ")), " ", _agent(name, facts), _facts(facts)]


def _agent(name: str, facts: Mapping[str, Any]) -> Content:
    number = facts.get("agent")
    if not isinstance(number, int):
        return None
    return [element("a", f"agent {number}", href=f"/c/{quote(name)}/agents/{number}"), ": "]


def _facts(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in facts.items() if key != "agent")[:300]


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _links(name: str, links: Mapping[str, Any] | None) -> Markup:
    if links is None:
        return layout.card("Links", layout.empty("The stored copy is gone", element("p", "Its links are unknown.")))
    counts: Mapping[str, int] = links["counts"]
    order = list(STATES)
    rows = sorted(links["links"], key=lambda link: order.index(link["state"]))[:SHOWN_LINKS]
    first = {link["state"]: link for link in reversed(rows)}
    summary = join(*(_count(state, counts[state]) for state in STATES if counts.get(state)))
    table_rows = [
        element(
            "tr",
            element(
                "td",
                element(
                    "a",
                    link["anchor"][:100] or layout.short(link["url"], 60),
                    href=layout.address(name, "page", url=link["url"]),
                    title=link["url"],
                ),
            ),
            element("td", STATES[link["state"]] + _detail(link), class_=f"state {link['state'].replace(' ', '-')}"),
            id=_anchor_id(link["state"]) if first[link["state"]] is link else None,
        )
        for link in rows
    ]
    head = element("tr", element("th", "link", scope="col"), element("th", "state", scope="col"))
    table = element("div", element("table", element("thead", head), element("tbody", *table_rows)), class_="wide")
    title = f"Links on this page: {len(links['links']):,}"
    return layout.card(
        title, element("p", summary if table_rows else "none", class_="figures"), table if table_rows else None
    )


def _anchor_id(state: str) -> str:
    """The id of the first link in a state."""
    return f"links-{state.replace(' ', '-')}"


def _count(state: str, count: int) -> Markup:
    """The number of links in a state, linked to the first of them."""
    return element("span", element("b", element("a", f"{count:,}", href=f"#{_anchor_id(state)}")), f" {STATES[state]}")


def _detail(link: Mapping[str, Any]) -> str:
    state, detail = link["state"], link["detail"]
    if state == "fetched":
        return f" as page {detail}"
    if state == "waiting":
        try:
            return f", score {float(detail):.3g}"
        except ValueError:
            return ""
    return f": {in_words(detail)}" if detail and state == "failed" else ""


def not_fetched_card(name: str, explanation: Mapping[str, Any]) -> Markup:
    """Why a URL was not fetched, what is ahead of it in the waiting list, and what can be done."""
    if explanation["state"] == "crawled":
        page = explanation["page"]
        link = element("a", page["title"] or page["url"], href=layout.address(name, "page", url=page["url"]))
        return layout.empty("This page was fetched", element("p", f"As page {page['n']:,}: ", link))
    content: list[Content] = [element("p", f"{explanation['why'][:1].upper()}{explanation['why'][1:]}.")]
    waiting = explanation["waiting_list"]
    if waiting is not None:
        content.append(_queue(waiting))
    if explanation["linked_from"]:
        links = [
            element("li", element("a", layout.short(url), href=layout.address(name, "page", url=url)))
            for url in explanation["linked_from"]
        ]
        content += [element("h3", "Found on"), element("ul", *links)]
    elif explanation["path"]:
        content += [_path(name, explanation["path"])]
    if explanation["requests"]:
        rows = [
            element("li", f"{in_words(request['reason'])}: {request['detail']}"[:200].rstrip(": "))
            for request in explanation["requests"]
        ]
        content += [element("h3", "Requests"), element("ul", *rows)]
    if explanation["host_counts"] and explanation["state"] in ("not-kept", "refused", "unknown"):
        content += [
            element("h3", "Links to this host that were not followed"),
            layout.reason_list(
                explanation["host_counts"], lambda reason: layout.address(name, "not-followed", reason=reason), ""
            ),
        ]
    if explanation["near"]:
        near = [
            element("li", element("a", layout.short(url), href=layout.address(name, "page", url=url)))
            for url in explanation["near"]
        ]
        content += [element("h3", "Did you mean…"), element("ul", *near)]
    fetch = element(
        "button",
        "Fetch it now",
        type="button",
        data_do="order",
        data_action="seed",
        data_value=explanation["url"],
        class_="primary",
    )
    if explanation["state"] != "dead":
        content.append(element("p", fetch))
    return element(
        "div",
        layout.card(
            NOT_FETCHED.get(explanation["state"], "Not fetched"), layout.url_shown(explanation["url"], 120), *content
        ),
        id="crawl",
        data_name=name,
    )


def _queue(waiting: Mapping[str, Any]) -> Markup:
    position = f"Number {waiting['place']:,} of {waiting['length']:,} in the "
    ahead = [
        element("li", layout.url_shown(row["url"]), f", score {_score_text(row['score'])}") for row in waiting["ahead"]
    ]
    delay = f" Also, {waiting['held_up']}." if waiting["held_up"] else ""
    first = element("p", position, layout.term("waiting list"), f".{delay}")
    return (
        join(first, element("h3", "First in line"), element("ol", *ahead)) if ahead and waiting["place"] > 1 else first
    )
