"""Access control for the desk.

* The desk listens on a loopback address unless configured otherwise.
* `Host` must name the desk, so another site can't reach it under a host name of its own (DNS rebinding).
* Requests from pages of another origin are refused (`Origin`, `Sec-Fetch-Site`), except plain navigation.
* Every change requires the token as `Authorization: Bearer …`. A cookie never authorises a change, so there is nothing
  to forge; besides, cookies are shared by all ports of a machine, including servers of other users.
* Beyond loopback, reading requires the token too, as a bearer token or as a cookie set by `/?token=…`.
* Reading the companion's data requires the token even on loopback, where other users of the machine could connect.
* A browser extension may use the companion and nothing else, and signs each request with its key: see `pairing`.
* Every response, also that of a request that fails, has a Content-Security-Policy that forbids inline scripts and other
  origins.
"""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scenthound.desk.pairing import SCHEME, Pairings, SignedRequest, is_extension

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
COOKIE = "scenthound_reader"
LARGEST_BODY = 5_000_000
LARGEST_VISIT = 1_000_000  # bytes of a request from an extension
COMPANION = "/api/companion"
CHALLENGES = f"{COMPANION}/challenges"
PAIRING = f"{COMPANION}/pairings"
NOT_FOR_EXTENSIONS = (f"{COMPANION}/codes", f"{COMPANION}/unpair")
"""Paths that extensions may not use."""
PAIRING_HINT = "open the options of the extension and enter the code shown by `scenthound companion`"


@dataclass(frozen=True, slots=True)
class Access:
    """The address of the desk and its token."""

    host: str
    port: int
    token: str

    @property
    def is_loopback(self) -> bool:
        return self.host in ("127.0.0.1", "::1", "localhost")

    @property
    def names(self) -> set[str]:
        """The values of `Host` that name the desk."""
        hosts = {self.host if ":" not in self.host else f"[{self.host}]"}
        if self.is_loopback:
            hosts |= {"127.0.0.1", "localhost", "[::1]"}
        return {f"{host}:{self.port}" for host in hosts} | (hosts if self.port == 80 else set())

    @property
    def origins(self) -> set[str]:
        return {f"http://{name}" for name in self.names}

    def has_token(self, headers: Headers) -> bool:
        return self._is_token(_bearer(headers))

    def may_read(self, headers: Headers) -> bool:
        return self.is_loopback or self.has_token(headers) or self._is_token(_cookie(headers))

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())


def _bearer(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value


class Guard:
    """The middleware that enforces the rules above, and answers requests that fail unexpectedly."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        pairings: Pairings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._app, self._access, self._pairings, self._clock = app, access, pairings, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                security_headers(MutableHeaders(scope=message))
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None and _is_extension(scope) and scope["path"] != CHALLENGES:
                body = await _read(receive, LARGEST_VISIT)
                refusal = TOO_LARGE if body is None else self._signature_refusal(scope, body)
                receive = _replayed(body or b"", receive)
            await (refusal or self._app)(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass  # there is nobody to answer
        except Exception:
            LOGGER.exception("a request to the desk failed")
            if has_started:
                raise
            await FAILED(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, access = Headers(scope=scope), self._access
        if headers.get("host", "").lower() not in access.names:
            return error_response(
                421, "this is not the address of the desk", "open the URL printed by `scenthound desk`"
            )
        return self._sender_refusal(scope, headers) or _size_refusal(headers)

    def _sender_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return an error response if the sender may not make this request, otherwise None."""
        access, method = self._access, scope["method"]
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_private = scope["path"].startswith(COMPANION)
        if is_private and _is_extension(scope):
            is_forbidden = scope["path"] in NOT_FOR_EXTENSIONS
            hint = "do it at the desk, on the Companion page"
            return error_response(403, "an extension may not do this", hint) if is_forbidden else None
        is_navigation = method == "GET" and headers.get("sec-fetch-mode", "navigate") == "navigate"
        is_frame = headers.get("sec-fetch-dest", "document") not in ("document", "empty") and site != "same-origin"
        if (origin is not None and origin not in access.origins) or (
            site not in ("none", "same-origin") and (not is_navigation or is_frame)
        ):
            return error_response(403, "other sites may not use the desk", "open the desk directly")
        if method not in ("GET", "HEAD") and not access.has_token(headers):
            return error_response(401, "this needs the desk's token", "open the URL printed by `scenthound desk`")
        if not access.may_read(headers):
            return self._login(scope) or error_response(401, "this needs the desk's token", "add ?token=… to the URL")
        if is_private and not access.has_token(headers):
            return error_response(
                401,
                "this needs the desk's token",
                f"open the URL printed at the start; for an extension, {PAIRING_HINT}",
            )
        return None

    def _signature_refusal(self, scope: Scope, body: bytes) -> Response | None:
        """Return an error response unless a paired extension has signed this request."""
        headers = Headers(scope=scope)
        query = scope.get("query_string", b"")
        target = (scope.get("raw_path") or scope["path"].encode()) + (b"?" + query if query else b"")
        signed = SignedRequest(scope["method"], target.decode("latin-1"), body)
        authorization, origin = headers.get("authorization", ""), headers.get("origin")
        port, now, is_pairing = self._access.port, self._clock(), scope["path"] == PAIRING
        if self._pairings is not None and self._pairings.accepts(authorization, origin, signed, port, now, is_pairing):
            return None
        return not_paired()

    def _login(self, scope: Scope) -> Response | None:
        """Beyond loopback, exchange the token in the URL for a cookie that allows reading."""
        token = QueryParams(scope.get("query_string", b"")).get("token", "")
        if scope["path"] != "/" or not hmac.compare_digest(
            token.encode("utf-8", "replace"), self._access.token.encode()
        ):
            return None
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, self._access.token, httponly=True, samesite="strict")
        return response


def _is_extension(scope: Scope) -> bool:
    """Whether a request to the companion comes from an extension. Browsers send no origin with a GET."""
    headers = Headers(scope=scope)
    if not scope["path"].startswith(COMPANION):
        return False
    origin = headers.get("origin")
    return is_extension(origin) if origin is not None else headers.get("authorization", "").startswith(f"{SCHEME} ")


def _size_refusal(headers: Headers) -> Response | None:
    length = headers.get("content-length", "0")
    is_number = length.isascii() and length.isdigit()
    if is_number and len(length) < 20 and int(length) <= LARGEST_BODY:
        return None
    return error_response(413, "the request body is too large", f"send at most {LARGEST_BODY:,} bytes")


async def _read(receive: Receive, most: int) -> bytes | None:
    """Read the body of a request; None if it is longer than `most` bytes."""
    body, is_complete = bytearray(), False
    while not is_complete:
        message = await receive()
        body += message.get("body", b"")
        is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        if len(body) > most:
            return None
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns a body that was read, and then what else comes."""
    parts = [body]

    async def receive_again() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return await receive()

    return receive_again


def not_paired() -> JSONResponse:
    """The answer to an extension that is not paired."""
    return error_response(401, "this extension is not paired with the desk", PAIRING_HINT)


def error_response(status: int, error: str, hint: str) -> JSONResponse:
    """Return an error as a JSON response."""
    return JSONResponse({"error": error, "hint": hint}, status)


TOO_LARGE = error_response(413, "the request body is too large", f"send at most {LARGEST_VISIT:,} bytes")
FAILED = error_response(500, "something went wrong", "the terminal in which the desk runs shows what")
LOGGER = logging.getLogger(__name__)


def security_headers(headers: MutableHeaders) -> None:
    """Add the headers that every response has."""
    headers.setdefault("Content-Security-Policy", POLICY)
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")
