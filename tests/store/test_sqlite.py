"""The crawl's SQLite file: the frontier's contract, the history, and damaged files."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import DiskFull, FolderBroken, FolderInUse
from scenthound.lab.testing.frontier import FrontierContract
from scenthound.model import Candidate, Event, Miss, Step, Url
from scenthound.ports import Where
from scenthound.store import blobs as plain
from scenthound.store.database import VERSION
from scenthound.store.database_repair import recover
from scenthound.store.label_table import Label, Labels
from scenthound.store.lock import holder, lock
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteFrontier, SqliteHistory
from support.long_form import long_form


def in_memory(**settings: Any) -> SqliteFrontier:
    return SqliteFrontier(CrawlDatabase(":memory:"), **settings)


def reopened(frontier: SqliteFrontier) -> SqliteFrontier:
    """Commit, and read everything back as a new process would, from the same database."""
    database = frontier._database
    database.commit()
    database._before_commit.clear()
    return SqliteFrontier(database, frontier.bound, frontier.eviction, frontier.spread)


class Sqlite(FrontierContract):
    make = staticmethod(in_memory)


class Restarted(FrontierContract):
    make = staticmethod(in_memory)
    reopen = staticmethod(reopened)


TestSqlite = Sqlite.TestCase
TestRestarted = Restarted.TestCase
TestRestarted.settings = settings(max_examples=long_form(50, 150), stateful_step_count=40, deadline=None)


def offer(name: str, score: float = 0.5, **more: Any) -> Candidate:
    return Candidate(Url(f"http://{name}.test/"), score, **more)


def step(n: int, name: str, **more: Any) -> Step:
    said: dict[str, Any] = {
        "parent": None, "anchor": "", "score": 0.5, "parts": {}, "similarity": 0.1 * n, "relevance": 0.2 * n,
        "depth": 0, "status": 200, "bytes": 10, "time": float(n),
    }  # fmt: skip
    return Step(n=n, url=Url(f"http://{name}.test/"), **{**said, **more})


def test_urls_in_flight_wait_again_in_their_old_positions(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    frontier = SqliteFrontier(database)
    for name in ("a", "b", "c"):
        frontier.push(offer(name, anchor=f"to {name}", carry={"food": 3}, parts={"page": 0.5}))
    first, second = frontier.pop(0.0), frontier.pop(0.0)
    assert first is not None
    assert second is not None
    frontier.settle(second.candidate.url)
    database.commit()
    database.close()  # as good as a kill: nothing more is written

    again = SqliteFrontier(CrawlDatabase(tmp_path / "crawl.db"))
    assert second.candidate.url not in again
    assert again.pop(0.0) == first
    third = again.pop(0.0)
    assert third is not None
    assert third.candidate == offer("c", anchor="to c", carry={"food": 3}, parts={"page": 0.5})
    again.push(offer("d"))
    assert [number for number, _ in again.entries()] == [3], "numbers continue where they ended"


def test_changes_after_the_last_commit_are_lost(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    frontier, history = SqliteFrontier(database), SqliteHistory(database)
    frontier.push(offer("a"))
    database.commit()
    frontier.push(offer("b"))
    popped = frontier.pop(0.0)
    assert popped is not None
    history.record(step(1, "a"))
    frontier.settle(popped.candidate.url)
    database.close()

    database = CrawlDatabase(tmp_path / "crawl.db")
    assert [candidate.url for _, candidate in SqliteFrontier(database).entries()] == ["http://a.test/"]
    assert not SqliteHistory(database).seen(popped.candidate.url)


def test_infinite_scores_and_broken_unicode_come_back(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    frontier, history = SqliteFrontier(database), SqliteHistory(database)
    frontier.push(offer("a", math.inf, anchor="half a \ud83d smile\x00"))
    history.record(step(1, "b", title="\udcff", score=math.inf))
    database.commit()
    database.close()
    database = CrawlDatabase(tmp_path / "crawl.db")
    back = SqliteFrontier(database).pop(0.0)
    assert back is not None
    assert (back.candidate.score, back.candidate.anchor) == (math.inf, "half a ? smile\x00")
    assert [one.score for one in SqliteHistory(database).trail()] == [math.inf]


def test_a_candidate_that_is_given_back_keeps_its_position_and_the_bound_holds() -> None:
    frontier = in_memory(bound=3)
    for name in ("a", "b", "c"):
        frontier.push(offer(name))
    taken = [popped for _ in range(2) if (popped := frontier.pop(0.0)) is not None]
    assert list(frontier.in_flight()) == ["http://a.test/", "http://b.test/"]
    frontier.push(offer("d"))
    fallen = [frontier.give_back(popped) for popped in reversed(taken)]
    assert fallen == [None, offer("d")], "the last of the order makes room"
    assert not frontier.in_flight()
    popped = [frontier.pop(0.0) for _ in range(3)]
    assert [one.candidate for one in popped if one is not None] == [offer("a"), offer("b"), offer("c")]


def test_the_history_records_pages_misses_and_redirects(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    history = SqliteHistory(database)
    seed = step(1, "seed", parts={"seed": 1.0}, carry={"food": 2}, title="Seed")
    child = step(2, "child", parent=Url("http://old.test/"), anchor="go", depth=1, requested=Url("http://short.test/"))
    history.record(seed, Where("pages-00001.warc.gz", 100, 50))
    history.alias(Url("http://old.test/"), seed.url)
    history.lost(Miss(offer("gone", parent=seed.url), "http-404", "Not Found", 404, 7), 1.5)
    history.lost(Miss(offer("later"), "timeout"), 1.6, dead=False)
    history.record(child, Where("pages-00001.warc.gz", 150, 70))
    history.count("x.test", "scope", 3)
    database.commit()
    database.close()

    history = SqliteHistory(CrawlDatabase(tmp_path / "crawl.db", read_only=True))
    assert list(history.trail()) == [seed, child]
    assert [type(event).__name__ for event in history.events()] == ["Step", "Lost", "Lost", "Step"]
    assert [(miss.url, miss.reason, miss.status, miss.bytes) for miss in history.misses()] == [
        ("http://gone.test/", "http-404", 404, 7),
        ("http://later.test/", "timeout", 0, 0),
    ]
    assert [one for one in history.events() if not isinstance(one, Step)] == list(history.misses())
    seen = {name: history.seen(Url(f"http://{name}.test/")) for name in ("seed", "old", "gone", "later", "child")}
    assert seen == {"seed": True, "old": True, "gone": True, "later": False, "child": True}
    assert len(history) == 2
    assert history.lineage(child.url) == [seed, child], "the parent is found under the name it was redirected to"
    assert history.where(Url("http://old.test/")) == Where("pages-00001.warc.gz", 100, 50)
    assert history.best(1) == [child]
    assert history.fate(Url("http://gone.test/")) == "dead: http-404"
    assert history.fate(Url("http://old.test/")) == "redirected to http://seed.test/"
    assert history.fate(seed.url) == "crawled"
    assert history.fate(Url("http://never.test/")) is None
    assert history.counts() == {"scope": 3}
    assert history.reasons() == {"http-404": 1}, "a miss that will be retried does not count yet"


def test_a_ring_of_parents_and_aliases_ends() -> None:
    history = SqliteHistory(CrawlDatabase(":memory:"))
    a, b = Url("http://a.test/"), Url("http://b.test/")
    history.record(step(1, "a", parent=b))
    history.record(step(2, "b", parent=a))
    history.alias(Url("http://c.test/"), Url("http://d.test/"))
    history.alias(Url("http://d.test/"), Url("http://c.test/"))
    assert [one.url for one in history.lineage(a)] == [b, a]
    assert history.step_of(Url("http://c.test/")) is None


def test_counts_of_hosts_beyond_the_limit_share_one_line() -> None:
    database = CrawlDatabase(":memory:")
    history = SqliteHistory(database, hosts_counted=2)
    for number in range(5):
        history.count(f"h{number}.test", "robots")
    database.commit()
    assert SqliteHistory(database).counts_of("*") == {"robots": 3}
    assert history.counts() == {"robots": 5}


def test_small_tables_are_kept(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    database.save_host("a.test", next_allowed=12.5, failures=1)
    database.save_host("a.test", pages=3, asleep=True)
    database.save_robots("http://a.test", "User-agent: *\nDisallow: /x", 5.0)
    database.save_label(Url("http://a.test/"), False, 2.0)
    database.save_label(Url("http://b.test/"), True, 1.0)
    database.save_links(Url("http://a.test/"), [Url("http://b.test/"), Url("http://c.test/")])
    database.save_links(Url("http://b.test/"), [])
    database.save_state("strategy", {"weights": numpy.array([[0.5, 1.0]]), "seen": [1, "two", None]})
    database.save_meta("ended", "budget")
    database.commit()
    database.save_host("a.test", failures=2)
    database.commit()
    database.close()

    database = CrawlDatabase(tmp_path / "crawl.db")
    assert database.host("a.test") == (12.5, 2, 3, {"asleep": True})
    assert database.robots("http://a.test") == ("User-agent: *\nDisallow: /x", 5.0, 0)
    assert database.robots("http://b.test") is None
    assert database.labels() == {"http://b.test/": True, "http://a.test/": False}
    assert list(database.links()) == [
        ("http://a.test/", ["http://b.test/", "http://c.test/"]),
        ("http://b.test/", []),
    ]
    state = database.state("strategy")
    assert state is not None
    assert state["weights"].tolist() == [[0.5, 1.0]]
    assert state["seen"] == [1, "two", None]
    assert database.state("other") is None
    assert database.meta("ended") == "budget"


KEYS = st.text(min_size=1).filter(lambda key: key != plain._ARRAY)  # that one marks an array, and is refused
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(KEYS, PLAIN, max_size=4))
def test_a_plain_state_comes_back_as_it_was(state: dict[str, Any]) -> None:
    assert plain.unpack(plain.pack(state)) == state


def test_a_key_that_looks_like_an_array_is_refused() -> None:
    with pytest.raises(ValueError, match="must be text"):
        plain.pack({plain._ARRAY: None})


@given(st.binary(max_size=60))
def test_damaged_states_are_refused_and_do_no_harm(data: bytes) -> None:
    for bytes_ in (data, len(data).to_bytes(8, "big") + data):
        try:
            plain.unpack(bytes_)
        except ValueError:
            continue


@pytest.mark.parametrize("bad", [{"x": {1, 2}}, {"x": {1: 2}}, {"x": numpy.array(["a"])}, {"x": object()}])
def test_a_state_that_is_not_plain_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="saved"):
        plain.pack(bad)


def test_an_array_larger_than_its_bytes_is_refused() -> None:
    data = plain.pack({"x": numpy.zeros(4)}).replace(b"[4]", b"[9]")
    with pytest.raises(ValueError, match="damaged"):
        plain.unpack(data)


def test_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    CrawlDatabase(tmp_path / "crawl.db").close()
    with sqlite3.connect(tmp_path / "crawl.db") as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(FolderBroken, match=f"has version {VERSION + 1}; this scenthound reads up to version {VERSION}"):
        CrawlDatabase(tmp_path / "crawl.db")


def made_version_5(path: Path) -> None:
    """Turn a crawl's file into one of version 5, which had other names for two tables and an index."""
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "ALTER TABLE delivered_labels RENAME TO heard; ALTER TABLE strategy_events RENAME TO told;"
            "DROP INDEX strategy_events_kind; CREATE INDEX told_kind ON told (kind, agent);"
            "DROP INDEX strategy_events_url; CREATE INDEX told_url ON told (url) WHERE url IS NOT NULL;"
            "PRAGMA user_version = 5;"
        )
    connection.close()


def test_a_file_of_version_5_is_read_as_it_is_and_migrated_when_the_crawl_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    database = CrawlDatabase(path)
    history, event = SqliteHistory(database), Event("born", {"agent": 3}, Url("http://a.test/"), 7)
    history.note(event)
    Labels(database).record_delivery(Label(Url("http://a.test/"), True, 1.0), 4)
    deliveries = Labels(database).delivered()
    database.commit()
    database.close()
    made_version_5(path)
    for read_only in (True, False, True):
        database = CrawlDatabase(path, read_only=read_only)
        assert list(SqliteHistory(database).strategy_events()) == [event]
        assert Labels(database).delivered() == deliveries
        database.close()
    database = CrawlDatabase(path, check=True)
    names = {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    assert "delivered_labels" in names
    assert not names & {"heard", "told", "told_kind", "told_url"}
    SqliteHistory(database).note(event)
    database.commit()
    database.close()


def test_an_older_version_is_refused_by_name(tmp_path: Path) -> None:
    CrawlDatabase(tmp_path / "crawl.db").close()
    with sqlite3.connect(tmp_path / "crawl.db") as connection:
        connection.execute("PRAGMA user_version = 4")
    connection.close()
    for read_only in (True, False):
        with pytest.raises(FolderBroken, match="has version 4; this scenthound reads versions 5 to 6"):
            CrawlDatabase(tmp_path / "crawl.db", read_only=read_only)


def test_a_foreign_database_is_not_touched(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "crawl.db") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(FolderBroken, match="not the database of a crawl"):
        CrawlDatabase(tmp_path / "crawl.db")


def test_text_that_is_not_a_database_is_broken(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"this is not a database, whatever its name says" * 50)
    with pytest.raises(FolderBroken, match="damaged"):
        CrawlDatabase(tmp_path / "crawl.db")
    with pytest.raises(FolderBroken, match="does not exist"):
        CrawlDatabase(tmp_path / "other.db", read_only=True)
    with pytest.raises(FolderBroken, match="can't be opened"):
        CrawlDatabase(tmp_path / "no" / "folder.db")


def test_a_full_disk_loses_only_the_last_transaction_and_then_writes_are_refused(tmp_path: Path) -> None:
    database = CrawlDatabase(tmp_path / "crawl.db")
    history = SqliteHistory(database)
    history.record(step(1, "a"))
    database.commit()
    pages = database.row("PRAGMA page_count")
    assert pages is not None
    database.row(f"PRAGMA max_page_count = {pages[0]}")
    with pytest.raises(DiskFull, match="no room left"):
        history.record(step(2, "b", title="long " * 100_000))
    with pytest.raises(DiskFull):
        database.commit()
    database.close()
    assert [one.n for one in SqliteHistory(CrawlDatabase(tmp_path / "crawl.db")).trail()] == [1]


def damaged_database(folder: Path, pages: int = 3000) -> Path:
    path = folder / "crawl.db"
    database = CrawlDatabase(path)
    history, frontier = SqliteHistory(database), SqliteFrontier(database)
    for n in range(1, pages + 1):
        history.record(step(n, f"page{n}", title=f"title {n} " * 5))
        frontier.push(offer(f"next{n}"))
    database.save_meta("topic", "bees")
    database.commit()
    database.row("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        for place in (size // 3, size // 2):
            file.seek(place // 4096 * 4096)
            file.write(os.urandom(4096))
    return path


def test_a_damaged_file_is_salvaged_and_the_old_one_kept(tmp_path: Path) -> None:
    path = damaged_database(tmp_path)
    before = path.read_bytes()
    with pytest.raises(FolderBroken, match="damaged"):
        CrawlDatabase(path, check=True)
    report = recover(path)
    assert report.kept.name == "crawl.db.damaged-1"
    assert report.kept.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["crawl.db", "crawl.db.damaged-1"]
    database = CrawlDatabase(path, check=True)
    assert database.meta("topic") == "bees"
    assert database.meta("salvaged") == "crawl.db.damaged-1"
    steps = list(SqliteHistory(database).trail())
    assert report.rows["history"] == len(steps) > 2800, "one page of 4 KB has a few dozen rows"
    assert all(one.title == f"title {one.n} " * 5 for one in steps)
    assert report.damaged
    assert "the damaged file is kept as crawl.db.damaged-1" in str(report)
    assert recover(path).kept.name == "crawl.db.damaged-2"


def test_a_file_that_is_no_longer_a_database_is_replaced_by_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    path.write_bytes(os.urandom(10_000))
    report = recover(path)
    assert sum(report.rows.values()) == 0
    assert "recovered nothing" in str(report)
    assert len(SqliteHistory(CrawlDatabase(path))) == 0


def test_rows_that_are_only_in_the_wal_are_salvaged_too(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    database = CrawlDatabase(path)
    SqliteHistory(database).record(step(1, "a"))
    database.commit()
    other = tmp_path / "copy"
    other.mkdir()
    for end in ("", "-wal"):
        (other / f"crawl.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    database.close()
    assert recover(other / "crawl.db").rows["history"] == 1


def test_a_second_process_is_refused_with_the_id_of_the_first(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from scenthound.store.lock import lock\n"
    program += "held = lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    first = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        assert holder(tmp_path) == first.pid
        with pytest.raises(FolderInUse, match=f"process {first.pid}"):
            lock(tmp_path)
        first.kill()
        first.wait()
    with lock(tmp_path):
        assert holder(tmp_path) == os.getpid()
    assert holder(tmp_path) is None
    assert holder(tmp_path / "nowhere") is None


def test_a_new_database_can_be_opened_by_several_at_the_same_time(tmp_path: Path) -> None:
    # an order for a crawl that has just started: both find an empty file, and both create the tables
    for number in range(10):
        path, together = tmp_path / f"{number}.db", Barrier(4)

        def write(name: int, path: Path = path, together: Barrier = together) -> None:
            together.wait()
            database = CrawlDatabase(path)
            database.save_meta(str(name), "here")
            database.commit()
            database.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        database = CrawlDatabase(path, check=True)
        assert [database.meta(str(name)) for name in range(4)] == ["here"] * 4
        database.close()
