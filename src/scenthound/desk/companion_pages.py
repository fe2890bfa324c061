"""The companion: the API for its browser extension, and a page that shows everything it knows."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get, post
from scenthound.desk.apps.companion import Companion, LessonKind, Visit
from scenthound.desk.page_templates import render
from scenthound.desk.pairing import Pairings, is_extension
from scenthound.desk.security import LARGEST_VISIT, not_paired
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable
from scenthound.errors import BadUsage

LONGEST_TEXT = 200_000  # characters
LONGEST_LINE = 500  # characters of a title, or of the text of a link


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


class ChallengeRequest(Struct):
    nonce: Annotated[str, Meta(description="64 hexadecimal digits, chosen at random by the extension.")]
    pairing: Annotated[bool, Meta(description="Use the key of the code instead of that of the extension.")] = False


class Extension(Struct):
    origin: Annotated[str, Meta(description="The origin of the extension.")]


class Window(Struct):
    """Every report says from which kind of window it comes."""

    private: Annotated[bool, Meta(description="Whether the window is private; if so, the request is refused.")]
    url: Annotated[str, Meta(description="The URL of the page.")]


class VisitedLink(Struct):
    url: str
    text: str = ""


class PageVisit(Window):
    text: Annotated[str, Meta(description="The text of the page.")]
    title: Annotated[str, Meta(description="The title of the page.")] = ""
    links: Annotated[list[VisitedLink], Meta(max_length=2_000, description="The links of the page, in order.")] = []


class LessonRequest(Window):
    kind: Annotated[LessonKind, Meta(description="What happened.")]
    seconds: Annotated[float, Meta(ge=0.0, description="How long the page was read, in seconds.")] = 0.0


class WordWeight(Struct):
    word: Annotated[str, Meta(description="One word.")]
    weight: Annotated[float, Meta(ge=0.0, le=100.0, description="The new weight; 0 removes the word permanently.")]


class ExcludedSites(Struct):
    sites: Annotated[
        list[str], Meta(max_length=1_000, description="Sites such as example.org; their subdomains are included.")
    ]


class Switch(Struct):
    on: bool


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
    body, origin = await params.body_of(request, ChallengeRequest, LARGEST_VISIT), _extension(request)
    answer = pairings.challenge(origin, body.nonce, body.pairing, desk.access.port, desk.clock())
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
    body = await params.body_of(request, Extension)
    companion_of(request)[1].unpair(body.origin)
    return _state(request)


# ---- requests from the extension


async def visit(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await params.body_of(request, PageVisit, LARGEST_VISIT)
    _check_window(body)
    links = [(link.url, link.text[:LONGEST_LINE]) for link in body.links]
    await companion.visit(Visit(body.url, body.title[:LONGEST_LINE], body.text[:LONGEST_TEXT], links))
    return JSONResponse({"excluded": list(companion.excluded)}, 202)


def _check_window(body: Window) -> None:
    if body.private:
        raise BadUsage("private windows are never read", "nothing was stored; use a normal window")


async def lesson(request: Request) -> Any:
    companion, _ = companion_of(request)
    body = await params.body_of(request, LessonRequest, LARGEST_VISIT)
    _check_window(body)
    companion.teach(body.url, body.kind, body.seconds)
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
    body = await params.body_of(request, WordWeight)
    companion_of(request)[0].set_word(body.word, body.weight)
    return _state(request)


async def exclude(request: Request) -> Any:
    body = await params.body_of(request, ExcludedSites)
    companion_of(request)[0].exclude(body.sites)
    return _state(request)


async def forget(request: Request) -> Any:
    await companion_of(request)[0].forget()
    return _state(request)


async def switch(request: Request) -> Any:
    body = await params.body_of(request, Switch)
    await companion_of(request)[0].set_enabled(body.on)
    return _state(request)


# ---- the page contains no personal data; a script with the token fills it in


async def companion_page(request: Request) -> str:
    companion_of(request)
    return render("companion.html")


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
        ChallengeRequest,
        201,
    ),
    post(f"{_ONE}/pairings", pair, "Pair an extension that knows the code.", EXCLUDED, code=201),
    post(f"{_ONE}/codes", new_code, "Create a pairing code.", fields(code=TEXT), code=201),
    post(f"{_ONE}/unpair", unpair, "Forget the key of an extension.", STATE, Extension),
    post(
        f"{_ONE}/visits",
        visit,
        "Report that a page was opened.",
        EXCLUDED,
        PageVisit,
        202,
    ),
    post(
        f"{_ONE}/lessons",
        lesson,
        "Report that a page was read, bookmarked or followed.",
        EXCLUDED,
        LessonRequest,
        202,
    ),
    post(f"{_ONE}/words", word, "Set the weight of a word.", STATE, WordWeight),
    post(f"{_ONE}/excluded", exclude, "Set the excluded sites.", STATE, ExcludedSites),
    post(f"{_ONE}/forget", forget, "Forget everything that was read and learned.", STATE),
    post(f"{_ONE}/switch", switch, "Turn the companion on or off.", STATE, Switch),
]
