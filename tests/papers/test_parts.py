"""The parts of every score: present, finite, explained, and shown by `explain`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.testing import CONTRACT_TOPIC, TinyWeb, ready, walk
from scenthound.model import Step
from scenthound.strategies import STRATEGIES
from scenthound.wiring import make_strategy
from support.small_crawl import small_crawl

BLIND = ("breadth-first", "random")  # no score, so no parts
SHELVED = {
    "best-first": {"page"},
    "best-n-first": {"page"},
    "dom": {"page", "context"},
    "hub-seeking": {"page", "context", "hub"},
    "fish-search": {"page", "in width"},
    "shark-search": {"page", "inherited", "anchor", "context", "neighbourhood"},
    "infospiders": {"net", "page", "agent", "energy", "probability"},
    "cc-bfs": {"C0", "C1", "C2"},
    "alliance": {"alliance", "on topic"},
    "backlink-count": {"backlinks"},
    "pagerank": {"pagerank"},
}
PAGES = {
    "a.example/": "bees and honey -> b.example/ c.example/ d.example/ moved.example/ gone.example/",
    "b.example/": "cars -> c.example/ e.example/ a.example/",
    "c.example/": "bees bees -> a.example/ d.example/ f.example/",
    "d.example/": "honey -> b.example/ g.example/",
    "e.example/": "-> f.example/",
    "f.example/": "a swarm of bees -> g.example/ h.example/",
    "g.example/": "hives",
    "h.example/": "bees",
    "moved.example/": "=> h.example/",
}


def linked(steps: list[Step]) -> list[Step]:
    return [step for step in steps if step.parent is not None]


OURS = [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.") and name not in BLIND]


@pytest.mark.parametrize("name", OURS)
def test_every_page_that_was_reached_by_a_link_has_parts_and_they_are_finite(name: str) -> None:
    strategy = ready(STRATEGIES.get(name)())
    found = linked(walk(TinyWeb(PAGES), strategy, CONTRACT_TOPIC, "a.example/ c.example/").steps)
    assert found, "a crawl that goes nowhere shows nothing"
    for step in found:
        assert step.parts, f"{step.url} has a score of {step.score} and nobody knows why"
        assert all(math.isfinite(value) for value in step.parts.values()), step.parts


@pytest.mark.parametrize("name", SHELVED)
def test_the_parts_are_those_of_the_paper_and_each_is_explained(name: str) -> None:
    found = linked(walk(TinyWeb(PAGES), STRATEGIES.get(name)(), "bees honey", "a.example/ c.example/").steps)
    assert {part for step in found for part in step.parts} == SHELVED[name]
    assert SHELVED[name] <= set(STRATEGIES.get(name).score_parts)  # type: ignore[attr-defined]


def test_pages_that_are_fetched_only_to_see_their_links_say_so() -> None:
    strategy = make_strategy("cc-bfs", {"lookahead": "fetch"})
    found = linked(walk(TinyWeb(PAGES), strategy, "bees", "a.example/ c.example/").steps)
    assert {"behind": 1.0} in [dict(step.parts) for step in found]
    assert all(step.parts for step in found)


@pytest.mark.parametrize("name", ["alliance", "backlink-count", "pagerank"])
def test_urls_beyond_the_memory_have_parts_too(name: str) -> None:
    strategy = make_strategy(name, {"memory": 2})
    found = linked(walk(TinyWeb(PAGES), strategy, "bees", "a.example/").steps)
    assert len(found) >= 5
    assert all(step.parts for step in found)


@pytest.mark.parametrize("name", SHELVED)
def test_explain_the_report_and_the_list_of_strategies_show_them(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small_crawl(tmp_path / "crawl", strategy=name)
    assert run(["explain", str(out), "http://b.test/one.html"]) == 0
    explained = capsys.readouterr().out
    assert run(["report", str(out)]) == 0
    report = (out / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert run(["strategies", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["score_parts"]
    for part in SHELVED[name]:
        assert f"{part} " in explained.split("score ")[1]
        assert f"{part} " in report.split("(", 1)[1]
        assert told[part]
