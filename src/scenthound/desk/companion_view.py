"""The companion: the API for its browser extension, and a page that shows everything it knows."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get, post
from scenthound.desk.apps.companion import LESSONS, Companion, Visit
from scenthound.desk.markup import Markup, element
from scenthound.desk.pairing import Pairings, is_extension
from scenthound.desk.security import LARGEST_VISIT, not_paired
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable
from scenthound.errors import BadUsage

LONGEST_TEXT = 200_000  # characters
LONGEST_LINE = 500  # characters of a title, or of the text of a link

NONCE = params.Field("nonce", str, "64 hexadecimal digits, chosen at random by the extension.")
PAIRS = params.Field("pairing", bool, "Use the key of the code instead of that of the extension.", False)
ORIGIN = params.Field("origin", str, "The origin of the extension.")
URL = params.Field("url", str, "The URL of the page.")
TITLE = params.Field("title", str, "The title of the page.", "")
PAGE_TEXT = params.Field("text", str, "The text of the page.")
LINKS = params.Items("links", dict, "The links of the page, in order.", fields(["url"], url=TEXT, text=TEXT), 2_000, [])
LINK_TEXT = params.Field("text", str, "", "")
PRIVATE = params.Field("private", bool, "Whether the window is private; if so, the request is refused.")
KIND = params.Field("kind", str, "What happened.", among=tuple(LESSONS))
SECONDS = params.Field("seconds", float, "How long the page was read, in seconds.", 0.0, 0.0)
WORD = params.Field("word", str, "One word.")
WEIGHT = params.Field("weight", float, "The new weight; 0 removes the word permanently.", least=0.0, most=100.0)
SITES = params.Items("sites", str, "Sites such as example.org; their subdomains are included.", TEXT, 1_000)
ON = params.Field("on", bool)
ADDRESS = params.Text("url", "The URL of the active page.", True)

EXCLUDED = fields(excluded=TEXTS)
CHALLENGE = fields(nonce=TEXT, proof=TEXT)
PAGE = fields(url=TEXT, title=TEXT)
PROFILE = fields(pages=INTEGER, words=list_of(fields(word=TEXT, weight=NUMBER)), removed=TEXTS)
STATE = fields(
    on=FLAG, folder=TEXT, profile=PROFILE, excluded=TEXTS, front=nullable(PAGE), looking=FLAG, looked_at=list_of(PAGE),
    paired=TEXTS,
)  # fmt: skip
SUGGESTION = fields(
    **dict.fromkeys(("url", "title", "shown", "through"), TEXT), score=NUMBER, clicks=INTEGER, reasons=TEXTS,
    was_looked_at=FLAG,
)  # fmt: skip
ANSWER = fields(about=TEXT, is_looking=FLAG, looked_at=INTEGER, suggestions=list_of(SUGGESTION))


def companion_of(request: Request) -> tuple[Companion, Pairings]:
    desk = api_base.desk_of(request)
    if desk.companion is None or desk.pairings is None:
        raise api_base.NotFound("this desk has no companion", "start it with `scenthound companion`")
    return desk.companion, desk.pairings


# ---- pairing


async def challenge(request: Request) -> Any:
    """Prove to an extension that this is its desk, before it sends anything; see `pairing`."""
    desk, (_, pairings) = api_base.desk_of(request), companion_of(request)
    body, origin = await params.body_of(request, LARGEST_VISIT), _extension(request)
    answer = pairings.challenge(origin, NONCE.of(body), PAIRS.of(body), desk.access.port, desk.clock())
    return not_paired() if answer is None else JSONResponse(answer, 201)


async def pair(request: Request) -> Any:
    companion, pairings = companion_of(request)
    pairings.pair(_extension(request), api_base.desk_of(request).clock())  # `Guard` has checked that it knows the code
    return JSONResponse({"excluded": list(companion.excluded)}, 201)


def _extension(request: Request) -> str:
    origin = request.headers.get("origin", "")
    if not is_extension(origin):
        raise BadUsage("only an extension can be paired", "enter the code in the options of the extension")
    return origin


async def new_code(request: Request) -> Any:
    desk, (_, pairings) = api_base.desk_of(request), companion_of(request)
    return JSONResponse({"code": f"{desk.access.port}-{pairings.new_code(desk.clock())}"}, 201)


async def unpair(request: Request) -> Any:
    companion_of(request)[1].unpair(ORIGIN.of(await params.body_of(request)))
    return _state(request)


# ---- requests from the extension


async def visit(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await params.body_of(request, LARGEST_VISIT)
    _check_window(body)
    links = [(URL.of(link), LINK_TEXT.of(link)[:LONGEST_LINE]) for link in LINKS.of(body)]
    title, text = TITLE.of(body)[:LONGEST_LINE], PAGE_TEXT.of(body)[:LONGEST_TEXT]
    await companion.visit(Visit(URL.of(body), title, text, links))
    return JSONResponse({"excluded": list(companion.excluded)}, 202)


def _check_window(body: dict[str, Any]) -> None:
    if PRIVATE.of(body):
        raise BadUsage("private windows are never read", "nothing was stored; use a normal window")


async def lesson(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await params.body_of(request, LARGEST_VISIT)
    _check_window(body)
    companion.teach(URL.of(body), KIND.of(body), SECONDS.of(body))
    return JSONResponse({"excluded": list(companion.excluded)}, 202)


async def suggestions(request: Request) -> Any:
    companion, _ = companion_of(request)
    return companion.suggestions(ADDRESS.of(request.query_params)).as_plain()


# ---- what the companion knows, for its reader


def _state(request: Request) -> dict[str, Any]:
    companion, pairings = companion_of(request)
    return {**companion.state(), "paired": pairings.origins}


async def state(request: Request) -> Any:
    return _state(request)


async def word(request: Request) -> Any:
    body = await params.body_of(request)
    companion_of(request)[0].set_word(WORD.of(body), WEIGHT.of(body))
    return _state(request)


async def exclude(request: Request) -> Any:
    companion_of(request)[0].exclude(SITES.of(await params.body_of(request)))
    return _state(request)


async def forget(request: Request) -> Any:
    await companion_of(request)[0].forget()
    return _state(request)


async def switch(request: Request) -> Any:
    on = ON.of(await params.body_of(request))
    await companion_of(request)[0].set_enabled(on)
    return _state(request)


# ---- the page contains no personal data; a script with the token fills it in


async def companion_page(request: Request) -> str:
    companion_of(request)
    return layout.page(
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
        element("button", "Turn off", type="button", id="switch"),
        element("button", "Forget everything", type="button", id="forget"),
        class_="labels",
    )
    about = (
        "The companion learns words from the pages you read. Their weights fade: after 20 more pages they count half. "
        "The words are stored in a file on this computer and never leave it."
    )
    return element(
        "section",
        element("div", element("h1", "Companion"), buttons, class_="head"),
        element("p", about, class_="quiet-text"),
        element("p", "Only you can see what it knows: open the link that `scenthound companion` printed.",
                id="companion-state", role="status"),
        class_="crawl-head",
    )  # fmt: skip


def _words() -> Markup:
    form = element(
        "form",
        element("label", "Add a word or change its weight", for_="word"),
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
    return layout.card("Your interests", element("ul", id="words", class_="words"), removed, form)


def _pages() -> Markup:
    return layout.card(
        "Looking ahead",
        element("p", id="front", class_="quiet-text"),
        element("ul", id="looked-at", class_="looked-at"),
    )


def _excluded() -> Markup:
    form = element(
        "form",
        element("label", "One site per line, such as example.org; subdomains are included", for_="excluded"),
        element("textarea", id="excluded", rows=4, spellcheck="false"),
        element("button", "Save"),
        id="excluding",
        class_="open",
    )
    about = "Paired browsers add these sites to their own lists. To read a site again, remove it in their options, too."
    return layout.card("Excluded sites", form, element("p", about, class_="quiet-text"))


def _pairing() -> Markup:
    return layout.card(
        "Paired browsers",
        element("ul", id="paired", class_="looked-at"),
        element("div", element("button", "Get a new code", type="button", id="new-code"),
                element("b", id="code"), class_="row"),
    )  # fmt: skip


_ONE = "/api/companion"
ROUTES = [
    Route("/companion", main_pages.html_page(companion_page)),
    get(_ONE, state, "Everything the companion knows.", STATE, is_private=True),
    get(f"{_ONE}/suggestions", suggestions, "Suggestions for a page.", ANSWER, ADDRESS, is_private=True),
    post(
        f"{_ONE}/challenges",
        challenge,
        "Prove to an extension that this is its desk. Needs no token; every other request of an extension is signed.",
        CHALLENGE,
        (NONCE, PAIRS),
        201,
    ),
    post(f"{_ONE}/pairings", pair, "Pair an extension that knows the code.", EXCLUDED, (), 201),
    post(f"{_ONE}/codes", new_code, "Create a pairing code.", fields(code=TEXT), code=201),
    post(f"{_ONE}/unpair", unpair, "Forget the key of an extension.", STATE, (ORIGIN,)),
    post(
        f"{_ONE}/visits",
        visit,
        "Report that a page was opened.",
        EXCLUDED,
        (URL, TITLE, PAGE_TEXT, LINKS, PRIVATE),
        202,
    ),
    post(
        f"{_ONE}/lessons",
        lesson,
        "Report that a page was read, bookmarked or followed.",
        EXCLUDED,
        (URL, KIND, SECONDS, PRIVATE),
        202,
    ),
    post(f"{_ONE}/words", word, "Set the weight of a word.", STATE, (WORD, WEIGHT)),
    post(f"{_ONE}/excluded", exclude, "Set the excluded sites.", STATE, (SITES,)),
    post(f"{_ONE}/forget", forget, "Forget everything that was read and learned.", STATE),
    post(f"{_ONE}/switch", switch, "Turn the companion on or off.", STATE, (ON,)),
]
