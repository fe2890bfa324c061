"""Access control for the desk.

* The desk listens on a loopback address unless configured otherwise.
* `Host` must name the desk, so another site can't reach it under a host name of its own (DNS rebinding).
* Requests from pages of another origin are refused (`Origin`, `Sec-Fetch-Site`), except plain navigation.
* Every change requires the token as `Authorization: Bearer …`. A cookie never authorises a change, so there is nothing
  to forge; besides, cookies are shared by all ports of a machine, including servers of other users.
* Beyond loopback, reading requires the token too, as a bearer token or as a cookie set by `/?token=…`.
* Reading the companion's data requires the token even on loopback, where other users of the machine could connect.
* A browser extension may use the companion and nothing else, with the token from its pairing: see `pairing`.
* Every response has a Content-Security-Policy that forbids inline scripts and other origins.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scenthound.desk.pairing import Pairings, is_extension

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
COOKIE = "scenthound_reader"
LARGEST_BODY = 5_000_000
COMPANION = "/api/companion"
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
    """The middleware that enforces the rules above."""

    def __init__(self, app: ASGIApp, access: Access, pairings: Pairings | None = None) -> None:
        self._app, self._access, self._pairings = app, access, pairings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = self._refusal(scope)
            await (refusal or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers, access = Headers(scope=scope), self._access
        if headers.get("host", "").lower() not in access.names:
            return error_response(
                421, "this is not the address of the desk", "open the URL printed by `scenthound desk`"
            )
        return self._sender_refusal(scope, headers) or self._size_refusal(headers)

    def _sender_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return an error response if the sender may not make this request, otherwise None."""
        access, method = self._access, scope["method"]
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_private = scope["path"].startswith(COMPANION)
        if is_private and self._is_extension(origin, headers, method):
            return self._extension_refusal(scope["path"], origin, headers)
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

    def _is_extension(self, origin: str | None, headers: Headers, method: str) -> bool:
        """Whether the request comes from an extension. Browsers send no origin with a GET."""
        if origin is not None:
            return is_extension(origin)
        return method == "GET" and self._pairings is not None and self._pairings.knows(_bearer(headers), None)

    def _extension_refusal(self, path: str, origin: str | None, headers: Headers) -> Response | None:
        if path in NOT_FOR_EXTENSIONS:
            return error_response(403, "an extension may not do this", "do it at the desk, on the Companion page")
        if path == PAIRING or (self._pairings is not None and self._pairings.knows(_bearer(headers), origin)):
            return None
        return error_response(401, "this extension is not paired with the desk", PAIRING_HINT)

    def _size_refusal(self, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return error_response(413, "the request body is too large", f"send at most {LARGEST_BODY:,} bytes")
        return None

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


def error_response(status: int, error: str, hint: str) -> JSONResponse:
    """Return an error as a JSON response."""
    return JSONResponse({"error": error, "hint": hint}, status)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", POLICY)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_with_headers
