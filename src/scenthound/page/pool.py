"""The crawl's end of its reading processes: who is free, who has died, and what then."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import Callable, Sequence

from scenthound.model import Candidate, Miss, Moved, Page, Response
from scenthound.page import wire
from scenthound.ports import Failure
from scenthound.processes import module_command
from scenthound.text.contexts import Around
from scenthound.text.tokens import Analyser
from scenthound.web.landing import PageLimits

AHEAD = 24  # replies sent to one worker ahead of its answers: enough to keep it busy while a group is committed
AHEAD_BYTES = 8_000_000
SECONDS = 20.0  # for one page; the largest that the guard lets through takes one or two
MEMORY = 2 << 30  # bytes of address space for a worker; the worst page that the guard lets through takes 720 MB
TRIES = 3  # starts without a single answer after which no more are made
TREES = 32  # pages whose tree was asked for, from which on it is clear that the strategy wants it


class Readers:
    """Worker processes that read pages for a crawl; none runs before `start`, and none after `close`.

    A page that kills its worker (time, memory, a crash of the parser) is a miss; the worker is replaced. Whatever
    else it had been sent is handed back unread. A strategy that asks for the tree of its pages, which workers do not
    send, is noticed: then the crawl does better by reading pages itself, and `takes` nothing more.
    """

    def __init__(
        self,
        workers: int,
        limits: PageLimits,
        agent: str,
        around: Sequence[Around] = (),
        *,
        seconds: float = SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self.restarts = 0
        """How many workers had to be replaced."""
        self.pages = self.trees = 0
        """Pages read by workers, and those of them whose tree was made again here."""
        self._most = workers
        sent = tuple(one for one in around if isinstance(one.analyser.stop_words, str))  # known by name over there too
        self._wanted = wire.Wanted(limits, agent, Analyser(), sent)
        self._told = json.dumps(
            {
                "limits": dataclasses.asdict(limits),
                "agent": agent,
                "around": [[one.kind, one.analyser.stop_words, one.analyser.stem, one.size] for one in sent],
                "seconds": seconds,
                "memory": memory,
            }
        )
        self._workers: list[_Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0
        self.open = True
        """Until `close`: a worker that dies is replaced."""

    def start(self) -> None:
        """Have the workers started if they are not. They are used as soon as they are ready."""
        while self.open and self._failures < TRIES and len(self._workers) < self._most and not self._for_trees():
            worker = _Worker(self)
            self._workers.append(worker)
            task = asyncio.get_running_loop().create_task(worker.run(self._told))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def takes(self, response: Response | Failure) -> bool:
        """Whether some worker has room for a reply now."""
        if isinstance(response, Failure) or not 200 <= response.status < 300:
            return False
        return not self._for_trees() and self._free(len(response.body)) is not None

    def read(
        self, candidate: Candidate, response: Response, then: Callable[[Page | Miss | Moved | None], None]
    ) -> None:
        """Send a reply to whoever has room; `then` hears what it means, later. None: no worker could say, though
        nothing speaks against the page."""

        def answered(told: bytes | str | None) -> None:
            result: Page | Miss | Moved | None = None
            if isinstance(told, str):
                result = Miss(candidate, "unreadable", told, response.status, len(response.body))
            elif told is not None:
                self.pages += 1
                try:
                    result = wire.understood(told, candidate, response, self._wanted, self._tree_wanted)
                except Exception as error:  # a page that made its reader talk nonsense is not one to read here
                    said = f"its reader said something odd: {type(error).__name__}"
                    result = Miss(candidate, "unreadable", said, response.status, len(response.body))
            then(result)

        worker = self._free(len(response.body))
        if worker is None:
            asyncio.get_running_loop().call_soon(answered, None)
        else:
            worker.ask(response, answered)

    async def close(self) -> None:
        """End every worker, by force where it does not go by itself."""
        self.open = False
        for worker in self._workers:
            worker.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2.0)
        for worker in self._workers:
            worker.stop()
        await asyncio.gather(*self._tasks)

    def died(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        if self.open:
            self.restarts += 1
            self._failures = 0 if worker.answered else self._failures + 1
            self.start()

    def _for_trees(self) -> bool:
        return self.trees >= TREES and 2 * self.trees > self.pages

    def _tree_wanted(self) -> None:
        self.trees += 1

    def _free(self, size: int) -> _Worker | None:
        ready = [worker for worker in self._workers if worker.has_room(size)]
        return min(ready, key=lambda worker: len(worker.sent), default=None)


class _Worker(asyncio.SubprocessProtocol):
    """One process: what it was sent and has not answered, oldest first."""

    def __init__(self, readers: Readers) -> None:
        self.sent: deque[tuple[Callable[[bytes | str | None], None], int]] = deque()
        self.answered = 0
        self._readers = readers
        self._greeted = self._ready = False
        self._bytes = 0
        self._buffer = bytearray()
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._gone = asyncio.get_running_loop().create_future()

    async def run(self, told: str) -> None:
        """Start the process and stay until it has ended and everything it owes is settled."""
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(
                lambda: self,
                *module_command("scenthound.page.worker", told),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                start_new_session=True,
            )
            self._input = self._transport.get_pipe_transport(0)  # type: ignore[assignment]
            if not self._readers.open:
                self.stop()
            await self._gone
            self._transport.close()
        except OSError:  # no more processes, or no room for one
            pass
        self._settle()
        self._readers.died(self)

    def has_room(self, size: int) -> bool:
        return self._ready and len(self.sent) < AHEAD and self._bytes + size < AHEAD_BYTES

    def ask(self, response: Response, then: Callable[[bytes | str | None], None]) -> None:
        """`then` hears the answer; or a text, why this very page killed the worker; or None, for one not begun."""
        assert self._input is not None
        message = wire.ask(response)
        self.sent.append((then, len(response.body)))
        self._bytes += len(response.body)
        self._input.write(message)

    def end(self) -> None:
        """Let it go: an idle worker goes when its input ends; what another is doing is of no use any more."""
        if self._ready and not self.sent and self._input is not None:
            self._input.close()
        else:
            self.stop()

    def stop(self) -> None:
        self._ready = False
        if self._transport is not None:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()
            self._transport.close()

    def _settle(self) -> None:
        self._ready = False
        code = self._transport.get_returncode() if self._transport is not None else None
        owed = [then for then, _ in self.sent]
        self.sent.clear()
        for place, then in enumerate(owed):  # the oldest is what it was reading when it died
            then(_cause(code) if code is not None and place == 0 else None)

    # ---- what asyncio tells

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._buffer += data
        for message in wire.frames(self._buffer):
            if not self._greeted:
                self._greeted = self._ready = True
                continue
            if not self.sent:  # it says more than it was asked
                self.stop()
                return
            then, size = self.sent.popleft()
            self._bytes -= size
            self.answered += 1
            then(message)

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        self._ready = False

    def connection_lost(self, error: Exception | None) -> None:
        """The process has ended, and all that it said was heard."""
        if not self._gone.done():
            self._gone.set_result(None)


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        if -code == signal.SIGALRM:
            return "reading it took too long"
        with contextlib.suppress(ValueError):
            return f"reading it ended in {signal.Signals(-code).name}"
    return f"reading it ended with code {code}"
