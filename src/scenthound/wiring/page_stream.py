"""Iterate over the pages of a crawl while it runs."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator

from scenthound.loop.stored_page import StoredPage
from scenthound.wiring.loop_thread import LoopThread
from scenthound.wiring.session import Session, run_session

MAX_WAITING_PAGES = 256
"""The crawl pauses when its consumer has not taken this many pages."""


class PageStream:
    """The pages of a crawl, yielded as they arrive. Iterating (once, with `for` or `async for`) starts the crawl.

    A page is committed before it is yielded. Leaving the loop early stops the crawl and saves it; `scenthound resume`
    continues it. With `async for` the crawl stops when the event loop next runs; to wait for that, use
    `async with contextlib.aclosing(aiter(stream)) as pages`.
    """

    def __init__(self, begin: Callable[[], Session]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[StoredPage]:
        return _from_thread(self._begin)

    def __aiter__(self) -> AsyncIterator[StoredPage]:
        return _from_this_loop(self._begin)


def _from_thread(begin: Callable[[], Session]) -> Iterator[StoredPage]:
    pages: queue.SimpleQueue[StoredPage | None] = queue.SimpleQueue()
    free_slots = asyncio.Semaphore(MAX_WAITING_PAGES)

    async def enqueue(page: StoredPage) -> None:
        await free_slots.acquire()
        pages.put(page)

    async def work() -> None:
        try:
            await run_session(begin, enqueue)
        finally:
            pages.put(None)

    thread = LoopThread(work())
    try:
        while (page := pages.get()) is not None:
            yield page
            thread.call(free_slots.release)
        thread.result()
    finally:
        thread.cancel()


async def _from_this_loop(begin: Callable[[], Session]) -> AsyncIterator[StoredPage]:
    pages: asyncio.Queue[StoredPage | None] = asyncio.Queue()
    free_slots = asyncio.Semaphore(MAX_WAITING_PAGES)

    async def enqueue(page: StoredPage) -> None:
        await free_slots.acquire()
        pages.put_nowait(page)

    async def work() -> None:
        try:
            await run_session(begin, enqueue)
        finally:
            pages.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (page := await pages.get()) is not None:
            yield page
            free_slots.release()
        await task
    finally:
        task.cancel()
        await asyncio.wait({task})
