"""The search page: query, filters, and results with the parts of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any
from urllib.parse import quote, urlencode

from scenthound.desk import page_layout as layout
from scenthound.desk.markup import Markup, element
from scenthound.formats import whole_number


def form(text: str, like: str, query: Any, languages: Mapping[str, int], categories: Mapping[str, Sized]) -> Markup:
    weight = query.get("weight", "0.6")
    options = [element("option", "any language", value="")]
    options += [
        element("option", f"{code} ({pages:,})", value=code, selected=query.get("language") == code)
        for code, pages in languages.items()
        if code
    ]
    filters = element(
        "div",
        element("input", name="host", value=query.get("host", ""), placeholder="host", aria_label="Only this host"),
        element("select", *options, name="language", aria_label="Language") if len(options) > 1 else None,
        element(
            "input",
            name="min_relevance",
            value=query.get("min_relevance", ""),
            type="number",
            min=0,
            max=1,
            step="0.05",
            placeholder="min. relevance",
            aria_label="Minimum relevance",
        ),
        _day("since", "fetched from", query),
        _day("until", "to", query),
        _category(query.get("category", ""), categories) if categories else None,
        element(
            "label",
            "topic ",
            element(
                "input",
                type="range",
                name="weight",
                min=0,
                max=1,
                step="0.1",
                value=weight,
                aria_label="Ranking: topic or text",
            ),
            " text",
            class_="weight",
            title="What counts in the ranking: relevance to the topic, or the text match",
        ),
        class_="filters",
    )
    box = element(
        "input",
        id="search-box",
        name="q",
        type="search",
        value=text,
        aria_label="Search",
        autofocus=not text,
        placeholder='envelope repair, "hot air", title:club, -car',
    )
    like_field = element("input", type="hidden", name="like", value=like) if like and not text else None
    heading = element("p", "Pages similar to ", layout.url_shown(like)) if like and not text else None
    return element(
        "form",
        heading,
        element("div", box, element("button", "Search", class_="primary"), class_="row"),
        like_field,
        filters,
        method="get",
        role="search",
        class_="start",
    )


def _day(name: str, label: str, query: Any) -> Markup:
    return element(
        "label", f"{label} ", element("input", type="date", name=name, value=query.get(name, "")), class_="weight"
    )


def _category(chosen: str, categories: Mapping[str, Sized]) -> Markup:
    options = [element("option", "any category", value="")]
    options += [
        element("option", f"{name} ({len(pages):,})", value=name, selected=name == chosen)
        for name, pages in categories.items()
    ]
    return element("select", *options, name="category", aria_label="Category")


def result_list(name: str, results: Mapping[str, Any], query: Any, pages: int) -> Markup:
    """The results of a search; `pages` is the number of pages in the crawl."""
    if not pages:
        return layout.empty("No pages yet", element("p", "You can search as soon as the first pages arrive."))
    if not results["indexed"]:
        return layout.empty("The index is being built", element("p", "Try again in a few seconds."))
    if not results["total"]:
        return layout.empty(
            f"None of the {results['indexed']:,} pages match",
            element("p", "Try fewer words, or a prefix such as balloon*."),
            _crawl_link(name, query),
        )
    line = element(
        "p",
        f"{results['total']:,} of {results['indexed']:,} pages. Ranking: {results['order']}.",
        class_="quiet-text",
    )
    rows = [_hit(name, row) for row in results["results"]]
    offset = whole_number(query.get("offset", "")) or 0
    after = offset + len(rows)
    more = None
    if after < results["total"] and rows:
        other_parameters = [(key, value) for key, value in query.multi_items() if key != "offset"]
        more = element(
            "a",
            "Next results",
            href=f"/c/{quote(name)}/search?{urlencode([*other_parameters, ('offset', after)])}",
            class_="button",
        )
    items = element("ol", *rows, class_="results", id="results", start=offset + 1)
    return element("section", line, items, more, _crawl_link(name, query), class_="found")


def _crawl_link(name: str, query: Any) -> Markup | None:
    """A link to the start page, filled in with the query as topic and this collection as seed source."""
    text = query.get("q", "").strip()
    if not text:
        return None
    start = f"/?{urlencode({'topic': text, 'source': f'collections:{name}'})}"
    return element("p", element("a", "Look for this on the web", href=start), class_="quiet-text")


def _hit(name: str, row: Mapping[str, Any]) -> Markup:
    parts = f"text {row['text_part']:.0%}, topic {row['topic_part']:.0%}"
    score = element(
        "span", f"{row['score']:.2f}", class_="score", title=parts, aria_label=f"score {row['score']:.2f}: {parts}"
    )
    like = element("a", "more like this", href=layout.address(name, "search", like=row["url"]))
    return element(
        "li",
        score,
        element(
            "div",
            element(
                "h3", element("a", row["title"] or "(no title)", href=layout.address(name, "page", url=row["url"]))
            ),
            element("p", layout.url_shown(row["url"]), class_="where"),
            element("p", layout.marked_snippet(row["snippet"]), class_="snippet"),
            element("p", parts, " · ", like, class_="facts"),
            class_="body",
        ),
        class_="result",
        data_url=row["url"],
        tabindex=-1,
    )
