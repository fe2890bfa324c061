"""Code shared by the whole JSON API: the `Desk`, the lookup of folders by name, and errors as HTTP statuses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from scenthound.desk.apps.companion import Companion
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.crawl_watch import Watch
from scenthound.desk.pairing import Pairings
from scenthound.desk.request_parameters import BodyTooLong
from scenthound.desk.security import Access, error_response
from scenthound.desk.start_processes import NewCrawl, Processes
from scenthound.errors import DiskFull, FolderInUse, IoFailed, OurFault, ScenthoundError, from_os_error
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.live import Clock
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders

PATIENCE = 10.0  # seconds to wait for a busy crawl


@dataclass(slots=True)
class Desk:
    """The state shared by all requests."""

    access: Access
    collections: Collections
    processes: Processes = field(default_factory=Processes)
    options: tuple[str, ...] = ()
    """Extra arguments for the commands that the desk starts."""
    sources: tuple[str, ...] = ()
    """Seed sources offered on the start page."""
    questions: set[Path] = field(default_factory=set)
    """Crawls started by a question and not kept yet. Only these may be deleted."""
    companion: Companion | None = None
    pairings: Pairings | None = None
    """The browser extensions that may use the companion."""
    is_closing: bool = False
    clock: Callable[[], float] = field(default_factory=Clock)
    """Never goes back, so setting the system clock back does not extend the life of a pairing code."""


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def folder_of(request: Request) -> Path:
    """The folder of the collection named in the path. Raises `NotFound`."""
    name = request.path_params["name"]
    path = desk_of(request).collections.find(name)
    if path is None:
        raise NotFound(
            f"no collection called `{name[:80]}`",
            "the start page lists the open collections and can open another folder",
        )
    return path


class NotFound(OurFault):
    """The requested thing does not exist."""


Handler = Callable[[Request], Awaitable[Any]]


def status_of(error: ScenthoundError) -> int:
    kinds = {NotFound: 404, FolderInUse: 409, BodyTooLong: 413, IoFailed: 500, DiskFull: 507}
    return next((status for kind, status in kinds.items() if isinstance(error, kind)), 400)


class Answer(JSONResponse):
    """JSON data, which may have dataclasses in it."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=msgspec.to_builtins
        )
        return text.encode("utf-8")


def json_endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Turn the result of a handler into a JSON response, and its errors into HTTP statuses."""

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            result = await handler(request)
        except (ScenthoundError, OSError) as error:
            failure = from_os_error(error) if isinstance(error, OSError) else error
            return error_response(status_of(failure), failure.message, failure.hint)
        return result if isinstance(result, Response) else Answer(result)

    return endpoint


def overview(desk: Desk, name: str, path: Path) -> dict[str, Any]:
    """The figures of a crawl, computed from its whole history."""
    watch = Watch(path)
    try:
        watch.refresh()
        return {"name": name, "folder": str(path), **watch.overview(desk.clock())}
    finally:
        watch.close()


def listing(desk: Desk) -> list[dict[str, Any]]:
    """All collections: running ones first, then by name."""
    rows = [_listing_row(name, path) for name, path in desk.collections.all().items()]
    return sorted(rows, key=lambda row: (row["state"] not in ("running", "paused"), str(row["name"])))


def _listing_row(name: str, path: Path) -> dict[str, Any]:
    row = {"name": name, "folder": str(path), "topic": "", "pages": 0, "budget": 0, "state": "broken", "error": ""}
    try:
        with CrawlFolder.look(path) as folder:
            state = "running" if holder(path) is not None else "ended"
            if state == "running" and Orders(folder.database).is_paused():
                state = "paused"
            topic, pages = folder.request.topic.keywords, len(folder.history)
            return {**row, "topic": topic, "pages": pages, "budget": folder.budget, "state": state}
    except ScenthoundError as error:
        return {**row, "error": error.message}


async def start_new_crawl(desk: Desk, new: NewCrawl) -> tuple[str, Path]:
    """Start a crawl in a new folder below the home folder; return its name and path."""
    path = desk.collections.reserve_path(new.topic)
    try:
        await run_in_threadpool(desk.processes.start_crawl, path, new)
    finally:
        desk.collections.release_path(path)  # from now on its folder says that it is taken
    opened = await run_in_threadpool(desk.collections.open, path)
    return opened.crawls[0], path
