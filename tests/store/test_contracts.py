"""Every history and repository keeps its contract; a plug-in can be tested the same way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from scenthound.lab.testing import history_contract, repository_contract
from scenthound.ports import History, Repository
from scenthound.store.database import CrawlDatabase
from scenthound.store.memory import MemoryHistory, MemoryRepository
from scenthound.store.sqlite_history import SqliteHistory
from scenthound.store.warc_repository import WarcRepository


class Files:
    """Makes histories and repositories in new folders, and reopens them as a new process would."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, itertools.count()
        self._databases: dict[int, tuple[CrawlDatabase, Path]] = {}

    def history(self) -> SqliteHistory:
        return self._opened(self._folder / f"{next(self._numbers)}.db")

    def reopened(self, history: History) -> SqliteHistory:
        database, path = self._databases[id(history)]
        database.commit()
        database.close()
        return self._opened(path)

    def _opened(self, path: Path) -> SqliteHistory:
        database = CrawlDatabase(path)
        made = SqliteHistory(database)
        self._databases[id(made)] = (database, path)
        return made

    def repository(self) -> WarcRepository:
        return WarcRepository(self._folder / f"{next(self._numbers)}", roll=4000)


def again(repository: Repository) -> WarcRepository:
    assert isinstance(repository, WarcRepository)
    repository.close()
    return WarcRepository(repository.folder, roll=4000)


Check = Callable[[], None]


def history_checks(kind: str, files: Files) -> dict[str, Check]:
    if kind == "memory":
        return dict(history_contract(MemoryHistory))
    return dict(history_contract(files.history, files.reopened if kind == "sqlite, reopened" else None))


@pytest.mark.parametrize("kind", ["memory", "sqlite", "sqlite, reopened"])
def test_every_history_keeps_the_contract(kind: str, tmp_path: Path) -> None:
    for says, check in history_checks(kind, Files(tmp_path)).items():
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{kind}: {says}: {error}") from error


@pytest.mark.parametrize("kind", ["memory", "warc", "warc, reopened"])
def test_every_repository_keeps_the_contract(kind: str, tmp_path: Path) -> None:
    make: Callable[[], Repository] = MemoryRepository if kind == "memory" else Files(tmp_path).repository
    for says, check in repository_contract(make, again if kind == "warc, reopened" else None):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{kind}: {says}: {error}") from error


class Forgetful(MemoryHistory):
    """Forgets which events were not delivered to the strategy."""

    def numbered_after(self, event: int):  # type: ignore[no-untyped-def]
        return ((number, found, None) for number, found in enumerate(self.events(), 1) if number > event)


def test_the_contract_detects_a_history_that_breaks_it() -> None:
    with pytest.raises(AssertionError):
        dict(history_contract(Forgetful))["it knows what the strategy received, and in which order"]()
