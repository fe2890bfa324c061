"""The tools over the protocol, with the client of the official SDK and a server in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.application_webs import CLUB_SEEDS, CLUBS
from support.html_crawl import html_crawl
from support.running_crawl import WEB, environment, served, until

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from scenthound.agent_tools.tool_methods import NOTICE
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
        started = await ask(client, "start_crawl", topic=WEB.topics[0].keywords, seeds=SEEDS, pages=20)
        name = started["collection"]
        status = await ended(client, name)
        assert status["pages"] == 20
        best = status["best_pages"][0]["url"]
        word = WEB.topics[0].keywords.split()[0]
        results = await ask(client, "search", collection=name, query=word)
        assert results["results"]
        assert results["notice"] == NOTICE
        page = await ask(client, "read_page", collection=name, url=best)
        assert page["untrusted_text"].strip()
        assert page["notice"] == NOTICE
        why = await ask(client, "explain", collection=name, url=best)
        assert why["state"] == "crawled"
        assert why["path"][-1]["url"] == best
        assert "nothing to stop" in await refusal(client, "stop_crawl", collection=name)
        listed = await ask(client, "list_collections")
        assert [row["pages"] for row in listed["collections"]] == [20]

    with served(tmp_path / "log") as address:
        words = ["--set", f"proxy={address}", "--set", "delay=0.01", "--pages", "20"]
        session(tmp_path / "home", words, talk)


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
        first = found["organisations"][0]
        assert first["home"] == "http://gamma.test/"
        assert first["listed_beside_seeds_on"] == [
            {"url": "http://hub.test/list", "seeds": ["alpha.test", "beta.test"]}
        ]
        assert first["untrusted_text"].startswith("Gamma e.V.\nBalloon clubs: ")
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
