"""Bad parameters: every route refuses them in words, with all headers, and never with status 500."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from scenthound.desk.api_base import Desk
from scenthound.desk.api_operations import Operation, description
from scenthound.desk.apps.companion import Companion
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.jobs import Jobs
from scenthound.desk.pairing import Pairings
from scenthound.desk.request_parameters import Integer
from scenthound.desk.security import Access
from scenthound.desk.start_processes import NewCrawl
from scenthound.desk.web_app import ROUTES, make_app
from scenthound.errors import BadUsage
from scenthound.ports import Failure
from scenthound.search import index_folder
from support.desk import ADDRESS, TOKEN, WITH_TOKEN
from support.small_crawl import small_crawl

ZEROS, DIGITS = "0" * 5_000, "9" * 5_000
NUMBERS = [ZEROS, f"{ZEROS}1", f"{'0' * 30}999999999", "9" * 18, "9" * 19, DIGITS, f"-{DIGITS}", "\u0661", "\u00b2"]
NUMBERS += ["", " 1", *"-1 -0 +1 1_0 1.0 1e3 1e999 nan inf 0x10".split()]
TEXTS = ["", " ", "\0", "%", "'", '"', "a" * 21_000, "\U0010ffff", "http://[", f"http://{DIGITS}", "//", f"{ZEROS}1"]
FOR_PAGES = ["", "\0", "-1", "\u00b2", "nan", "9" * 19, "http://["]
LONG_FOR_PAGES = [f"{ZEROS}1", DIGITS, "a" * 21_000]
RAW = ["%ED%A0%80", "%FF", "%"]
"""Values as they are on the wire: a lone surrogate, what is not UTF-8, and what is no escape."""
QUERY = "q url like host offset limit order page after count weight min_relevance since until category language state"
QUERY += " reason searchTerms startIndex startPage topic strategy metric n links source token on_topic label c agent"
PATH_VALUES = ["crawl", "0", "-1", DIGITS, f"{ZEROS}1", "%00", "%ED%A0%80", "\u00b2", "%2e%2e"]
BODY: list[Any] = [0, -1, 10**400, 10**18, 1e308, 0.5, True, None, "", " ", "\ud800", "a\0b", DIGITS, [], {}]
BODY += [["\ud800"], [{}], [0], {"url": "\ud800"}]
NOT_HERE = ("/events",)  # an endless answer


class NoJobs(Jobs):
    def start(self, *arguments: Any) -> Any:
        raise BadUsage("not here", "")


class NoProcesses:
    """Stands for the processes of a desk: what would be started is refused."""

    def __init__(self) -> None:
        self.started: list[NewCrawl] = []

    def start_crawl(self, path: object, new: NewCrawl) -> None:
        self.started.append(new)
        raise BadUsage("not here", "")

    def run_command(self, arguments: object) -> dict[str, Any]:
        raise BadUsage("not here", "")

    def resume(self, path: object) -> None:
        raise BadUsage("not here", "")

    def follow(self, path: object) -> None:
        pass

    unfollow = follow

    def close(self) -> None:
        pass

    jobs = NoJobs()


class Silent:
    """A web that does not answer."""

    async def fetch(self, url: str, most: int | None = None) -> Failure:
        return Failure("timeout")


@pytest.fixture(scope="module")
def started() -> NoProcesses:
    return NoProcesses()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, started: NoProcesses) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("bad")
    folder = small_crawl(home / "crawl")
    index_folder(folder)
    access, companion = Access("127.0.0.1", 8770, TOKEN), Companion(home / "kept", fetcher=Silent())
    parts = {"companion": companion, "pairings": Pairings(home / "kept"), "processes": started}
    with TestClient(make_app(Desk(access, Collections(home / "home", [folder]), **parts)), base_url=ADDRESS) as made:
        yield made


def assert_fine(answer: Any, what: object) -> None:
    assert answer.status_code < 500, (what, answer.text[:300])
    assert "default-src 'none'" in answer.headers["content-security-policy"], what
    assert answer.headers["x-content-type-options"] == "nosniff", what
    if answer.status_code >= 400 and answer.headers["content-type"] == "application/json":
        assert len(answer.content) < 2_000, what
        assert answer.json()["error"], what


def paths_of(route: Route) -> list[str]:
    """The path with a crawl that exists, and with each bad value in each place."""
    names = list(route.param_convertors)
    good = {name: "crawl" if name == "name" else "0" for name in names}

    def filled(values: dict[str, str]) -> str:
        path = route.path
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
        return path

    return [filled(good), *(filled({**good, name: value}) for name in names for value in PATH_VALUES)]


GETS = [route for route in ROUTES if "GET" in (route.methods or ()) and not route.path.endswith(NOT_HERE)]
SCHEMAS = description(ROUTES)["components"]["schemas"]
POSTS = [route for route in ROUTES if isinstance(route, Operation) and route.method == "POST"]


@pytest.mark.parametrize("route", GETS, ids=lambda route: route.path)
def test_no_path_or_query_makes_a_page_fail(desk: TestClient, route: Route) -> None:
    first, *others = paths_of(route)
    for path in others:
        assert_fine(desk.get(path, headers=WITH_TOKEN, follow_redirects=False), path)
    for query in queries_of(route):
        what = (first, [(name, value[:30]) for name, value in query.items()][:2])
        assert_fine(desk.get(first, params=query, headers=WITH_TOKEN), what)
    for raw in RAW:
        joined = "&".join(f"{name}={raw}" for name in QUERY.split())
        assert_fine(desk.get(f"{first}?{joined}", headers=WITH_TOKEN), (first, raw))


def queries_of(route: Route) -> Iterator[dict[str, str]]:
    """Bad values, for the parameters that the API declares; pages declare none."""
    if isinstance(route, Operation):
        for declared in route.openapi["parameters"]:
            if declared["in"] == "query":
                is_number = declared["schema"]["type"] in ("integer", "number")
                yield from ({declared["name"]: value} for value in (NUMBERS if is_number else TEXTS))
        return
    yield from (dict.fromkeys(QUERY.split(), value) for value in FOR_PAGES)
    yield from ({name: value} for name in ("offset", "url", "q") for value in LONG_FOR_PAGES)


@pytest.mark.parametrize("route", POSTS, ids=lambda route: route.path)
def test_no_body_makes_a_request_fail(desk: TestClient, route: Operation) -> None:
    path = paths_of(route)[0]
    (body,) = route.kinds or (None,)
    properties = {} if body is None else SCHEMAS[body.__name__]["properties"]
    good: dict[str, Any] = {
        name: {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": []}[shape.get("type", "string")]
        for name, shape in properties.items()
    }
    good |= {name: "http://a.test/" for name in ("url", "seeds") if name in good}
    good |= {name: shape["enum"][0] for name, shape in properties.items() if "enum" in shape}
    for name in properties:
        for value in BODY:
            sent = json.dumps({**good, name: value})
            assert_fine(desk.post(path, content=sent, headers=WITH_TOKEN), (path, name, sent[:200]))
    for raw in (
        b"",
        b"\xed\xa0\x80",
        b'{"a": "\xed\xa0\x80"}',
        b"[" * 100_000,
        b"1" * 5_000,
        b"NaN",
        b"\xff\xfe",
        b'"',
    ):
        assert_fine(desk.post(path, content=raw, headers=WITH_TOKEN), (path, raw[:30]))


@pytest.mark.parametrize("length", ["\u00b2", "-1", "9" * 5_000, "0" * 5_000, "x", ""])
def test_a_bad_length_is_refused(desk: TestClient, length: str) -> None:
    headers = {**WITH_TOKEN, "Content-Length": length.encode()}
    assert_fine(desk.post("/api/crawls", content=b"{}", headers=headers), length)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "value"),
    [("7", 7), ("007", 7), ("0" * 5_000 + "7", 7), ("10", 10), ("0" * 30, 0)],
)
def test_a_number_is_checked_by_its_value(written: str, value: int) -> None:
    assert Integer("n", "", 1, 0, 10).of({"n": written}) == value


@pytest.mark.parametrize("written", ["11", "0" * 18 + "11", "0" * 5_000 + "11", "1" * 5_000, "-1", "", "1.0", "\u0661"])
def test_a_number_that_is_too_large_or_none_is_refused_however_it_is_written(written: str) -> None:
    with pytest.raises(BadUsage, match="invalid value for `n`") as caught:
        Integer("n", "", 1, 0, 10).of({"n": written})
    assert caught.value.hint == "use a whole number from 0 to 10"
    assert len(caught.value.message) < 100


def test_text_that_is_not_unicode_is_refused_in_words(desk: TestClient) -> None:
    body = '{"topic": "balloons \\ud800", "seeds": "http://a.test/"}'
    answer = desk.post("/api/crawls", content=body, headers=WITH_TOKEN)
    assert answer.status_code == 400
    assert "half a character" in answer.json()["error"]


def test_a_number_of_pages_that_makes_no_sense_is_refused_and_nothing_starts(
    desk: TestClient, started: NoProcesses
) -> None:
    crawl, question = {"topic": "balloons", "seeds": "http://a.test/"}, {"query": "balloons", "seeds": "http://a.test/"}
    started.started.clear()
    for path, body in (("/api/crawls", crawl), ("/api/questions", question)):
        for pages in (0, -1, 10**12, 10**400, "", "5", None, 1.5, True):
            answer = desk.post(path, json={**body, "pages": pages}, headers=WITH_TOKEN)
            assert answer.status_code == 400, pages
            assert "pages" in answer.json()["error"]
            assert answer.json()["hint"]
    assert not started.started


def test_an_error_that_nobody_expected_has_all_headers_and_says_nothing_of_the_inside(
    desk: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr("scenthound.desk.crawl_api.listing", fail)
    answer = desk.get("/api/collections")
    assert answer.status_code == 500
    assert answer.json() == {"error": "something went wrong", "hint": "the terminal in which the desk runs shows what"}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


def test_every_field_of_a_number_has_limits(desk: TestClient) -> None:
    def status(weight: float) -> int:
        body = {"word": "balloon", "weight": weight}
        return int(desk.post("/api/companion/words", json=body, headers=WITH_TOKEN).status_code)

    assert [status(weight) for weight in (5, 0.5, 100, 101, -1, 10**400)] == [200, 200, 200, 400, 400, 400]


@pytest.mark.parametrize("value", ["0", "-1", "1" * 5_000, "0" * 5_000, "9" * 18, "\u00b2", "1.5", "1e3"])
def test_a_budget_that_makes_no_sense_is_refused(desk: TestClient, value: str) -> None:
    answer = desk.post("/api/collections/crawl/orders", json={"action": "budget", "value": value}, headers=WITH_TOKEN)
    assert answer.status_code == 400
    assert "not a number of pages" in answer.json()["error"]
    assert "a whole number from 1 to" in answer.json()["hint"]
