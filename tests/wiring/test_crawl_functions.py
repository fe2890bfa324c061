"""The Python API: topic files, notebooks, cancellation, async callbacks, streams, stored pages, tables."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import scenthound
from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb

WEB = GeneratedWeb(300, seed=3)
TOPIC = WEB.topics[0]
SEEDS = [str(seed) for seed in TOPIC.seeds]


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with serving(WEB) as address:
        yield f"http://{address}"


@pytest.fixture
def slow_proxy() -> Iterator[str]:
    """Every reply takes a tenth of a second, so that a crawl can be caught in the middle."""
    with serving(BedServer(WEB, ServerOptions(latency=0.1))) as address:
        yield f"http://{address}"


def options(proxy: str, out: Path, pages: int = 10) -> dict[str, Any]:
    return {"seeds": SEEDS, "pages": pages, "out": out, "proxy": proxy, "delay": 0}


def ended(out: Path) -> str:
    with scenthound.CrawlFolder.look(out) as folder:
        return folder.database.meta("ended")


# ---- what is accepted


@pytest.mark.parametrize("kind", [str, Path], ids=["text", "path"])
def test_a_topic_file_is_read(kind: type, proxy: str, tmp_path: Path) -> None:
    file = tmp_path / "balloons.toml"
    file.write_text(f'keywords = "{TOPIC.keywords}"\nname = "balloons"\n')
    with scenthound.crawl(kind(file), **options(proxy, tmp_path / "crawl", 3)) as folder:
        assert folder.request.topic.keywords == TOPIC.keywords
        assert folder.request.topic.name == "balloons"


def test_a_topic_file_that_is_missing_is_not_a_topic(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="there is no topic file"):
        scenthound.crawl("balloons.toml", "http://a.test/", out=tmp_path / "crawl")


def test_seeds_may_be_the_path_of_a_file_and_folders_may_be_texts(proxy: str, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("# mine\n" + "\n".join(SEEDS))
    arguments = {**options(proxy, tmp_path, 2), "seeds": tmp_path / "seeds.txt", "out": str(tmp_path / "crawl")}
    scenthound.crawl(TOPIC.keywords, **arguments).close()
    with scenthound.CrawlFolder.look(str(tmp_path / "crawl")) as folder:
        assert folder.request.seeds == tuple(SEEDS)
        assert len(folder.history) == 2


def test_begin_takes_pages(tmp_path: Path) -> None:
    session = scenthound.begin("bees", "http://a.test/", tmp_path / "crawl", pages=7)
    assert session.crawl.limits.pages == session.settings.pages == 7
    session.close()
    with pytest.raises(BadConfig):
        scenthound.begin("bees", "http://a.test/", tmp_path / "other", pages=0)


# ---- event loops


def test_crawl_works_in_a_running_loop(proxy: str, tmp_path: Path) -> None:
    async def notebook() -> int:
        with scenthound.crawl(TOPIC.keywords, **options(proxy, tmp_path / "crawl")) as folder:
            return len(list(folder.history.trail()))

    assert asyncio.run(notebook()) == 10


def test_an_error_in_a_running_loop_is_raised(tmp_path: Path) -> None:
    async def notebook() -> None:
        scenthound.crawl("the of and", "http://a.test/", out=tmp_path / "crawl")

    with pytest.raises(BadConfig, match="only stop words"):
        asyncio.run(notebook())


def test_cancelling_stops_and_saves(slow_proxy: str, tmp_path: Path) -> None:
    async def main() -> None:
        arrived = asyncio.Event()

        def watch(event: object) -> None:
            if isinstance(event, scenthound.Step) and event.n == 3:
                arrived.set()

        arguments = options(slow_proxy, tmp_path / "crawl", 200)
        task = asyncio.create_task(scenthound.crawl_async(TOPIC.keywords, watch=watch, **arguments))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended(tmp_path / "crawl") == "interrupted"
    with scenthound.CrawlFolder.look(tmp_path / "crawl") as folder:
        before = len(folder.history)
    assert 3 <= before < 200
    session = scenthound.resume(tmp_path / "crawl", pages=before + 3)
    assert asyncio.run(session.run()) == "pages"
    assert session.crawl.pages == before + 3
    session.close()


def test_a_cancellation_at_the_moment_of_a_reply_is_not_swallowed(proxy: str, tmp_path: Path) -> None:
    """`asyncio.wait_for` of Python 3.11 returns the result and drops a cancellation that arrives at the same time."""

    async def main() -> int:
        swallowed = 0
        for attempt in range(20):
            arguments = options(proxy, tmp_path / f"crawl{attempt}", 200)
            current: list[asyncio.Task[Any]] = []

            def watch(event: object, current: list[asyncio.Task[Any]] = current, attempt: int = attempt) -> None:
                if isinstance(event, scenthound.Step) and event.n == 1 + attempt:
                    asyncio.get_running_loop().call_soon(current[0].cancel)

            current.append(asyncio.create_task(scenthound.crawl_async(TOPIC.keywords, watch=watch, **arguments)))
            try:
                (await current[0]).close()
                swallowed += 1
            except asyncio.CancelledError:
                pass
        return swallowed

    assert asyncio.run(main()) == 0


def test_an_async_callback_is_awaited_in_order(proxy: str, tmp_path: Path) -> None:
    heard: list[int] = []

    async def watch(event: object) -> None:
        await asyncio.sleep(0)
        if isinstance(event, scenthound.Step):
            heard.append(event.n)

    scenthound.crawl(TOPIC.keywords, watch=watch, **options(proxy, tmp_path / "crawl")).close()
    assert heard == list(range(1, 11))


def test_an_error_of_an_async_callback_ends_the_crawl(proxy: str, tmp_path: Path) -> None:
    async def watch(event: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        scenthound.crawl(TOPIC.keywords, watch=watch, **options(proxy, tmp_path / "crawl"))


# ---- streams


def test_a_stream_yields_every_page_with_its_text(proxy: str, tmp_path: Path) -> None:
    pages = list(scenthound.stream(TOPIC.keywords, **options(proxy, tmp_path / "crawl")))
    assert [page.n for page in pages] == list(range(1, 11))
    assert all(page.text and page.html.startswith("<!") for page in pages)
    assert ended(tmp_path / "crawl") == "pages"


def test_a_page_of_a_stream_is_durable_and_comes_before_the_end(slow_proxy: str, tmp_path: Path) -> None:
    for page in scenthound.stream(TOPIC.keywords, **options(slow_proxy, tmp_path / "crawl", 200)):
        with scenthound.CrawlFolder.look(tmp_path / "crawl") as folder:
            assert folder.open(page.url).text == page.text
            assert len(folder.history) < 200
        break


def test_leaving_a_loop_saves_the_crawl(slow_proxy: str, tmp_path: Path) -> None:
    for page in scenthound.stream(TOPIC.keywords, **options(slow_proxy, tmp_path / "crawl", 200)):
        if page.n == 2:
            break
    assert ended(tmp_path / "crawl") == "interrupted"
    scenthound.resume(tmp_path / "crawl").close()  # nobody holds the lock any more


def test_async_for_yields_pages_and_leaving_it_saves(slow_proxy: str, tmp_path: Path) -> None:
    async def closed() -> int:
        stream = scenthound.stream(TOPIC.keywords, **options(slow_proxy, tmp_path / "closed", 200))
        pages: AsyncIterator[scenthound.StoredPage]
        async with contextlib.aclosing(aiter(stream)) as pages:  # type: ignore[type-var]
            async for page in pages:
                if page.n == 2:
                    break
        assert ended(tmp_path / "closed") == "interrupted"
        return page.n

    async def dropped() -> int:
        async for page in scenthound.stream(TOPIC.keywords, **options(slow_proxy, tmp_path / "dropped", 200)):
            if page.n == 2:
                break
        gc.collect()
        return page.n

    assert asyncio.run(closed()) == asyncio.run(dropped()) == 2
    assert ended(tmp_path / "dropped") == "interrupted"


def test_a_slow_reader_holds_the_crawl_back(proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.wiring.page_stream.MAX_WAITING_PAGES", 2)
    pages = iter(scenthound.stream(TOPIC.keywords, **options(proxy, tmp_path / "crawl", 250)))
    next(pages)
    for _ in range(20):
        asyncio.run(asyncio.sleep(0.02))
    with scenthound.CrawlFolder.look(tmp_path / "crawl") as folder:
        assert len(folder.history) < 250
    pages.close()  # type: ignore[attr-defined]


def test_a_stream_raises_what_goes_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="only stop words"):
        next(iter(scenthound.stream("the of and", "http://a.test/", out=tmp_path / "crawl")))


# ---- the finished folder


@pytest.fixture(scope="module")
def finished(proxy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api") / "crawl"
    scenthound.crawl(TOPIC.keywords, **options(proxy, out, 20)).close()
    return out


def test_a_page_is_opened_by_its_url(finished: Path) -> None:
    with scenthound.CrawlFolder.look(finished) as folder:
        step = next(iter(folder.history.best(1)))
        page = folder.open(step.url)
        assert page.url == step.url
        assert page.title == step.title
        assert page.links
        assert page.text
        assert dict(page.headers)["Content-Type"].startswith("text/html")
        assert page.content_type.startswith("text/html")
        assert (page.relevance, page.is_relevant) == (step.relevance, step.relevant)
        assert page.time.timestamp() == pytest.approx(step.time)


def test_a_url_that_is_not_there_gets_a_hint(finished: Path) -> None:
    with scenthound.CrawlFolder.look(finished) as folder:
        near = next(iter(folder.history.trail())).url
        with pytest.raises(UnknownName) as caught:
            folder.open(near + "x")
        assert near in caught.value.hint


def test_a_table_for_pandas(finished: Path) -> None:
    pandas = pytest.importorskip("pandas")
    with scenthound.CrawlFolder.look(finished) as folder:
        table = folder.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table["n"]) == list(range(1, 21))
    assert {"url", "host", "relevance", "relevant", "digest", "warc_offset"} <= set(table.columns)
    assert str(table["time"].dtype).endswith("UTC]")
    assert any(name.startswith("part_") for name in table.columns)


def test_the_lab_is_a_few_functions(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("scipy")
    bed = scenthound.make_bed(tmp_path / "bed", pages=600, seed=1, topics=6)
    experiment = scenthound.run_experiment(bed, "best-first,breadth-first", tmp_path / "run", pages=100)
    means = scenthound.measure(experiment, ["target_recall"], at=[100])
    assert set(means) >= {"best-first", "breadth-first"}
    found = scenthound.compare(tmp_path / "run", "best-first", "breadth-first")
    assert found.first == "best-first"
    assert "target_recall at 100 pages" in str(found)


@pytest.mark.parametrize("name", scenthound.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(scenthound, name) is not None
