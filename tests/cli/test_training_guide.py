"""The commands of the guide to topics and training run as they are printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from scenthound.cli.app import run
from scenthound.loop.folder import CrawlFolder

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "topics-and-training.md"


def test_the_guide_s_commands_lead_from_examples_to_a_labelled_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = GUIDE.read_text(encoding="utf-8").splitlines()
    lines = [shlex.split(line)[1:] for line in printed if line.startswith("scenthound ")]
    generate, new, show, train, crawl, on, off, listed = lines
    assert run(generate) == 0
    topic = json.loads((tmp_path / "beds" / "demo" / "topics.jsonl").read_text().splitlines()[0])
    (tmp_path / "urls.txt").write_text("\n".join(topic["examples"]))
    for words in (new, show, train):
        assert run(words) == 0, words
    seed = topic["seeds"][0]
    words = [seed if word.startswith("http://") else word for word in crawl]
    from support.small_crawl import Pages

    monkeypatch.setattr("scenthound.web.fetch.HttpFetcher.fetch", lambda self, url, most=None: Pages(WEB).fetch(url))
    assert run([*words, "--delay", "0", "--set", "robots=false", "--set", "retries=0"]) in (0, 1)
    with CrawlFolder.look(tmp_path / "balloons") as folder:
        assert folder.request.strategy == "focused-soft"
        assert folder.model() is not None
        page = next(iter(folder.history.trail())).url
    for words in (on, off):
        assert run([page if word.startswith("http://") else word for word in words]) == 0
    capsys.readouterr()
    assert run([*listed, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["url"], row["on_topic"]) == (page, False)


class _Any(dict[str, tuple[str, str, list[str]]]):
    """A web in which every address is the same small page."""

    def __contains__(self, url: object) -> bool:
        return True

    def __getitem__(self, url: str) -> tuple[str, str, list[str]]:
        return ("Balloons", "hot air balloon envelope", [])


WEB = _Any()
