"""An error of a plug-in ends a crawl with a message that names it, and the crawl can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.errors import PluginFailed
from scenthound.exports import exporter
from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import balance_of
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.report.crawl_facts import gather
from scenthound.report.crawl_report import write_report
from scenthound.strategies import strategy
from scenthound.wiring import resume
from support.desk import client
from support.small_crawl import SEED, WEB, Pages, small_crawl

FAILS_ON: set[str] = set()  # where the plug-ins below raise an error
QUOTA = "HTTP 429: quota exceeded"


@pytest.fixture(autouse=True)
def nothing_fails() -> Iterator[None]:
    FAILS_ON.clear()
    yield
    FAILS_ON.clear()


def _try(name: str) -> None:
    if name in FAILS_ON:
        raise RuntimeError(QUOTA)


@judge("test-remote")
@dataclass
class Remote:
    """A judge that asks a server."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        _try("start of the judge")

    def judge(self, page: Page) -> Verdict:
        _try(page.url)
        return Verdict(0.5, True)

    def doubts(self) -> list[str]:
        _try("doubts")
        return []


@strategy("test-fragile")
@dataclass
class Fragile:
    """A strategy that may raise an error."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        _try("start of the strategy")
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        _try(page.url)
        return page.offer_all(1.0)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        _try(miss.candidate.url)
        return ()


@exporter("test-broken")
def broken(folder: CrawlFolder, out: object, selection: object = None) -> int:
    """An exporter that raises an error."""
    raise KeyError("column")


@pytest.mark.parametrize(
    ("where", "plugin", "message"),
    [
        ("http://c.test/two", "judge", "the judge test-remote (Remote) failed on http://c.test/two: RuntimeError"),
        ("doubts", "judge", "the judge test-remote (Remote) failed to state its doubts: RuntimeError"),
        ("http://c.test/two", "strategy", "the strategy test-fragile (Fragile) failed on http://c.test/two: Runtime"),
        ("http://d.test/gone", "strategy", "the strategy test-fragile (Fragile) failed on the miss of http://d.test/g"),
    ],
)
def test_the_error_of_a_plugin_is_named_everywhere_and_the_crawl_resumes_without_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    plugin: str,
    message: str,
) -> None:
    monkeypatch.setattr("scenthound.wiring.session.make_fetcher", lambda settings: _Opened())
    out = tmp_path / "crawl"
    chosen = {"judge": "test-remote"} if plugin == "judge" else {}
    FAILS_ON.add(where)
    with pytest.raises(PluginFailed, match=QUOTA) as raised:
        small_crawl(out, strategy="test-fragile", **chosen)
    assert f"scenthound resume {out}" in str(raised.value)

    assert run(["status", str(out), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["ended"] == "plugin failed"
    assert status["plugin_failure"]["kind"] == plugin
    assert status["plugin_failure"]["error"] == f"RuntimeError: {QUOTA}"
    assert message in status["why"]
    assert QUOTA in status["why"]
    assert run(["status", str(out)]) == 0
    assert "killed" not in capsys.readouterr().out
    with CrawlFolder.look(out) as opened:
        facts = gather(opened)
        report = write_report(opened, facts).read_text(encoding="utf-8")
    assert QUOTA in report
    assert facts.links.unexplained == 0
    with client(tmp_path, out) as desk:
        assert QUOTA in desk.get("/api/collections/crawl").json()["why"]

    FAILS_ON.clear()
    session = resume(out, fetcher=Pages(WEB))
    assert balance_of(session.crawl).unexplained == 0
    session.close()
    assert run(["resume", str(out), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["ended"], status["plugin_failure"]) == ("frontier empty", None)


def test_the_command_line_says_which_plugin_failed_on_which_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenthound.wiring.session.make_fetcher", lambda settings: _Opened())
    FAILS_ON.add(SEED)
    out = tmp_path / "crawl"
    words = [
        "crawl",
        "balloons",
        "--seed",
        SEED,
        "--out",
        str(out),
        "--set",
        "judge=test-remote",
        "--set",
        "robots=false",
    ]
    assert run(words) == 1
    told = capsys.readouterr().err
    assert f"the judge Remote failed on {SEED}: RuntimeError: {QUOTA}" in told
    assert f"scenthound resume {out}" in told
    assert "bug" not in told
    assert (out / "report.html").exists()
    FAILS_ON.clear()
    assert run(["resume", str(out)]) == 0


@pytest.mark.parametrize("where", ["doubts", "start of the strategy"])
def test_a_plugin_that_fails_before_the_first_page_is_named_in_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr("scenthound.wiring.session.make_fetcher", lambda settings: _Opened())
    FAILS_ON.add(where)
    out = tmp_path / "crawl"
    fragile = ["--strategy", "test-fragile"] if where != "doubts" else []
    assert (
        run(
            [
                "crawl",
                "balloons",
                "--seed",
                SEED,
                "--out",
                str(out),
                "--set",
                "judge=test-remote",
                "--set",
                "robots=false",
                *fragile,
            ]
        )
        == 1
    )
    assert f"scenthound resume {out}" in capsys.readouterr().err
    assert run(["status", str(out)]) == 0
    told = capsys.readouterr().out
    assert QUOTA in told
    assert "killed" not in told
    FAILS_ON.clear()
    assert run(["resume", str(out)]) == 0


def test_a_judge_that_cannot_start_leaves_no_folder_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FAILS_ON.add("start of the judge")
    out = tmp_path / "crawl"
    assert run(["crawl", "balloons", "--seed", SEED, "--out", str(out), "--set", "judge=test-remote"]) == 1
    told = capsys.readouterr().err
    assert "run this again" in told
    assert "resume" not in told
    assert not out.exists()


@pytest.mark.parametrize("probability", [float("nan"), 7.5, -1.0])
def test_a_probability_that_is_none_is_an_error_of_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probability: float
) -> None:
    monkeypatch.setattr(Remote, "judge", lambda judge, page: Verdict(probability, True))
    with pytest.raises(PluginFailed, match="not a number from 0 to 1"):
        small_crawl(tmp_path / "crawl", judge="test-remote")


class _Opened(Pages):
    """The small web, as the fetcher of a session."""

    def __init__(self) -> None:
        super().__init__(WEB)

    async def __aenter__(self) -> _Opened:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None


def test_an_exporter_that_fails_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small_crawl(tmp_path / "crawl")
    assert run(["export", str(out), "--to", "test-broken"]) == 1
    told = capsys.readouterr().err
    assert "the exporter test-broken failed" in told
    assert "KeyError: 'column'" in told
    assert "bug" not in told
    assert not (out / "crawl.test-broken").exists()
