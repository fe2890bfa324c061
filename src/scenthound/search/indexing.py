"""Build the full-text index of a crawl folder, and keep it current while the crawl runs.

The history is read from the last indexed event on, and each page from its WARC record. The indexer takes none of the
crawl's locks and does not write to its files, so a crawl neither waits for it nor notices if it dies.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from scenthound import url as urls
from scenthound.errors import FolderBroken
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.replies import page_limits
from scenthound.model import Step
from scenthound.page.landing import stored_document
from scenthound.ports import Where
from scenthound.search.results import relevance_of
from scenthound.store.lock import holder, lock
from scenthound.store.text_index import INDEX, Document, TextIndex, remove

BATCH = 64  # events read and committed at a time: a long read would delay the crawl's checkpoints
LONGEST_TEXT = 200_000  # characters indexed per page


class Indexer:
    """Updates one index. Raises `FolderInUse` if another process is doing so."""

    def __init__(self, path: Path, rebuild: bool = False) -> None:
        self._folder = CrawlFolder.look(path)
        self._limits = replace(page_limits(self._folder.request.settings), links=0)  # links are not needed here
        self._index: TextIndex | None = None
        try:
            (path / INDEX).mkdir(exist_ok=True)
            self._lock = lock(path / INDEX)
            try:
                self._index = self._open_index(path / INDEX, rebuild)
            except BaseException:
                self._lock.release()
                raise
        except BaseException:
            self._folder.close()
            raise

    def _open_index(self, path: Path, rebuild: bool) -> TextIndex:
        """Open the index; rebuild it if it is damaged, or ahead of a crawl that was restored from a copy."""
        if not rebuild:
            try:
                index = TextIndex(path, write=True)
                if index.last_event <= self._folder.history.last_event():
                    return index
                index.close()
            except FolderBroken:
                pass
        remove(path)
        return TextIndex(path, write=True)

    @property
    def index(self) -> TextIndex:
        assert self._index is not None
        return self._index

    def catch_up(self, progress: Callable[[int], None] = lambda pages: None) -> int:
        """Index everything recorded so far, and return the number of pages."""
        pages = 0
        while batch := self._next_events():
            documents = [self._document(step, where) for _, step, where in batch if isinstance(step, Step)]
            self.index.add(documents, batch[-1][0])
            pages += len(documents)
            progress(pages)
        return pages

    def follow(self, sleep: Callable[[float], None], every: float = 1.0) -> int:
        """Index until the crawl has ended, and return the number of pages."""
        pages = 0
        while True:
            is_running = holder(self._folder.path) is not None  # checked first, so that the last pages are indexed too
            pages += self.catch_up()
            if not is_running:
                return pages
            sleep(every)

    def _next_events(self) -> list[tuple[int, object, Where | None]]:
        events = self._folder.history.numbered_after(self.index.last_event)
        with contextlib.closing(events):  # type: ignore[type-var]
            return list(islice(events, BATCH))

    def _document(self, step: Step, where: Where | None) -> Document:
        text, language = self._text(where)
        return Document(
            step.url,
            urls.host(step.url),
            step.title,
            step.anchor,
            text[:LONGEST_TEXT],
            relevance_of(step),
            language,
            step.time,
            step.n,
        )

    def _text(self, where: Where | None) -> tuple[str, str]:
        """Text and language of a stored page; empty if its record is lost, so it can still be found by its title."""
        try:
            response = None if where is None else self._folder.repository.get(where)
        except FolderBroken:
            return "", ""
        document = None if response is None else stored_document(response, self._limits)
        if document is None or response is None:
            return "", ""
        declared = document.lang or response.header("content-language")
        return document.text, declared.replace("_", "-").split("-")[0].split(",")[0].strip().lower()[:8]

    def close(self) -> None:
        self.index.close()
        self._lock.release()
        self._folder.close()

    def __enter__(self) -> Indexer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def index_folder(path: Path, rebuild: bool = False, progress: Callable[[int], None] = lambda pages: None) -> int:
    """Update the index of a crawl, and return the number of new pages."""
    with Indexer(path, rebuild) as indexer:
        return indexer.catch_up(progress)
