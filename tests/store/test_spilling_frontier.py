"""A frontier that is mostly on disk gives the same candidates in the same order as one in memory."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from scenthound.errors import DiskFull
from scenthound.lab.testing.frontier import FrontierContract, ModelFrontier, same
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Url
from scenthound.ports import Popped
from scenthound.store import cold_entries, cold_order, url_index
from scenthound.store.cold_order import ColdOrder
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.spilling_frontier import IN_MEMORY
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteFrontier
from scenthound.store.url_index import Pairs, UrlIndex
from scenthound.url import host
from support.long_form import long_form


def reopened(frontier: SqliteFrontier) -> SqliteFrontier:
    """The frontier as a new process opens it."""
    database = frontier._database
    database.commit()
    database._before_commit.clear()
    return SqliteFrontier(database, frontier.bound, frontier.eviction, frontier.spread, frontier._in_memory)


class Spilling(FrontierContract):
    """The contract, with room for two to nine entries in memory."""

    reopen = staticmethod(reopened)

    @initialize(
        bound=st.one_of(st.none(), st.integers(3, 16)),
        eviction=st.sampled_from(["scored", "literal", "refuse"]),
        spread=st.sampled_from([1, 1, 2, 3]),
        in_memory=st.integers(2, 9),
    )
    def open(self, bound: int | None, eviction: Any, spread: int, in_memory: int = 2) -> None:
        self.frontier = SqliteFrontier(CrawlDatabase(":memory:"), bound, eviction, spread, in_memory)
        self.clock = self.frontier.host_clock
        self.model = ModelFrontier(bound, eviction, spread)


TestSpilling = Spilling.TestCase
TestSpilling.settings = settings(max_examples=long_form(26, 80), stateful_step_count=50, deadline=None)


class Pair:
    """A frontier in memory and one on disk that receive the same calls and must return the same results."""

    def __init__(self, path: Path, bound: int | None, eviction: Any, spread: int, in_memory: int) -> None:
        self.plain = MemoryFrontier(bound, eviction, spread)
        self.path, self.in_memory = path, in_memory
        self.spilling = SqliteFrontier(CrawlDatabase(path), bound, eviction, spread, in_memory)
        self.rests: dict[str, float] = {}
        self.most_in_memory = 0

    def push(self, candidate: Candidate) -> None:
        assert same(self.spilling.push(candidate), self.plain.push(candidate))
        self.most_in_memory = max(self.most_in_memory, len(self.spilling._entries))

    def rescore(self, candidates: list[Candidate]) -> None:
        self.spilling.rescore(candidates)
        self.plain.rescore(candidates)

    def pop(self, now: float) -> Popped | None:
        ours, popped = self.spilling.pop(now), self.plain.pop(now)
        assert (ours is None) == (popped is None)
        if popped is None:
            assert self.spilling.host_clock.next_wake() == self.plain.host_clock.next_wake()
        if ours is not None and popped is not None:
            assert same(ours, popped.candidate)
            assert ours[1:] == popped[1:]
        return popped

    def rest(self, name: str, until: float) -> None:
        self.rests[name] = until
        for frontier in (self.spilling, self.plain):
            frontier.host_clock.rest(name, until)

    def entries(self) -> Iterator[tuple[Candidate, Candidate]]:
        both = (sorted(frontier.entries()) for frontier in (self.spilling, self.plain))
        for (number, one), (same_number, other) in zip(*both, strict=True):
            assert number == same_number
            yield one, other

    def settle(self, url: Url) -> None:
        self.spilling.settle(url)
        self.plain.settle(url)

    def kill(self, now: float) -> None:
        """Both lose changes after the last commit; URLs in flight wait again."""
        database = self.spilling._database
        database.close()
        self.spilling = SqliteFrontier(
            CrawlDatabase(self.path), self.plain.bound, self.plain.eviction, self.plain.spread, self.in_memory
        )
        ours = self.spilling
        self.plain = MemoryFrontier(self.plain.bound, self.plain.eviction, self.plain.spread)
        self.plain.restore(sorted(ours.entries()))
        self.plain._next_number = ours._next_number
        for name in ours._schedule.recent:
            self.plain._schedule.mark_used(name)
        for frontier in (self.plain, ours):
            frontier._schedule.advance(now)
            for name, until in self.rests.items():
                frontier.host_clock.rest(name, until)


@pytest.mark.parametrize(
    ("seed", "hosts", "bound", "eviction", "spread", "delay"),
    [
        (1, 40, None, "scored", 1, 5.0),
        (2, 40, 900, "scored", 1, 5.0),
        (3, 40, 900, "literal", 1, 60.0),
        (4, 3, 900, "refuse", 2, 1.0),
        (5, 400, 1200, "scored", 3, 90.0),
        (6, 1, 700, "scored", 1, 0.0),
        (7, 900, None, "scored", 1, 1000.0),
    ],
)
def test_the_order_is_that_of_a_frontier_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    hosts: int,
    bound: int | None,
    eviction: Any,
    spread: int,
    delay: float,
) -> None:
    monkeypatch.setattr(cold_order, "BLOCK", 64)
    monkeypatch.setattr(cold_entries, "ColdOrder", partial(ColdOrder, recent=200))
    rng, now = random.Random(seed), 0.0
    pair = Pair(tmp_path / "crawl.db", bound, eviction, spread, in_memory=60)
    popped: list[Popped] = []
    for turn in range(long_form(1500, 3000)):
        lot = rng.random()
        if lot < 0.6:
            number = rng.randrange(turn + 1) if lot < 0.15 else turn
            name = int(hosts * rng.random() ** 3) if lot < 0.5 else number % hosts
            url = Url(f"http://h{name}.test/{number}")
            due = now + rng.choice([3.0, 50.0]) if lot < 0.02 else 0.0
            score = rng.choice([rng.random(), rng.randrange(8) / 8, -1.0])
            offer = Candidate(url, score, {"n": turn} if lot > 0.55 else {}, {"all": score}, due=due)
            if pair.spilling.matters(offer) or url not in pair.plain:
                pair.push(offer._replace(rescored=lot < 0.1))
            else:
                before = pair.plain.entry(url)
                pair.push(offer)
                assert pair.plain.entry(url) == before
        elif lot < 0.9:
            now += rng.choice([0.0, 0.1, 1.0])
            if (one := pair.pop(now)) is not None:
                pair.rest(host(one.candidate.url), now + delay)
                popped.append(one)
        elif lot < 0.95 and popped:
            one = popped.pop(rng.randrange(len(popped)))
            if one.candidate.url in pair.plain.in_flight():
                if lot < 0.93:
                    pair.settle(one.candidate.url)
                else:
                    assert same(pair.spilling.give_back(one), pair.plain.give_back(one))
        elif lot < 0.97:
            known = rng.sample(sorted(pair.plain.urls()), min(20, len(pair.plain)))
            pair.rescore([Candidate(url, rng.random(), rescored=True) for url in known])
        elif lot < 0.98 and len(pair.plain):
            url = rng.choice(sorted(pair.plain.urls()))
            assert same(pair.spilling.take(url), pair.plain.take(url))
            pair.settle(url)
        elif lot < 0.985:
            pair.spilling._database.commit()
        elif lot < 0.987:
            pair.kill(now)
            popped.clear()
        elif lot < 0.99:
            assert all(same(one, other) for one, other in pair.entries())
            assert sorted(pair.spilling.urls()) == sorted(pair.plain.urls())
        assert len(pair.spilling) == len(pair.plain)
    left = len(pair.plain)
    assert left > 200
    for name in list(pair.rests):
        pair.rest(name, 0.0)
    for _ in range(left):
        assert pair.pop(now + 1000.0) is not None
    assert len(pair.spilling) == 0
    assert pair.most_in_memory < 120 + hosts
    pair.spilling._database.close()


def urls(count: int, hosts: int = 50) -> list[Url]:
    return [Url(f"http://h{number % hosts}.test/{number}") for number in range(count)]


def test_a_frontier_within_its_default_bound_is_all_in_memory() -> None:
    assert Settings().frontier <= IN_MEMORY
    frontier = SqliteFrontier(CrawlDatabase(":memory:"), 100, in_memory=100)
    for url in urls(300):
        frontier.push(Candidate(url, len(url) / 50))
    assert len(frontier) == len(frontier._entries) == 100


def test_entries_in_memory_stay_bounded_however_many_wait_on_however_many_hosts() -> None:
    for hosts in (1, 30, 5000):
        frontier = SqliteFrontier(CrawlDatabase(":memory:"), in_memory=200)
        for number, url in enumerate(urls(5000, hosts)):
            frontier.push(Candidate(url, number * 7919 % 1000 / 1000))
            assert len(frontier._entries) <= 201
            assert len(frontier._schedule._hosts) <= 201
        assert len(frontier) == 5000


def test_a_url_that_is_stored_twice_waits_once_in_a_large_frontier() -> None:
    database = CrawlDatabase(":memory:")
    frontier = SqliteFrontier(database)
    for url in urls(40):
        frontier.push(Candidate(url, 0.5))
    database.commit()
    for copy, number, due in ((100, 7, 0.0), (101, 7, 0.0), (102, 9, 5.0)):
        row = database.row("SELECT * FROM frontier WHERE number = ?", (number,))
        assert row is not None
        database.execute("INSERT INTO frontier VALUES (?,?,?,?,?,?,?,?,?,?)", (copy, *row[1:-1], due))
    database._before_commit.clear()
    frontier = SqliteFrontier(database, in_memory=10)
    assert len(frontier) == 40
    assert [number for number, _ in sorted(frontier.entries())] == list(range(40))
    database.commit()
    assert database.row("SELECT count(*), max(number) FROM frontier") == (40, 39)


def test_a_full_disk_under_the_order_of_a_large_frontier_is_reported_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(dir: Path | None) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(cold_entries, "ColdOrder", partial(ColdOrder, recent=5))
    monkeypatch.setattr(cold_order.tempfile, "TemporaryFile", full)
    database = CrawlDatabase(tmp_path / "crawl.db")
    frontier = SqliteFrontier(database)
    for url in urls(20):
        frontier.push(Candidate(url, 0.5))
    database.commit()
    with pytest.raises(DiskFull):
        SqliteFrontier(database, in_memory=10)
    database.close()


def test_the_order_of_a_large_frontier_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_entries, "ColdOrder", partial(ColdOrder, recent=5))
    database = CrawlDatabase(tmp_path / "crawl.db")
    frontier = SqliteFrontier(database, in_memory=10)
    for url in urls(100):
        frontier.push(Candidate(url, 0.5))
    assert frontier._cold._order._in_file > 0
    assert {file.name for file in tmp_path.iterdir()} == {"crawl.db", "crawl.db-wal", "crawl.db-shm"}
    database.commit()
    database.close()


@pytest.fixture
def one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """All URLs share a hash."""
    monkeypatch.setattr(url_index, "hash", lambda url: 7 << 8, raising=False)


@pytest.mark.usefixtures("one_hash")
def test_urls_that_share_a_hash_are_distinguished() -> None:
    index = UrlIndex()
    names = urls(5)
    index.change(Pairs.of(names, range(10, 15), 5), Pairs.of([], [], 0))
    assert index.find(names[0]) == [10, 11, 12, 13, 14]
    assert list(index.of_equal_hash()) == [[10, 11], [11, 12], [12, 13], [13, 14]]
    index.change(Pairs.of(names[:1], [10], 1), Pairs.of(names[:2], [10, 11], 2))
    assert index.find(names[3]) == [10, 12, 13, 14]
    assert len(index) == 4


@pytest.mark.usefixtures("one_hash")
def test_waiting_urls_of_one_hash_keep_their_scores() -> None:
    frontier = SqliteFrontier(CrawlDatabase(":memory:"), in_memory=2)
    names = urls(8)
    for number, url in enumerate(names):
        frontier.push(Candidate(url, number / 10))
    assert Url("http://h9.test/") not in frontier
    frontier.push(Candidate(names[1], 0.95))
    assert not frontier.matters(Candidate(names[2], 0.1))
    assert [popped.candidate.url for _ in names if (popped := frontier.pop(0.0))] == [names[1], *names[:1:-1], names[0]]
