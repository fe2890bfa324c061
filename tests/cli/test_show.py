"""`scenthound show` and `explain` for one page of a crawl; choices of `export`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.root_command import run
from support.small_crawl import small_crawl


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small_crawl(tmp_path_factory.mktemp("show") / "crawl"))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["show", *words]) == 0
    return capsys.readouterr().out


def test_a_page_is_shown_with_its_text(crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, crawled, "http://b.test/one.html")
    assert "One" in told
    assert "hot air balloons fly" in told
    assert "pages-00001.warc.gz at " in told


def test_links_headers_and_source(crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        shown(capsys, crawled, "http://b.test/one.html", "--links") == "http://a.test/\tOne\nhttp://d.test/gone\tOne\n"
    )
    assert "Content-Type: text/html; charset=utf-8" in shown(capsys, crawled, "http://a.test/", "--headers")
    assert shown(capsys, crawled, "http://a.test/", "--html").startswith("<title>Balloons</title>")


def test_json_has_everything(crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = json.loads(shown(capsys, crawled, "http://b.test/one.html", "--json"))
    assert page["title"] == "One"
    assert [link["url"] for link in page["links"]] == ["http://a.test/", "http://d.test/gone"]
    assert page["warc"]["file"] == "pages-00001.warc.gz"
    assert ["Content-Type", "text/html; charset=utf-8"] in page["headers"]


@pytest.mark.parametrize("command", ["show", "explain"])
def test_an_unknown_url_fails_with_a_hint(command: str, crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, crawled, "http://b.test/two.html"]) == 2
    told = capsys.readouterr().err
    assert "http://b.test/two.html" in told
    assert "hint: did you mean" in told
    assert "http://b.test/one.html" in told


def test_show_refuses_what_is_not_a_url(crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", crawled, "bees"]) == 2
    assert "write the full URL" in capsys.readouterr().err


def test_export_takes_a_choice(crawled: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", crawled, "--to", "csv", "--output", "-", "--relevant", "--fields", "url,relevant"]
    assert run(words) == 0
    lines = capsys.readouterr().out.split()
    assert lines[0] == "url,relevant"
    assert lines[1:]
    assert all(line.endswith(",True") for line in lines[1:])
    assert run(["export", crawled, "--to", "csv", "--output", "-", "--fields", ","]) == 2
