"""The page of related organisations: a ranked list to accept or reject. Each decision labels a home page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.apps.related import Hub, Organisation, RelatedOrganisations, related, write_csv
from scenthound.desk.markup import Content, Markup, element
from scenthound.desk.shapes import ANY, INTEGER, SHARE, TEXT, TEXTS, fields, list_of
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url
from scenthound.store import live_queries

MOST = 200
LIKELY = 0.2
"""Minimum confidence for a filled dot."""
LIMIT = params.Integer("limit", "Maximum number of organisations.", 25, 1, MOST)
ORGANISATION = fields(
    ["key", "name", "home", "confidence", "evidence"],
    **dict.fromkeys(("key", "name", "home", "decision"), TEXT),
    **dict.fromkeys(("shared_words", "aliases"), TEXTS),
    confidence=SHARE,
    nearer_than=ANY,
    evidence=ANY,
    hubs=list_of(ANY),
)
ANSWER = fields(
    **dict.fromkeys(("organisations", "rejected"), list_of(ORGANISATION)),
    **dict.fromkeys(("seeds", "augmented", "notes"), TEXTS),
    topic=TEXT,
    pages=INTEGER,
)


def related_in_crawl(path: Path, most: int) -> RelatedOrganisations:
    """Rank the related organisations in a crawl."""
    with CrawlFolder.look(path) as folder:
        return related(folder, most)


def labelable_homes(path: Path, result: RelatedOrganisations) -> set[Url]:
    """The home pages that can be labelled, because they are fetched or waiting."""
    homes = [organisation.home for organisation in (*result.organisations, *result.rejected)]
    with CrawlFolder.look(path) as folder:
        fates = live_queries.fates(folder.database, homes)
    return {url for url, (state, _) in fates.items() if state in ("fetched", "waiting")}


async def get_related(request: Request) -> Any:
    path, most = api_base.folder_of(request), LIMIT.of(request.query_params)
    return (await run_in_threadpool(related_in_crawl, path, most)).as_plain()


async def get_table(request: Request) -> Response:
    result = await run_in_threadpool(related_in_crawl, api_base.folder_of(request), MOST)
    text = io.StringIO(newline="")
    write_csv(result, text)
    headers = {"Content-Disposition": 'attachment; filename="related.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


async def related_page(request: Request) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/related")
    result = await run_in_threadpool(related_in_crawl, path, LIMIT.of(request.query_params))
    labelable = await run_in_threadpool(labelable_homes, path, result)
    rows = [_row(name, organisation, organisation.home in labelable) for organisation in result.organisations]
    content: list[Content] = [element("ol", *rows, class_="results")] if rows else []
    if result.rejected:
        rejected = [_row(name, organisation, organisation.home in labelable) for organisation in result.rejected]
        content += [element("h2", "Rejected"), element("ol", *rejected, class_="results")]
    return layout.page("Related", _head(name, result), *content, script="page", nav=nav)


def _head(name: str, result: RelatedOrganisations) -> Markup:
    summary = f"Organisations like {', '.join(result.seeds[:8])}, from {result.pages:,} pages."
    about = (
        "Organisations that you accept become examples; those that you reject become counter-examples. The crawl "
        "learns from both; reload this page to see the new order."
    )
    table = element("a", "Download CSV", href=f"/api/collections/{quote(name)}/related.csv", class_="button")
    return element(
        "section",
        element("div", element("h1", "Related organisations"), table, class_="head"),
        element("p", summary),
        element("p", about, class_="quiet-text"),
        *(element("p", f"{note[:1].upper()}{note[1:]}.", class_="quiet-text") for note in result.notes),
        id="crawl",
        data_name=name,
        class_="crawl-head",
    )


def _row(name: str, organisation: Organisation, can_be_labelled: bool) -> Markup:
    likely = organisation.confidence >= LIKELY
    score = element(
        "span",
        element("span", "●" if likely else "○", class_="shape", aria_hidden="true"),
        f"{organisation.confidence:.2f}",
        class_=f"score {'on' if likely else 'off'}",
        title=f"confidence {organisation.confidence:.3f} of 1",
    )
    facts = [_hub(name, hub) for hub in organisation.hubs]
    links = [
        f"{count} of the examples {verb}"
        for count, verb in (
            (organisation.evidence.from_seeds, "link to it"),
            (organisation.evidence.to_seeds, "are linked from it"),
        )
        if count
    ]
    if organisation.nearer_than is not None:
        links.append(f"nearer to the examples than {organisation.nearer_than:.0%} of the other sites read")
    body = element(
        "div",
        element("h3", element("a", organisation.name, href=layout.address(name, "page", url=organisation.home))),
        element("p", layout.url_shown(organisation.home), class_="where"),
        element("p", f"Also: {', '.join(organisation.aliases[:5])}", class_="facts") if organisation.aliases else None,
        element("ul", *facts, class_="reasons") if facts else None,
        element("p", f"Shared words: {', '.join(organisation.shared_words)}", class_="facts")
        if organisation.shared_words
        else None,
        element("p", "; ".join(links), class_="facts") if links else None,
        class_="body",
    )
    return element(
        "li",
        score,
        body,
        _decisions(organisation, can_be_labelled),
        class_="result",
        data_url=organisation.home,
        tabindex=-1,
    )


def _hub(name: str, hub: Hub) -> Markup:
    under = f", under “{hub.heading}”" if hub.heading else ""
    intro = f"listed with {', '.join(hub.seeds[:4])} on "
    title = element(
        "a", hub.title or layout.short(hub.url), href=hub.url, rel="noopener noreferrer nofollow", title=hub.url
    )
    passage = element("span", f": {hub.passage}", class_="snippet") if hub.passage else None
    return element("li", intro, title, f" ({hub.organisations:,} organisations){under}", passage)


def _decisions(organisation: Organisation, can_be_labelled: bool) -> Markup:
    if not can_be_labelled:
        fetch = element(
            "button",
            "Fetch its home page",
            type="button",
            data_do="order",
            data_action="seed",
            data_value=organisation.home,
        )
        return element("div", fetch, class_="labels")

    def button(label: str, decision: str, value: str) -> Markup:
        return element(
            "button",
            label,
            type="button",
            data_do="label",
            data_url=organisation.home,
            data_on_topic=value,
            aria_pressed="true" if organisation.decision == decision else "false",
        )

    return element("div", button("Accept", "accepted", "true"), button("Reject", "rejected", "false"), class_="labels")


ROUTES = [
    get("/api/collections/{name}/related", get_related, "Organisations like the seeds, best first.", ANSWER, LIMIT),
    get("/api/collections/{name}/related.csv", get_table, "Related organisations as CSV.", TEXT, kinds=["text/csv"]),
    Route("/c/{name}/related", main_pages.html_page(related_page)),
]
