"""Iterate over the pages of a crawl while it runs."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator

from scenthound.loop.stored_page import StoredPage
from scenthound.wiring.loop_thread import LoopThread
from scenthound.wiring.session import Session, run_session

AHEAD = 256
"""The number of pages that a crawl may be ahead of its consumer before it waits."""


class PageStream:
    """The pages of a crawl as they land. Iterate over it once, with `for` or `async for`, which begins the crawl.

    A page is committed before it is yielded. Leaving the loop early stops the crawl and saves it; `scenthound resume`
    continues it. After `async for` this happens when the event loop is next free; to wait for it, use
    `async with contextlib.aclosing(aiter(stream)) as pages`.
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
