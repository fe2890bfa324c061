"""Bad input to the strategies of the first shelf: wrong parameters, seeds that are not there, webs of one page."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, walk
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.page.record import Record
from scenthound.ports import Failure
from scenthound.report.crawl_facts import gather
from scenthound.strategies import STRATEGIES
from scenthound.wiring import begin, make_strategy

SHELVED = (
    *("dom", "hub-seeking", "fish-search", "shark-search", "cc-bfs", "alliance", "backlink-count", "pagerank"),
    *("best-first", "best-n-first"),
)
WRONG: dict[type, tuple[Any, ...]] = {
    bool: (None, 1, "maybe", 0.5),
    int: (None, True, -1, 1.5, "three", math.inf),
    float: (None, True, -0.5, math.nan, math.inf, "half", [0.5]),
    str: (None, 3, "no-such-thing", ["known"]),
}
"""What no parameter of this type takes, whatever it means."""
TEXT = {bool: "maybe", int: "three", float: "half", str: "no-such-thing"}


def parameters() -> Iterator[tuple[str, str, type]]:
    for name in SHELVED:
        for field in fields(STRATEGIES.get(name)):
            if field.init:
                yield name, field.name, type(field.default)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        pytest.param(name, parameter, value, id=f"{name}-{parameter}-{place}")
        for name, parameter, kind in parameters()
        for place, value in enumerate(WRONG[kind])
    ],
)
def test_a_parameter_out_of_range_or_of_the_wrong_type_is_named_and_a_way_out_offered(
    name: str, parameter: str, value: Any
) -> None:
    with pytest.raises(BadConfig) as caught:
        STRATEGIES.get(name)(**{parameter: value})
    assert f"`{parameter}` can't be {value!r}" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(("name", "parameter", "kind"), list(parameters()))
def test_the_same_as_text_from_a_command_line_or_a_file(name: str, parameter: str, kind: type) -> None:
    with pytest.raises(BadConfig) as caught:
        make_strategy(name, {parameter: TEXT[kind]})
    assert parameter in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", SHELVED)
def test_a_command_with_a_wrong_parameter_ends_before_anything_is_fetched(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parameter, kind = next((parameter, kind) for known, parameter, kind in parameters() if known == name)
    words = ["--seed", "http://a.test/", "--strategy", name, "--set", f"{parameter}={TEXT[kind]}"]
    assert run(["crawl", "bees", *words, "--out", str(tmp_path / "crawl")]) == 4
    told = capsys.readouterr().err
    assert parameter in told
    assert "hint: " in told
    assert not (tmp_path / "crawl").exists()


class Unresolved:
    """A web whose names nobody knows."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        return Failure("dns", "no such host")


@pytest.mark.parametrize("name", SHELVED)
def test_a_seed_host_that_never_resolves_ends_the_crawl_and_is_named(name: str, tmp_path: Path) -> None:
    settings = Settings(delay=0.0, robots=False, retries=0)
    session = begin(
        "bees", ["http://nowhere.test/"], tmp_path / "out", strategy=name, settings=settings, fetcher=Unresolved()
    )
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    with CrawlFolder.look(tmp_path / "out") as opened:
        facts = gather(opened)
    assert (facts.figures.pages, facts.waiting, facts.figures.misses) == (0, 0, {"dns": 1})


@pytest.mark.parametrize("name", SHELVED)
def test_one_seed_host_of_two_that_never_resolves_does_not_stop_the_other(name: str) -> None:
    web = TinyWeb({"a.example/": "bees -> b.example/ c.example/", "b.example/": "bees -> c.example/", "c.example/": ""})

    def fetch(candidate: Candidate) -> Any:
        return Miss(candidate, "dns") if "nowhere" in candidate.url else web.fetch(candidate)

    walked = walk(web, STRATEGIES.get(name)(), "bees", "nowhere.example/ a.example/", fetch=fetch)
    assert set(walked.visited) == {"http://a.example/", "http://b.example/", "http://c.example/"}


@pytest.mark.parametrize("name", SHELVED)
@pytest.mark.parametrize(
    "text", ["bees", "", "bees -> a.example/ a.example/"], ids=["no links", "no words", "links to itself"]
)
def test_a_web_of_one_page_is_crawled_and_that_is_all(name: str, text: str) -> None:
    walked = walk(TinyWeb({"a.example/": text}), STRATEGIES.get(name)(), "bees", "a.example/ a.example/")
    assert walked.visited == ["http://a.example/"]
    assert walked.reason == "frontier empty"


@pytest.fixture(scope="module")
def crowded() -> Record:
    links = "".join(f"<a href=http://h{n % 1000}.example/{n}>bees {n}</a> " for n in range(100_000))
    return read_html(f"<p>bees</p><div>{links}</div>", Url("http://a.example/"))


@pytest.mark.parametrize("name", SHELVED)
def test_a_page_with_100_000_links_fills_a_bounded_frontier_and_the_crawl_goes_on(name: str, crowded: Record) -> None:
    web = TinyWeb({})

    def fetch(candidate: Candidate) -> Any:
        if candidate.url == "http://a.example/":
            return Page(candidate.url, candidate, crowded)
        web.html[candidate.url] = "<p>bees</p>"
        return web.fetch(candidate)

    walked = walk(web, STRATEGIES.get(name)(), "bees", "a.example/", pages=2, bound=500, fetch=fetch)
    assert len(walked.visited) == 2
    assert len(walked.crawl.frontier) <= 500
    assert walked.crawl.calls.links_scored >= len(crowded.links) >= 5_000
