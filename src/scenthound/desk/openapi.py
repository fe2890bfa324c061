"""The description of the API, in OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from scenthound.apps.site_map import FORMATS
from scenthound.loop.steering import ACTIONS

TEXT, NUMBER, WHOLE, FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}
STRINGS = {"type": "array", "items": TEXT}
ANY = {"type": "object"}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def _object(required: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields) if required is None else required}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


ERROR = _object(error=TEXT, hint=TEXT)
PASSAGE = _list(_object(text=TEXT, marked=FLAG))
COLLECTION = _object(name=TEXT, folder=TEXT, topic=TEXT, pages=WHOLE, budget=WHOLE, state=TEXT, error=TEXT)
OVERVIEW = _object(
    ["name", "topic", "state", "pages", "budget", "share"],
    name=TEXT,
    folder=TEXT,
    topic=TEXT,
    strategy=TEXT,
    state=TEXT,
    state_in_words=TEXT,
    why=TEXT,
    is_running=FLAG,
    pages=WHOLE,
    budget=WHOLE,
    on_topic=WHOLE,
    share=NUMBER,
    share_recent=NUMBER,
    recent=WHOLE,
    pages_per_second=NUMBER,
    bytes=WHOLE,
    waiting=WHOLE,
    hosts=ANY,
    expected={"type": ["number", "null"]},
    expected_share={"type": ["number", "null"]},
    outlook=TEXT,
    exploration={"type": ["number", "null"]},
    failed=ANY,
    not_followed=ANY,
    curve=_list(_list(NUMBER)),
)
PAGE = _object(
    ["n", "url", "title", "relevance"],
    n=WHOLE,
    url=TEXT,
    host=TEXT,
    title=TEXT,
    relevance=NUMBER,
    on_topic=FLAG,
    score={"type": ["number", "string"]},
    parent={"type": ["string", "null"]},
    anchor=TEXT,
    depth=WHOLE,
    time=NUMBER,
    label={"type": ["string", "null"]},
    why=STRINGS,
    snippet=PASSAGE,
)
ORDER = _object(order=WHOLE, action=TEXT, value=TEXT, time=NUMBER, taken=FLAG, outcome=TEXT)
RESULTS = _object(total=WHOLE, indexed=WHOLE, weight=NUMBER, order=TEXT, results=_list(ANY))
LINKS = _object(url=TEXT, links=_list(_object(url=TEXT, anchor=TEXT, state=TEXT, detail=TEXT)), counts=ANY)
MAP_PAGE = _object(
    n=WHOLE,
    url=TEXT,
    host=TEXT,
    title=TEXT,
    relevance=NUMBER,
    on_topic=FLAG,
    time=NUMBER,
    parent={"type": ["integer", "null"]},
)
MAP = _object(total=WHOLE, pages=_list(MAP_PAGE), links={"type": ["array", "null"], "items": _list(WHOLE)})
AGENT = _object(
    agent=WHOLE,
    parent={"type": ["integer", "null"]},
    born=WHOLE,
    died={"type": ["integer", "null"]},
    why=TEXT,
    owned={"type": ["number", "null"]},
    words=STRINGS,
    pages=WHOLE,
    sales=WHOLE,
    children=WHOLE,
)
POPULATION = _object(pages=WHOLE, total=WHOLE, living=WHOLE, owns=TEXT, agents=_list(AGENT))
ONE_AGENT = _object(
    **AGENT["properties"],
    saved=ANY,
    offspring=_list(AGENT),
    events=_list(_object(n=WHOLE, event=TEXT, url={"type": ["string", "null"]}, title=TEXT, facts=ANY)),
)
EXPERIMENT = _object(
    name=TEXT,
    points=_list(WHOLE),
    metrics=STRINGS,
    all_strategies=STRINGS,
    metric=TEXT,
    at=WHOLE,
    strategies=STRINGS,
    topics=STRINGS,
    curves=ANY,
    tests=_list(ANY),
    by_topic=ANY,
)
EXPLANATION = _object(["url", "state", "why", "path"], url=TEXT, state=TEXT, why=TEXT, path=_list(ANY))


def _answer(about: str, schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"description": about, "content": {kind: {"schema": schema}}}


def _errors(*codes: int) -> dict[str, Any]:
    words = {
        400: "What was asked can't be done; the error says why.",
        401: "The token is missing.",
        403: "A page of another site asked.",
        404: "There is no such thing.",
        409: "Another process uses the folder.",
        413: "Too much was sent.",
        421: "The address is not that of the desk.",
    }
    return {str(code): _answer(words[code], ERROR) for code in codes}


def _query(name: str, schema: dict[str, Any], about: str, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": about, "required": required}


NAME = {"name": "name", "in": "path", "required": True, "schema": TEXT, "description": "The name of a collection."}
LAB = {**NAME, "description": "The name of an experiment."}
LAB_FILE = {
    "name": "file",
    "in": "path",
    "required": True,
    "schema": {
        "type": "string",
        "enum": [f"{what}.{kind}" for what in ("curves", "tests", "topics") for kind in ("csv", "tex")]
        + ["curves.svg", "topics.svg"],
    },
    "description": "Table or picture, and format.",
}
NUMBERED = {"name": "agent", "in": "path", "required": True, "schema": WHOLE, "description": "Its number."}
URL = _query("url", TEXT, "The address of a page.", True)
LIMIT = _query("limit", {"type": "integer", "minimum": 0, "maximum": 100}, "How many.")
OFFSET = _query("offset", {"type": "integer", "minimum": 0, "maximum": 1_000_000}, "How many to skip.")
LEAST = _query("min_relevance", SHARE, "Only pages at least this relevant.")


def _get(
    about: str, schema: dict[str, Any], *parameters: dict[str, Any], kind: str = "application/json"
) -> dict[str, Any]:
    errors = _errors(400, 403, 404, 409, 421)
    return {
        "summary": about,
        "parameters": list(parameters),
        "responses": {"200": _answer(about, schema, kind), **errors},
    }


def _files(*parameters: dict[str, Any]) -> dict[str, Any]:
    """A table or picture of an experiment, in one of three formats."""
    operation = _get("A table or a picture of an experiment as a file.", TEXT, *parameters)
    kinds = ("text/csv; charset=utf-8", "application/x-tex", "image/svg+xml")
    operation["responses"]["200"]["content"] = {kind: {"schema": TEXT} for kind in kinds}
    return operation


def _post(
    about: str, body: dict[str, Any] | None, code: int, schema: dict[str, Any], *parameters: Any
) -> dict[str, Any]:
    errors = _errors(400, 401, 403, 404, 409, 413, 421)
    operation: dict[str, Any] = {
        "summary": about,
        "parameters": list(parameters),
        "security": [{"token": []}],
        "responses": {str(code): _answer(about, schema), **errors},
    }
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return operation


def seed_sources(one: str) -> dict[str, Any]:
    """The addresses that seed sources and other search engines use."""
    asked = (
        _query("q", TEXT, "What to search for.", True),
        _query("count", {"type": "integer", "minimum": 1, "maximum": 100}, "How many."),
        _query("start", {"type": "integer", "minimum": 1, "maximum": 1_000_000}, "The first of them, from 1 on."),
        _query("page", {"type": "integer", "minimum": 1, "maximum": 10_000}, "Instead: which page of so many."),
    )
    one_found = _object(url=TEXT, title=TEXT, content=TEXT, score=NUMBER, relevance=NUMBER, fetched=TEXT)
    found = _object(query=TEXT, totalResults=WHOLE, startIndex=WHOLE, itemsPerPage=WHOLE, results=_list(one_found))
    wanted = _object(
        ["topic", "source"],
        topic=TEXT,
        source={**TEXT, "description": "collections:NAME, searxng:ADDRESS, sitemap:ADDRESS or commoncrawl:DOMAIN."},
        limit={"type": "integer", "minimum": 1, "maximum": 500, "default": 20},
    )
    seeds = _object(seeds=STRINGS, found=_list(_object(url=TEXT, title=TEXT)))
    about = "This collection as a search engine: an OpenSearch 1.1 description."
    return {
        "/api/seeds": {"post": _post("Find pages to start from.", wanted, 200, seeds)},
        f"{one}/opensearch.xml": {"get": _get(about, TEXT, NAME, kind="application/opensearchdescription+xml")},
        f"{one}/opensearch.json": {"get": _get("Search results for other search engines.", found, NAME, *asked)},
        f"{one}/opensearch.rss": {
            "get": _get("Search results as RSS 2.0.", TEXT, NAME, *asked, kind="application/rss+xml")
        },
    }


def questions_and_portals(one: str) -> dict[str, Any]:
    """The addresses of questions, and of portals."""
    asked = _object(
        ["query"],
        query={**TEXT, "description": "What to look for."},
        seeds={**TEXT, "description": "Pages to start from: one URL a line, or a bookmarks file."},
        source={**TEXT, "description": "Without seeds: a seed source that finds some, as collections:NAME."},
        pages={"type": "integer", "minimum": 1, "maximum": 2000, "default": 50},
        strategy={"type": "string", "enum": ["hound", "best-first", "infospiders"], "default": "hound"},
    )
    hit = _object(
        number=WHOLE,
        page=WHOLE,
        url=TEXT,
        title=TEXT,
        relevance=NUMBER,
        parent={"type": ["string", "null"]},
        parent_title=TEXT,
        anchor=TEXT,
        is_seed=FLAG,
        spider={"type": ["integer", "null"]},
    )
    hits = _object(hits=_list(hit), ranked=_list(hit), is_running=FLAG, kept=FLAG)
    after = _query("after", {"type": "integer", "minimum": 0, "maximum": 1_000_000_000}, "Only those found after it.")
    folder = _object(folder=TEXT)
    return {
        "/api/questions": {"post": _post("Ask a question.", asked, 201, _object(name=TEXT, folder=TEXT))},
        f"{one}/hits": {"get": _get("Relevant pages in the order of finding; ranked in the end.", hits, NAME, after)},
        f"{one}/keep": {"post": _post("Keep what a question found.", None, 200, folder, NAME)},
        f"{one}/discard": {"post": _post("Throw away what a question found.", None, 200, folder, NAME)},
        f"{one}/portal": {"post": _post("Make the portal, or bring it up to date.", None, 200, ANY, NAME)},
    }


def applications(one: str) -> dict[str, Any]:
    """The addresses of related organisations and of the map of a site."""
    most = _query("limit", {"type": "integer", "minimum": 1, "maximum": 200}, "How many.")
    folded = _query(
        "folded", {"type": "string", "enum": ["yes", "no"]}, "Whether branches without the topic are left out."
    )
    organisation = _object(
        ["key", "name", "home", "confidence", "evidence"],
        key=TEXT, name=TEXT, home=TEXT, confidence=SHARE, evidence=ANY, hubs=_list(ANY), shared_words=STRINGS,
        aliases=STRINGS, decision=TEXT,
    )  # fmt: skip
    answer = _object(
        topic=TEXT, pages=WHOLE, seeds=STRINGS, organisations=_list(organisation), rejected=_list(organisation),
        augmented=STRINGS, notes=STRINGS,
    )  # fmt: skip
    site = _object(topic=TEXT, site=TEXT, pages=WHOLE, on_topic=WHOLE, branches=_list(ANY))
    file = {"name": "file", "in": "path", "required": True, "schema": {"type": "string", "enum": list(FORMATS)},
            "description": "Which file."}  # fmt: skip
    files = _get("The map of a site as a file.", TEXT, NAME, file)
    kinds = [f"{kind}; charset=utf-8" if kind.startswith("text/") else kind for _, kind in FORMATS.values()]
    files["responses"]["200"]["content"] = {kind: {"schema": TEXT} for kind in kinds}
    table = _get("Related organisations as a table.", TEXT, NAME, kind="text/csv; charset=utf-8")
    return {
        f"{one}/related": {"get": _get("Organisations like the seeds, best first.", answer, NAME, most)},
        f"{one}/related.csv": {"get": table},
        f"{one}/site-map": {"get": _get("The pages of a site as a tree.", site, NAME, folded)},
        f"{one}/site-map/{{file}}": {"get": files},
    }


def companion() -> dict[str, Any]:
    """The addresses of the companion. All of them need the token; extensions have one of their own."""
    one, link = "/api/companion", _object(["url"], url=TEXT, text=TEXT)
    page = _object(url=TEXT, title=TEXT)
    profile = _object(pages=WHOLE, words=_list(_object(word=TEXT, weight=NUMBER)), removed=STRINGS)
    state = _object(
        on=FLAG, folder=TEXT, profile=profile, excluded=STRINGS, front={"anyOf": [page, {"type": "null"}]},
        looking=FLAG, looked_at=_list(page), paired=STRINGS,
    )  # fmt: skip
    suggestion = _object(
        url=TEXT, title=TEXT, shown=TEXT, score=NUMBER, clicks={"type": "integer", "enum": [1, 2]}, through=TEXT,
        reasons=STRINGS, was_looked_at=FLAG,
    )  # fmt: skip
    answer = _object(about=TEXT, is_looking=FLAG, looked_at=WHOLE, suggestions=_list(suggestion))
    private = {**FLAG, "description": "Whether the window is private; then it is refused."}
    visit = _object(["url", "text", "private"], url=TEXT, title=TEXT, text=TEXT, links=_list(link), private=private)
    lesson = _object(
        ["url", "kind", "private"], url=TEXT, kind={"type": "string", "enum": ["read", "bookmark", "follow"]},
        seconds={"type": "number", "minimum": 0}, private=private,
    )  # fmt: skip
    weight = {"type": "number", "minimum": 0, "maximum": 100, "description": "0 removes it for good."}
    heard = _object(excluded=STRINGS)

    def change(about: str, body: dict[str, Any] | None) -> dict[str, Any]:
        return {"post": _post(about, body, 200, state)}

    def read(about: str, schema: dict[str, Any], *parameters: dict[str, Any]) -> dict[str, Any]:
        operation = _get(about, schema, *parameters)
        operation["responses"] |= _errors(401)
        return {"get": operation | {"security": [{"token": []}]}}

    return {
        one: read("All that the companion knows.", state),
        f"{one}/suggestions": read("What is worth following from a page.", answer, URL),
        f"{one}/pairings": {
            "post": _post(
                "Pair an extension, by a code.", _object(code=TEXT), 201, _object(token=TEXT, excluded=STRINGS)
            )
        },
        f"{one}/codes": {"post": _post("Make a code for pairing.", None, 201, _object(code=TEXT))},
        f"{one}/unpair": change("Take the token of an extension away.", _object(origin=TEXT)),
        f"{one}/visits": {"post": _post("A page was opened.", visit, 202, heard)},
        f"{one}/lessons": {"post": _post("A page was read, bookmarked or followed.", lesson, 202, heard)},
        f"{one}/words": change("Give a word a weight.", _object(word=TEXT, weight=weight)),
        f"{one}/excluded": change("Set the sites that are never read.", _object(sites=STRINGS)),
        f"{one}/forget": change("Forget all that was read and learned.", None),
        f"{one}/switch": change("Take in nothing, or begin again.", _object(on=FLAG)),
    }


def description() -> dict[str, Any]:
    """The whole description."""
    one = "/api/collections/{name}"
    new = _object(
        ["topic"],
        topic={**TEXT, "description": "What to look for."},
        seeds={**TEXT, "description": "Pages to start from: one URL a line, or a bookmarks file."},
        source={**TEXT, "description": "Without seeds: a seed source that finds some, as collections:NAME."},
        pages={"type": "integer", "minimum": 1, "maximum": 1_000_000_000, "default": 500},
        delay={"type": "number", "minimum": 0, "default": 1},
        strategy=TEXT,
        scope={"type": "string", "enum": ["any", "host", "domain"], "default": "any"},
    )
    order = _object(["action"], action={"type": "string", "enum": list(ACTIONS)}, value=TEXT)
    filters = (
        _query("q", TEXT, 'Words, "a phrase", title:word, -without, one OR other, begin*.'),
        _query("like", TEXT, "Instead of words: pages like this one."),
        _query("host", _list(TEXT), "Only these hosts."),
        _query("language", _list(TEXT), "Only pages that declare one of these languages."),
        LEAST,
        _query("weight", SHARE, "What the match of the text counts in the order."),
        LIMIT,
        OFFSET,
    )
    pages = (
        _query("order", {"type": "string", "enum": ["new", "best"]}, "Which come first."),
        _query("host", TEXT, "Only this host."),
        LEAST,
        _query("on_topic", {"type": "string", "enum": ["", "yes", "no"]}, "Only pages that the judge calls on topic."),
        _query("label", {"type": "string", "enum": ["", "on", "off"]}, "Only pages with this label."),
        LIMIT,
        OFFSET,
    )
    on_map = (
        _query("limit", {"type": "integer", "minimum": 1, "maximum": 10_000}, "How many: the most relevant ones."),
        _query("links", {"type": "string", "enum": ["no", "yes"]}, "Whether all links between them are wanted."),
    )
    of_lab = (
        _query("metric", TEXT, "What is compared."),
        _query("strategy", _list(TEXT), "Only these crawlers."),
        _query("topic", _list(TEXT), "Only these topics."),
        _query("at", {"type": "integer", "minimum": 1, "maximum": 1_000_000_000}, "After so many pages."),
    )
    of_picture = (
        _query("across", TEXT, "Of topics.svg: the crawler on the axis across."),
        _query("up", TEXT, "Of topics.svg: the crawler on the axis up."),
        _query("save", {"type": "string", "enum": ["no", "yes"]}, "Whether a browser should save it."),
    )
    metrics = _get("Figures for Prometheus.", TEXT, kind="text/plain; version=0.0.4; charset=utf-8")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Scenthound desk",
            "version": "1",
            "description": "Start, watch, steer and search crawls. Every change needs the token of the desk.",
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/api/collections": {
                "get": _get("All collections.", _object(collections=_list(COLLECTION))),
                "post": _post(
                    "Open the folder of a crawl or an experiment.",
                    _object(folder=TEXT),
                    200,
                    _object(names=STRINGS, experiments=STRINGS),
                ),
            },
            "/api/crawls": {"post": _post("Start a crawl.", new, 201, _object(name=TEXT, folder=TEXT))},
            **seed_sources(one),
            **questions_and_portals(one),
            one: {"get": _get("The figures of a crawl.", OVERVIEW, NAME)},
            f"{one}/events": {
                "get": _get(
                    "The figures whenever they change, as server-sent events.",
                    TEXT,
                    NAME,
                    kind="text/event-stream; charset=utf-8",
                )
            },
            f"{one}/pages": {"get": _get("Fetched pages.", _object(pages=_list(PAGE), total=WHOLE), NAME, *pages)},
            f"{one}/explanation": {"get": _get("Why a page was fetched, or not.", EXPLANATION, NAME, URL)},
            f"{one}/links": {"get": _get("The links of a stored page, and what became of them.", LINKS, NAME, URL)},
            f"{one}/search": {"get": _get("Search the text of the pages.", RESULTS, NAME, *filters)},
            f"{one}/map": {"get": _get("The pages of a map and the links between them.", MAP, NAME, *on_map)},
            **applications(one),
            **companion(),
            f"{one}/agents": {"get": _get("The agents of a crawl, oldest first.", POPULATION, NAME)},
            f"{one}/agents/{{agent}}": {
                "get": _get("One agent, with pages and transactions.", ONE_AGENT, NAME, NUMBERED)
            },
            f"{one}/orders": {
                "get": _get("The orders given so far.", _object(orders=_list(ORDER)), NAME),
                "post": _post("Steer the crawl.", order, 202, ORDER, NAME),
            },
            f"{one}/labels": {
                "post": _post(
                    "Label a page.", _object(url=TEXT, on_topic=FLAG), 202, _object(url=TEXT, on_topic=FLAG), NAME
                )
            },
            f"{one}/resume": {"post": _post("Continue a crawl that has ended.", None, 200, _object(folder=TEXT), NAME)},
            "/api/experiments": {
                "get": _get(
                    "The experiments that are open.", _object(experiments=_list(_object(name=TEXT, folder=TEXT)))
                )
            },
            "/api/experiments/{name}": {"get": _get("The figures of an experiment.", EXPERIMENT, LAB, *of_lab)},
            "/api/experiments/{name}/{file}": {"get": _files(LAB, LAB_FILE, *of_lab, *of_picture)},
            "/api/openapi.json": {"get": _get("This description.", ANY)},
            "/metrics": {"get": metrics},
        },
    }
