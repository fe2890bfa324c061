"""The tools over the protocol, with the client of the official SDK and a server in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.application_webs import CLUB_SEEDS, CLUBS
from support.html_crawl import html_crawl
from support.running_crawl import WEB, environment, served, until

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

import scenthound
from scenthound.desk.agent_tools.tool_methods import NOTICE
from scenthound.store.lock import holder

SEEDS = list(WEB.topics[0].seeds)


def session(home: Path, words: list[str], talk: Callable[[Client], Awaitable[None]]) -> None:
    """Start `scenthound mcp`, talk with it, and end it."""

    async def run() -> None:
        command = ["-m", "scenthound", "mcp", "--home", str(home), *words]
        parameters = StdioServerParameters(command=sys.executable, args=command, env=environment())
        async with Client(stdio_client(parameters)) as client:
            await talk(client)

    asyncio.run(run())


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert isinstance(answer.structured_content, dict)
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text


async def ended(client: Client, collection: str) -> dict[str, Any]:
    """The status of a crawl when it has ended."""
    while (status := await ask(client, "crawl_status", collection=collection))["is_running"]:
        await asyncio.sleep(0.2)  # pytest ends what hangs
    return status


def test_an_agent_crawls_searches_reads_and_explains(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.version == scenthound.__version__
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {
            "list_collections",
            "start_crawl",
            "crawl_status",
            "stop_crawl",
            "search",
            "read_page",
            "explain",
            "related",
        }
        started = await ask(client, "start_crawl", topic=WEB.topics[0].keywords, seeds=SEEDS)  # as many as it may
        name = started["collection"]
        status = await ended(client, name)
        assert status["pages"] == 20
        assert status["state_in_words"] == "finished: all requested pages were fetched"
        best = status["best_pages"][0]["untrusted_text"]["url"]
        page = await ask(client, "read_page", collection=name, url=best)
        assert page["notice"] == NOTICE
        word = max(page["untrusted_text"]["text"].split(), key=lambda word: len(word) * word.isalpha())
        results = await ask(client, "search", collection=name, query=word)
        assert best in [result["untrusted_text"]["url"] for result in results["results"]]
        assert results["notice"] == NOTICE
        why = await ask(client, "explain", collection=name, url=best)
        assert why["state"] == "crawled"
        assert why["path"][-1]["untrusted_text"]["url"] == best
        assert "nothing to stop" in await refusal(client, "stop_crawl", collection=name)
        listed = await ask(client, "list_collections")
        assert [row["pages"] for row in listed["collections"]] == [20]

    with served(tmp_path / "log") as address:
        words = ["--set", f"proxy={address}", "--set", "delay=0.01", "--pages", "20"]
        session(tmp_path / "home", words, talk)


async def at_once(client: Client, calls: int, **arguments: Any) -> tuple[list[str], list[str]]:
    """Call `start_crawl` so often at the same time; returns the collections that it started, and its refusals."""
    results = await asyncio.gather(*(client.call_tool("start_crawl", arguments) for _ in range(calls)))
    started = [result.structured_content["collection"] for result in results if result.structured_content]
    return started, [str(result.content) for result in results if result.is_error]


def running(home: Path) -> int:
    return sum(holder(file.parent) is not None for file in home.glob("*/crawl.toml"))


def test_crawls_that_are_asked_for_at_the_same_time_are_counted_before_they_start(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        asked = {"topic": WEB.topics[0].keywords, "seeds": SEEDS, "pages": 200}
        started, refused = await at_once(client, 10, **asked)
        assert (len(started), len(refused)) == (1, 9)
        assert all("1 crawls are running, the maximum" in refusal for refusal in refused)
        assert running(tmp_path / "home") == 1
        await ask(client, "stop_crawl", collection=started[0])
        await ended(client, started[0])
        second = await ask(client, "start_crawl", **asked)
        assert second["collection"] != started[0]
        assert "has already started 2 crawls" in (await at_once(client, 5, **asked))[1][4]

    with served(tmp_path / "log") as address:
        words = ["--set", f"proxy={address}", "--set", "delay=2", "--crawls", "2", "--at-once", "1"]
        session(tmp_path / "home", words, talk)
    assert len(list((tmp_path / "home").glob("*/crawl.toml"))) == 2


def test_crawls_of_one_topic_that_start_together_get_a_folder_each(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        started, refused = await at_once(client, 3, topic="bees", seeds=["http://127.0.0.1:9/"], pages=5)
        assert not refused
        assert len(set(started)) == 3

    session(tmp_path / "home", ["--crawls", "3", "--at-once", "3"], talk)


def test_a_crawl_that_fails_to_start_or_is_killed_gives_its_place_back(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        asked = {"topic": WEB.topics[0].keywords, "seeds": SEEDS, "pages": 200}
        for _ in range(3):
            assert "only stop words" in await refusal(client, "start_crawl", **{**asked, "topic": "the of and"})
        (tmp_path / "home").write_text("no folder")  # now every start fails
        assert await refusal(client, "start_crawl", **asked)
        (tmp_path / "home").unlink()
        started = await ask(client, "start_crawl", **asked)
        process = holder(tmp_path / "home" / started["collection"])
        assert process
        assert "1 crawls are running" in await refusal(client, "start_crawl", **asked)
        os.kill(process, signal.SIGKILL)
        await ended(client, started["collection"])
        await ask(client, "start_crawl", **asked)

    with served(tmp_path / "log") as address:
        words = ["--set", f"proxy={address}", "--set", "delay=2", "--crawls", "2", "--at-once", "1"]
        session(tmp_path / "home", words, talk)


def test_a_call_that_is_cancelled_starts_nothing_and_counts_for_nothing(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        asked = {"topic": WEB.topics[0].keywords, "seeds": SEEDS, "pages": 200}
        call = asyncio.create_task(client.call_tool("start_crawl", asked))
        log = tmp_path / "home"
        while not list(log.glob("*.desk.log")):  # its process is there, but not its crawl
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while (await client.call_tool("start_crawl", asked)).is_error:
            await asyncio.sleep(0.1)  # until the process has ended; pytest ends what hangs
        assert running(tmp_path / "home") == 1

    with served(tmp_path / "log") as address:
        words = ["--set", f"proxy={address}", "--set", "delay=2", "--crawls", "1", "--at-once", "1"]
        session(tmp_path / "home", words, talk)


MARK = "zorp"  # in everything that a stranger can write


def marked(value: Any) -> Iterator[str]:
    """The texts of an answer with the mark that are not below `untrusted_text`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "untrusted_text":
                yield from marked(name)
                yield from marked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from marked(inner)
    elif isinstance(value, str) and MARK in value.lower():
        yield value


def test_all_that_a_stranger_has_written_is_in_the_untrusted_part_of_an_answer(tmp_path: Path) -> None:
    page = "<title>Zorp balloons {0}</title><h2>Zorp heading</h2><ul>{1}</ul><p>zorp hot air balloon club text {0}"
    links = [f'<li><a href="http://{host}.test/">zorp link</a> zorp passage' for host in ("zorp-a", "zorp-b", "zorp-c")]
    web = {f"http://zorp-{name}.test/": page.format(name, "") for name in "abc"}
    web["http://hub.test/zorp"] = page.format("hub", "".join(links))
    web["http://zorp-a.test/"] += (
        '<a href="http://hub.test/zorp">zorp</a> <a href="http://zorp-gone.test/zorp">zorp</a>'
    )
    seeds = ["http://zorp-a.test/", "http://zorp-b.test/"]
    folder = html_crawl(tmp_path / "clubs", web, seeds, "zorp balloon clubs")

    async def talk(client: Client) -> None:
        url = "http://hub.test/zorp"
        calls: list[tuple[str, dict[str, Any]]] = [
            ("list_collections", {}),
            ("crawl_status", {"collection": "clubs"}),
            ("search", {"collection": "clubs", "query": "zorp"}),
            ("read_page", {"collection": "clubs", "url": url}),
            ("explain", {"collection": "clubs", "url": url}),
            ("explain", {"collection": "clubs", "url": "http://zorp-gone.test/zorp"}),
            ("related", {"collection": "clubs"}),
        ]
        for tool, arguments in calls:
            answer = await ask(client, tool, **arguments)
            assert MARK in str(answer).lower(), tool
            assert not list(marked(answer)), tool
            assert answer["notice"] == NOTICE
        assert not list(marked(await refusal(client, "read_page", collection="clubs", url="http://hub.test/nothing")))

    session(tmp_path / "home", [str(folder)], talk)


def test_no_caller_can_raise_a_limit(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        asks_much = {"topic": "bees", "seeds": ["https://example.org/"], "pages": 11}
        assert "1 to 10" in await refusal(client, "start_crawl", **asks_much)
        outside = {"topic": "bees", "seeds": ["https://example.com/"], "pages": 5}
        assert "outside the domains" in await refusal(client, "start_crawl", **outside)
        smuggled = {"topic": "bees --pages 999", "seeds": ["https://example.com/ --set allow_private=loopback"]}
        assert await refusal(client, "start_crawl", pages=5, **smuggled)
        assert "no collection" in await refusal(client, "search", collection="../secret", query="x")
        assert "Unknown tool" in await refusal(client, "set_limits", pages=100)

    session(tmp_path / "home", ["--pages", "10", "--domain", "example.org"], talk)
    assert not (tmp_path / "home").exists()


def test_a_server_without_crawls_only_reads(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        wanted = {"topic": "bees", "seeds": ["https://example.org/"], "pages": 5}
        assert "--crawls" in await refusal(client, "start_crawl", **wanted)

    session(tmp_path / "home", ["--crawls", "0"], talk)


def test_an_agent_finds_related_organisations(tmp_path: Path) -> None:
    folder = html_crawl(tmp_path / "clubs", CLUBS, CLUB_SEEDS, "balloon clubs")

    async def talk(client: Client) -> None:
        found = await ask(client, "related", collection="clubs", limit=3)
        first = found["organisations"][0]["untrusted_text"]
        assert (first["name"], first["home"]) == ("Gamma e.V.", "http://gamma.test/")
        (listed,) = first["listed_beside_seeds_on"]
        assert (listed["url"], listed["seeds"]) == ("http://hub.test/list", ["alpha.test", "beta.test"])
        assert listed["heading"] == "Balloon clubs"
        assert found["notice"] == NOTICE
        assert "1 to 20" in await refusal(client, "related", collection="clubs", limit=500)

    session(tmp_path / "home", [str(folder)], talk)


def test_private_addresses_are_refused(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        started = await ask(client, "start_crawl", topic="bees", seeds=["http://127.0.0.1:9/"], pages=5)
        status = await ended(client, started["collection"])
        assert status["pages"] == 0
        assert "refused-address" in status["failed"], status

    session(tmp_path / "home", [], talk)


def test_crawls_stop_when_the_agent_has_left(tmp_path: Path) -> None:
    started: list[str] = []

    async def talk(client: Client) -> None:
        answer = await ask(client, "start_crawl", topic=WEB.topics[0].keywords, seeds=SEEDS, pages=200)
        started.append(answer["collection"])

    with served(tmp_path / "log") as address:
        session(tmp_path / "home", ["--set", f"proxy={address}", "--set", "delay=2"], talk)
        folder = next((tmp_path / "home").glob("*/crawl.toml")).parent
        until(lambda: holder(folder) is None, "the crawl goes on")
    assert started
