"""A pool of worker processes that read pages. It sends responses to free workers, and replaces workers that die."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import Callable

from scenthound.model import Candidate, Miss, Moved, Response
from scenthound.page.page import Page
from scenthound.page.wire import ReadOptions, pack_response, take_messages, unpack_result
from scenthound.ports import Failure
from scenthound.processes import module_command

AHEAD = 24  # unanswered responses per worker: keeps it busy while the crawl commits
AHEAD_BYTES = 8_000_000
SECONDS = 20.0  # for one page; the largest page that `web.guard` accepts takes one or two
MEMORY = 2 << 30  # bytes of address space for a worker; the worst page that `web.guard` accepts takes 720 MB
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # each thread reserves 40 MB of address space: 2.6 GB on 64 cores
TRIES = 3  # successive workers that may die without a result before no more are started

Result = Page | Miss | Moved
Done = Callable[[bytes | str | None], None]
"""Called with the worker's message, with the way in which the page killed it, or with None if it was not read."""


class ReadingPool:
    """Worker processes that read pages for a crawl; none runs before `start`, and none after `close`.

    A page that kills its worker (time, memory, a crash of the parser) is a miss, and the worker is replaced. Other
    responses that were sent to it are handed back unread.
    """

    def __init__(self, workers: int, options: ReadOptions, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.restarts = 0
        """Number of workers that had to be replaced."""
        self.pages = 0
        """Number of pages read by workers."""
        self.is_open = True
        """True until `close`. While open, the pool replaces workers that die."""
        self._size = workers
        self._argument = json.dumps({"options": options.to_json(), "seconds": seconds, "memory": memory})
        self._workers: list[_Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0

    @property
    def process_ids(self) -> list[int]:
        """The ids of the running processes."""
        return [worker.process_id for worker in self._workers if worker.process_id is not None]

    def start(self) -> None:
        """Start the workers that are missing. They are used as soon as they are ready."""
        while self.is_open and self._failures < TRIES and len(self._workers) < self._size:
            worker = _Worker(self)
            self._workers.append(worker)
            task = asyncio.get_running_loop().create_task(worker.run(self._argument))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def takes(self, response: Response | Failure) -> bool:
        """Whether a worker has room to read this response now."""
        if isinstance(response, Failure) or not 200 <= response.status < 300:
            return False
        return self._free(len(response.body)) is not None

    def read(self, candidate: Candidate, response: Response, done: Callable[[Result | None], None]) -> None:
        """Send a response to a worker with room. `done` is called with the result later, or with None if no worker
        could read it for reasons that are not the page's fault."""

        def answered(message: bytes | str | None) -> None:
            done(self._result(candidate, response, message))

        worker = self._free(len(response.body))
        if worker is None:
            asyncio.get_running_loop().call_soon(answered, None)
        else:
            worker.send(response, answered)

    def _result(self, candidate: Candidate, response: Response, message: bytes | str | None) -> Result | None:
        if message is None:
            return None
        reason = message
        if isinstance(message, bytes):
            self.pages += 1
            try:
                return unpack_result(message, candidate)
            except ValueError as error:  # a page that confused its worker is not read again here
                reason = f"its worker sent a broken result: {error}"
        return Miss(candidate, "unreadable", str(reason)[:200], response.status, len(response.body))

    async def close(self) -> None:
        """Stop all workers, by force if necessary."""
        self.is_open = False
        for worker in self._workers:
            worker.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2.0)
        for worker in self._workers:
            worker.stop()
        await asyncio.gather(*self._tasks)

    def replace(self, worker: _Worker) -> None:
        """Replace a worker that has died."""
        self._workers.remove(worker)
        if self.is_open:
            self.restarts += 1
            self._failures = 0 if worker.answered else self._failures + 1
            self.start()

    def _free(self, size: int) -> _Worker | None:
        ready = [worker for worker in self._workers if worker.has_room(size)]
        return min(ready, key=lambda worker: len(worker.sent), default=None)


class _Worker(asyncio.SubprocessProtocol):
    """One process, and the responses sent to it that it has not answered, oldest first."""

    def __init__(self, pool: ReadingPool) -> None:
        self.sent: deque[tuple[Done, int]] = deque()
        self.answered = 0
        self._pool = pool
        self._has_greeted = self._is_ready = False
        self._bytes = 0
        self._buffer = bytearray()
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._gone = asyncio.get_running_loop().create_future()

    @property
    def process_id(self) -> int | None:
        return None if self._transport is None else self._transport.get_pid()

    async def run(self, argument: str) -> None:
        """Start the process; return when it has ended and `done` was called for every response sent to it."""
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(
                lambda: self,
                *module_command("scenthound.page.worker", argument),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                start_new_session=True,
                env={**os.environ, **ONE_THREAD},
            )
            self._input = self._transport.get_pipe_transport(0)  # type: ignore[assignment]
            if not self._pool.is_open:
                self.stop()
            await self._gone
            self._transport.close()
        except OSError:  # no more processes, or no memory for one
            pass
        self._settle()
        self._pool.replace(self)

    def has_room(self, size: int) -> bool:
        return self._is_ready and len(self.sent) < AHEAD and self._bytes + size < AHEAD_BYTES

    def send(self, response: Response, done: Done) -> None:
        assert self._input is not None
        self.sent.append((done, len(response.body)))
        self._bytes += len(response.body)
        self._input.write(pack_response(response))

    def end(self) -> None:
        """Stop an idle worker by closing its input; kill a busy one, since its result is no longer needed."""
        if self._is_ready and not self.sent and self._input is not None:
            self._input.close()
        else:
            self.stop()

    def stop(self) -> None:
        self._is_ready = False
        if self._transport is not None:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()
            self._transport.close()

    def _settle(self) -> None:
        self._is_ready = False
        code = self._transport.get_returncode() if self._transport is not None else None
        waiting = [done for done, _ in self.sent]
        self.sent.clear()
        for index, done in enumerate(waiting):  # the oldest response is the one it was reading when it died
            done(_cause(code) if code is not None and index == 0 else None)

    # ---- callbacks of asyncio

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._buffer += data
        for message in take_messages(self._buffer):
            if not self._has_greeted:
                self._has_greeted = self._is_ready = True
                continue
            if not self.sent:  # a result without a response
                self.stop()
                return
            done, size = self.sent.popleft()
            self._bytes -= size
            self.answered += 1
            done(message)

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        self._is_ready = False

    def connection_lost(self, error: Exception | None) -> None:
        """Called when the process has ended and all its output has been read."""
        if not self._gone.done():
            self._gone.set_result(None)


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        if -code == signal.SIGALRM:
            return "reading it took too long"
        with contextlib.suppress(ValueError):
            return f"reading it ended in {signal.Signals(-code).name}"
    return f"reading it ended with code {code}"
