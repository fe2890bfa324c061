"""The contract of a repository.

    for name, check in repository_contract(MyRepository):
        check()

For a repository that survives a restart, also pass `reopen`, which takes the old repository and returns the one that a
new process would find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenthound.errors import FolderBroken
from scenthound.model import Response
from scenthound.ports import Repository, Where

HTML = (("Content-Type", "text/html"), ("X-Twice", "1"), ("X-Twice", "2"))
RESPONSES = [
    Response("http://a.test/", 200, "OK", HTML, b"<p>bees</p>"),
    Response("http://a.test/", 200, "OK", HTML, b"<p>the same URL again</p>"),
    Response("http://b.test/caf\u00e9?q=1", 404, "Not Found", HTML[:1], b""),
    Response("http://c.test/", 200, "OK", (("Content-Type", "image/png"),), bytes(range(256)) * 50),
    Response("http://d.test/", 301, "Moved", (("Location", "http://e.test/"),), b"\r\n\r\nWARC/1.1\r\n"),
]


def repository_contract(
    make: Callable[[], Repository], reopen: Callable[[Repository], Repository] | None = None
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks for a repository, each as a name and a function that asserts."""

    def filled_repository() -> tuple[Repository, list[Where]]:
        repository = make()
        return repository, [repository.put(response, float(n)) for n, response in enumerate(RESPONSES)]

    def check_contents(repository: Repository, locations: list[Where]) -> None:
        for where, response in reversed(list(zip(locations, RESPONSES, strict=True))):
            stored = repository.get(where)
            assert (stored.url, stored.status, stored.body) == (response.url, response.status, response.body)
            assert [pair for pair in stored.headers if pair in response.headers] == list(response.headers)

    def reads_stored_responses() -> None:
        repository, locations = filled_repository()
        assert len(set(locations)) == len(locations), "each response has its own location"
        check_contents(repository, locations)
        repository.flush()
        repository.sync()
        check_contents(repository, locations)
        repository.close()

    def after_a_restart() -> None:
        if reopen is not None:
            repository, locations = filled_repository()
            repository.flush()
            reopened = reopen(repository)
            check_contents(reopened, locations)
            later = reopened.put(RESPONSES[0], 99.0)
            assert later not in locations
            check_contents(reopened, locations)
            reopened.close()

    def fails_without_response() -> None:
        repository, locations = filled_repository()
        file, offset, length = locations[-1]
        for where in (Where("no-such-file", 0, 10), Where("../outside", 0, 10), Where(file, offset + 10**6, length)):
            try:
                repository.get(where)
            except FolderBroken:
                continue
            raise AssertionError(f"something was found at {where}")
        repository.close()

    yield "stored responses can be read, in any order", reads_stored_responses
    yield "flushed responses survive a restart", after_a_restart
    yield "a location without a response raises FolderBroken", fails_without_response
