"""Who may use the companion, and what it takes: every attack that is named in `security` and `pairing` is tried."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from scenthound.apps.companion import Companion
from scenthound.desk.api_base import Desk
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.pairing import CODE_SECONDS, MOST_TRIES, Pairings, is_extension
from scenthound.desk.security import Access
from scenthound.desk.web_app import make_app, serve
from scenthound.errors import BadConfig, BadUsage, FileDamaged, UnsafeFile
from scenthound.loop.settings import Settings
from scenthound.ports import Failure
from support.desk import ADDRESS, TOKEN, WITH_TOKEN, client

EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
FIREFOX = "moz-extension://2f8a3c1e-0000-4000-8000-123456789abc"
API = "/api/companion"
BALLOONS = "hot air balloons, pilots, burners and baskets; a balloon flight"
VISIT: dict[str, Any] = {
    "url": "http://a.test/",
    "title": "A",
    "text": BALLOONS,
    "links": [{"url": "http://b.test/", "text": "balloon club"}],
    "private": False,
}
CHANGES: dict[str, dict[str, Any]] = {
    "visits": VISIT,
    "lessons": {"url": "http://a.test/", "kind": "read", "seconds": 5, "private": False},
    "words": {"word": "bees", "weight": 1},
    "excluded": {"sites": ["no.test"]},
    "forget": {},
    "switch": {"on": False},
}
READS = ("", "/suggestions?url=http://a.test/")


class Silent:
    """A web that does not answer: nothing is looked at ahead."""

    async def fetch(self, url: str, most: int | None = None) -> Failure:
        return Failure("timeout")


class Bench:
    """A desk with a companion, its client, and the token of a paired extension."""

    def __init__(self, desk: Desk, http: TestClient) -> None:
        assert desk.pairings is not None
        assert desk.companion is not None
        self.desk, self.http, self.pairings, self.companion = desk, http, desk.pairings, desk.companion
        code = self.pairings.new_code(desk.clock())
        self.token = http.post(f"{API}/pairings", json={"code": code}, headers={"Origin": EXTENSION}).json()["token"]

    @property
    def paired(self) -> dict[str, str]:
        return {"Origin": EXTENSION, "Authorization": f"Bearer {self.token}"}

    def send(self, path: str, headers: dict[str, str], **changes: Any) -> Any:
        return self.http.post(f"{API}/{path}", json={**CHANGES.get(path, {}), **changes}, headers=headers)

    @property
    def pages(self) -> int:
        return int(self.companion.state()["profile"]["pages"])


@contextmanager
def bench(folder: Path, host: str = "127.0.0.1") -> Iterator[Bench]:
    companion = Companion(folder / "kept", Settings(delay=0.0), Silent())
    access, pairings = Access(host, 8770, TOKEN), Pairings(folder / "kept")
    desk = Desk(access, Collections(folder / "home", []), companion=companion, pairings=pairings)
    with TestClient(make_app(desk), base_url=ADDRESS) as http:
        yield Bench(desk, http)


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path) as made:
        yield made


# ---- pairing


def test_a_paired_extension_can_do_all_that_it_needs(one: Bench) -> None:
    assert one.send("visits", one.paired).status_code == 202
    assert one.send("lessons", one.paired).json() == {"excluded": []}
    answer = one.http.get(f"{API}/suggestions?url=http://a.test/", headers=one.paired).json()
    assert [found["url"] for found in answer["suggestions"]] == ["http://b.test/"]
    without_origin = {"Authorization": one.paired["Authorization"]}  # as Chromium asks if it only reads
    assert one.http.get(API, headers=without_origin).json()["profile"]["pages"] == 1
    assert one.send("excluded", one.paired).json()["excluded"] == ["no.test"]


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("origin", [EXTENSION, FIREFOX])
@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Bearer "])
def test_an_extension_without_its_token_gets_an_error_that_says_what_to_do(
    one: Bench, path: str, origin: str, authorization: str | None
) -> None:
    headers = {"Origin": origin, **({} if authorization is None else {"Authorization": authorization})}
    answer = one.send(path, headers)
    assert answer.status_code == 401
    assert answer.json()["error"] == "this extension is not paired with the desk"
    assert "enter the code shown by `scenthound companion`" in answer.json()["hint"]
    assert one.pages == 0


def test_the_token_of_one_extension_is_void_for_another(one: Bench) -> None:
    assert one.send("visits", {**one.paired, "Origin": FIREFOX}).status_code == 401
    assert one.send("visits", {**one.paired, "Origin": "https://evil.example"}).status_code == 403
    assert one.send("visits", {"Authorization": one.paired["Authorization"]}).status_code == 401, "no origin"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "chrome-extension://"])
def test_pages_of_the_web_can_neither_pair_nor_send(one: Bench, origin: str) -> None:
    code = one.pairings.new_code(one.desk.clock())
    assert one.send("pairings", {"Origin": origin, **WITH_TOKEN}, code=code).status_code == 403
    assert one.send("visits", {"Origin": origin, **WITH_TOKEN}).status_code == 403
    assert not is_extension(origin)


def test_a_script_with_the_token_of_the_desk_can_send_but_not_be_paired(one: Bench) -> None:
    assert one.send("visits", WITH_TOKEN).status_code == 202
    code = one.pairings.new_code(one.desk.clock())
    answer = one.send("pairings", WITH_TOKEN, code=code)
    assert answer.status_code == 400
    assert "only an extension can be paired" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/api/collections", "/api/crawls", "/api/questions"])
def test_an_extension_may_use_the_companion_and_nothing_else(one: Bench, path: str) -> None:
    assert one.http.post(path, json={}, headers=one.paired).status_code == 403
    assert one.http.get("/api/collections", headers=one.paired).status_code == 403
    without_origin = {"Authorization": one.paired["Authorization"]}
    assert one.http.post(path, json={}, headers=without_origin).status_code == 401


@pytest.mark.parametrize("path", ["codes", "unpair"])
def test_an_extension_can_neither_make_codes_nor_unpair_others(one: Bench, path: str) -> None:
    assert one.send(path, one.paired, origin=EXTENSION).status_code == 403
    assert one.pairings.origins == [EXTENSION]


def test_people_make_codes_and_unpair(one: Bench) -> None:
    code = one.send("codes", WITH_TOKEN).json()["code"]
    assert code.startswith("8770-")
    assert one.send("pairings", {"Origin": FIREFOX}, code=code[5:]).status_code == 201
    assert one.send("unpair", WITH_TOKEN, origin=EXTENSION).json()["paired"] == [FIREFOX]
    assert one.send("visits", one.paired).status_code == 401
    assert one.send("unpair", WITH_TOKEN, origin=EXTENSION).status_code == 400


def test_a_code_works_once_for_a_while_and_not_by_guessing(tmp_path: Path) -> None:
    pairings = Pairings(tmp_path)
    with pytest.raises(BadUsage, match="no valid code"):
        pairings.pair(EXTENSION, "abcd-efgh", 0.0)
    code = pairings.new_code(0.0)
    with pytest.raises(BadUsage, match="no valid code"):
        pairings.pair(EXTENSION, code, CODE_SECONDS + 1)
    assert pairings.knows(pairings.pair(EXTENSION, code.upper().replace("-", " "), 1.0), EXTENSION)
    with pytest.raises(BadUsage, match="no valid code"):
        pairings.pair(FIREFOX, code, 1.0)
    code = pairings.new_code(0.0)
    for _ in range(MOST_TRIES):
        with pytest.raises(BadUsage, match="wrong code"):
            pairings.pair(FIREFOX, "wrong", 1.0)
    with pytest.raises(BadUsage, match="no valid code"):
        pairings.pair(FIREFOX, code, 1.0)


def test_a_pairing_outlives_the_desk_and_its_token_is_not_stored(tmp_path: Path) -> None:
    pairings = Pairings(tmp_path)
    token = pairings.pair(EXTENSION, pairings.new_code(0.0), 1.0)
    pairings.listen_on(8771)
    path = tmp_path / "pairings.json"
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Pairings(tmp_path)
    assert again.knows(token, EXTENSION)
    assert not again.knows("", EXTENSION)
    assert not again.knows("", "chrome-extension://unknown")
    assert again.port == 8771


def test_pairings_that_are_a_link_or_damaged_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairings.json"
    for text in ("", "[]", '{"version": 1, "port": 1, "extensions": {"https://evil.example": "x"}}'):
        path.write_text(text)
        with pytest.raises(FileDamaged):
            Pairings(tmp_path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        Pairings(tmp_path)


# ---- what is read, and by whom


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": f"scenthound_reader={TOKEN}"}])
def test_its_knowledge_is_not_shown_without_a_token(one: Bench, path: str, headers: dict[str, str]) -> None:
    one.send("visits", one.paired)
    answer = one.http.get(API + path, headers=headers)
    assert answer.status_code == 401
    assert "balloon" not in answer.text
    assert one.http.get(API + path, headers=WITH_TOKEN).status_code == 200
    page = one.http.get("/companion").text
    assert "balloon" not in page
    assert "a.test" not in page


@pytest.mark.parametrize("host", ["evil.example:8770", "127.0.0.1:9999", "192.168.0.1:8770"])
def test_a_name_that_is_not_the_desk_is_refused(one: Bench, host: str) -> None:
    assert one.send("visits", {**one.paired, "Host": host}).status_code == 421
    assert one.http.get(API, headers={**WITH_TOKEN, "Host": host}).status_code == 421


def test_the_companion_listens_on_loopback_only(tmp_path: Path) -> None:
    companion, pairings = Companion(tmp_path), Pairings(tmp_path)
    with pytest.raises(BadConfig, match="loopback"):
        serve(tmp_path, [], "0.0.0.0", 0, print, companion=companion, pairings=pairings)


@pytest.mark.parametrize("path", ["visits", "lessons"])
def test_a_private_window_is_refused_and_one_that_does_not_say_too(one: Bench, path: str) -> None:
    answer = one.send(path, one.paired, private=True)
    assert answer.status_code == 400
    assert "private window" in answer.json()["error"]
    unsaid = {key: value for key, value in CHANGES[path].items() if key != "private"}
    assert one.http.post(f"{API}/{path}", json=unsaid, headers=one.paired).status_code == 400
    assert one.pages == 0


def test_an_excluded_site_is_refused_and_the_extension_gets_the_list(one: Bench) -> None:
    one.send("excluded", WITH_TOKEN, sites=["a.test"])
    answer = one.send("visits", one.paired)
    assert answer.status_code == 400
    assert answer.json()["error"] == "a.test is excluded"
    assert one.pages == 0
    assert one.http.get(API, headers=one.paired).json()["excluded"] == ["a.test"]


def test_too_much_at_once_is_refused_announced_or_not(one: Bench) -> None:
    assert one.send("visits", one.paired, text="x" * 1_100_000).status_code == 413
    pieces = iter([b'{"text": "', *[b"x" * 100_000] * 60, b'"}'])
    assert one.http.post(f"{API}/visits", content=pieces, headers=one.paired).status_code == 413
    many = [{"url": "http://b.test/", "text": ""}] * 2_001
    assert one.send("visits", one.paired, links=many).status_code == 400
    assert one.pages == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "ftp://a.test/"}, {"url": ""}, {"url": "file:///etc/passwd"}, {"text": 5}, {"links": {}},
        {"links": ["x"]}, {"links": [{"url": 1}]}, {"private": "no"},
    ],
)  # fmt: skip
def test_what_is_not_a_page_is_refused(one: Bench, changes: dict[str, Any]) -> None:
    answer = one.send("visits", one.paired, **changes)
    assert answer.status_code == 400
    assert answer.json()["hint"]
    assert one.pages == 0


def test_text_is_text_and_links_that_are_none_are_left_out(one: Bench) -> None:
    hostile = "<img src=x onerror=alert(1)> balloon"
    links = [{"url": "javascript:alert(1)", "text": "balloon"}, {"url": "http://b.test/<b>", "text": hostile}]
    assert one.send("visits", one.paired, title=hostile, links=links).status_code == 202
    answer = one.http.get(f"{API}/suggestions?url=http://a.test/", headers=one.paired)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    (found,) = answer.json()["suggestions"]
    assert found["title"] == hostile, "as it is: whoever shows it makes text of it"
    assert found["url"].startswith("http://b.test/")


def test_words_can_be_seen_changed_and_forgotten(one: Bench) -> None:
    one.send("visits", one.paired)
    state = one.send("words", WITH_TOKEN, word="zeppelins", weight=9).json()
    assert state["profile"]["words"][0] == {"word": "zeppelins", "weight": 9.0}
    state = one.send("words", WITH_TOKEN, word="balloons", weight=0).json()
    assert state["profile"]["removed"] == ["balloons"]
    assert one.send("words", WITH_TOKEN, word="the", weight=1).status_code == 400
    assert one.send("forget", WITH_TOKEN).json()["profile"] == {"pages": 0, "words": [], "removed": []}
    assert one.send("switch", WITH_TOKEN, on=False).json()["on"] is False
    assert "turned off" in one.send("visits", one.paired).json()["error"]
    kept = json.loads((one.companion.folder / "profile.json").read_text())
    assert kept["words"] == []


def test_a_desk_without_a_companion_says_how_to_start_it(tmp_path: Path) -> None:
    with client(tmp_path) as desk:
        answer = desk.get(API, headers=WITH_TOKEN)
        assert answer.status_code == 404
        assert "scenthound companion" in answer.json()["hint"]
        assert "scenthound companion" in desk.get("/companion").text
        assert "/companion" not in desk.get("/").text
