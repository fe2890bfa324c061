"""The folders that the desk shows: those it was started with, those opened later, and those in its home folder."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from scenthound.errors import BadConfig

_UNSAFE = re.compile(r"[^a-z0-9]+")
MOST_FOLDERS = 500


def is_crawl(path: Path) -> bool:
    return (path / "crawl.toml").is_file()


def is_experiment(path: Path) -> bool:
    return (path / "experiment.toml").is_file()


def _folders_in(folder: Path) -> tuple[Path, list[Path]]:
    """Return the absolute path, and the folders to examine: this folder or its subfolders. Raises `BadConfig`."""
    try:
        path = folder.expanduser().resolve()
        if not path.is_dir():
            raise BadConfig(f"there is no folder {path}", "choose the folder of a crawl")
        is_single = is_crawl(path) or is_experiment(path)
        return path, [path] if is_single else sorted(path.iterdir())[:MOST_FOLDERS]
    except (OSError, ValueError, RuntimeError):  # path too long, not permitted or invalid; unknown user
        raise BadConfig("this folder can't be opened", "choose the folder of a crawl") from None


class OpenedFolders(NamedTuple):
    """The names of the crawls and experiments found in a folder."""

    crawls: list[str]
    experiments: list[str]


class Collections:
    """The folders of crawls and experiments, each with a short, URL-safe name. Thread-safe."""

    def __init__(self, home: Path, folders: list[Path]) -> None:
        self.home = home
        self._paths: dict[str, Path] = {}
        self._experiments: dict[str, Path] = {}
        self._reserved: set[Path] = set()
        self._lock = Lock()
        for path in folders:
            self.open(path)

    def open(self, path: Path) -> OpenedFolders:
        """Add the folder of a crawl or an experiment, or all such subfolders. Raises `BadConfig` if there are none."""
        path, folders = _folders_in(path)
        crawls = [self._add(self._paths, folder) for folder in folders if is_crawl(folder)]
        experiments = [self._add(self._experiments, folder) for folder in folders if is_experiment(folder)]
        if not crawls and not experiments:
            raise BadConfig(f"{path} is not a crawl: it has no crawl.toml", "choose the folder of a crawl")
        return OpenedFolders(crawls, experiments)

    def _add(self, folders: dict[str, Path], path: Path) -> str:
        with self._lock:
            for name, folder in folders.items():
                if folder == path:
                    return name
            base = _UNSAFE.sub("-", path.name.lower()).strip("-")[:60] or "crawl"
            name, number = base, 2
            while name in folders:
                name, number = f"{base}-{number}", number + 1
            folders[name] = path
            return name

    def all(self) -> dict[str, Path]:
        """All crawl folders that exist now, by name."""
        if self.home.is_dir():
            for path in sorted(self.home.iterdir())[:MOST_FOLDERS]:
                if is_crawl(path):
                    self._add(self._paths, path.resolve())
        with self._lock:
            return {name: path for name, path in self._paths.items() if is_crawl(path)}

    def find(self, name: str) -> Path | None:
        """The crawl folder with this name."""
        path = self._paths.get(name) or self.all().get(name)
        return path if path is not None and is_crawl(path) else None

    def experiments(self) -> dict[str, Path]:
        """The experiments that were opened, by name."""
        with self._lock:
            return {name: path for name, path in self._experiments.items() if is_experiment(path)}

    def reserve_path(self, topic: str) -> Path:
        """Return a path in the home folder that does not exist yet, named after the topic; never the same one twice."""
        base = "-".join(re.findall(r"\w+", topic.lower()))[:60].strip("-") or "crawl"
        with self._lock:
            path, number = self.home / base, 2
            while path in self._reserved or path.exists():
                path, number = self.home / f"{base}-{number}", number + 1
            self._reserved.add(path)
        return path

    def release_path(self, path: Path) -> None:
        """Offer a path again that was reserved but not used."""
        with self._lock:
            self._reserved.discard(path)
