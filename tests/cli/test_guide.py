"""The commands of the first guide run as they are printed; the demo and the served web say what is true."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.beds.bed import Bed

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "first-crawl.md"
COMMAND = [sys.executable, "-m", "scenthound"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(words: list[str], folder: Path) -> Iterator[str]:
    """A command that serves, while it does: the first line that it prints."""
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)


def test_the_guide_s_own_web_can_be_crawled_as_printed(tmp_path: Path) -> None:
    port = free_port()
    blocks = re.findall(r"^```\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line.replace("8080", str(port)) for block in blocks[1:3] for line in block.splitlines()]
    generate, serve, crawl = (shlex.split(line, comments=True)[1:] for line in lines)
    assert [words[0] for words in (generate, serve, crawl)] == ["lab", "lab", "crawl"]
    subprocess.run([*COMMAND, *generate], cwd=tmp_path, check=True, capture_output=True)
    with running(serve, tmp_path) as printed:
        offered = shlex.split(printed)[1:]
        assert offered[:2] == crawl[:2], "the topic that `lab serve` names"
        assert f"http://127.0.0.1:{port}" in offered
        assert set(crawl) <= {*offered, "--pages", "500", "--out", "balloons"}
        subprocess.run([*COMMAND, *crawl], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*COMMAND, "status", "balloons", "--json"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    assert told["pages"] == 500
    assert told["relevant"] > 0


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "generate", str(tmp_path / "bed"), "--pages", "30"]) == 0
    capsys.readouterr()
    assert run(["lab", "serve", str(tmp_path / "bed"), "--log", "/nonexist/x"]) == 4
    told = capsys.readouterr().err
    assert "the log file /nonexist/x can't be written: No such file or directory" in told
    assert "hint: " in told
    assert "port" not in told


def test_a_bed_says_what_it_is_made_of(tmp_path: Path) -> None:
    assert run(["lab", "generate", str(tmp_path / "bed"), "--pages", "300", "--topics", "5000", "--json"]) == 0
    about = Bed.open(tmp_path / "bed").about
    assert about["html_pages"] == 300
    assert about["pages"] == 300 + about["redirects"] + about["other_records"]
    assert about["redirects"] > 0
    assert about["other_records"] > 0
    assert about["topics"] < about["topics_asked"] == 5000


def test_a_bed_in_an_impossible_place_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(["lab", "generate", str(tmp_path / "file" / "bed"), "--pages", "30"]) == 4
    told = capsys.readouterr().err
    assert f"{tmp_path / 'file' / 'bed'} can't be written to" in told
    assert "hint: name another folder" in told


def test_a_demo_that_was_interrupted_promises_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "demo", "--pages", "3000", "--out", str(tmp_path / "demo")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    warc = tmp_path / "demo" / "hound" / "pages" / "pages-00001.warc.gz"
    for _ in range(2400):
        if warc.exists() and warc.stat().st_size > 20_000:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    told, talk = process.communicate(timeout=120)
    assert process.returncode == 1, talk
    report = (tmp_path / "demo" / "hound" / "report.html").read_text()
    for text in (told, talk, report):
        assert "resume" not in text.replace("scenthound resume` reads it", "")
    assert "Press Ctrl-C again to stop now." in talk
    assert "stopped; run the demo again" in talk
    assert "It was stopped." in report
