"""A crawl folder: crawl.toml (the request), crawl.db (history, frontier, state), pages/ (WARC files), a report.

`create` makes a folder, `reopen` opens it again after any kind of stop, `look` opens it for reading while another
process may be writing. `commit` saves everything since the last commit in one transaction, the WARC first, so that
`reopen` can continue after a crash at any moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from scenthound import url as urls
from scenthound.errors import (
    BadConfig,
    DiskFull,
    FileDamaged,
    FolderBroken,
    OurFault,
    UnknownName,
)
from scenthound.files import make_folder, write_text
from scenthound.hosts import DAY, HostClock
from scenthound.looking_for import checked
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder_files import (
    MODEL,
    check_writable,
    explain_creation_errors,
    missing_pages,
    read_request,
    refuse_links,
    remove_crawl,
)
from scenthound.loop.identity import user_agent, warc_info
from scenthound.loop.page_rows import page_table
from scenthound.loop.plugin_failure import PLUGIN_FAILED, PluginFailure
from scenthound.loop.resume import LoopState, Saved, saved_figures
from scenthound.loop.snapshots import Snapshots
from scenthound.loop.stored_hosts import StoredHosts
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Step
from scenthound.ports import OwnFrontier
from scenthound.store import cdxj, warc_repair
from scenthound.store.database_repair import recover
from scenthound.store.label_table import Labels
from scenthound.store.lock import NAME as LOCK
from scenthound.store.lock import lock
from scenthound.store.model_folder import TrainedModel, load_model, save_model
from scenthound.store.schema_check import LATEST
from scenthound.store.sqlite_frontier import CrawlDatabase, SqliteHistory
from scenthound.store.warc_repository import NOWHERE, End, WarcRepository
from scenthound.typed_data import from_json, from_plain
from scenthound.web.content_type import request_headers

if TYPE_CHECKING:
    import pandas

NO_PAGE = "`scenthound trail DIR` lists the pages"
INDEXED = 200_000_000  # bytes of WARC indexed at the end of a run, in a second or two; `report` indexes the rest
MOST_RUNS = 500
LOOKING_FOR = "looking_for"
"""The key under which the database has what the crawl looks for, if that was changed while it ran."""
SUSPENDED_URLS = "suspended_urls"  # the key of their number in the database


@dataclass(slots=True, repr=False)
class CrawlFolder:
    """An open crawl folder. Close it, or use it in a `with` block."""

    path: Path
    request: CrawlRequest
    database: CrawlDatabase
    history: SqliteHistory
    repository: WarcRepository
    release: Callable[[], None]
    recovered: list[str] = field(default_factory=list)
    """Repairs made when it was opened, in sentences for the user."""
    salvaged: bool = False
    """Whether the database was damaged, so that the frontier may be incomplete."""
    forgotten: list[Step] = field(default_factory=list)
    """Pages whose record was lost, to be fetched again."""
    crawl: Crawl | None = None
    synced: End = NOWHERE
    """How far the WARC is synced to disk, according to the database."""
    sync_due: float | None = None
    """When the last commit must be synced to disk; None if it is synced or being synced."""
    runs: list[tuple[float, float]] = field(default_factory=list)
    """The runs of this crawl up to the last commit, as (begin, end)."""

    @property
    def hosts(self) -> StoredHosts:
        """The saved state of hosts."""
        return StoredHosts(self.database)

    @property
    def snapshots(self) -> Snapshots:
        """The saved state of strategy and judge."""
        return Snapshots(self.database)

    def __repr__(self) -> str:
        return f"<CrawlFolder {self.path}: {len(self.history):,} pages on “{self.request.topic.keywords[:60]}”>"

    # ---- open

    @classmethod
    def create(cls, path: Path, request: CrawlRequest, model: TrainedModel | None = None) -> CrawlFolder:
        """Create a crawl in a new folder, or replace a crawl that fetched nothing.

        A `model` is copied into the folder, so that the folder is self-contained.
        """
        if (path / "crawl.toml").exists() and cls._fetched_nothing(path):
            remove_crawl(path)
        if (path / "crawl.toml").exists():
            raise BadConfig(
                f"there is a crawl in {path} already",
                f"continue it: scenthound resume {shlex.quote(str(path))}",
            )
        leftovers = {LOCK} if model is None else {LOCK, MODEL}  # of an interrupted `create`
        if path.exists() and (not path.is_dir() or {entry.name for entry in path.iterdir()} - leftovers):
            raise BadConfig(f"{path} exists and is not a crawl", "choose a new folder as `out`")
        refuse_links(path)
        with explain_creation_errors(path):
            make_folder(path.resolve())
            release = lock(path).release
            try:
                if model is not None and not (
                    (path / MODEL).exists() and load_model(path / MODEL).digest == model.digest
                ):
                    save_model(path / MODEL, model)
                mode = 0o600 if request.has_secrets else 0o666
                write_text(path / "crawl.toml", request.to_toml(), mode)  # first: from here on it can be resumed
                folder = cls._with(path, request, CrawlDatabase(path / "crawl.db"), release)
                folder.database.sync_names()
                return folder
            except BaseException:
                release()
                raise

    @classmethod
    def _fetched_nothing(cls, path: Path) -> bool:
        """True for a crawl that ended without a page or a label and may therefore be deleted."""
        try:
            with lock(path), cls.look(path) as folder:
                has_ended = bool(folder.database.meta("ended"))
                return has_ended and not len(folder.history) and not Labels(folder.database).all()
        except (OurFault, OSError):
            return False

    @classmethod
    def reopen(cls, path: str | os.PathLike[str], refetch: bool = False) -> CrawlFolder:
        """Open a crawl that ended, was interrupted or was killed, and repair what a crash left behind.

        A missing WARC file is an error, unless `refetch` allows its pages to be fetched again.
        """
        path = Path(path)
        request = read_request(path)
        refuse_links(path)
        check_writable(path)
        with contextlib.ExitStack() as undo:
            release = lock(path).release
            undo.callback(release)
            database, repairs = cls._repaired_database(path)
            undo.callback(database.close)
            database.wake()
            folder = cls._with(path, request, database, release)
            folder.recovered, folder.salvaged = repairs, bool(repairs)
            folder._repair_pages(refetch)
            undo.pop_all()
        return folder

    @staticmethod
    def _repaired_database(path: Path) -> tuple[CrawlDatabase, list[str]]:
        """The database, salvaged if it is damaged, and a message about the repair."""
        file = path / "crawl.db"
        if (not file.exists() or file.stat().st_size == 0) and list((path / "pages").glob("*.warc.gz")):
            raise FolderBroken(
                file,
                f"is {'empty' if file.exists() else 'missing'}, but there are pages in {path / 'pages'}",
                "put the database back, or import the pages as a bed: scenthound lab import warc",
            )
        try:
            return CrawlDatabase(file, check=True), []
        except FileDamaged:
            if not file.exists():
                raise
        message = str(recover(file))
        return CrawlDatabase(file), [message]

    @classmethod
    def look(cls, path: str | os.PathLike[str]) -> CrawlFolder:
        """Open the folder read-only and without a lock, because the crawl may be running."""
        path = Path(path)
        request = read_request(path)
        refuse_links(path)
        file = path / "crawl.db"
        has_begun = file.exists() or any((path / "pages").glob("*.warc.gz"))
        database = CrawlDatabase(file, read_only=True) if has_begun else CrawlDatabase(":memory:")
        return cls._with(path, request, database, lambda: None)

    @classmethod
    def _with(
        cls, path: Path, request: CrawlRequest, database: CrawlDatabase, release: Callable[[], None]
    ) -> CrawlFolder:
        settings = request.settings
        if looking_for := database.meta(LOOKING_FOR):  # it was changed while the crawl ran
            request = request.with_looking_for(checked(looking_for, str(path / "crawl.db")))
        pages = WarcRepository(
            path / "pages",
            roll=settings.warc_roll,
            info=warc_info(request.topic, settings),
            request_headers=request_headers(user_agent(settings)),
        )
        runs = _read_runs(database.meta("runs"))
        history = SqliteHistory(database)
        return cls(path, request, database, history, pages, release, runs=runs)

    def _repair_pages(self, refetch: bool) -> None:
        """Compare the WARC files with the history: move broken tails aside, refetch pages whose record is gone."""
        repository, database = self.repository, self.database
        written, synced = (End.parse(database.meta(name)) for name in ("warc_end", "warc_synced"))
        damage = warc_repair.examine(repository, self.history, written, synced, everything=self.salvaged)
        if damage.missing and not refetch:
            raise missing_pages(self.path, damage.missing)
        repaired = warc_repair.mend(repository, self.history, damage)
        self.recovered += repaired.notes
        self.forgotten += repaired.forgotten
        end = written if written == damage.end.next_file() else repaired.end
        repository.continue_at(end)
        database.save_meta("warc_end", str(end))
        database.save_meta("warc_synced", str(repository.synced))
        database.commit()

    def model(self) -> TrainedModel | None:
        """The model that this crawl started with, or None. Raises `FolderBroken` if it is missing or was replaced."""
        if not self.request.model:
            return None
        try:
            model = load_model(self.path / MODEL)
        except BadConfig as error:
            raise FolderBroken(self.path / MODEL, f"is gone: {error.message}", "put the original back") from None
        if model.digest != self.request.model:
            raise FolderBroken(
                self.path / MODEL, "is not the model that this crawl started with", "put the original back"
            )
        return model

    # ---- its pages

    def stored(self, step: Step) -> StoredPage:
        """The stored page for a step of the history."""
        return StoredPage(step, self.history.where(step.url), self.repository, self.request.settings)

    def pages(self) -> Iterator[StoredPage]:
        """All pages in the order in which they were fetched."""
        for _, step, where in self.history.numbered_after(0):
            if isinstance(step, Step):
                yield StoredPage(step, where, self.repository, self.request.settings)

    def open(self, url: str) -> StoredPage:
        """The page at a URL, after redirects. Raises `UnknownName`, which suggests a similar URL, if there is none."""
        step = self.history.step_of(urls.make(url))
        if step is None:
            raise UnknownName.among("page in this crawl", url, (mark.url for mark in self.history.marks()), NO_PAGE)
        return self.stored(step)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per page and the columns of the exports, except the texts. Needs pandas."""
        return page_table(self.pages(), self.history.trail())

    # ---- during a run

    def attach(self, crawl: Crawl, now: float) -> None:
        """Save the state of this crawl, now and with every commit."""
        self.crawl = crawl
        crawl.sitemaps.recall = self.hosts.sitemaps
        self.runs.append((now, now))
        try:
            self.commit(now)
        except DiskFull:
            self.stopped("disk full", now)
            raise

    def commit(self, now: float, reserve: bool = True) -> None:
        """Save everything since the last commit. If it raises `DiskFull`, nothing recorded before is lost.

        Without `reserve` the reserved disk space may be used.
        """
        crawl, settings = self.crawl, self.request.settings
        if reserve and shutil.disk_usage(self.path).free < settings.disk_reserve:
            raise DiskFull(self.path, "make room, then resume", f"less than {settings.disk_reserve:,} bytes")
        self.repository.flush()
        self._save_end()
        if crawl is not None:
            if crawl.host_clock is not None:
                self.hosts.save(crawl.host_clock)
            self.hosts.save_sitemaps(crawl.sitemaps)
            self.database.save_state("crawl", msgspec.to_builtins(LoopState.of(crawl)))
            self.snapshots.save(crawl, self.history.last_event(), settings.snapshot)
            self._save_run(now)
            self.database.save_meta(SUSPENDED_URLS, str(len(crawl.suspended)))
            if isinstance(crawl.strategy, OwnFrontier):  # its frontier is not in a table
                waiting = len(crawl.frontier) + len(crawl.frontier.in_flight())
                self.database.save_meta("waiting", str(waiting))
        self.database.commit()
        if self.sync_due is None:
            self.sync_due = now + settings.sync_time

    def sync_soon(self, now: float) -> None:
        """Sync commits to disk in the background, at most `sync_time` seconds after the first, to survive a power cut.

        The WARC is synced before the database, so that every recorded page can be read. If the power fails in between,
        the next `resume` finds the pages that can't be read and fetches them again.
        """
        if self.sync_due is not None and now >= self.sync_due and self.repository.sync_soon(self.database.sync):
            self.sync_due = None

    def sync(self) -> None:
        """Sync all commits to disk and wait, so that they survive a power cut."""
        self.repository.sync()
        self.database.sync_names()
        self.sync_due = None

    def _save_end(self) -> None:
        """Save the end of the WARC, and how far it is synced."""
        repository = self.repository
        repository.finish_sync()
        if repository.end().file:
            self.database.save_meta("warc_end", str(repository.end()))
        if repository.synced != self.synced:
            self.synced = repository.synced
            self.database.save_meta("warc_synced", str(self.synced))

    def _save_run(self, now: float) -> None:
        self.runs[-1:] = [(self.runs[-1][0], now)]
        if len(self.runs) > MOST_RUNS:  # merge the two oldest into one of the same total length
            (begin, end), (next_begin, next_end) = self.runs[:2]
            self.runs[:2] = [(next_begin - (end - begin), next_end)]
        self.database.save_meta("runs", json.dumps(self.runs))

    def seconds(self, now: float | None = None) -> float:
        """How long this crawl has run up to the last commit or `now`, without the time between runs."""
        until = self.runs[-1][1] if self.runs else 0.0
        return sum(end - begin for begin, end in self.runs) + (max(0.0, now - until) if now is not None else 0.0)

    @property
    def budget(self) -> int:
        """The page budget: from crawl.toml, unless it was changed later."""
        saved = self.database.meta_number("pages_asked")
        return saved if saved > 0 else self.request.settings.pages

    def revise_verdicts(self, crawl: Crawl) -> None:
        """Save the latest verdicts of a judge that learns."""
        revised = crawl.judging.revised()
        self.history.revise({url: (verdict.relevance, verdict.relevant) for url, verdict in revised.items()})

    @property
    def suspended_urls(self) -> int:
        """The number of waiting URLs that look like traps, as of the last commit."""
        return self.database.meta_number(SUSPENDED_URLS)

    def finish(self, reason: str, now: float) -> None:
        """Save why the run ended and everything else, and index the pages for replay tools."""
        if self.crawl is not None:
            self.revise_verdicts(self.crawl)
            self.snapshots.save(self.crawl, self.history.last_event())
            self.snapshots.save_doubts(self.crawl)
        self._save_reason(reason, now)
        self.repository.sync()
        self.commit(now)
        self.sync()
        with contextlib.suppress(OSError, OurFault):  # the index can be made later
            cdxj.refresh(self.path / "pages", INDEXED, self.repository.written)

    def stopped(self, reason: str, now: float) -> None:
        """Save why a run stopped, and everything since the last commit unless there is no room for it."""
        try:
            self._save_reason(reason, now)
            self.commit(now, reserve=False)
        except (OurFault, OSError):  # this connection is unusable; a line or two may still fit into the old WAL
            with (
                contextlib.suppress(OurFault, OSError),
                contextlib.closing(CrawlDatabase(self.path / "crawl.db")) as database,
            ):
                database.save_meta("ended", reason)
                database.save_meta("ended_at", str(now))
                database.commit()

    def failed(self, failure: PluginFailure, now: float) -> None:
        """Save which plug-in ended the run, and everything since the last commit."""
        self.database.save_meta("plugin_failure", failure.to_json())
        self.stopped(PLUGIN_FAILED, now)

    def plugin_failure(self) -> PluginFailure | None:
        """The error of a plug-in that ended a run; the latest if there were several."""
        return PluginFailure.parse(self.database.meta("plugin_failure"))

    def _save_reason(self, reason: str, now: float) -> None:
        self.database.save_meta("ended", reason)
        self.database.save_meta("ended_at", str(now))

    def ended(self, last_page: float) -> str:
        """Why the last run ended; empty if its process was killed.

        The saved reason counts if it is not older than the last commit. It is not compared with the times of pages,
        which may be later if the clock was set back. Folders of old versions have no runs; there the last page counts.
        """
        runs = _read_runs(self.database.meta("runs"))
        try:
            ended_at = float(self.database.meta("ended_at", "0"))
        except ValueError:
            ended_at = 0.0
        return self.database.meta("ended") if ended_at >= (runs[-1][1] if runs else last_page) else ""

    def saved(self, relearn: bool = False) -> Saved:
        """The state of the crawl for `resume`, as of the last commit. With `relearn` it contains no snapshots.

        Raises `StateDamaged` if a snapshot can't be read.
        """
        return Saved(
            self._loop_state(),
            self.snapshots.learned("strategy", relearn),
            self.snapshots.learned("judge", relearn),
            self.salvaged,
            tuple(self.forgotten),
        )

    def _loop_state(self) -> LoopState | None:
        """The saved state of the loop; an empty state, and a note in `recovered`, if it is damaged."""
        try:
            plain = self.database.state("crawl")
            return None if plain is None else from_plain({**plain, "figures": saved_figures(plain)}, LoopState)
        except (FolderBroken, ValueError) as error:
            why = error.problem if isinstance(error, FolderBroken) else str(error)
            self.recovered.append(f"the saved state of the loop can't be read ({why}): retries start again from zero")
            return LoopState.empty()

    def doubts(self) -> list[str]:
        """Reasons why the judge's verdicts may be wrong, as of the last snapshot or the end of the last run."""
        return self.snapshots.doubts()

    def host_clock(self, now: float) -> HostClock:
        """The clock of this crawl's hosts, with those that rest. Other hosts are read when needed."""
        self.database.set_clock(now, self.runs[-1][1] if self.runs else now, DAY)
        return self.hosts.host_clock(self.request.settings, now)

    def close(self) -> None:
        """Close the folder. Uncommitted changes are lost, as after a crash."""
        with contextlib.ExitStack() as stack:  # runs all three even if one fails
            stack.callback(self.release)
            stack.callback(self.database.close)
            stack.callback(self.repository.close)

    def __enter__(self) -> CrawlFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _read_runs(text: str) -> list[tuple[float, float]]:
    try:
        runs = from_json(text or "[]", list[tuple[float, float]])
    except ValueError:
        return []  # damaged: the times of the pages are used instead
    return [run for run in runs if 0.0 <= run[0] <= run[1] < LATEST]
