"""The contracts of a history and of a repository.

    for name, check in history_contract(MyHistory):
        check()

    for name, check in repository_contract(MyRepository):
        check()

For one that survives a restart, also pass `reopen`, which takes the old history or repository and returns the one that
a new process would find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scenthound.errors import FolderBroken
from scenthound.model import Candidate, Event, Miss, Response, Step, Url
from scenthound.ports import History, Repository, Where

A, B, C, D = (Url(f"http://{name}.test/") for name in "abcd")
GONE, OLD, SHUT = Url("http://a.test/gone"), Url("http://a.test/old"), Url("http://shut.test/")


def _step(n: int, url: Url, parent: Url | None = None, similarity: float = 0.5, **more: Any) -> Step:
    fields: dict[str, Any] = {"depth": 0 if parent is None else 1, "status": 200, "bytes": 100 * n, "time": float(n)}
    parts, anchor = {"page": similarity}, f"to {url}"
    more = {"relevance": similarity / 2, "relevant": similarity > 0.6, **more}
    return Step(n, url, parent, anchor, 0.25, parts, similarity, title=f"page {n}", **{**fields, **more})


STEPS = [_step(1, A, carry={"food": 3}), _step(2, B, A, 0.9, requested=OLD, rank=4), _step(3, C, B, 0.9)]
PLACES = [Where("pages-1", 0, 10), None, Where("pages-1", 10, 20)]
MISSES = {
    "retry": Miss(Candidate(GONE, 0.5), "timeout", "no reply"),
    "final": Miss(Candidate(GONE, 0.5, {"food": 1}, parent=A, anchor="x", depth=1), "http-404", "no", 404, 12),
    "refused": Miss(Candidate(SHUT, 0.5), "robots"),
}


def write_short_crawl(history: History) -> History:
    """Write a short crawl: three pages, a redirect, a miss that was tried twice, and a URL that robots.txt forbids."""
    history.record(STEPS[0], PLACES[0])
    history.link(A, iter([B, C, GONE]))
    history.lost(MISSES["retry"], 1.5, dead=False, heard=False)
    history.alias(OLD, B)
    history.record(STEPS[1], PLACES[1])
    history.lost(MISSES["final"], 2.5)
    history.lost(MISSES["refused"], 2.6, heard=False)
    history.record(STEPS[2], PLACES[2])
    history.count("a.test", "nofollow", 2)
    history.count("b.test", "nofollow")
    history.count("b.test", "evicted")
    history.note(Event("born", {"agent": 1}, A, 1))
    history.note(Event("died", {"agent": 1}, B, 2))
    history.note(Event("born", {"agent": 2}, None, 3))
    return history


def history_contract(
    make: Callable[[], History], reopen: Callable[[History], History] | None = None
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks for a history, each as a name and a function that asserts."""

    def written_histories() -> list[History]:
        """A written history and, with `reopen`, one that a new process finds."""
        histories = [write_short_crawl(make())]
        return [*histories, reopen(write_short_crawl(make()))] if reopen is not None else histories

    def is_empty_at_first() -> None:
        history = make()
        assert len(history) == history.highest() == history.last_event() == 0
        assert not history.seen(A)
        assert [*history.trail(), *history.events(), *history.marks(), *history.numbered_after(0)] == []
        assert (history.step_of(A), history.where(A), history.fate(A)) == (None, None, None)
        assert history.lineage(A) == history.best(3) == history.forget([]) == []
        assert history.counts() == history.reasons() == history.counts_of("a.test") == {}

    def what_is_seen() -> None:
        for history in written_histories():
            assert all(map(history.seen, (A, B, C, OLD, GONE, SHUT)))
            assert not history.seen(D)
            assert (history.fate(A), history.fate(D)) == ("crawled", None)
            assert (history.fate(GONE), history.fate(SHUT)) == ("dead: http-404", "dead: robots")
            assert history.fate(OLD) == f"redirected to {B}"

    def a_retry_is_not_the_end() -> None:
        history = make()
        history.lost(MISSES["retry"], 1.0, dead=False, heard=False)
        assert not history.seen(GONE)
        assert history.reasons() == {}

    def in_order() -> None:
        for history in written_histories():
            assert list(history.trail()) == STEPS
            assert len(history) == 3
            urls = [A, GONE, B, GONE, SHUT, C]
            assert [event.url for event in history.events()] == urls
            assert [miss.url for miss in history.misses()] == [GONE, GONE, SHUT]
            miss = list(history.misses())[1]
            assert (miss.parent, miss.anchor, miss.depth, miss.status, miss.bytes) == (A, "x", 1, 404, 12)
            assert (miss.reason, miss.detail, miss.time, dict(miss.carry)) == ("http-404", "no", 2.5, {"food": 1})

    def what_the_strategy_received() -> None:
        for history in written_histories():
            received = list(history.numbered_after(0))
            assert [event.url for _, event, _ in received] == [A, B, GONE, C], "retries and refusals are left out"
            assert [where for _, _, where in received] == [PLACES[0], None, None, PLACES[2]]
            numbers = [number for number, _, _ in received]
            assert numbers == sorted(set(numbers))
            assert history.last_event() == numbers[-1]
            assert [event.url for _, event, _ in history.numbered_after(numbers[1])] == [GONE, C]

    def what_resume_counts() -> None:
        for history in written_histories():
            assert [
                (mark.n, mark.url, mark.similarity, mark.requested, mark.relevance, bool(mark.relevant))
                for mark in history.marks()
            ] == [(step.n, step.url, step.similarity, step.requested, step.relevance, step.relevant) for step in STEPS]
            assert history.highest() == 3
            assert history.counts() == {"nofollow": 3, "evicted": 1}
            assert history.counts_of("b.test") == {"evicted": 1, "nofollow": 1}
            assert history.reasons() == {"http-404": 1, "robots": 1}

    def where_things_are() -> None:
        for history in written_histories():
            assert list(history.places()) == [(A, PLACES[0]), (C, PLACES[2])]
            assert (history.where(A), history.where(B), history.where(D)) == (PLACES[0], None, None)
            assert history.step_of(OLD) == STEPS[1], "a step is found by its alias"
            assert history.lineage(C) == STEPS
            assert history.best(2) == [STEPS[1], STEPS[2]], "ties in the order of the trail"

    def events_of_the_strategy() -> None:
        for history in written_histories():
            assert [event.kind for event in history.strategy_events()] == ["born", "died", "born"]
            assert [event.n for event in history.strategy_events("born")] == [1, 3]
            assert [event.kind for event in history.strategy_events(agent=1)] == ["born", "died"]
            assert [event.kind for event in history.strategy_events(url=B)] == ["died"]

    def later_verdicts() -> None:
        for history in written_histories():
            assert history.revised() == {}
            history.revise({A: (0.9, True), B: (0.1, False)})
            history.revise({A: (0.3, False)})
            assert history.revised() == {A: (0.3, False), B: (0.1, False)}
            assert list(history.trail()) == STEPS, "the first verdicts are kept"

    def a_page_can_be_forgotten() -> None:
        for history in written_histories():
            assert history.forget([C]) == [STEPS[2]]
            assert not history.seen(C)
            assert list(history.trail()) == STEPS[:2]
            assert len(history) == 2
            history.record(_step(4, C, A))
            assert [step.n for step in history.trail()] == [1, 2, 4]
            assert history.highest() == 4
            numbers = [number for number, _, _ in history.numbered_after(0)]
            assert numbers == sorted(set(numbers))

    yield "a new history is empty", is_empty_at_first
    yield "it knows which URLs were seen, and their fate", what_is_seen
    yield "a URL that will be tried again is not seen", a_retry_is_not_the_end
    yield "events are in order", in_order
    yield "it knows what the strategy received, and in which order", what_the_strategy_received
    yield "it keeps the counts of a resumed crawl", what_resume_counts
    yield "it knows where pages are stored, and their lineage", where_things_are
    yield "it keeps the events of the strategy", events_of_the_strategy
    yield "it keeps later verdicts in addition to the first", later_verdicts
    yield "a page whose content is gone can be forgotten", a_page_can_be_forgotten


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
