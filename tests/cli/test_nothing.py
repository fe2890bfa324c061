"""Crawls that bring nothing say why; passwords are shown to nobody; a full disk is remembered as one."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.progress import Progress
from scenthound.cli.root_command import run
from scenthound.errors import DiskFull
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.crawl_toml import CrawlRequest, masked
from scenthound.loop.figures import Figures
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Response, Topic
from scenthound.ports import Failure
from scenthound.report.causes import why_nothing
from scenthound.report.crawl_facts import CrawlFacts, gather
from scenthound.report.crawl_report import render
from scenthound.wiring import Session, begin, resume
from support.small_crawl import WEB, Pages, small_crawl

DEAD = "http://me:sekret@127.0.0.1:1"  # nobody listens on port 1
QUICK = ["--set", "backoff=0.01", "--delay", "0"]


# ---- the cause


@pytest.mark.parametrize(
    ("words", "cause", "hint"),
    [
        (["--seed", "http://a.test/", "--proxy", DEAD], "proxy 2 (the proxy can't be reached", "check --proxy"),
        (["--seed", "http://127.0.0.1:1/"], "refused-address 1 (a private address", "--allow-private NET"),
        (["--seed", "http://a.test/", "--not-host", "a.test", "--proxy", DEAD], "proxy", "check --proxy"),
        (["--seed", "http://127.0.0.1:1/", "--allow-private", "loopback"], "connect 2", "check the address"),
    ],
)
def test_a_crawl_without_a_page_says_why(
    words: list[str], cause: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "crawl"
    assert run(["crawl", "bees", *words, *QUICK, "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert f"error: no seed could be fetched: {cause}" in told.err
    assert f"hint: {hint}" in told.err or (hint in told.err and "hint: " in told.err)
    assert "No seed could be fetched" in (out / "report.html").read_text()
    assert run(["status", str(out)]) == 0
    told = capsys.readouterr()
    assert cause.split()[0] in told.out
    assert "no seed could be fetched" in told.err
    assert run(["resume", str(out), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["error"].startswith("no seed could be fetched")
    assert (document["pages"], document["exit_code"]) == (0, 1)


def test_robots_that_forbid_the_seeds_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = GeneratedWeb(100, 3)
    with serving(BedServer(web, ServerOptions(robots="deny"))) as address:
        words = ["--seed", str(web.url(0)), "--proxy", f"http://{address}", "--out", str(tmp_path / "crawl")]
        assert run(["crawl", "bees", *words, *QUICK]) == 1
    told = capsys.readouterr().err
    assert "no seed could be fetched: robots 1 (robots.txt forbids it)" in told


def test_causes_are_reported_most_important_first() -> None:
    request, unreachable = CrawlRequest(Topic("bees"), ("http://a.test/",)), Counter({"robots-unreachable": 3})
    facts = CrawlFacts(request, figures=Figures(misses=Counter({"http-404": 7, "dns": 1}), dropped=unreachable))
    message, hint = why_nothing(facts)
    assert message.startswith("no seed could be fetched: dns 1 (no such host); http-404 7 (")
    assert hint == "check the address and the network"
    facts = CrawlFacts(request, figures=Figures(dropped=unreachable), failures={"proxy": (3, "refused \x1b[31m")})
    assert why_nothing(facts)[0] == "no seed could be fetched: proxy 3 (the proxy can't be reached: refused)"
    assert "the time was up" in why_nothing(CrawlFacts(request, ended="time"))[0]


def test_when_no_server_answers_at_first_the_user_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Deaf:
        async def fetch(self, url: str, most: int | None = None) -> Failure:
            return Failure("proxy", "connection refused", 0, True)

    seeds = [f"http://h{n}.test/" for n in range(20)]
    session = begin("bees", seeds, tmp_path / "crawl", settings=Settings(delay=0, time=60), fetcher=Deaf())
    told = ""
    with Progress(session) as progress:

        def tick() -> None:
            nonlocal told
            progress.tick()
            told += capsys.readouterr().err
            if "no server answers" in told:
                session.crawl.stop("enough")

        asyncio.run(session.run(tick=tick))
    session.close()
    told += capsys.readouterr().err
    assert told.count("no server answers (proxy: connection refused)") == 1
    assert "Check --proxy" in told


# ---- secrets


def test_passwords_are_written_where_only_their_owner_reads_and_shown_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "crawl"
    seed = "http://you:hush@a.test/"
    assert run(["crawl", "bees", "--seed", seed, "--proxy", DEAD, *QUICK, "--out", str(out)]) == 1
    assert run(["status", str(out)]) == 0
    assert run(["status", str(out), "--json"]) == 0
    assert run(["resume", str(out), "--json"]) == 1
    assert run(["crawl", "bees", "--seed", "http://you:hush@:99999/", "--out", "x"]) == 4
    assert run(["crawl", "bees", "--seed", "ftp://you:hush@a.test/", "--out", "x", "--json"]) == 4
    assert run(["explain", str(out), "http://you:hush@a.test:99999/"]) == 2
    assert run(["control", str(out), "seed", "http://you:hush@b.test/"]) == 0
    assert run(["control", str(out), "seed", "http://you:hush@b.test:99999/"]) == 2
    assert run(["control", str(out), "--list"]) == 0
    told = capsys.readouterr()
    report = (out / "report.html").read_text()
    for text in (told.out, told.err, report, repr(CrawlFolder.look(out))):
        assert "sekret" not in text
        assert "hush" not in text
    assert "http://a.test/" in report
    assert "http://***@127.0.0.1:1" in report
    assert stat.S_IMODE((out / "crawl.toml").stat().st_mode) == 0o600
    assert "sekret" in (out / "crawl.toml").read_text(), "else it could not be resumed"
    assert b"sekret" not in (out / "crawl.db").read_bytes()
    for file in out.rglob("*"):
        assert not file.is_file() or b"hush" not in file.read_bytes(), f"a seed's password is in {file.name}"


def test_ask_map_and_related_neither_store_nor_show_the_password_of_a_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = GeneratedWeb(pages=60, seed=3)
    first, *_, last = web.topics[0].seeds
    seeds = [seed.replace("://", "://you:hush@") for seed in (first, last)]
    (tmp_path / "seeds.txt").write_text("\n".join(seeds))
    with serving(BedServer(web, ServerOptions())) as address:
        more = ["--pages", "5", "--proxy", address]
        assert run(["ask", "hot air", "--seed", seeds[0], "--keep", str(tmp_path / "ask"), "--json", *more]) == 0
        assert run(["map", seeds[0], "hot air", "--out", str(tmp_path / "map"), *more]) == 0
        words = ["related", str(tmp_path / "seeds.txt"), "--topic", "hot air", "--out", str(tmp_path / "related")]
        assert run([*words, *more]) == 0
    told = capsys.readouterr()
    assert "hush" not in told.out + told.err
    (tmp_path / "seeds.txt").unlink()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"hush" not in file.read_bytes(), f"a seed's password is in {file}"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://169.254.169.254/latest/", "http://[::1]:1/"])
def test_ask_and_map_refuse_private_addresses(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "hot air", "--seed", address, "--pages", "2", "--keep", str(tmp_path / "ask")]) != 0
    assert run(["map", address, "hot air", "--pages", "2", "--out", str(tmp_path / "map")]) != 0
    told = capsys.readouterr()
    assert told.err.count("refused-address") + told.err.count("private address") >= 2


def test_a_crawl_without_secrets_is_as_readable_as_any_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    made = small_crawl(tmp_path / "crawl") / "crawl.toml"
    assert made.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pass@h:80/x", "http://***@h:80/x"),
        ("socks5://me@h:1", "socks5://***@h:1"),
        ("me:pass@h:80", "***@h:80"),
        ("http://me:p@ss@h/a@b", "http://***@h/a@b"),
        ("not a URL: `http://me:pa/ss@h`", "not a URL: `http://***@h`"),
        ("http://h:80/@me", "http://h:80/@me"),
        ("mail me@example.org", "mail me@example.org"),
        ("me@example.org", "me@example.org"),
    ],
)
def test_user_and_password_are_left_out_of_what_is_shown(text: str, shown: str) -> None:
    assert masked(text) == shown


# ---- the budget


def test_a_new_budget_is_kept_and_a_spent_budget_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small_crawl(tmp_path / "crawl", pages=2)
    written = (out / "crawl.toml").read_text()
    assert run(["resume", str(out)]) == 0
    assert "all 2 pages have been fetched; ask for more with --pages 4" in capsys.readouterr().err
    again = resume(out, fetcher=Pages(WEB), pages=3)
    assert asyncio.run(again.run()) == "pages"
    again.close()
    assert run(["status", str(out)]) == 0
    assert "3 of 3" in capsys.readouterr().out
    assert run(["report", str(out)]) == 0
    assert "pages of 3 requested" in (out / "report.html").read_text()
    assert (out / "crawl.toml").read_text() == written
    assert run(["resume", str(out)]) == 0
    assert "all 3 pages have been fetched" in capsys.readouterr().err
    assert run(["resume", str(out), "--pages", "2"]) == 0
    assert "3, more than 2, pages have been fetched; ask for more with --pages 6" in capsys.readouterr().err


def test_status_names_the_orders_that_wait_for_a_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small_crawl(tmp_path / "crawl", pages=2)
    assert run(["control", str(out), "looking-for", "sites"]) == 0
    assert run(["status", str(out)]) == 0
    assert "looking-for sites: takes effect when the crawl is resumed" in capsys.readouterr().out


# ---- a full disk


class Filling(Pages):
    """Serves pages; after the first, less is free on the disk than is to be kept free."""

    session: Session

    async def fetch(self, url: str) -> Response | Failure:
        reply = await super().fetch(url)
        object.__setattr__(self.session.settings, "disk_reserve", 1 << 60)
        return reply


def test_a_full_disk_is_remembered_and_what_had_landed_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetcher = Filling(WEB)
    settings = Settings(delay=0, robots=False, group_pages=1)
    session = fetcher.session = begin(
        "balloons", ["http://a.test/"], tmp_path / "crawl", settings=settings, fetcher=fetcher
    )
    with pytest.raises(DiskFull, match="bytes left") as caught:
        asyncio.run(session.run())
    session.close()
    assert caught.value.hint == f"make room, then: scenthound resume {tmp_path / 'crawl'}"
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        facts = gather(opened)
    assert (facts.figures.pages, facts.ended) == (1, "disk full")
    assert run(["status", str(tmp_path / "crawl")]) == 0
    told = capsys.readouterr().out
    assert "the disk was full; make room, then it can be resumed" in told
    assert "cut off" not in told
    again = resume(tmp_path / "crawl", fetcher=Pages(WEB))
    assert asyncio.run(again.run()) == "frontier empty"
    again.close()
    assert len(again.folder.history) == 4


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for 200 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("may not mount a tmpfs here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False, capture_output=True)


def test_a_disk_that_is_really_full_is_remembered(tiny_disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = {f"http://h{n}.test/": ("x" * 300, f"balloons {n} " * 900, [f"http://h{n + 1}.test/"]) for n in range(200)}
    settings = Settings(delay=0, robots=False, disk_reserve=0, group_pages=1)
    session = begin("balloons", ["http://h0.test/"], tiny_disk / "crawl", settings=settings, fetcher=Pages(web))
    with pytest.raises(DiskFull):
        asyncio.run(session.run())
    session.close()
    assert run(["status", str(tiny_disk / "crawl")]) == 0
    assert "the disk was full" in capsys.readouterr().out


def test_commands_that_cannot_be_resumed_do_not_speak_of_it(
    tiny_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["lab", "generate", str(tiny_disk / "bed")], ["demo", "--out", str(tiny_disk / "demo")]):
        assert run(words) == 3
        told = capsys.readouterr().err
        assert "hint: make room" in told
        assert "resume" not in told
    with pytest.raises(OSError, match="No space"):
        (tiny_disk / "fill").write_bytes(bytes(1 << 20))
    assert run(["demo", "--out", str(tiny_disk / "other")]) == 3
    crawled = small_crawl(tiny_disk.parent / "crawl")
    assert run(["export", str(crawled), "--to", "wacz", "--output", str(tiny_disk / "x.wacz")]) == 3
    assert f"no room left for {tiny_disk / 'x.wacz'}" in capsys.readouterr().err


def test_the_report_of_a_crawl_that_has_just_begun_names_no_cause() -> None:
    assert "No seed" not in render(CrawlFacts(CrawlRequest(Topic("bees"), ("http://a.test/",)), ended="running"))
