"""The page of one URL: why it was fetched, or why it was not."""

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
    "moved": "led elsewhere",
    "failed": "failed",
    "not followed": "not followed",
}
NOT_FETCHED = {
    "dead": "Requested, without success",
    "waiting": "Met, and waiting",
    "refused": "Met, but not allowed",
    "not-kept": "Met, but not kept",
    "unknown": "Never met",
}


def fetched(name: str, found: Mapping[str, Any], links: Mapping[str, Any] | None) -> Markup:
    page = found["page"]
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
        layout.label_buttons(page["url"], found["label"], name, like=True),
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
        element("p", "As it was fetched, without scripts, pictures and links.", class_="quiet-text"),
        copy,
        id_="copy",
    )
    why = layout.card(
        "Why it is here", _sentence(page, found), _path(name, found["path"]), _score(page, found), _events(name, found)
    )
    crawl = element("div", stored, element("div", why, _links(name, links)), class_="two")
    return element("div", head, crawl, id="crawl", data_name=name)


def _sentence(page: Mapping[str, Any], found: Mapping[str, Any]) -> Markup:
    if page["parent"] is None:
        words = f"Fetched as page {page['n']:,}: it is one of the pages to start from."
    else:
        anchor = f" with the text “{page['anchor'][:120]}”" if page["anchor"] else ""
        words = (
            f"Fetched as page {page['n']:,}. A link{anchor} led here; its score, {_score_text(page['score'])}, made it "
            f"number {page['rank']:,} in the waiting list when its turn came."
        )
    return element("p", words)


def _score_text(score: Any) -> str:
    return f"{score:.3g}" if isinstance(score, float | int) else "infinity (fetched first)"


def _path(name: str, path: list[Mapping[str, Any]]) -> Markup:
    steps: list[Content] = []
    for number, step in enumerate(path):
        anchor = f"by “{step['anchor'][:80]}”, score {_score_text(step['score'])}" if number else "start"
        title = step["title"] or step["url"]
        is_last = number == len(path) - 1
        shown = (
            element("b", title) if is_last else element("a", title, href=layout.address(name, "page", url=step["url"]))
        )
        steps.append(
            element(
                "li",
                element("span", anchor, class_="quiet-text"),
                element("br"),
                shown,
                " ",
                layout.url_shown(step["url"], 40),
            )
        )
    return join(element("h3", "The path from the start"), element("ol", *steps, class_="path"))


def _score(page: Mapping[str, Any], found: Mapping[str, Any]) -> Content:
    parts: Mapping[str, float] = page["parts"]
    if not parts:
        return None
    words: Mapping[str, str] = found["parts_in_words"]
    most = max((abs(value) for value in parts.values()), default=1.0) or 1.0
    rows = [
        element(
            "tr",
            element("th", part, scope="row", title=words.get(part)),
            element("td", f"{value:.3g}", class_="number"),
            element("td", element("meter", min=0, max=1, value=f"{abs(value) / most:.3f}", aria_hidden="true")),
            element("td", words.get(part, ""), class_="quiet-text"),
        )
        for part, value in parts.items()
    ]
    because = element("ul", *(element("li", reason) for reason in found["reasons"]), class_="reasons")
    table = element("table", element("tbody", *rows), class_="parts")
    parts_shown = element("details", element("summary", "The parts of its score"), element("div", table, class_="wide"))
    return join(element("h3", "Because"), because, parts_shown)


def _events(name: str, found: Mapping[str, Any]) -> Content:
    told = [event for event in found["told"] if event["event"] != "exploration" or event["facts"].get("rate")]
    if not told:
        return None
    rows = [element("li", *_event(name, event)) for event in told[:20]]
    return join(element("h3", "What the strategy noted"), element("ul", *rows, class_="events"))


def _event(name: str, event: Mapping[str, Any]) -> list[Content]:
    facts = event["facts"]
    if event["event"] == "exploration" and isinstance(facts.get("rate"), float | int):
        tried = "this page was one of them" if facts.get("tried") else "this page was not"
        return [f"{facts['rate']:.0%} of the pages are taken to try something; {tried}"]
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
        return layout.card(
            "Links", layout.empty("The stored copy is gone", element("p", "So its links are not known."))
        )
    counts: Mapping[str, int] = links["counts"]
    order = list(STATES)
    rows = sorted(links["links"], key=lambda link: order.index(link["state"]))[:SHOWN_LINKS]
    first = {link["state"]: link for link in reversed(rows)}
    summary = join(*(_count(state, counts[state]) for state in STATES if counts.get(state)))
    shown = [
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
            id=_place(link["state"]) if first[link["state"]] is link else None,
        )
        for link in rows
    ]
    head = element("tr", element("th", "link", scope="col"), element("th", "what became of it", scope="col"))
    table = element("div", element("table", element("thead", head), element("tbody", *shown)), class_="wide")
    title = f"Links on this page: {len(links['links']):,}"
    return layout.card(title, element("p", summary if shown else "none", class_="figures"), table if shown else None)


def _place(state: str) -> str:
    """Where the links of a state begin."""
    return f"links-{state.replace(' ', '-')}"


def _count(state: str, times: int) -> Markup:
    """How many links are of a state; it leads to them."""
    return element("span", element("b", element("a", f"{times:,}", href=f"#{_place(state)}")), f" {STATES[state]}")


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


def not_fetched(name: str, found: Mapping[str, Any]) -> Markup:
    """Why a URL was not fetched, what stands before it, and what can be done."""
    if found["state"] == "crawled":
        page = found["page"]
        link = element("a", page["title"] or page["url"], href=layout.address(name, "page", url=page["url"]))
        return layout.empty("It was fetched", element("p", f"As page {page['n']:,}: ", link))
    content: list[Content] = [element("p", f"{found['why'][:1].upper()}{found['why'][1:]}.")]
    waiting = found["waiting_list"]
    if waiting is not None:
        content.append(_queue(waiting))
    if found["linked_from"]:
        links = [
            element("li", element("a", layout.short(url), href=layout.address(name, "page", url=url)))
            for url in found["linked_from"]
        ]
        content += [element("h3", "Met on"), element("ul", *links)]
    elif found["path"]:
        content += [_path(name, found["path"])]
    if found["requests"]:
        rows = [
            element("li", f"{in_words(request['reason'])}: {request['detail']}"[:200].rstrip(": "))
            for request in found["requests"]
        ]
        content += [element("h3", "Requests"), element("ul", *rows)]
    if found["host_counts"] and found["state"] in ("not-kept", "refused", "unknown"):
        content += [
            element("h3", "Links to its host that were not followed"),
            layout.reason_list(
                found["host_counts"], lambda reason: layout.address(name, "not-followed", reason=reason), ""
            ),
        ]
    if found["near"]:
        near = [
            element("li", element("a", layout.short(url), href=layout.address(name, "page", url=url)))
            for url in found["near"]
        ]
        content += [element("h3", "Did you mean"), element("ul", *near)]
    fetch = element(
        "button",
        "Fetch it now",
        type="button",
        data_do="order",
        data_action="seed",
        data_value=found["url"],
        class_="primary",
    )
    if found["state"] != "dead":
        content.append(element("p", fetch))
    return element(
        "div",
        layout.card(NOT_FETCHED.get(found["state"], "Not fetched"), layout.url_shown(found["url"], 120), *content),
        id="crawl",
        data_name=name,
    )


def _queue(waiting: Mapping[str, Any]) -> Markup:
    words = f"Place {waiting['place']:,} of {waiting['length']:,} in the "
    ahead = [
        element("li", layout.url_shown(row["url"]), f" score {_score_text(row['score'])}") for row in waiting["ahead"]
    ]
    held_up = f" Besides, {waiting['held_up']}." if waiting["held_up"] else ""
    first = element("p", words, layout.term("waiting list"), f".{held_up}")
    return (
        join(first, element("h3", "First in line"), element("ol", *ahead)) if ahead and waiting["place"] > 1 else first
    )
