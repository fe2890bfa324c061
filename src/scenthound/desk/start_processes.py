"""Start crawls and indexers as separate processes. Crawls outlive the desk; indexers and jobs end with it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
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

PATIENCE = 60.0  # seconds to wait until a new crawl has created its folder; a busy machine needs tens of them
STOP_PATIENCE = 10.0  # seconds to wait for a crawl that is told to end before it has started
COMMAND_TIMEOUT = 120.0  # seconds; seed sources may be slow
LOG = ".desk.log"


@dataclass(frozen=True, slots=True)
class NewCrawl:
    """The settings of a new crawl, as entered on the start page."""

    topic: str
    seeds: str
    """One URL per line, or a bookmarks file."""
    source: str = ""
    """Seed source to use if there are no seeds."""
    pages: int = 500
    delay: float | None = None
    strategy: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the strategy."""
    looking_for: str = ""
    """`pages` or `sites`; empty: as the topic file says, or else pages."""
    scope: str = "any"
    described_topic: Topic | None = None
    """The topic from a topic file; `topic` has its keywords, possibly edited."""
    options: tuple[str, ...] = ()
    """Extra arguments set when the desk was started; never from the browser."""

    def arguments(self, path: Path) -> list[str]:
        """The arguments of `scenthound crawl`."""
        arguments = [
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
            arguments += ["--seeds", "-"]
        if self.source:
            arguments += ["--source", self.source]
        if self.delay is not None:
            arguments += ["--delay", str(self.delay)]
        if self.strategy:
            arguments += ["--strategy", self.strategy]
        for key, value in self.parameters.items():
            arguments += ["--set", f"{key}={value}"]
        if self.looking_for:
            arguments += ["--looking-for", self.looking_for]
        # the space keeps the topic from being taken for a file name
        topic = str(topic_file(path)) if self.described_topic else self.topic + " "
        return [*arguments, *self.options, "--", topic]


def topic_file(path: Path) -> Path:
    """Path of the topic file of a new crawl, next to its folder."""
    return path.with_name(path.name + ".topic.toml")


class Processes:
    """The processes started by this desk."""

    def __init__(self) -> None:
        self._crawls: dict[Path, subprocess.Popen[bytes]] = {}
        self._indexers: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = Lock()
        self.jobs = Jobs()

    def start_crawl(self, path: Path, new: NewCrawl, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Start a crawl in a new folder. Returns once it is running, or has ended.

        Raises the command's error if it fails, and `OurFault` if it takes too long or is cancelled. After an error, no
        process is left.
        """
        check_topic(Topic(new.topic))
        if not new.seeds.strip() and not new.source:
            raise BadUsage("no starting pages", "enter at least one address, such as https://example.org/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if new.described_topic is not None:
            write_topic_file(topic_file(path), TopicFile(replace(new.described_topic, keywords=new.topic)))
        patience = COMMAND_TIMEOUT if new.source else PATIENCE
        self._start(path, new.arguments(path), new.seeds, patience, is_cancelled)

    def is_alive(self, path: Path) -> bool:
        """Whether a process that was started here for this folder has not ended yet."""
        process = self._crawls.get(path)
        return process is not None and process.poll() is None

    def resume(self, path: Path) -> None:
        """Resume a crawl that has ended."""
        if (process := holder(path)) is not None:
            raise BadUsage(f"this crawl is already running (process {process})", "there is nothing to resume")
        self._start(path, ["resume", str(path), "--json"], "")

    def run_command(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Run a command with `--json` and return its result. Raises the command's error, or `OurFault` on a timeout."""
        try:
            done = subprocess.run(  # noqa: S603 - no shell; the arguments are a list
                [*COMMAND, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=COMMAND_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OurFault("the command timed out", "try again, or use another source") from None
        output = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            raise error_in(output or done.stderr.decode("utf-8", "replace"))
        document: dict[str, Any] = json.loads(output)
        return document

    def _start(
        self,
        path: Path,
        arguments: Sequence[str],
        stdin: str,
        patience: float = PATIENCE,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        log = path.with_name(path.name + LOG)
        with os.fdopen(open_in_place(log, os.O_WRONLY | os.O_CREAT), "wb") as file:
            file.truncate(0)
            process = subprocess.Popen(  # noqa: S603 - no shell; the arguments are a list
                [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=file, stderr=file, start_new_session=True
            )
        self._crawls[path] = process
        assert process.stdin is not None
        try:
            process.stdin.write(stdin.encode("utf-8", "replace"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # the process has ended; its error is raised below
        deadline = time.monotonic() + patience
        while not is_cancelled():
            if process.poll() is not None:
                _raise_error(log, process.returncode)
                return
            if holder(path) == process.pid and is_crawl(path):
                return
            if time.monotonic() > deadline:
                _end(process)
                raise OurFault(f"the crawl did not start within {patience:g} s", f"its messages are in {log}")
            time.sleep(0.05)
        _end(process)
        raise OurFault("the crawl was cancelled before it had started", "start it again if you still want it")

    def follow(self, path: Path) -> None:
        """Start an indexer for a crawl, unless one is running or the index is complete."""
        with self._lock:
            indexer = self._indexers.get(path)
            if (indexer is not None and indexer.poll() is None) or not _has_new_pages(path):
                return
            self._indexers[path] = subprocess.Popen(  # noqa: S603 - no shell; the arguments are a list
                [*COMMAND, "index", str(path), "--follow"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def unfollow(self, path: Path) -> None:
        """Stop the indexer of a crawl."""
        with self._lock:
            indexer = self._indexers.pop(path, None)
            if indexer is not None:
                indexer.terminate()
                indexer.wait()

    def close(self) -> None:
        """Stop indexers and jobs; crawls keep running."""
        self.jobs.close()
        with self._lock:
            for process in self._indexers.values():
                process.terminate()
            for process in self._indexers.values():
                process.wait()
        for crawl in self._crawls.values():
            crawl.poll()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started, by force if it does not end soon."""
    process.terminate()
    try:
        process.wait(STOP_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _has_new_pages(path: Path) -> bool:
    if holder(path) is not None:
        return True
    try:
        with CrawlFolder.look(path) as folder, TextIndex(path / INDEX) as index:
            return index.last_event < folder.history.last_event()
    except ScenthoundError:
        return True


def _raise_error(log: Path, code: int) -> None:
    """Raise the error printed by a command, if it failed."""
    if code in (0, 11):
        return
    raise error_in(log.read_text(encoding="utf-8", errors="replace").strip())
