"""A process that is killed while it writes: what was committed is there, what was in flight waits again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound.store.sqlite import CrawlDatabase, SqliteFrontier, SqliteHistory
from scenthound.store.warc import WarcRepository, check

WRITER = """
import os, sys
from pathlib import Path
from scenthound.model import Candidate, Response, Step, Url
from scenthound.store.sqlite import CrawlDatabase, SqliteFrontier, SqliteHistory
from scenthound.store.warc import WarcRepository

folder = Path(sys.argv[1])
database = CrawlDatabase(folder / "crawl.db", check=True)
frontier, history = SqliteFrontier(database), SqliteHistory(database)
pages = WarcRepository(folder / "pages", roll=60_000)
pages.truncate_to(*(history.end() or ("", 0)))
if not len(history) and not len(frontier):
    frontier.push(Candidate(Url("http://h0.test/0"), 1.0))
while True:
    batch = [candidate for _ in range(3) if (candidate := frontier.pop(0.0))]
    database.commit()
    for candidate in batch:
        number = int(candidate.url.rpartition("/")[2])
        response = Response(candidate.url, 200, "OK", (("Content-Type", "text/html"),), os.urandom(2000))
        where = pages.put(response, 1.0)
        history.record(Step(len(history) + 1, candidate.url, None, "", 1.0, {}, 0.5, 0, 200, 2000, 1.0), where)
        for child in (2 * number + 1, 2 * number + 2):
            link = Url(f"http://h{child % 7}.test/{child}")
            if not history.seen(link):
                frontier.push(Candidate(link, 1.0 / child))
        frontier.settle(candidate.url)
        if len(history) % 4 == 0:
            database.commit()
            print(len(history), flush=True)
"""


def run_and_kill(folder: Path, after: int) -> int:
    """Let a writer run until it has said `after` lines, kill it, and give back what it last claimed as committed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with writer:
        assert writer.stdout is not None
        claimed = 0
        for _ in range(after):
            claimed = int(writer.stdout.readline())
        writer.kill()
        return max([claimed, *(int(line) for line in writer.stdout.read().splitlines() if line.strip())])


@pytest.mark.slow
def test_killed_again_and_again_nothing_recorded_is_lost_and_every_file_is_valid(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in range(6):
        claimed = run_and_kill(tmp_path, rng.randint(1, 25))
        database = CrawlDatabase(tmp_path / "crawl.db", check=True)
        history, frontier = SqliteHistory(database), SqliteFrontier(database)
        steps = list(history.trail())
        assert len(steps) >= claimed
        assert [step.n for step in steps] == list(range(1, len(steps) + 1))
        assert len({step.url for step in steps}) == len(steps), "no page was recorded twice"
        waiting = {candidate.url for _, candidate in frontier.entries()}
        assert not waiting & {step.url for step in steps}
        numbers = {int(url.rpartition("/")[2]) for url in waiting | {step.url for step in steps}}
        assert all((number - 1) // 2 in numbers for number in numbers if number), "nobody in flight was forgotten"
        children = {2 * int(step.url.rpartition("/")[2]) + side for step in steps for side in (1, 2)}
        assert children <= numbers, "a page and its candidates are one transaction"
        with WarcRepository(tmp_path / "pages", roll=60_000) as pages:
            end = history.end()
            assert pages.truncate_to(*(end or ("", 0))).missing == 0
            for url, where in history.places():
                assert pages.get(where).url == url
        assert not [problem for report in check(tmp_path / "pages") for problem in report.problems]
        database.close()
