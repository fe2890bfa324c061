"""Limits on the connections to the desk, and a log with one line per cause.

uvicorn has no time limit for the head or the body of a request, and `limit_concurrency` counts clients that send
nothing like those that wait for an answer: enough of them, and nobody else is served. asyncio, when no file descriptor
is left, logs a traceback for each of the connections that it can't accept. So here:

* The head of a request has to arrive within `head_time`, its body within `body_time`.
* At most `connections` are open. For a new one beyond that, the one is closed that has waited longest without a
  complete request. If all have one, the new connection gets the status 503.
* A log message is one line, and the same one appears once a minute.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import h11
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from scenthound.desk.security import LOGGER, security_headers

MOST_CONNECTIONS = 100
LEAST_CONNECTIONS = 8
RESERVED = 50  # file descriptors for the databases of crawls, logs and pipes
BACKLOG = 32  # connections that asyncio accepts at once, before any of them can be closed
REPEAT = 60.0  # seconds
_BUSY = (h11.DONE, h11.MUST_CLOSE)  # states of a client that has sent a complete request


def most_connections() -> int:
    """How many connections to keep open: fewer if this process may open few files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(LEAST_CONNECTIONS, (soft - RESERVED) // 2))


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on the connections of a server; times in seconds."""

    connections: int = MOST_CONNECTIONS
    head_time: float = 10.0
    body_time: float = 60.0


class GuardedConnection(H11Protocol):
    """A connection with time limits, one of a limited number."""

    def __init__(self, limits: ConnectionLimits, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._times = {h11.IDLE: limits.head_time, h11.SEND_BODY: limits.body_time}
        self._phase: object = None
        self._timer: asyncio.TimerHandle | None = None
        self.since = 0.0
        """When the present phase began: waiting for the head, for the body, or for the answer."""

    @property
    def has_request(self) -> bool:
        """Whether the client has sent a complete request, which is being answered."""
        return self.conn.their_state in _BUSY

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._follow_phase()
        others = [other for other in self.connections if isinstance(other, GuardedConnection) and other is not self]
        if len(others) < self._limits.connections:
            return
        idle = [other for other in others if not other.has_request]
        if idle:
            min(idle, key=lambda other: other.since).drop()
        else:
            self._refuse(503, "too many connections", "close tabs of the desk, and try again")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._follow_phase()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg.rstrip(".").lower(), "send a request as in RFC 9112")

    def drop(self) -> None:
        """Close the connection at once."""
        self._stop_timer()
        self.connections.discard(self)
        self.transport.abort()

    def _follow_phase(self) -> None:
        """Start the time limit of a phase when it begins; what arrives later does not extend it."""
        phase = self.conn.their_state
        if phase is self._phase or self.transport.is_closing():
            return
        self._stop_timer()
        self._phase, self.since = phase, self.loop.time()
        if phase in self._times:
            self._timer = self.loop.call_later(self._times[phase], self.drop)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, error: str, hint: str) -> None:
        body = json.dumps({"error": error, "hint": hint}).encode()
        headers = MutableHeaders({"content-type": "application/json", "content-length": str(len(body))})
        headers["connection"] = "close"
        security_headers(headers)
        for event in (h11.Response(status_code=status, headers=headers.raw), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._stop_timer()
        self.connections.discard(self)
        self.transport.close()


class OncePerCause(logging.Filter):
    """Makes one line of a message and its error, and drops the same message for a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        where = _where(error)
        cause, now = (record.name, str(record.msg).partition("\n")[0], type(error), where), self._clock()
        last, dropped = self._seen.get(cause, (-REPEAT, 0))
        if now - last < REPEAT:
            self._seen[cause] = last, dropped + 1
            return False
        self._seen[cause] = now, 0
        text = record.getMessage().strip().partition("\n")[0]
        text += "" if error is None else f": {type(error).__name__}: {error} ({where})"
        text += f" [{dropped:,} more times in the meantime]" if dropped else ""
        record.msg, record.args, record.exc_info, record.exc_text = " ".join(text.split()), None, None, None
        return True


def _where(error: BaseException | None) -> str:
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def server_of(app: ASGIApp, limits: ConnectionLimits) -> uvicorn.Server:
    """Return a server for the desk, with these limits. It changes how errors of this process are logged."""
    protocol = cast(type[asyncio.Protocol], partial(GuardedConnection, limits))
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        lifespan="on",
    )
    for logger in (LOGGER, logging.getLogger("uvicorn.error"), logging.getLogger("asyncio")):
        logger.addFilter(OncePerCause())
    return uvicorn.Server(config)
