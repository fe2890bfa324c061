"""Time-outs that adapt to each host: driven by hand, and in a live run on a virtual clock."""

from __future__ import annotations

import asyncio
import selectors
from pathlib import Path
from typing import Any

import pytest

from scenthound.loop.host_timeouts import HostTimeouts
from scenthound.loop.settings import Settings
from scenthound.model import Response, Topic
from scenthound.wiring import begin


def test_the_time_out_is_that_of_tcp() -> None:
    timeouts = HostTimeouts(least=1.0, most=60.0)
    assert timeouts.seconds("a.test") == 60.0, "nothing is known yet"
    timeouts.answered("a.test", 2.0)
    assert timeouts.seconds("a.test") == 6.0  # 2 + 4 · 1
    timeouts.answered("a.test", 4.0)
    assert timeouts.seconds("a.test") == 7.25  # mean 2.25, deviation 0.75 + 0.5: 2.25 + 5
    assert timeouts.seconds("b.test") == 60.0


def test_it_stays_within_its_limits() -> None:
    timeouts = HostTimeouts(least=5.0, most=60.0)
    timeouts.answered("fast.test", 0.1)
    timeouts.answered("slow.test", 50.0)
    assert (timeouts.seconds("fast.test"), timeouts.seconds("slow.test")) == (5.0, 60.0)


def test_it_doubles_after_a_time_out_until_the_host_answers() -> None:
    timeouts = HostTimeouts(least=5.0, most=15.0)
    timeouts.timed_out("a.test")
    assert timeouts.seconds("a.test") == 15.0
    timeouts.answered("a.test", 0.1)
    seconds = []
    for _ in range(3):
        timeouts.timed_out("a.test")
        seconds.append(timeouts.seconds("a.test"))
    assert seconds == [10.0, 15.0, 15.0]
    timeouts.answered("a.test", 0.1)
    assert timeouts.seconds("a.test") == 5.0


class Jumping(selectors.DefaultSelector):
    """A selector on a virtual clock: waiting only advances the time."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


class Slow:
    """Answers after one second, the page `late` after 40."""

    async def fetch(self, url: str, most: int | None = None) -> Response:
        await asyncio.sleep(40.0 if url.endswith("late") else 1.0)
        links = "".join(f"<a href='/{name}'>bees</a>" for name in ("1", "2", "late", "3"))
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), f"bees {links}".encode())


@pytest.mark.parametrize(("floor", "fetched", "ends"), [(0.0, 5, 60.0), (4.0, 4, 20.0)])
def test_a_live_crawl_gives_up_a_page_that_takes_much_longer_than_others(
    tmp_path: Path, floor: float, fetched: int, ends: float
) -> None:
    settings = Settings(delay=0.0, robots=False, retries=0, concurrency=1, workers=0, pages=10, adaptive_timeout=floor)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        session = begin(
            Topic("bees"),
            ["http://a.test/"],
            tmp_path / "crawl",
            strategy="breadth-first",
            settings=settings,
            fetcher=Slow(),
            clock=loop.time,
        )
        try:
            runner.run(session.run())
            assert len(list(session.folder.history.trail())) == fetched
            assert loop.time() < ends
        finally:
            session.close()
