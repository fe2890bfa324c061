"""Pages read in another process: the same nouns, and nothing that a page does to its reader reaches the crawl."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenthound.text.contexts import (
    Around,
    Query,
    anchor_counts,
    context_similarities,
    contexts,
    page_counts,
    window_counts,
)
from scenthound.text.folded import checked

from scenthound.loop import live as run
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page import around, wire
from scenthound.page.landing import PageLimits, land
from scenthound.page.page import Page
from scenthound.page.pool import Readers
from scenthound.text.tokens import Analyser
from scenthound.wiring import begin, session
from scenthound.wiring import build as making
from support.small_crawl import Pages

LIMITS = PageLimits()
ANALYSER, SMALL = Analyser(), Analyser("small", stem=False)
AROUND = (
    Around("anchor", ANALYSER),
    Around("element", ANALYSER, 1),
    Around("element", ANALYSER, 3),
    Around("window", SMALL, 2),
    Around("window", SMALL, 50),
)
QUERIES = [Query("honey bees"), Query("bees bees now hive"), Query("")]
READING = wire.Wanted(LIMITS, "scenthound", ANALYSER, AROUND)
WANTED = Candidate(Url("http://a.test/x/"), 0.5, parent=Url("http://p.test/"), depth=3)
PAGE = """<!doctype html><html lang=en><title>Bees &amp; honey</title><body><nav><a href="/">Home</a>
<a href="http://B.test:80/%7euser/index.html?q=1#top">the  hives
of Kent</a></nav><p>Bees make honey, <a rel=nofollow href="//c.test/ad">buy <b>now</b></a> and
<a href=img.html><img alt="a bee"></a> <a href="mailto:x@y.test">mail</a></p>"""


def reply(body: str | bytes, kind: str = "text/html; charset=utf-8", **more: Any) -> Response:
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    headers = (("Content-Type", kind), *more.pop("headers", ()))
    return Response("http://a.test/x/", more.pop("status", 200), "OK", headers, data)


def read_elsewhere(response: Response) -> Any:
    told = wire.answer(wire.asked(wire.ask(response)[4:]), READING)
    return wire.understood(told[4:], WANTED, response, READING, lambda: None)


def same(response: Response) -> None:
    here, there = land(WANTED, response, LIMITS, agent="scenthound"), read_elsewhere(response)
    assert type(here) is type(there)
    if not isinstance(here, Page):
        assert here == there
        return
    assert (there.url, there.title, there.text) == (here.url, here.title, here.text)
    assert (there.status, there.size, there.candidate) == (here.status, here.size, here.candidate)
    assert list(there.links) == list(here.links)
    assert there.document.noindex == here.document.noindex  # type: ignore[attr-defined]
    assert list(page_counts(there, ANALYSER).items()) == list(page_counts(here, ANALYSER).items())
    _same_around(there, here)
    assert there.document.leaves == here.document.leaves
    for link, twin in zip(here.links, there.links, strict=True):
        assert there.document.path(twin) == here.document.path(link)
        assert [there.document.under(twin, up)[1] for up in range(4)] == [
            here.document.under(link, up)[1] for up in range(4)
        ]


def _same_around(there: Page, here: Page) -> None:
    assert not there.links or all(there.known(one) is not None for one in AROUND)
    for link, twin in zip(here.links, there.links, strict=True):
        assert anchor_counts(there, twin, ANALYSER) == anchor_counts(here, link, ANALYSER)
        for width in (2, 50):
            told, found = window_counts(there, twin, width, SMALL), window_counts(here, link, width, SMALL)
            assert (list(told.items()), told.square) == (list(found.items()), found.square)
    for up in (1, 3):
        told, found = contexts(there, up, ANALYSER), contexts(here, up, ANALYSER)
        assert [list(counts.items()) for counts in told] == [list(counts.items()) for counts in found]
        assert [counts.square for counts in told] == [counts.square for counts in found]
        for query in QUERIES:
            assert list(context_similarities(there, up, query)) == list(context_similarities(here, up, query))


def test_a_page_with_too_much_around_its_links_is_left_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "MOST_TERMS", 5)
    page = read_elsewhere(reply(PAGE))
    assert [page.known(one) is None for one in AROUND] == [False, True, True, True, True]  # anchors are few words
    here = land(WANTED, reply(PAGE), LIMITS, agent="scenthound")
    assert isinstance(here, Page)
    assert list(contexts(page, 1, ANALYSER)) == list(contexts(here, 1, ANALYSER))


@pytest.mark.parametrize(
    "response",
    [
        reply(PAGE),
        reply(""),
        reply("<a href=/one></a>"),
        reply("no markup, no links"),
        reply("<meta name=robots content='noindex'><a href=/a>a</a>"),
        reply("<meta name=robots content='nofollow'><a href=/a>a</a>"),
        reply("<meta http-equiv=refresh content='0;url=/there'>"),
        reply("<meta http-equiv=refresh content='9;url=/there'><a href=/a>a</a>"),
        reply("<title>\u2028 \x00 \x85 lines\nof text</title><a href='/\u2028'>\u2029\x0b\x1c</a>"),
        reply("Gr\xfc\xdfe".encode("latin-1"), "text/html; charset=latin1"),
        reply(gzip.compress(PAGE.encode()), headers=(("Content-Encoding", "gzip"),)),
        reply(b"\x1f\x8b rubbish", headers=(("Content-Encoding", "gzip"),)),
        reply(b"%PDF", "application/pdf"),
        reply("", status=204),
    ],
    ids=range(14),
)
def test_a_page_read_elsewhere_is_the_page_read_here(response: Response) -> None:
    same(response)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PAGE.split(" ")) | st.text(max_size=20), max_size=40))
def test_whatever_stands_on_the_page(parts: list[str]) -> None:
    same(reply(" ".join(parts)))


def test_messages_arrive_whole_however_they_are_cut() -> None:
    stream = b"".join(wire.frame(["n", number], b"x" * number, b"") for number in range(20))
    for step in (1, 7, 100, len(stream)):
        buffer, found = bytearray(), []
        for at in range(0, len(stream), step):
            buffer += stream[at : at + step]
            found += wire.frames(buffer)
        assert [wire.opened(message) for message in found] == [(["n", n], [b"x" * n, b""]) for n in range(20)]


def ask(readers: Readers, response: Response) -> asyncio.Future[Any]:
    promise: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    readers.read(WANTED, response, promise.set_result)
    return promise


def with_readers(work: Callable[[Readers], Awaitable[Any]], **more: Any) -> Any:
    async def go() -> Any:
        readers = Readers(1, LIMITS, "scenthound", **more)
        readers.start()
        try:
            return await work(readers)
        finally:
            await readers.close()

    return asyncio.run(go())


async def ready(readers: Readers, response: Response) -> None:
    for _ in range(6000):
        if readers.takes(response):
            return
        await asyncio.sleep(0.01)
    pytest.fail("no worker became ready")


def test_a_worker_reads_pages_and_ends_with_its_readers() -> None:
    async def work(readers: Readers) -> Any:
        assert not readers.takes(reply(PAGE)), "nobody waits for a worker to start"
        await ready(readers, reply(PAGE))
        assert not readers.takes(reply("moved", status=301)), "what is quickly read is read here"
        pages = await asyncio.gather(*(ask(readers, reply(PAGE)) for _ in range(20)))
        return readers, pages, readers._workers[0]._transport.get_pid()  # type: ignore[union-attr]

    readers, pages, process = with_readers(work)
    assert [page.title for page in pages] == ["Bees & honey"] * 20
    assert (readers.pages, readers.restarts) == (20, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_readers_that_close_at_once_leave_nothing_behind() -> None:
    async def work(readers: Readers) -> Any:
        await asyncio.sleep(0)

    with_readers(work)


def test_a_page_that_takes_too_long_is_a_miss_and_the_next_is_read() -> None:
    poison, honest = reply("<div>" * 3000 + "<p><font c=1>x" * 100_000), reply(PAGE)

    async def work(readers: Readers) -> Any:
        await ready(readers, honest)
        results = await asyncio.gather(*(ask(readers, page) for page in (poison, honest, honest)))
        after: list[Any] = []
        while len(after) < 5 and not (after and isinstance(after[-1], Page)):
            await ready(readers, honest)
            after.append(await ask(readers, honest))  # a busy machine may hold up an honest page for as long
        return results, after, readers.restarts

    (missed, *unread), after, restarts = with_readers(work, seconds=0.05)
    assert missed == Miss(WANTED, "unreadable", "reading it took too long", 200, len(poison.body))
    assert unread == [None, None], "they were not to blame: the crawl reads them itself"
    assert isinstance(after[-1], Page)
    assert restarts == len(after)


def test_a_page_that_wants_too_much_memory_hurts_only_itself() -> None:
    glutton = reply("<p>honey " * 400_000)

    async def work(readers: Readers) -> Any:
        await ready(readers, glutton)
        first = await ask(readers, glutton)
        await ready(readers, reply(PAGE))
        return first, await ask(readers, reply(PAGE))

    first, second = with_readers(work, memory=80 << 20)
    assert isinstance(first, Miss)
    assert first.reason == "unreadable"
    assert isinstance(second, Page)


def test_a_page_that_makes_its_reader_talk_nonsense_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(readers: Readers) -> Any:
        await ready(readers, reply(PAGE))
        asked = ask(readers, reply(PAGE))
        worker = readers._workers[0]
        worker.pipe_data_received(1, wire.frame(["page", 5]))
        return await asked

    found = with_readers(work)
    assert (found.reason, found.candidate) == ("unreadable", WANTED)
    assert "something odd" in found.detail


def test_workers_that_can_not_start_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")

    async def work(readers: Readers) -> Any:
        for _ in range(6000):
            if not readers._workers:
                break
            await asyncio.sleep(0.01)
        readers.start()
        return len(readers._workers), readers.takes(reply(PAGE))

    assert with_readers(work) == (0, False)


def test_a_strategy_that_wants_trees_gets_them_without_workers() -> None:
    async def work(readers: Readers) -> Any:
        await ready(readers, reply(PAGE))
        for _ in range(40):
            page = await ask(readers, reply(PAGE))
            assert isinstance(page, Page)
            page.document.under(page.links[0], 1)
        return readers.takes(reply(PAGE))

    assert with_readers(work) is False


PARENT = """
import asyncio
from scenthound.page.pool import Readers
from scenthound.page.landing import PageLimits

async def main():
    readers = Readers(1, PageLimits(), "scenthound")
    readers.start()
    while not any(worker._ready for worker in readers._workers):
        await asyncio.sleep(0.01)
    print(readers._workers[0]._transport.get_pid(), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_a_worker_dies_with_a_crawl_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(PARENT)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    for _ in range(1000):
        try:
            state = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":  # nobody here collects the dead of others
            return
        time.sleep(0.01)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker lived on")


@pytest.mark.parametrize("strategy", ["best-first", "dom", "hub-seeking", "shark-search"])
def test_a_crawl_is_the_same_whoever_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    monkeypatch.setattr(run, "BUSY", 0)
    monkeypatch.setattr(run, "SETTLED", 0)
    names = [f"http://h{number % 7}.test/{number}" for number in range(150)]
    web = {
        name: (f"Page {place}", f"honey bees {'hive ' * (place % 9)}", [names[(place * 3 + k) % 150] for k in range(9)])
        for place, name in enumerate(names)
    }
    used = []
    make = making.make_readers

    def kept(asked: Settings, around: Sequence[Around]) -> Readers | None:
        made = make(asked, around)
        used.append(made)
        return made

    class Slow(Pages):
        """Waits for the worker, so that it has something to do."""

        async def fetch(self, url: str, most: int | None = None) -> Any:
            if used[-1] is not None:
                for _ in range(2000):
                    if used[-1].takes(reply("")) or not used[-1]._workers or used[-1].trees:
                        break
                    await asyncio.sleep(0.005)
            return await super().fetch(url)

    monkeypatch.setattr(session, "make_readers", kept)
    found = []
    for workers in (0, 1):
        asked = Settings(delay=0.0, robots=False, concurrency=1, workers=workers, host_patience=0)
        out = tmp_path / str(workers)
        crawl = begin("honey bees", [names[0]], out, strategy=strategy, settings=asked, fetcher=Slow(web))
        try:
            asyncio.run(crawl.run())
        finally:
            crawl.close()
        with CrawlFolder.look(out) as folder:
            trail = [(s.url, s.score, s.similarity, s.anchor, s.title, s.depth) for s in folder.history.trail()]
            found.append((trail, dict(folder.database.links())))
    assert found[0] == found[1]
    assert used[0] is None
    assert used[1].pages > 0
    assert used[1].trees == 0, "what is asked about links came with the pages"


def test_a_worker_imports_nothing_large() -> None:
    code = "import sys, scenthound.page.worker; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("place", "column"),
    [(0, b"\xff\0\0\0"), (0, bytes(8)), (1, b"\x02\0\0\0"), (2, b""), (3, b"bee\nhive"), (3, b""), (4, b"")],
)
def test_columns_that_do_not_belong_together_are_refused(place: int, column: bytes) -> None:
    good = [bytes(4), b"\x01\0\0\0", b"\x04" + bytes(7), b"bee", b"\x02\0\0\0"]
    assert list(around.Told(good, 1)) == [{"bee": 2}]
    with pytest.raises(ValueError, match=r"columns|contexts|words"):
        around.Told([*good[:place], column, *good[place + 1 :]], 1)


@pytest.mark.parametrize(
    ("square", "words", "numbers"),
    [
        *((5, b"\nbee\n", bytes(8)), (5, b"bee", bytes(4)), (5, b"\nbee\n", bytes(5)), (5, b"", b"")),
        *(("5", b"\n", b""), (5, b"bee\n\n", bytes(4)), (5, b"\n\nbee", bytes(4))),
        *((5, b"\n\xff\n", bytes(4)), (5, b"\nbee\n", b"\xff" * 4)),
    ],
)
def test_words_that_could_not_be_unfolded_are_refused(square: object, words: bytes, numbers: bytes) -> None:
    with pytest.raises(ValueError, match=r"words|utf-8"):
        checked(square, words, numbers)  # type: ignore[arg-type]


def test_a_stranger_may_call_something_else_around() -> None:
    class Odd:
        around = 5

    assert making.around(Odd()) == ()  # type: ignore[arg-type]
