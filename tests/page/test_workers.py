"""Pages read by worker processes: results are the same, and a page that kills its worker does not harm the crawl."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.loop import live as run
from scenthound.loop import slots
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page import pool as pool_module
from scenthound.page import wire
from scenthound.page.landing import land
from scenthound.page.page import AHEAD, AheadView, Page
from scenthound.page.pool import TRIES, ReadingPool
from scenthound.page.read import PageLimits
from scenthound.page.record import EVERYTHING, Parts
from scenthound.page.wire import ReadOptions, pack, read_response, take_messages, unpack, unpack_response, unpack_result
from scenthound.text.term_counts import TermNumbers
from scenthound.text.tokens import Analyser
from scenthound.wiring import begin, session
from scenthound.wiring import parts_from_settings as making
from support.long_form import long_form
from support.small_crawl import Pages

SMALL = Analyser("small", stem=False)
OPTIONS = ReadOptions(PageLimits(), "scenthound", EVERYTHING | Parts((SMALL,)), tuple(AHEAD.values()))
WANTED = Candidate(Url("http://a.test/x/"), 0.5, parent=Url("http://p.test/"), depth=3)
PAGE = """<!doctype html><html lang=en><title>Bees &amp; honey</title><body><nav><a href="/">Home</a>
<a href="http://B.test:80/%7euser/index.html?q=1#top">the  hives
of Kent</a></nav><p>Bees make honey, <a rel=nofollow href="//c.test/ad">buy <b>now</b></a> and
<a href=img.html><img alt="a bee"></a> <a href="mailto:x@y.test">mail</a></p>"""


def reply(body: str | bytes, kind: str = "text/html; charset=utf-8", **more: Any) -> Response:
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    headers = (("Content-Type", kind), *more.pop("headers", ()))
    return Response("http://a.test/x/", more.pop("status", 200), "OK", headers, data)


def read_elsewhere(response: Response, options: ReadOptions = OPTIONS) -> Any:
    """The result of a worker for a response: everything goes through bytes, including the options."""
    options = ReadOptions.from_json(json.loads(json.dumps(options.to_json())))
    sent = unpack_response(wire.pack_response(response)[4:])
    return unpack_result(read_response(sent, options, TermNumbers("test"))[4:], WANTED)


def same(response: Response, options: ReadOptions = OPTIONS) -> None:
    here = land(WANTED, response, options.limits, options.parts, agent=options.agent)
    there = read_elsewhere(response, options)
    assert type(here) is type(there)
    if not isinstance(here, Page):
        assert here == there
        return
    assert (there.url, there.title, there.text) == (here.url, here.title, here.text)
    assert (there.status, there.size, there.candidate) == (here.status, here.size, here.candidate)
    assert there.links == here.links
    assert there.outlinks == here.outlinks
    assert there.record.barred == here.record.barred
    assert [there.view(view) for view in AHEAD.values()] == [view(here.record) for view in AHEAD.values()]
    assert there.record.to_bytes() == here.record.to_bytes(), "all columns; what follows from them is in test_record"


def test_parts_that_were_not_requested_are_not_sent() -> None:
    for parts in (Parts(), Parts((SMALL,)), Parts(leaves=True), Parts(elements=True)):
        same(reply(PAGE), OPTIONS._replace(parts=parts))
    few, all_parts = (
        read_response(reply(PAGE), OPTIONS._replace(parts=parts), TermNumbers("test"))
        for parts in (Parts(), EVERYTHING)
    )
    assert len(few) < len(all_parts) / 2


@pytest.mark.parametrize("view", AHEAD.values(), ids=list(AHEAD))
def test_a_requested_view_is_sent_with_the_page(view: AheadView) -> None:
    message = read_response(reply(PAGE), OPTIONS._replace(ahead=(view,)), TermNumbers("test"))[4:]
    page = unpack_result(message, WANTED)
    assert isinstance(page, Page)
    assert view(page.record)
    assert unpack(message)[1][-1] == view(page.record) == page.view(view)


def test_options_survive_the_command_line() -> None:
    parts, ahead = Parts((SMALL, Analyser()), leaves=True), tuple(AHEAD.values())[1:]
    options = ReadOptions(PageLimits(links=5, ratio=7), "bot", parts, ahead)
    assert ReadOptions.from_json(json.loads(json.dumps(options.to_json()))) == options
    own = Analyser(frozenset({"bee"}))
    assert ReadOptions.from_json(options._replace(parts=Parts((own,))).to_json()).parts == Parts()


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
def test_a_page_read_by_a_worker_equals_the_page_read_here(response: Response) -> None:
    same(response)


@settings(deadline=None, max_examples=long_form(20, 60))
@given(st.lists(st.sampled_from(PAGE.split(" ")) | st.text(max_size=20), max_size=40))
def test_any_page_is_the_same_read_by_a_worker(parts: list[str]) -> None:
    same(reply(" ".join(parts)))


def test_messages_arrive_whole_however_they_are_cut() -> None:
    stream = b"".join(pack(["n", number], b"x" * number, b"") for number in range(20))
    for step in (1, 7, 100, len(stream)):
        buffer, found = bytearray(), []
        for at in range(0, len(stream), step):
            buffer += stream[at : at + step]
            found += take_messages(buffer)
        assert [unpack(message) for message in found] == [(["n", n], [b"x" * n, b""]) for n in range(20)]


@settings(deadline=None, max_examples=long_form(100, 300))
@given(st.data())
def test_a_message_that_no_worker_sends_is_refused(data: st.DataObject) -> None:
    """ValueError and nothing else, so that the crawl can count the page as unreadable."""
    response = data.draw(st.sampled_from([reply(PAGE), reply("", status=500)]))
    whole = read_response(response, OPTIONS, TermNumbers("test"))[4:]
    message = data.draw(st.binary(max_size=40) | st.integers(0, len(whole)).map(lambda size: whole[:size]))
    try:
        found = unpack_result(message, WANTED)
    except ValueError:
        return
    assert isinstance(found, Page | Miss | Moved)


def with_views(names: Any, *views: bytes, outlinks: bytes = b"") -> bytes:
    """A message with the page and these views."""
    _, (record, *_) = unpack(read_response(reply(PAGE), OPTIONS._replace(ahead=()), TermNumbers("test"))[4:])
    return pack(["page", 200, 5, "test", names], record, outlinks, *views)[4:]


@pytest.mark.parametrize(
    "message",
    [
        *(b"", b"\0", b"\0\0\0\x01{", b"\0\0\0\x02[]", b"\0\0\0\x011", b"\0\0\0\x0a[" + b"[" * 50_000),
        *(pack(head)[4:] for head in (5, None, [], ["page"], ["page", 200, 5, "test"], ["ready"], {"page": 1})),
        *(pack(["miss", "x", "", 1, 1, wait])[4:] for wait in ("soon", [], 10**400, {})),
        *(pack(["moved", url, "", 1, 1])[4:] for url in (5, None, ["http://a.test/"])),
        *(pack(["page", 200, 5, "test", []], *parts)[4:] for parts in ([b""], [b"", b""], [b"\0" * 50, b""])),
        *(with_views(*views) for views in ((["outlinks"], b"123"), (["links"], b""), ([["title"]], b""), ([5], b""))),
        with_views([], outlinks=b"123"),
        with_views([], outlinks=b"\xff\0\0\0"),
        b"\0\0\0\x2c" + b'[["page",200,5,"test",[]],["1",2,[3],"four"]]',
    ],
    ids=range(30),
)
def test_a_message_with_the_wrong_content_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack_result(message, WANTED)


def ask(pool: ReadingPool, response: Response) -> asyncio.Future[Any]:
    promise: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    pool.read(WANTED, response, promise.set_result)
    return promise


def with_pool(work: Callable[[ReadingPool], Awaitable[Any]], **more: Any) -> Any:
    async def go() -> Any:
        pool = ReadingPool(1, OPTIONS, **more)
        pool.start()
        try:
            return await work(pool)
        finally:
            await pool.close()

    return asyncio.run(go())


async def ready(pool: ReadingPool, response: Response) -> None:
    for _ in range(6000):
        if pool.takes(response):
            return
        await asyncio.sleep(0.01)
    pytest.fail("no worker became ready")


def test_a_worker_reads_pages_and_ends_with_its_pool() -> None:
    async def work(pool: ReadingPool) -> Any:
        assert not pool.takes(reply(PAGE)), "the crawl does not wait for a worker to start"
        await ready(pool, reply(PAGE))
        assert not pool.takes(reply("moved", status=301)), "a response that is quick to read is read here"
        pages = await asyncio.gather(*(ask(pool, reply(PAGE)) for _ in range(20)))
        return pool, pages, pool.process_ids

    pool, pages, processes = with_pool(work)
    assert [page.title for page in pages] == ["Bees & honey"] * 20
    assert pages[0].record.elements.of_link.tolist() == read_elsewhere(reply(PAGE)).record.elements.of_link.tolist()
    assert (pool.pages, pool.restarts) == (20, 0)
    assert pool.process_ids == []
    assert len(processes) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(processes[0], 0)


def test_a_worker_has_one_thread_however_many_cores_there_are() -> None:
    """Each thread of numpy's library reserves 40 MB of address space, which the limit on memory counts."""

    async def work(pool: ReadingPool) -> Any:
        await ready(pool, reply(PAGE))
        return [Path(f"/proc/{process}/status").read_text() for process in pool.process_ids]

    assert ["\nThreads:\t1\n" in status for status in with_pool(work)] == [True]


def test_a_response_that_no_worker_has_room_for_is_handed_back() -> None:
    async def work(pool: ReadingPool) -> Any:
        return await ask(pool, reply(PAGE))

    assert with_pool(work) is None


def test_a_pool_that_closes_at_once_leaves_nothing_behind() -> None:
    async def work(pool: ReadingPool) -> Any:
        await asyncio.sleep(0)
        return pool

    assert with_pool(work).process_ids == []


def test_a_page_that_takes_too_long_is_a_miss_and_the_next_is_read() -> None:
    poison, honest = reply("<div>" * 3000 + "<p><font c=1>x" * 100_000), reply(PAGE)

    async def work(pool: ReadingPool) -> Any:
        await ready(pool, honest)
        results = await asyncio.gather(*(ask(pool, page) for page in (poison, honest, honest)))
        after: list[Any] = []
        while len(after) < 5 and not (after and isinstance(after[-1], Page)):
            await ready(pool, honest)
            after.append(await ask(pool, honest))  # a busy machine may hold up an honest page for as long
        return results, after, pool.restarts

    (missed, *unread), after, restarts = with_pool(work, seconds=0.05)
    assert missed == Miss(WANTED, "unreadable", "reading it took too long", 200, len(poison.body))
    assert unread == [None, None], "the crawl reads the other pages itself"
    assert isinstance(after[-1], Page)
    assert restarts == len(after)


def test_a_page_that_needs_too_much_memory_is_the_only_miss() -> None:
    glutton = reply("<p>honey " * 400_000)

    async def work(pool: ReadingPool) -> Any:
        await ready(pool, glutton)
        first = await ask(pool, glutton)
        await ready(pool, reply(PAGE))
        return first, await ask(pool, reply(PAGE))

    first, second = with_pool(work, memory=160 << 20)
    assert isinstance(first, Miss)
    assert first.reason == "unreadable"
    assert isinstance(second, Page)


NONSENSE = """
import sys
from scenthound.page.wire import pack
sys.stdout.buffer.write(pack(["ready"]))
sys.stdout.buffer.flush()
sys.stdin.buffer.read(4)
sys.stdout.buffer.write(pack({answer}))
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""


@pytest.mark.parametrize("answer", ['["page", 5]', '["page", 200, 5], b"no record"', '["miss", 1]', "5"])
def test_a_page_that_makes_its_worker_send_nonsense_is_a_miss(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = NONSENSE.format(answer=answer)
    monkeypatch.setattr(pool_module, "module_command", lambda *_: [sys.executable, "-c", code])

    async def work(pool: ReadingPool) -> Any:
        await ready(pool, reply(PAGE))
        return await ask(pool, reply(PAGE))

    found = with_pool(work)
    assert (found.reason, found.candidate, found.size) == ("unreadable", WANTED, len(PAGE))
    assert found.detail.startswith("its worker sent a broken result: ")


def test_workers_that_can_not_start_are_not_retried_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")

    async def work(pool: ReadingPool) -> Any:
        for _ in range(6000):
            if pool.restarts == TRIES:
                break
            await asyncio.sleep(0.01)
        pool.start()
        await asyncio.sleep(0.1)
        return pool.restarts, pool.process_ids, pool.takes(reply(PAGE))

    assert with_pool(work) == (TRIES, [], False)


PARENT = """
import asyncio
from scenthound.model import Response
from scenthound.page.read import PageLimits
from scenthound.page.pool import ReadingPool
from scenthound.page.record import Parts
from scenthound.page.wire import ReadOptions

async def main():
    pool = ReadingPool(1, ReadOptions(PageLimits(), "scenthound", Parts()))
    pool.start()
    while not pool.takes(Response("http://a.test/", 200, "OK", (), b"")):
        await asyncio.sleep(0.01)
    print(*pool.process_ids, flush=True)
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


@pytest.mark.parametrize(
    "strategy", ["best-first", "dom", "hub-seeking", "shark-search", "apprentice", "infospiders", "intelligent"]
)
def test_a_crawl_is_the_same_with_and_without_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setattr(run, "BUSY", 0)
    monkeypatch.setattr(run, "SETTLED", 0)
    for limit in ("QUICKEST", "ENOUGH"):  # no request is slow here: on a busy machine one would change the order
        monkeypatch.setattr(slots, limit, 1e6)
    names = [f"http://h{number % 7}.test/{number}" for number in range(60)]
    web = {
        name: (f"Page {place}", f"honey bees {'hive ' * (place % 9)}", [names[(place * 3 + k) % 60] for k in range(9)])
        for place, name in enumerate(names)
    }
    pools: list[ReadingPool | None] = []
    make = making.make_reading_pool

    def kept(settings: Settings, parts: Parts, views: tuple[AheadView, ...]) -> ReadingPool | None:
        pools.append(make(settings, parts, views))
        return pools[-1]

    class Slow(Pages):
        """Waits for the worker, so that the worker is used."""

        async def fetch(self, url: str, most: int | None = None) -> Any:
            pool = pools[-1]
            for _ in range(2000):
                if pool is None or not pool.process_ids or pool.takes(reply("")):
                    break
                await asyncio.sleep(0.005)
            return await super().fetch(url)

    monkeypatch.setattr(session, "make_reading_pool", kept)
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
    assert pools[0] is None
    assert pools[1] is not None
    assert pools[1].pages > 0


def test_a_worker_imports_nothing_that_it_does_not_need() -> None:
    large = ("numpy", "email", "multiprocessing", "rich", "click", "sqlite3")
    large += ("scenthound.loop", "scenthound.store", "scenthound.strategies")
    code = f"import sys, scenthound.page.worker; print(*sys.modules.keys() & set({large!r}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
