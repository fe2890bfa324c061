"""Orders reach a crawl that runs in another process, are kept in its history, and hold after a resume."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import STEERED, give_order
from scenthound.store.order_table import Orders
from scenthound.wiring import Session, resume
from support.resuming import WEB, Recorded, born, step_through
from support.running_crawl import WEB as SERVED
from support.running_crawl import command, crawling, pages, requests, served, start, until
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]


def ordered(folder: Path, *words: str) -> dict[str, object]:
    """Give an order from another process; it must be obeyed."""
    done = command("control", str(folder), *words, "--json")
    assert done.returncode == 0, done.stdout
    answer: dict[str, object] = json.loads(done.stdout)
    if not answer["taken"]:  # the crawl is still being resumed
        answer = until(lambda: _taken(folder, answer["order"]), f"the crawl did not obey: {words}")
    return answer


def _taken(folder: Path, number: object) -> dict[str, object] | None:
    orders = json.loads(command("control", str(folder), "--list", "--json").stdout)
    return next((order for order in orders if order["order"] == number and order["taken"]), None)


def steered(folder: Path) -> list[tuple[object, object]]:
    with CrawlFolder.look(folder) as opened:
        return [(event.facts["action"], event.facts["value"]) for event in opened.history.strategy_events(STEERED)]


def unmet_page(folder: Path) -> str:
    """A page of the served web that the crawl has not met."""
    with CrawlFolder.look(folder) as opened:
        return next(url for n in range(2999, 0, -1) if not opened.history.seen(url := SERVED.url(n)))


def unseen(session: Session) -> str:
    """A page of the small web that the crawl has not fetched."""
    return next(url for n in range(399, 0, -1) if not session.crawl.history.seen(url := WEB.url(n)))


def again(folder: Path) -> Session:
    return resume(folder, fetcher=Recorded(), clock=lambda: 0.0)


@pytest.mark.slow
def test_a_running_crawl_pauses_continues_and_stops(tmp_path: Path) -> None:
    folder, log = tmp_path / "crawl", tmp_path / "log.jsonl"
    with served(log) as address, crawling(folder, address, "--pages", "3000") as process:
        assert ordered(folder, "pause")["outcome"] == "paused"
        time.sleep(0.5)  # what was in flight lands
        before = pages(folder)
        assert json.loads(command("status", str(folder), "--json").stdout)["ended"] == "paused"
        assert pages(folder) == before
        assert ordered(folder, "continue")["outcome"] == "continued"
        until(lambda: pages(folder) > before + 5, "it did not go on")
        ordered(folder, "stop")
        assert process.wait(timeout=60) == 11
    assert steered(folder) == [("pause", ""), ("continue", ""), ("stop", "")]
    with CrawlFolder.look(folder) as opened:
        assert opened.database.meta("ended") == "stopped"


@pytest.mark.slow
def test_a_running_crawl_takes_a_budget_a_seed_a_block_and_a_delay(tmp_path: Path) -> None:
    folder, log = tmp_path / "crawl", tmp_path / "log.jsonl"
    with served(log) as address, crawling(folder, address, "--pages", "3000") as process:
        seed = unmet_page(folder)
        host = seed.split("/")[2]
        assert ordered(folder, "seed", seed)["outcome"] == "it is next"
        until(lambda: any(seed.endswith(host + one["path"]) for one in requests(log)), "the seed was not fetched")
        busiest = max({one["host"] for one in requests(log)}, key=[one["host"] for one in requests(log)].count)
        ordered(folder, "block", busiest)
        time.sleep(0.5)
        asked = [one["host"] for one in requests(log)].count(busiest)
        ordered(folder, "delay", "200 ms")
        ordered(folder, "pause")
        ordered(folder, "budget", str(pages(folder) + 60))  # 32 at most are in flight
        ordered(folder, "continue")
        assert process.wait(timeout=60) == 0
        assert [one["host"] for one in requests(log)].count(busiest) == asked
    with CrawlFolder.look(folder) as opened:
        assert opened.history.counts_of(busiest).get("blocked")
        assert len(opened.history) == opened.budget < 3000


@pytest.mark.slow
def test_orders_hold_after_a_kill_and_a_resume(tmp_path: Path) -> None:
    folder, log = tmp_path / "crawl", tmp_path / "log.jsonl"
    with served(log) as address:
        with crawling(folder, address, "--pages", "3000") as process:
            blocked = requests(log)[-1]["host"]
            ordered(folder, "block", blocked)
            ordered(folder, "pause")
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=60)
        time.sleep(0.3)
        before = len(requests(log))
        process = start(folder, address)
        try:
            time.sleep(2.0)
            assert process.poll() is None
            assert len(requests(log)) == before, "a paused crawl stays paused"
            ordered(folder, "budget", str(pages(folder) + 20))
            ordered(folder, "continue")
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            process.wait()
        assert blocked not in [one["host"] for one in requests(log)[before:]]


def test_a_stopped_crawl_obeys_when_it_is_resumed(tmp_path: Path, capsys: Talk) -> None:
    folder = tmp_path / "crawl"
    session = born(folder)
    step_through(session, 10, commit_every=1)
    session.close()
    seed = unseen(session)
    for words in (["budget", "33"], ["seed", seed], ["block", "x.test"], ["delay", "2.5"], ["pause"]):
        assert run(["control", str(folder), *words]) == 0
        assert "scenthound resume" in capsys.readouterr().err
    session = again(folder)
    crawl = session.crawl
    assert crawl.limits.pages == 33
    assert seed in crawl.frontier
    assert crawl.admission.closed("x.test") == "blocked"
    assert crawl.host_clock is not None
    assert crawl.host_clock.delay == 2.5
    assert session.steering.is_paused
    session.close()
    session = again(folder)  # nothing was done twice, and all of it holds
    assert session.crawl.limits.pages == 33
    assert session.crawl.admission.closed("x.test") == "blocked"
    assert session.steering.is_paused
    session.close()
    assert len(steered(folder)) == 5


def test_a_host_that_is_unblocked_is_open_again_also_after_a_resume(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    session = born(folder)
    step_through(session, 10, commit_every=1)
    for action, host in (("block", "x.test"), ("block", "y.test"), ("unblock", "x.test"), ("unblock", "z.test")):
        give_order(folder, action, host, 1.0)
    session.listen()
    orders = Orders(session.folder.database)
    assert [order.outcome for order in orders.all()][2:] == ["not blocked any more", "it was not blocked"]
    assert orders.blocked() == ["y.test"]
    session.close()
    session = again(folder)
    assert session.crawl.admission.blocked == {"y.test"}
    session.close()


def test_a_seed_given_twice_or_fetched_before_is_not_fetched_again(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    session = born(folder)
    step_through(session, 10, commit_every=1)
    page = next(iter(session.crawl.history.trail())).url
    give_order(folder, "seed", page, 1.0)
    session.listen()
    assert Orders(session.folder.database).all()[-1].outcome == "not fetched again: crawled"
    session.close()


@pytest.mark.parametrize("strategy", ["best-first", "infospiders", "hound"])
def test_a_seed_that_was_ordered_is_fetched_next_by_every_kind_of_frontier(tmp_path: Path, strategy: str) -> None:
    folder = tmp_path / "crawl"
    session = born(folder, strategy)
    step_through(session, 10, commit_every=1)
    seed = unseen(session)
    give_order(folder, "seed", seed, 1.0)
    session.listen()
    session.close()
    session = again(folder)
    step_through(session, 12, commit_every=1)
    assert session.crawl.history.seen(seed)
    session.close()


def test_a_pause_does_not_use_up_the_time_of_a_crawl(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", time=100.0)
    limits = session.crawl.limits
    end = limits.ends_at
    give_order(tmp_path / "crawl", "pause", None, 0.0)
    assert session.steering.obey(end - 40.0) == 1
    session.folder.commit(end - 40.0)
    assert limits.ends_at == float("inf")
    give_order(tmp_path / "crawl", "continue", None, 0.0)
    assert session.steering.obey(end + 1000.0) == 1
    assert limits.ends_at == end + 1040.0
    session.close()


def test_a_stop_that_came_too_late_does_not_end_the_next_run(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    session = born(folder)
    step_through(session, 10, commit_every=1)
    session.close()
    give_order(folder, "stop", None, 1.0)
    session = again(folder)
    assert not session.crawl.end_reason
    session.close()
    assert run(["control", str(folder), "stop"]) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["paus"], "did you mean `pause`?"),
        (["pause", "5"], "takes no value"),
        (["budget"], "needs a value"),
        (["budget", "none"], "not a number of pages"),
        (["budget", "0"], "not a number of pages"),
        (["seed", "ftp://x.test/"], "not an http(s) URL"),
        (["block", "a b"], "not a host"),
        (["delay", "soon"], "not a time"),
        ([], "no action given"),
        (["pause", "--list"], "--list takes no action"),
    ],
)
def test_a_bad_order_is_refused_with_a_way_out(tmp_path: Path, capsys: Talk, words: list[str], says: str) -> None:
    folder = small_crawl(tmp_path / "crawl")
    assert run(["control", str(folder), *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "hint: " in error
    assert run(["control", str(folder), "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_an_order_for_a_folder_that_is_not_a_crawl_is_refused(tmp_path: Path) -> None:
    assert run(["control", str(tmp_path), "pause"]) == 4
    assert list(tmp_path.iterdir()) == []
