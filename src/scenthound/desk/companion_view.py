"""The companion at the desk: what its extension may ask and send, and a page with all that it knows."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from scenthound.apps.companion import Companion, Visit
from scenthound.desk import api, pages
from scenthound.desk import layout as look
from scenthound.desk import parameters as read
from scenthound.desk.markup import Markup, element
from scenthound.desk.pairing import Pairings, is_extension
from scenthound.errors import BadUsage

LARGEST_VISIT = 1_000_000  # bytes
LONGEST_TEXT = 200_000  # characters
MOST_LINKS = 2_000
PRIVATE = "a private window is never read"


def companion_of(request: Request) -> tuple[Companion, Pairings]:
    desk = api.desk_of(request)
    if desk.companion is None or desk.pairings is None:
        raise api.Unknown("this desk has no companion", "start it with `scenthound companion`")
    return desk.companion, desk.pairings


# ---- pairing


async def pair(request: Request) -> Any:
    companion, pairings = companion_of(request)
    origin = request.headers.get("origin", "")
    code = read.field(await read.body_of(request, LARGEST_VISIT), "code", str)
    if not is_extension(origin):
        raise BadUsage("only an extension can be paired", "type the code in its options")
    token = pairings.pair(origin, code, api.desk_of(request).clock())
    return JSONResponse({"token": token, "excluded": list(companion.excluded)}, 201)


async def new_code(request: Request) -> Any:
    desk, (_, pairings) = api.desk_of(request), companion_of(request)
    return JSONResponse({"code": f"{desk.access.port}-{pairings.new_code(desk.clock())}"}, 201)


async def unpair(request: Request) -> Any:
    companion_of(request)[1].unpair(read.field(await read.body_of(request), "origin", str))
    return _state(request)


# ---- what the extension sends and asks


async def visit(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await read.body_of(request, LARGEST_VISIT)
    _check_window(body)
    await companion.visit(
        Visit(
            read.field(body, "url", str),
            read.field(body, "title", str, "")[:500],
            read.field(body, "text", str)[:LONGEST_TEXT],
            _links(body.get("links", [])),
        )
    )
    return JSONResponse({"excluded": list(companion.excluded)}, 202)


def _check_window(body: dict[str, Any]) -> None:
    if read.field(body, "private", bool):
        raise BadUsage(PRIVATE, "nothing was kept; use another window, or leave it as it is")


def _links(given: Any) -> list[tuple[str, str]]:
    if not isinstance(given, list) or len(given) > MOST_LINKS or not all(isinstance(link, dict) for link in given):
        raise BadUsage(
            "`links` has the wrong kind", f'send a list, as [{{"url": …, "text": …}}], of {MOST_LINKS:,} at most'
        )
    return [(read.field(link, "url", str), read.field(link, "text", str, "")[:500]) for link in given]


async def lesson(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await read.body_of(request, LARGEST_VISIT)
    _check_window(body)
    companion.teach(
        read.field(body, "url", str), read.field(body, "kind", str), read.field(body, "seconds", float, 0.0)
    )
    return JSONResponse({"excluded": list(companion.excluded)}, 202)


async def suggestions(request: Request) -> Any:
    companion, _ = companion_of(request)
    return companion.suggestions(read.required(request.query_params, "url")).as_plain()


# ---- what it knows, for people


def _state(request: Request) -> dict[str, Any]:
    companion, pairings = companion_of(request)
    return {**companion.state(), "paired": pairings.origins}


async def state(request: Request) -> Any:
    return _state(request)


async def word(request: Request) -> Any:
    body = await read.body_of(request)
    companion_of(request)[0].set_word(read.field(body, "word", str), read.field(body, "weight", float))
    return _state(request)


async def exclude(request: Request) -> Any:
    sites = (await read.body_of(request)).get("sites")
    if not isinstance(sites, list) or not all(isinstance(site, str) for site in sites):
        raise BadUsage("`sites` has the wrong kind", 'send a list, as {"sites": ["example.org"]}')
    companion_of(request)[0].exclude(sites)
    return _state(request)


async def forget(request: Request) -> Any:
    await companion_of(request)[0].forget()
    return _state(request)


async def switch(request: Request) -> Any:
    on = read.field(await read.body_of(request), "on", bool)
    await companion_of(request)[0].switch(on)
    return _state(request)


# ---- the page: it holds nothing of the reader; a script with the token fills it


async def companion_page(request: Request) -> str:
    companion_of(request)
    return look.page(
        "Companion",
        _head(),
        element("div", _words(), _pages(), class_="cards"),
        _excluded(),
        _pairing(),
        script="companion",
    )


def _head() -> Markup:
    buttons = element(
        "div",
        element("button", "Switch off", type="button", id="switch"),
        element("button", "Forget everything", type="button", id="forget"),
        class_="labels",
    )
    about = (
        "Words of the pages that you read, with weights that fade: half after 20 pages. They are kept in a file of "
        "your folder and leave this machine for nobody."
    )
    return element(
        "section",
        element("div", element("h1", "Companion"), buttons, class_="head"),
        element("p", about, class_="quiet-text"),
        element("p", "What it knows is shown to you alone: open the address that `scenthound companion` printed.",
                id="companion-state", role="status"),
        class_="crawl-head",
    )  # fmt: skip


def _words() -> Markup:
    form = element(
        "form",
        element("label", "Add a word, or give it another weight", for_="word"),
        element(
            "div",
            element("input", id="word", autocomplete="off", maxlength=60),
            element(
                "input", id="weight", type="number", min="0", max="100", step="any", value="1", aria_label="Weight"
            ),
            element("button", "Set"),
            class_="row",
        ),
        id="add-word",
        class_="open",
    )
    removed = element("p", id="removed", class_="quiet-text")
    return look.card("Words of interest", element("ul", id="words", class_="words"), removed, form)


def _pages() -> Markup:
    return look.card(
        "Looking ahead",
        element("p", id="front", class_="quiet-text"),
        element("ul", id="looked-at", class_="looked-at"),
    )


def _excluded() -> Markup:
    form = element(
        "form",
        element("label", "One a line, as example.org; subdomains are meant too", for_="excluded"),
        element("textarea", id="excluded", rows=4, spellcheck="false"),
        element("button", "Save"),
        id="excluding",
        class_="open",
    )
    return look.card("Sites that are never read", form)


def _pairing() -> Markup:
    return look.card(
        "Browsers",
        element("ul", id="paired", class_="looked-at"),
        element("div", element("button", "New code", type="button", id="new-code"),
                element("b", id="code"), class_="row"),
    )  # fmt: skip


_ONE = "/api/companion"
ROUTES = [
    Route("/companion", pages.shows(companion_page)),
    Route(_ONE, api.answers(state), methods=["GET"]),
    Route(f"{_ONE}/pairings", api.answers(pair), methods=["POST"]),
    Route(f"{_ONE}/codes", api.answers(new_code), methods=["POST"]),
    Route(f"{_ONE}/unpair", api.answers(unpair), methods=["POST"]),
    Route(f"{_ONE}/visits", api.answers(visit), methods=["POST"]),
    Route(f"{_ONE}/lessons", api.answers(lesson), methods=["POST"]),
    Route(f"{_ONE}/suggestions", api.answers(suggestions), methods=["GET"]),
    Route(f"{_ONE}/words", api.answers(word), methods=["POST"]),
    Route(f"{_ONE}/excluded", api.answers(exclude), methods=["POST"]),
    Route(f"{_ONE}/forget", api.answers(forget), methods=["POST"]),
    Route(f"{_ONE}/switch", api.answers(switch), methods=["POST"]),
]
