"""Turn the error of a request into a `Failure` with a short reason that can be counted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from scenthound.formats import replace_unprintable
from scenthound.ports import Failure
from scenthound.web.connection import StaleConnection, TooMuch

ADDRESS_NOT_ALLOWED = (
    "address not allowed"  # searched for in messages, because aiohttp joins the errors of all addresses
)


def failure_of(error: BaseException, through_proxy: bool) -> Failure:
    """The failure for an error, according to its most specific class."""
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    detail = one_line(message) if isinstance(message, str) else "closed in the middle of the headers"
    for kind, reason_of in _REASONS:
        if isinstance(error, kind):
            reason, may_retry = reason_of(error)
            if through_proxy and reason in ("dns", "connect"):
                reason = "proxy"  # the proxy looks up and connects to the server, so we failed to reach the proxy
            return Failure(reason, detail, 0, may_retry)
    if through_proxy and type(error).__module__.partition(".")[0] in ("aiohttp_socks", "python_socks"):
        return Failure("proxy", detail, 0, True)
    return Failure("client-error", one_line(f"{type(error).__name__}: {detail}"))


def _connect_reason(error: Any) -> tuple[str, bool]:
    return ("refused-address", False) if ADDRESS_NOT_ALLOWED in str(error.os_error) else ("connect", True)


def _protocol_reason(error: Any) -> tuple[str, bool]:
    too_much = str(error.message).startswith(("Got more than", "Too many headers"))
    return ("header-bomb" if too_much else "bad-http"), False


def _disconnect_reason(error: Any) -> tuple[str, bool]:
    return ("empty-reply" if isinstance(error.message, str) else "reset"), True


_REASONS: tuple[tuple[type[BaseException], Callable[[Any], tuple[str, bool]]], ...] = (
    (TooMuch, lambda error: (error.reason, False)),
    (aiohttp.ClientHttpProxyError, lambda error: ("proxy", error.status >= 500)),
    (aiohttp.ClientProxyConnectionError, lambda error: ("proxy", True)),
    (aiohttp.ClientConnectorDNSError, lambda error: ("dns", error.os_error.errno == socket.EAI_AGAIN)),
    (aiohttp.ClientSSLError, lambda error: ("tls", False)),
    (aiohttp.ClientConnectorError, _connect_reason),
    (TimeoutError, lambda error: ("timeout", True)),
    (StaleConnection, lambda error: ("empty-reply", True)),
    (aiohttp.ServerDisconnectedError, _disconnect_reason),
    (aiohttp.ClientPayloadError, lambda error: ("reset", True)),
    (aiohttp.ClientResponseError, _protocol_reason),
    (HttpProcessingError, _protocol_reason),
    (aiohttp.InvalidURL, lambda error: ("bad-url", False)),
    (OSError, lambda error: ("reset", True)),
    (aiohttp.ClientConnectionError, lambda error: ("reset", True)),
    (ValueError, lambda error: ("bad-url", False)),
)


def one_line(text: str) -> str:
    """Text from the web, for a log: one printable line of at most 200 characters."""
    return replace_unprintable(" ".join(text[:1000].split())[:200], 200)
