"""The web application of the desk, and the function that serves it."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from scenthound.desk import (
    ask_pages,
    companion_pages,
    crawl_api,
    lab_pages,
    list_pages,
    main_pages,
    map_pages,
    opensearch,
    portal_pages,
    related_pages,
    search_api,
    seed_finding,
    site_map_pages,
    steering_api,
    strategy_agents_pages,
    topic_api,
)
from scenthound.desk.api_base import Desk
from scenthound.desk.apps.companion import Companion
from scenthound.desk.connections import ConnectionLimits, most_connections, server_of
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.pairing import Pairings
from scenthound.desk.security import Access, Guard, error_response
from scenthound.errors import BadConfig

MODULES = (
    *(crawl_api, steering_api, topic_api, search_api, opensearch, seed_finding, main_pages, list_pages, map_pages),
    *(strategy_agents_pages, ask_pages, portal_pages, related_pages, site_map_pages, companion_pages, lab_pages),
)
ROUTES = [route for module in MODULES for route in module.ROUTES]


def make_app(desk: Desk) -> Starlette:
    """Build the web application for a desk."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        desk.is_closing = True
        desk.processes.close()
        if desk.companion is not None:
            await desk.companion.close()

    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        message = {404: "page not found", 405: "method not allowed"}.get(status, "something went wrong")
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        if request.method == "GET" and not request.url.path.startswith("/api"):
            response: Response = main_pages.problem_page(message, "", status)
        else:
            response = error_response(status, message, "GET /api/openapi.json describes the API")
        response.headers.update(headers)
        return response

    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, access=desk.access, pairings=desk.pairings, clock=desk.clock)],
        exception_handlers={HTTPException: failed},
        lifespan=lifespan,
    )
    app.state.desk = desk
    return app


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 means any free port. Raises `BadConfig`."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise BadConfig(
            f"{host}:{port} can't be used: {error.strerror}", "choose another --port, or 0 for any free port"
        ) from None


def serve(
    home: Path,
    folders: list[Path],
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    options: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
    companion: Companion | None = None,
    pairings: Pairings | None = None,
) -> None:
    """Run the desk until interrupted. `on_ready` is called with its URL, including the token."""
    collections = Collections(home, folders)
    with listening_socket(host, port) as listener:
        access = Access(host, int(listener.getsockname()[1]), secrets.token_urlsafe(24))
        if companion is not None and not access.is_loopback:
            raise BadConfig("the companion works on loopback only", "keep the host at 127.0.0.1")
        desk = Desk(access, collections, options=options, sources=sources, companion=companion, pairings=pairings)
        server = server_of(make_app(desk), ConnectionLimits(most_connections()))
        name = f"[{host}]" if ":" in host else host
        on_ready(
            f"http://{name}:{access.port}/{'' if access.is_loopback else f'?token={access.token}'}#token={access.token}"
        )
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
