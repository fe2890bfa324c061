"""Starts crawls and indexers as processes of their own. Crawls outlive the desk; indexers and jobs end with it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from scenthound.desk.command_errors import COMMAND, error_in
from scenthound.desk.crawl_folders import is_crawl
from scenthound.desk.jobs import Jobs
from scenthound.errors import BadUsage, OurFault, ScenthoundError
from scenthound.files import open_in_place
from scenthound.lab.topics.example_file import TopicFile, write_topic_file
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Topic
from scenthound.store.lock import holder
from scenthound.store.text_index import INDEX, TextIndex
from scenthound.wiring import check_topic

PATIENCE = 20.0  # seconds until a new crawl has its folder
ASKING = 120.0  # seconds for a seed source to answer
LOG = ".desk.log"


@dataclass(frozen=True, slots=True)
class NewCrawl:
    """What a person asked for on the first page."""

    topic: str
    seeds: str
    """One URL a line, or a bookmarks file."""
    source: str = ""
    """Asked for seeds if none are given."""
    pages: int = 500
    delay: float | None = None
    strategy: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the strategy."""
    looking_for: str = "auto"
    scope: str = "any"
    described: Topic | None = None
    """From a topic file; `topic` has its keywords, perhaps changed."""
    options: tuple[str, ...] = ()
    """Further words for the command, from whoever started the desk; never from the browser."""

    def words(self, path: Path) -> list[str]:
        """The words of the command `scenthound crawl`."""
        words = [
            "crawl",
            "--json",
            "--pages",
            str(self.pages),
            "--out",
            str(path),
            "--scope",
            self.scope,
        ]
        if self.seeds.strip():
            words += ["--seeds", "-"]
        if self.source:
            words += ["--source", self.source]
        if self.delay is not None:
            words += ["--delay", str(self.delay)]
        if self.strategy:
            words += ["--strategy", self.strategy]
        for key, value in self.parameters.items():
            words += ["--set", f"{key}={value}"]
        if self.looking_for != "auto":
            words += ["--looking-for", self.looking_for]
        topic = str(topic_file(path)) if self.described else self.topic + " "  # the blank: never the name of a file
        return [*words, *self.options, "--", topic]


def topic_file(path: Path) -> Path:
    """Where the topic file of a new crawl is, beside its folder."""
    return path.with_name(path.name + ".topic.toml")


class Processes:
    """The processes that this desk has started."""

    def __init__(self) -> None:
        self._crawls: list[subprocess.Popen[bytes]] = []
        self._indexers: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = Lock()
        self.jobs = Jobs()

    def start_crawl(self, path: Path, new: NewCrawl) -> None:
        """Start a crawl in a new folder. Returns once it has begun; raises with the command's own error if not."""
        check_topic(Topic(new.topic))
        if not new.seeds.strip() and not new.source:
            raise BadUsage("no pages to start from", "give one address or more, as https://example.org/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if new.described is not None:
            write_topic_file(topic_file(path), TopicFile(replace(new.described, keywords=new.topic)))
        self._begin(path, new.words(path), new.seeds, ASKING if new.source else PATIENCE)

    def resume(self, path: Path) -> None:
        """Continue a crawl that has ended."""
        if (process := holder(path)) is not None:
            raise BadUsage(f"this crawl is running already (process {process})", "there is nothing to resume")
        self._begin(path, ["resume", str(path), "--json"], "")

    def answer(self, words: Sequence[str]) -> dict[str, Any]:
        """Run a command with `--json` and return what it prints. Raises its error, or if it takes too long."""
        try:
            done = subprocess.run(  # noqa: S603 - no shell; the words are a list
                [*COMMAND, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=ASKING, check=False
            )
        except subprocess.TimeoutExpired:
            raise OurFault("no answer came in time", "try again, or another source") from None
        said = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            raise error_in(said or done.stderr.decode("utf-8", "replace"))
        document: dict[str, Any] = json.loads(said)
        return document

    def _begin(self, path: Path, words: Sequence[str], given: str, patience: float = PATIENCE) -> None:
        log = path.with_name(path.name + LOG)
        with os.fdopen(open_in_place(log, os.O_WRONLY | os.O_CREAT), "wb") as file:
            file.truncate(0)
            process = subprocess.Popen(  # noqa: S603 - no shell; the words are a list
                [*COMMAND, *words], stdin=subprocess.PIPE, stdout=file, stderr=file, start_new_session=True
            )
        self._crawls.append(process)
        assert process.stdin is not None
        try:
            process.stdin.write(given.encode("utf-8", "replace"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and says why below
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if process.poll() is not None:
                _raise_error(log, process.returncode)
                return
            if holder(path) == process.pid and is_crawl(path):
                return
            time.sleep(0.05)

    def follow(self, path: Path) -> None:
        """Keep the index of a crawl up to date, unless that is done or nothing is left to do."""
        with self._lock:
            running = self._indexers.get(path)
            if (running is not None and running.poll() is None) or not _has_new_pages(path):
                return
            self._indexers[path] = subprocess.Popen(  # noqa: S603 - no shell; the words are a list
                [*COMMAND, "index", str(path), "--follow"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def unfollow(self, path: Path) -> None:
        """End the indexer of a crawl."""
        with self._lock:
            running = self._indexers.pop(path, None)
            if running is not None:
                running.terminate()
                running.wait()

    def close(self) -> None:
        """End the indexers and jobs; crawls go on."""
        self.jobs.close()
        with self._lock:
            for process in self._indexers.values():
                process.terminate()
            for process in self._indexers.values():
                process.wait()
        for crawl in self._crawls:
            crawl.poll()


def _has_new_pages(path: Path) -> bool:
    if holder(path) is not None:
        return True
    try:
        with CrawlFolder.look(path) as folder, TextIndex(path / INDEX) as index:
            return index.position < folder.history.last_event()
    except ScenthoundError:
        return True


def _raise_error(log: Path, code: int) -> None:
    """Raise the error that a command printed, if it failed."""
    if code in (0, 11):
        return
    raise error_in(log.read_text(encoding="utf-8", errors="replace").strip())
