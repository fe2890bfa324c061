"""The pages of a crawl one by one, while it runs."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator

from scenthound.loop.stored_page import StoredPage
from scenthound.wiring.loop_thread import LoopThread
from scenthound.wiring.session import Session, run_session

AHEAD = 256
"""Pages that a crawl may be ahead of its reader; then it waits."""


class PageStream:
    """Pages as they land: use it in `for` or in `async for`, once. The crawl begins with the first page asked for.

    A page is durable before it is handed out. Leaving the loop early stops the crawl and saves it, and
    `scenthound resume` continues it. After `async for` that happens when the event loop is next free; to wait for it,
    use `async with contextlib.aclosing(aiter(stream)) as pages`.
    """

    def __init__(self, begin: Callable[[], Session]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[StoredPage]:
        return _from_thread(self._begin)

    def __aiter__(self) -> AsyncIterator[StoredPage]:
        return _from_this_loop(self._begin)


def _from_thread(begin: Callable[[], Session]) -> Iterator[StoredPage]:
    arrived: queue.SimpleQueue[StoredPage | None] = queue.SimpleQueue()
    room = asyncio.Semaphore(AHEAD)

    async def take(page: StoredPage) -> None:
        await room.acquire()
        arrived.put(page)

    async def work() -> None:
        try:
            await run_session(begin, take)
        finally:
            arrived.put(None)

    thread = LoopThread(work())
    try:
        while (page := arrived.get()) is not None:
            yield page
            thread.call(room.release)
        thread.result()
    finally:
        thread.cancel()


async def _from_this_loop(begin: Callable[[], Session]) -> AsyncIterator[StoredPage]:
    arrived: asyncio.Queue[StoredPage | None] = asyncio.Queue()
    room = asyncio.Semaphore(AHEAD)

    async def take(page: StoredPage) -> None:
        await room.acquire()
        arrived.put_nowait(page)

    async def work() -> None:
        try:
            await run_session(begin, take)
        finally:
            arrived.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (page := await arrived.get()) is not None:
            yield page
            room.release()
        await task
    finally:
        task.cancel()
        await asyncio.wait({task})
