"""Who may do what at the desk.

* The desk listens on a loopback address unless it was told otherwise.
* `Host` must name the desk itself, so a foreign site can't reach it under a name that it controls (DNS rebinding).
* A request that a page of another origin sends is refused (`Origin`, `Sec-Fetch-Site`), apart from plain navigation.
* Every change needs the token as `Authorization: Bearer …`. No cookie can make a change, so there is nothing to forge;
  and cookies are shared by all ports of a machine, where other people's servers may listen.
* Beyond loopback, reading needs the token too: as bearer, or as a cookie that `/?token=…` sets.
* What the companion knows of its reader needs the token even for reading on loopback: other users of the machine could
  ask as well.
* An extension may use the companion and nothing else, with the token that it got when it was paired: `pairing`.
* Every reply has a Content-Security-Policy that allows no inline script and no other origin.
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
FOR_PEOPLE = (f"{COMPANION}/codes", f"{COMPANION}/unpair")
"""What no extension may do."""
PAIR = "an extension: open its options and type the code that `scenthound companion` shows"


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
        """The values of `Host` that mean the desk."""
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

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _bearer(headers: Headers) -> str:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


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
            return refused(421, "this address is not the desk", "open the address that `scenthound desk` printed")
        return self._stranger(scope, headers) or self._oversize(headers)

    def _stranger(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal of a request whose sender may not make it."""
        access, method = self._access, scope["method"]
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_private = scope["path"].startswith(COMPANION)
        if is_private and self._is_extension(origin, headers, method):
            return self._stranger_extension(scope["path"], origin, headers)
        is_navigation = method == "GET" and headers.get("sec-fetch-mode", "navigate") == "navigate"
        is_frame = headers.get("sec-fetch-dest", "document") not in ("document", "empty") and site != "same-origin"
        if (origin is not None and origin not in access.origins) or (
            site not in ("none", "same-origin") and (not is_navigation or is_frame)
        ):
            return refused(403, "another site may not use the desk", "open the desk itself")
        if method not in ("GET", "HEAD") and not access.has_token(headers):
            return refused(401, "this needs the token of the desk", "open the address that `scenthound desk` printed")
        if not access.may_read(headers):
            return self._login(scope) or refused(401, "this needs the token of the desk", "add ?token=… to the address")
        if is_private and not access.has_token(headers):
            return refused(401, "this needs the token of the desk", f"open the address that was printed; {PAIR}")
        return None

    def _is_extension(self, origin: str | None, headers: Headers, method: str) -> bool:
        """Whether an extension asks. Browsers leave out the origin if one only reads."""
        if origin is not None:
            return is_extension(origin)
        return method == "GET" and self._pairings is not None and self._pairings.knows(_bearer(headers), None)

    def _stranger_extension(self, path: str, origin: str | None, headers: Headers) -> Response | None:
        if path in FOR_PEOPLE:
            return refused(403, "an extension may not do this", "do it at the desk, page Companion")
        if path == PAIRING or (self._pairings is not None and self._pairings.knows(_bearer(headers), origin)):
            return None
        return refused(401, "this extension is not paired with the desk", PAIR)

    def _oversize(self, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return refused(413, "too much at once", f"send at most {LARGEST_BODY:,} bytes")
        return None

    def _login(self, scope: Scope) -> Response | None:
        """Beyond loopback: exchange the token in the address for a cookie that allows reading."""
        given = QueryParams(scope.get("query_string", b"")).get("token", "")
        if scope["path"] != "/" or not hmac.compare_digest(
            given.encode("utf-8", "replace"), self._access.token.encode()
        ):
            return None
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, self._access.token, httponly=True, samesite="strict")
        return answer


def refused(status: int, error: str, hint: str) -> JSONResponse:
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
