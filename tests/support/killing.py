"""Kills a crawl at random moments and judges by the web server's own log what it cost.

Used by tests/loop/test_kill.py (8 kills) and benchmarks/kill.py (200).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder

CONCURRENCY = 16
DELAY = 0.05
TOLERANCE = 0.005  # between two clocks, and for a request that waits to be read


@dataclass
class Verdict:
    """What a number of kills did to a crawl."""

    kills: int = 0
    pages: int = 0
    lost: list[str] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)
    """URLs asked for again, per kill."""
    hasty: list[tuple[str, float]] = field(default_factory=list)
    """Requests that came before their host had rested: host and gap."""
    invalid: list[str] = field(default_factory=list)
    """What `warcio check` and `fastwarc check` complained about."""
    end: str = ""


def kill_often(folder: Path, kills: int, seed: int, pages: int = 3000, longest: float = 0.8) -> Verdict:
    """Crawl a generated web of `pages` pages, kill -9 and resume it `kills` times, then let it finish.

    A fifth of the kills falls at any moment of the first `longest` seconds, the start included; the others fall after
    a random number of requests, drawn from this life's share of what is left. No life may use up more than its share:
    however fast the crawl, it can't end before the last kill.
    """
    luck = random.Random(seed)
    verdict = Verdict()
    log = folder / "access.jsonl"
    out = folder / "crawl"
    web = GeneratedWeb(pages=pages, seed=seed)
    with serving(BedServer(web, ServerOptions(log_file=log))) as address:
        starts: list[float] = []
        recorded: set[str] = set()
        while True:
            starts.append(time.time())
            begin = _size(log)
            process = _start(out, web.topics[0], address, pages)
            if verdict.kills < kills:
                share = (pages - len(recorded)) // (kills - verdict.kills + 1)
                if luck.random() < 0.2:
                    _wait_for_requests(log, begin, share, process, luck.uniform(0.0, longest))
                else:
                    _wait_for_requests(log, begin, luck.randint(1, max(share, 1)), process)
                    time.sleep(luck.uniform(0.0, 0.01))  # anywhere between two requests
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
            code = process.wait(timeout=600)
            _wait_for_quiet(log)
            assert code in (0, -signal.SIGKILL), (folder / "stderr.txt").read_text()
            verdict.kills += code == -signal.SIGKILL
            if not (out / "crawl.toml").exists():
                continue
            found = _recorded(out)
            verdict.lost += sorted(recorded - found)
            recorded = found
            if code == 0:
                break
    verdict.pages = len(recorded)
    _judge_log(log, starts, verdict)
    for file in sorted((out / "pages").glob("*.warc.gz")):
        for tool in ("warcio", "fastwarc"):
            verdict.invalid += _check(tool, file)
    with CrawlFolder.look(out) as crawl:
        verdict.end = crawl.database.meta("ended")
    return verdict


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _wait_for_requests(
    log: Path, begin: int, wanted: int, process: subprocess.Popen[bytes], seconds: float = 60.0
) -> None:
    """Until the server's log has that many lines behind `begin`, the time is over or the process has ended."""
    end = time.monotonic() + seconds
    lines = 0
    while lines < wanted and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
        if _size(log) > begin:
            with log.open("rb") as file:
                file.seek(begin)
                new = file.read()
            lines += new.count(b"\n")
            begin += len(new)


def _wait_for_quiet(log: Path) -> None:
    """Until the server has seen all that the dead had asked for: on a busy machine that would be taken for the next
    process's requests otherwise."""
    before = -1
    for _ in range(100):
        now = _size(log)
        if now == before:
            return
        before = now
        time.sleep(0.15)


def _start(out: Path, topic: object, address: str, pages: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "scenthound"]
    if (out / "crawl.toml").exists():
        command += ["resume", str(out)]
    else:
        seeds = [part for seed in topic.seeds for part in ("--seed", seed)]  # type: ignore[attr-defined]
        command += ["crawl", topic.keywords, *seeds, "--out", str(out), "--proxy", address, "--pages", str(pages)]  # type: ignore[attr-defined]
        command += [
            "--delay",
            str(DELAY),
            "--concurrency",
            str(CONCURRENCY),
            "--set",
            "backoff=0.2",
            "--set",
            "host_patience=0",
        ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with (out.parent / "stderr.txt").open("wb") as talk:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=talk, env=environment)


def _recorded(out: Path) -> set[str]:
    with CrawlFolder.look(out) as crawl:
        urls = [step.url for step in crawl.history.trail()]
    assert len(urls) == len(set(urls)), "a page is recorded once"
    return set(urls)


def _judge_log(log: Path, starts: list[float], verdict: Verdict) -> None:
    """Duplicates and hasty requests, from what the server saw."""
    requests = sorted((json.loads(line) for line in log.read_text().splitlines()), key=lambda r: r["start"])
    session_of = _sessions(starts)
    asked: dict[tuple[str, str], list[int]] = defaultdict(list)
    ended: dict[str, float] = {}
    for request in requests:
        host = request["host"]
        if host in ended and request["start"] - ended[host] < DELAY - TOLERANCE:
            verdict.hasty.append((host, request["start"] - ended[host]))
        ended[host] = max(ended.get(host, 0.0), request["end"])
        if request["path"] != "/robots.txt" and request["status"] == 200:
            asked[host, request["path"]].append(session_of(request["start"]))
    again: Counter[int] = Counter()
    for sessions in asked.values():
        again.update(sessions[:-1])
    verdict.duplicates = [again[number] for number in range(len(starts))]


def _sessions(starts: list[float]):  # type: ignore[no-untyped-def]
    from bisect import bisect_right

    return lambda moment: bisect_right(starts, moment) - 1


def _check(tool: str, file: Path) -> list[str]:
    """What a checker says against a WARC, if anything."""
    command = [str(Path(sys.executable).with_name(tool)), "check", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return [] if done.returncode == 0 else [f"{tool}: {file.name}: {(done.stdout + done.stderr).strip()[-300:]}"]
