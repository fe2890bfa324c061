"""Pages, explanations and links of a crawl as JSON data, for the API and for the pages of the desk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.desk import live_queries
from scenthound.errors import BadUsage, FolderBroken, NotAUrl, ScenthoundError
from scenthound.formats import full_trail_line, json_number
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step, Url
from scenthound.page.landing import stored_document
from scenthound.ports import declaration_of
from scenthound.report.crawl_facts import ENDINGS
from scenthound.report.explain import Explanation, explain
from scenthound.report.wording import Wording
from scenthound.search import relevance_of, snippets
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders
from scenthound.web.html_document import HtmlDocument
from scenthound.wiring import make_strategy, page_limits

AHEAD = 5  # how many URLs at the head of the waiting list to show with a waiting URL
MOST_LINKS = 2000
MOST_REASONS = 2


def url_of(raw: str) -> Url:
    """Parse a URL typed by a person. Raises `BadUsage`."""
    try:
        return urls.make(raw.strip())
    except NotAUrl as error:
        raise BadUsage(error.message, "enter the full address, such as https://example.org/page") from None


def pages(path: Path, query: live_queries.Wanted) -> dict[str, Any]:
    """The fetched pages selected by a query, each with a snippet of its text."""
    with CrawlFolder.look(path) as folder:
        rows = live_queries.pages(folder.database, query)
        labels, wording = folder.database.labels(), Wording(folder.request)
        passages = _passages(path, [row.url for row in rows], folder.request.topic.keywords)
        shown = [
            {
                "n": row.n,
                "url": row.url,
                "host": urls.host(row.url),
                "title": row.title,
                "relevance": row.relevance,
                "on_topic": bool(row.relevant),
                "score": json_number(row.score),
                "parent": row.parent,
                "anchor": row.anchor,
                "depth": row.depth,
                "time": row.time,
                "label": _label(labels, row.url),
                "why": _why(folder, wording, row.url),
                "snippet": [{"text": text, "marked": marked} for text, marked in passages.get(row.url, ())],
            }
            for row in rows
        ]
        return {"pages": shown, "total": len(folder.history)}


def _why(folder: CrawlFolder, wording: Wording, url: Url) -> list[str]:
    """The strongest reasons why a page was fetched."""
    step = folder.history.step_of(url)
    return [] if step is None else wording.reasons(step)[:MOST_REASONS]


def _label(labels: dict[Url, bool], url: Url) -> str | None:
    return {True: "on topic", False: "off topic", None: None}[labels.get(url)]


def _passages(path: Path, page_urls: list[Url], keywords: str) -> dict[str, tuple[tuple[str, bool], ...]]:
    try:
        return snippets(path, page_urls, keywords)
    except ScenthoundError:  # there is no index yet
        return {}


def explanation(path: Path, raw: str, now: float) -> dict[str, Any]:
    """Explain why a page was fetched or why it was not, with its position in the waiting list."""
    url_of(raw)
    with CrawlFolder.look(path) as folder:
        explained = explain(folder, raw.strip())
        plain = explained.as_plain()
        plain["parts_in_words"] = _parts_in_words(folder)
        plain["label"] = _label(folder.database.labels(), explained.path[-1].url if explained.path else explained.url)
        plain["waiting_list"] = _waiting_list(folder, explained, now)
        if explained.state == "crawled":
            plain["page"] = _page(explained.path[-1])
            plain["reasons"] = Wording(folder.request).reasons(explained.path[-1])
        return plain


def _page(step: Step) -> dict[str, Any]:
    facts = {"relevance": relevance_of(step), "on_topic": step.relevant, "host": urls.host(step.url)}
    return {**full_trail_line(step), **facts}


def _parts_in_words(folder: CrawlFolder) -> dict[str, str]:
    """The meaning of each part of a score, as declared by the strategy."""
    try:
        strategy = make_strategy(folder.request.strategy, folder.request.parameters)
    except ScenthoundError:  # the strategy belongs to a plug-in that is not installed
        return {}
    return dict(declaration_of(strategy).score_parts)


def _waiting_list(folder: CrawlFolder, explained: Explanation, now: float) -> dict[str, Any] | None:
    candidate = explained.candidate
    if explained.state != "waiting" or candidate is None:
        return None
    database = folder.database
    rests_until = database.host(urls.host(candidate.url)).next_allowed
    return {
        "held_up": _held_up(folder, rests_until - now),
        "place": live_queries.place_of(database, candidate.score, candidate.url),
        "length": live_queries.counts_waiting(database),
        "ahead": [
            {"url": waiting.url, "score": json_number(waiting.score)}
            for waiting in live_queries.first_waiting(database, AHEAD)
            if waiting.url != candidate.url
        ],
        "host_rests_until": rests_until,
    }


def _held_up(folder: CrawlFolder, rest: float) -> str:
    """Why a waiting URL is delayed: the crawl has ended or is paused, or its host is resting; empty if it is not."""
    if holder(folder.path) is None:
        ended = folder.database.meta("ended") or "cut off"
        return f"the crawl is not running: {ENDINGS.get(ended, ended)}"
    if Orders(folder.database).is_paused():
        return "the crawl is paused"
    return f"its host is resting for another {rest:.1f} s" if rest > 0 else ""


def links(path: Path, raw: str) -> dict[str, Any] | None:
    """The links of a stored page with the state of each; None if the page is not stored."""
    with CrawlFolder.look(path) as folder:
        document = document_of(folder, url_of(raw))
        if document is None:
            return None
        anchors: dict[Url, str] = {}
        for link in document.links:
            if len(anchors) < MOST_LINKS:
                anchors.setdefault(link.url, link.anchor)
        states = live_queries.fates(folder.database, anchors)
        rows = []
        for url, anchor in anchors.items():
            state, detail = states.get(url, ("not followed", ""))
            rows.append({"url": url, "anchor": anchor, "state": state, "detail": detail})
        counts: dict[str, int] = {}
        for row in rows:
            counts[row["state"]] = counts.get(row["state"], 0) + 1
        return {"url": raw, "links": rows, "counts": counts}


def document_of(folder: CrawlFolder, url: Url) -> HtmlDocument | None:
    """Parse a stored page; None if it is not stored or can't be read."""
    where = folder.history.where(url)
    try:
        response = None if where is None else folder.repository.get(where)
    except FolderBroken:
        return None
    return None if response is None else stored_document(response, page_limits(folder.request.settings))
