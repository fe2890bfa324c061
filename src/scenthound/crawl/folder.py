"""A crawl is a folder: what was asked, the index of the truth, the truth, and a report.

Born by `create`, taken up again by `reopen` after any kind of end, looked at by `look` while somebody
else may be writing. `commit` makes everything since the last one durable in one transaction, the
WARC first, so that a crash at any moment leaves a state that `reopen` can go on from.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scenthound.crawl.asked import Asked
from scenthound.crawl.core import HOST_FAILURES, Crawl
from scenthound.crawl.politeness import HostState, Manners, OriginRules
from scenthound.errors import BadConfig, DiskFull, FolderBroken
from scenthound.model import Step
from scenthound.ports import Saves
from scenthound.store.lock import NAME as LOCK
from scenthound.store.lock import lock
from scenthound.store.salvage import recover
from scenthound.store.sqlite import CrawlDatabase, SqliteHistory
from scenthound.store.warc import FileReport, WarcRepository, look_at
from scenthound.web.robots import Rules

FOREVER = float("inf")
CHECKED = 200_000_000  # bytes of WARC that are read through on resume; some three seconds


@dataclass(slots=True)
class CrawlFolder:
    """An open crawl folder. Close it, or use it in a `with` block."""

    path: Path
    asked: Asked
    database: CrawlDatabase
    history: SqliteHistory
    repository: WarcRepository
    release: Callable[[], None]
    recovered: list[str] = field(default_factory=list)
    """What had to be mended when it was opened, in sentences for people."""
    salvaged: bool = False
    """The database was damaged: what it knew of the frontier may be gone."""
    forgotten: list[Step] = field(default_factory=list)
    """Pages whose record was lost: to be fetched again."""
    crawl: Crawl | None = None

    # ---- being born, taken up and looked at

    @classmethod
    def create(cls, path: Path, asked: Asked) -> CrawlFolder:
        if (path / "crawl.toml").exists():
            raise BadConfig(f"there is a crawl in {path} already", f"go on with it: scenthound resume {path}")
        if path.exists() and (not path.is_dir() or {found.name for found in path.iterdir()} - {LOCK}):
            raise BadConfig(f"{path} exists and is not a crawl", "name a new folder with --out")
        with _room(path):
            path.mkdir(parents=True, exist_ok=True)
            release = lock(path).release
            try:
                write_whole(path / "crawl.toml", asked.to_toml())  # first: from here on it can be resumed
                return cls._with(path, asked, CrawlDatabase(path / "crawl.db"), release)
            except BaseException:
                release()
                raise

    @classmethod
    def reopen(cls, path: Path) -> CrawlFolder:
        """Take up a crawl after it ended, was interrupted or was killed; mend what a crash left behind."""
        asked = read_asked(path)
        release = lock(path).release
        try:
            database, mended = cls._mended_database(path)
            folder = cls._with(path, asked, database, release)
            folder.recovered, folder.salvaged = mended, bool(mended)
            folder._mend_pages()
            return folder
        except BaseException:
            release()
            raise

    @staticmethod
    def _mended_database(path: Path) -> tuple[CrawlDatabase, list[str]]:
        file = path / "crawl.db"
        if (not file.exists() or file.stat().st_size == 0) and list((path / "pages").glob("*.warc.gz")):
            raise FolderBroken(
                f"{file} is {'empty' if file.exists() else 'missing'}, but there are pages in {path / 'pages'}",
                "put the database back; or make a bed of the pages: scenthound lab import warc",
            )
        try:
            return CrawlDatabase(file, check=True), []
        except FolderBroken as error:
            if not file.exists() or "damaged" not in error.message:
                raise
        said = str(recover(file))
        return CrawlDatabase(file), [said]

    @classmethod
    def look(cls, path: Path) -> CrawlFolder:
        """Read only, and without a lock: the crawl may be running."""
        asked = read_asked(path)
        return cls._with(path, asked, CrawlDatabase(path / "crawl.db", read_only=True), lambda: None)

    @classmethod
    def _with(cls, path: Path, asked: Asked, database: CrawlDatabase, release: Callable[[], None]) -> CrawlFolder:
        pages = WarcRepository(path / "pages", roll=asked.settings.warc_roll)
        return cls(path, asked, database, SqliteHistory(database), pages, release)

    def _mend_pages(self) -> None:
        """Cut the WARC where the database's knowledge ends; ask again for pages whose record is gone."""
        file, _, offset = self.database.meta("warc_end").rpartition(":")
        if self.recovered or (file and not offset.isdigit()):
            self.repository.heal()  # a salvaged database may not know how far its pages reach: keep whole records
        else:
            cut = self.repository.truncate_to(file, int(offset or 0))
            if cut.dropped:
                self.recovered.append(f"{cut.dropped:,} bytes that were still in flight were cut from the WARC")
        for report in self._checked():
            places = self.repository.cleaned(report.file)
            self.forgotten += self.history.moved(report.file, places)
            kept = f"{len(places):,} whole records were kept, the old file is {report.file}.damaged"
            self.recovered.append(f"{report.file} was damaged: {kept}")
        files = self.repository.files()
        sizes = {path.name: path.stat().st_size for path in files}
        self.forgotten += self.history.forget_missing(sizes)
        if self.forgotten:
            self.recovered.append(f"{len(self.forgotten)} pages are gone from the WARC and will be fetched again")
        if files:
            self.database.save_meta("warc_end", f"{files[-1].name}:{sizes[files[-1].name]}")
        self.database.commit()

    def _checked(self) -> list[FileReport]:
        """Damaged files among the newest; reading them all would make the resumption of a large crawl slow."""
        reports, budget = [], CHECKED
        for path in reversed(self.repository.files()):
            budget -= path.stat().st_size
            if budget < 0:
                break
            reports.append(look_at(path))
        return [report for report in reports if report.problems]

    # ---- during a run

    def attach(self, crawl: Crawl, now: float) -> None:
        """Write this crawl's state down from now on, starting with what it has already."""
        self.crawl = crawl
        self.commit(now)

    def commit(self, now: float) -> None:
        """Make all that has landed durable. Raises `DiskFull`; nothing recorded before is lost then."""
        crawl, settings = self.crawl, self.asked.settings
        if shutil.disk_usage(self.path).free < settings.disk_reserve:
            raise DiskFull(
                f"less than {settings.disk_reserve:,} bytes are free for {self.path}", "make room, then resume"
            )
        self.repository.flush()
        file, offset = self.repository.end()
        if file:
            self.database.save_meta("warc_end", f"{file}:{offset}")
        if crawl is not None:
            self._save_manners(crawl.manners)
            self.database.save_state("crawl", crawl.save())
            self._save_strategy(crawl)
        self.database.commit()

    def _save_manners(self, manners: Manners | None) -> None:
        if manners is None:
            return
        for name in manners.touched:
            if "://" in name:
                known = manners.origins[name]
                self.database.save_robots(name, known.rules.to_text(), known.until, known.failures)
            else:
                host = manners.hosts[name]
                due = host.next_allowed if host.next_allowed < FOREVER else 0.0
                self.database.save_host(
                    name, next_allowed=due, failures=host.failures, pages=host.pages, barren=host.barren
                )
        manners.touched.clear()

    def _save_strategy(self, crawl: Crawl, now: bool = False) -> None:
        if isinstance(crawl.strategy, Saves):
            heard = self.history.last_event()
            last = int(self.database.meta("snapshot", "-1000000"))
            if now or crawl.unkept or heard - last >= self.asked.settings.snapshot:
                self.database.save_state("strategy", crawl.strategy.save())
                self.database.save_meta("snapshot", str(heard))
                crawl.unkept = False

    def finish(self, reason: str, now: float) -> None:
        """Note why the run ended and save everything once more."""
        if self.crawl is not None:
            self._save_strategy(self.crawl, now=True)
        self.database.save_meta("ended", reason)
        self.database.save_meta("ended_at", str(now))
        self.commit(now)
        self.repository.sync()

    def manners(self, now: float) -> Manners:
        """The manners of this crawl, with what is owed to hosts from before; the rest is looked up when needed."""
        settings = self.asked.settings
        made = Manners(settings.delay, settings.backoff, settings.robots)
        made.recall_host, made.recall_origin = self._recall_host, self._recall_origin
        for name in self.database.resting_hosts(now):
            made.host(name)
        return made

    def _recall_host(self, name: str) -> HostState:
        saved = self.database.host(name)
        failures = min(saved.failures, HOST_FAILURES - 1)  # every run gives a failing host one more chance
        return HostState(saved.next_allowed, failures, int(saved.more.get("barren", 0)), saved.pages)

    def _recall_origin(self, origin: str) -> OriginRules | None:
        saved = self.database.robots(origin)
        if saved is None:
            return None
        try:
            return OriginRules(Rules.from_text(saved.text), saved.until, saved.failures)
        except ValueError:
            return None  # damaged: asked for again

    def close(self) -> None:
        """Let go of the folder. What was not committed is gone, as after a crash."""
        self.repository.close()
        self.database.close()
        self.release()

    def __enter__(self) -> CrawlFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def read_asked(path: Path) -> Asked:
    """What the crawl in a folder was asked to do; clear errors for folders that are no crawl."""
    if not path.is_dir():
        raise BadConfig(f"there is no folder {path}", "name the folder that was given with --out")
    file = path / "crawl.toml"
    if not file.is_file():
        raise BadConfig(f"{path} is not a crawl: it has no crawl.toml", "name the folder that was given with --out")
    try:
        return Asked.from_toml(file.read_text(encoding="utf-8"), file)
    except (OSError, UnicodeDecodeError) as error:
        raise FolderBroken(f"{file} can't be read: {error}") from None


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@contextmanager
def _room(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (28, 122):
            raise DiskFull(f"no room left for {path}", "make room and try again") from error
        raise BadConfig(f"{path} can't be made: {error.strerror}", "name another folder with --out") from error
