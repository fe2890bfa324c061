"""Every command of the README and the guides runs as it is printed, in order, in an empty folder, on a served web.

Only this is changed: the port of `lab serve`, of the desk and of the companion, which open no browser; addresses of the
real web, which become those of a small generated one; large numbers of pages, in documents whose output does not depend
on them; and the placeholders listed in `Place`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb, generate
from scenthound.loop.folder import CrawlFolder

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
WEB = GeneratedWeb(300, seed=3)
TOPIC = WEB.topics[0]
NOT_OURS = ("make", "pip", "open", "git", "npm", "python", "curl")
"""Commands of the operating system, which are not run."""
ELSEWHERE = {"add-a-driver.md", "add-a-frontier-store.md", "add-a-metric.md", "add-a-strategy.md", "add-an-exporter.md"}
ELSEWHERE |= {"seed-sources.md"}
"""Guides about plug-ins: `test_examples.py` runs their package. Seed sources, whose commands need a search engine, have
`tests/cli/test_sources.py` and `tests/desk/test_searx.py`."""
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "applications.md", ROOT / "docs" / "concepts" / "generated-web.md"]
DOCUMENTS += sorted(path for path in GUIDES.glob("*.md") if path.name not in ELSEWHERE)
SMALLER = {
    "README.md",
    "compare-crawlers.md",
    "polite-replay.md",
    "bring-a-bed.md",
    "generated-web.md",
    "applications.md",
}
"""Documents in which numbers of pages are divided by ten."""


def commands(document: Path) -> Iterator[str]:
    """The shell commands of a document: plain fenced blocks, and indented lines; continued lines are joined."""
    text = document.read_text(encoding="utf-8")
    fenced = re.compile(r"^```(?:sh)?\n(.*?)^```$|^```.*?^```$", re.DOTALL | re.MULTILINE)
    indented = re.compile(r"^ {4}(?:\$ )?(scenthound (?:.*\\\n)*.*)$", re.MULTILINE)
    found = [(match.start(), match[1] or "") for match in fenced.finditer(text)]
    found += [(match.start(), match[1]) for match in indented.finditer(fenced.sub(lambda m: " " * len(m[0]), text))]
    for _, block in sorted(found):
        lines = block.replace("\\\n", " ").splitlines()
        while lines:
            line = lines.pop(0).strip()
            if here := re.search(r"<<(\w+)$", line):
                end = lines.index(here[1])
                yield "\n".join([line, *lines[: end + 1]])
                del lines[: end + 1]
            elif line and not line.startswith("#"):
                yield line


@dataclass
class Place:
    """The empty folder, the served web, and the values of placeholders."""

    folder: Path
    proxy: str
    small: bool
    port: int = 0
    desks: dict[str, str] = field(default_factory=dict)
    """The printed address of each running desk, by folder."""
    servers: ExitStack = field(default_factory=ExitStack)

    def prepare(self) -> None:
        """What a reader has before he begins: a file of URLs, a bed."""
        (self.folder / "urls.txt").write_text("\n".join(TOPIC.examples or TOPIC.targets[:5]))
        for name in ("mybed", "beds/demo", "OLD_CRAWL_OR_BED"):
            generate(self.folder / name, 300, 3)
        lines = [json.dumps({"url": url}) for url in TOPIC.seeds]
        (self.folder / "mine.jsonl").write_text("\n".join(lines))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])

    def arguments(self, command: str) -> list[str]:
        arguments = shlex.split(command.replace("8080", str(self.port)), comments=True)[1:]
        seeds = iter([*TOPIC.seeds, *TOPIC.targets])
        arguments = [str(next(seeds)) if word.startswith("https://") else word for word in arguments]
        arguments = [self.page_of(arguments) if word == "URL" else word for word in arguments]
        arguments = [TOPIC.id if word == "TOPIC-ID" else word for word in arguments]
        is_new = arguments[0] in ("map", "related") and not (self.folder / arguments[1] / "crawl.toml").exists()
        if (is_new or arguments[0] in ("ask", "crawl")) and "--proxy" not in arguments:
            arguments += ["--proxy", self.proxy, "--delay", "0"]
        if arguments[:2] == ["topic", "new"] and "--from" not in arguments:
            arguments += ["--from", "mybed", "--background", "mybed"]
        return [self._smaller(before, word) for before, word in zip(["", *arguments], arguments, strict=False)]

    def _smaller(self, before: str, word: str) -> str:
        if not self.small or before not in ("--pages", "--at"):
            return word
        return ",".join(str(max(10, int(number) // 10)) for number in word.split(","))

    def page_of(self, arguments: list[str]) -> str:
        with CrawlFolder.look(self.folder / arguments[1]) as folder:
            return str(next(iter(folder.history.trail())).url)

    def run(self, arguments: list[str]) -> None:
        variables = {"SCENTHOUND_CACHE": str(self.folder / ".cache")}
        if arguments[:2] == ["lab", "serve"]:
            self.servers.enter_context(_serving(arguments, self.folder))
            return
        if arguments[0] == "desk":
            shown = next((word for word in arguments[1:] if not word.startswith("-")), "")
            more = [] if "--no-browser" in arguments else ["--no-browser"]
            arguments = [*arguments, *more, "--port", "0", "--home", str(self.folder / "home")]
            self.desks[shown] = self.servers.enter_context(_serving(arguments, self.folder))
            return
        if arguments[0] == "companion":
            profile = [] if len(arguments) > 1 and not arguments[1].startswith("-") else ["profile"]
            here = ["--no-browser", "--port", "0", "--home", str(self.folder / "home")]
            self.servers.enter_context(_serving([*arguments, *profile, *here], self.folder))
            return
        with chdir(self.folder), patch.dict(os.environ, variables):  # in this process: starting one costs a second
            assert run(arguments) == 0, f"scenthound {shlex.join(arguments)}"

    def ask(self, command: str) -> None:
        """Run a `curl` of the reader's system against the desk that shows the folder it names."""
        folder = re.search(r"/collections/([\w-]+)", command)
        base, _, token = self.desks[folder[1] if folder else ""].partition("/#token=")
        asked = command.replace("http://127.0.0.1:8770", base).replace("$TOKEN", token)
        done = subprocess.run(["curl", "-sS", "--fail", *shlex.split(asked)[1:]], capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@contextmanager
def _serving(arguments: list[str], folder: Path) -> Iterator[str]:
    """Start a command that serves until it is interrupted. Returns the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scenthound", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()  # it prints a line once it serves
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_of_a_document_runs(document: Path, tmp_path: Path) -> None:
    for package in ("pyarrow", "scipy"):
        pytest.importorskip(package)
    with serving(WEB) as address:
        place = Place(tmp_path, f"http://{address}", document.name in SMALLER)
        place.prepare()
        with place.servers:
            for command in commands(document):
                if command.startswith("cat > "):
                    name, _, text = command.partition("\n")
                    (tmp_path / name.split()[2]).write_text(text.rpartition("\n")[0] + "\n")
                elif command.startswith("scenthound "):
                    arguments = place.arguments(command)
                    if arguments[:2] == ["lab", "generate"]:
                        _remove(tmp_path / arguments[2])  # the reader's folder is empty
                    place.run(arguments)
                elif command.startswith("curl ") and shutil.which("curl"):
                    place.ask(command)
                else:
                    assert command.split()[0] in NOT_OURS, f"neither ours nor the system's: {command}"


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def test_no_two_guides_write_to_one_folder() -> None:
    """A reader who follows all guides in order is not stopped by an existing crawl."""
    written: dict[str, list[str]] = {}
    for document in sorted(GUIDES.glob("*.md")):
        for command in commands(document):
            arguments = shlex.split(command.partition("\n")[0], comments=True)
            if arguments[:2] == ["scenthound", "crawl"] and "--out" in arguments:
                written.setdefault(arguments[arguments.index("--out") + 1], []).append(document.name)
    assert {"balloons", "balloons-live", "balloons-trained"} <= set(written)
    assert not {folder: names for folder, names in written.items() if len(names) > 1}


def test_the_commands_of_a_document_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "text\n\n```\nscenthound crawl a \\\n    --seed URL   # why\ncat > f <<END\nx\nEND\n```\n\n"
        "    $ scenthound lab info b\n\n```python\nscenthound.crawl()\n```\n"
    )
    assert list(commands(page)) == [
        "scenthound crawl a      --seed URL   # why",
        "cat > f <<END\nx\nEND",
        "scenthound lab info b",
    ]
