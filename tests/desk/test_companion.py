"""Who may use the companion, and what it takes: every attack that is named in `security` and `pairing` is tried."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from scenthound.desk.api_base import Desk
from scenthound.desk.apps.companion import Companion
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.pairing import CHALLENGE_SECONDS, CODE_LENGTH, CODE_SECONDS, LETTERS, Pairings, is_extension
from scenthound.desk.security import Access
from scenthound.desk.web_app import make_app, serve
from scenthound.errors import BadConfig, FileDamaged, UnsafeFile
from scenthound.loop.settings import Settings
from scenthound.ports import Failure
from support.companion import API, Extension, mac
from support.desk import ADDRESS, TOKEN, WITH_TOKEN, client

EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
FIREFOX = "moz-extension://2f8a3c1e-0000-4000-8000-123456789abc"
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
    """A desk with a companion, its client, and a paired extension."""

    def __init__(self, desk: Desk, http: TestClient) -> None:
        assert desk.pairings is not None
        assert desk.companion is not None
        self.desk, self.http, self.pairings, self.companion = desk, http, desk.pairings, desk.companion
        self.paired = self.extension()
        assert self.paired.pair().status_code == 201

    def extension(self, origin: str = EXTENSION) -> Extension:
        """An extension that knows a new code."""
        return Extension(self.http, origin, self.pairings.new_code(self.desk.clock()))

    def visit(self, path: str = "visits", **changes: Any) -> Any:
        """A request of the paired extension."""
        return self.paired.post(f"/{path}", {**CHANGES[path], **changes})

    def send(self, path: str, headers: dict[str, str], **changes: Any) -> Any:
        """A request that is not signed."""
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
    assert one.visit().status_code == 202
    assert one.visit("lessons").json() == {"excluded": []}
    answer = one.paired.get("/suggestions?url=http://a.test/").json()
    assert [found["url"] for found in answer["suggestions"]] == ["http://b.test/"]
    assert one.paired.get("").json()["profile"]["pages"] == 1
    assert one.visit("excluded").json()["excluded"] == ["no.test"]


def test_the_desk_proves_that_it_knows_the_key_and_says_it_to_no_other(one: Bench) -> None:
    assert one.paired.challenge()[1]
    one.paired.port = 8771
    assert not one.paired.challenge()[1], "a listener on another port could have passed the challenge on"
    one.paired.port = 8770
    stranger = Extension(one.http, EXTENSION, "guessed")
    answer, is_proved = stranger.challenge()
    assert (answer.status_code, is_proved) == (201, False)
    assert one.paired.key not in answer.text
    answer, _ = Extension(one.http, FIREFOX, "guessed").challenge()
    assert answer.status_code == 401
    again = [one.paired.challenge()[0].json() for _ in range(2)]
    assert again[0]["nonce"] != again[1]["nonce"]


def test_neither_code_nor_key_is_ever_sent(one: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    original = one.http.send

    def send(request: Any, **options: Any) -> Any:
        answer = original(request, **options)
        sent.extend([str(request.url), str(request.headers), request.read().decode(), str(answer.headers), answer.text])
        return answer

    monkeypatch.setattr(one.http, "send", send)
    code = one.pairings.new_code(one.desk.clock())
    firefox = Extension(one.http, FIREFOX, code)
    assert firefox.pair().status_code == 201
    assert firefox.post("/visits", VISIT).status_code == 202
    text = "\n".join(sent)
    assert VISIT["text"] in text
    assert firefox.key not in text
    assert code not in text
    assert code.replace("-", "") not in text


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("origin", [EXTENSION, FIREFOX])
@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer wrong", "Bearer ", f"Bearer {TOKEN}", f"Scenthound nonce={'0' * 64}, mac={'0' * 64}", "Scenthound "],
)
def test_an_extension_without_its_key_gets_an_error_that_says_what_to_do(
    one: Bench, path: str, origin: str, authorization: str | None
) -> None:
    headers = {"Origin": origin, **({} if authorization is None else {"Authorization": authorization})}
    answer = one.send(path, headers)
    assert answer.status_code == 401
    assert answer.json()["error"] == "this extension is not paired with the desk"
    assert "enter the code shown by `scenthound companion`" in answer.json()["hint"]
    assert one.pages == 0


@pytest.mark.parametrize(
    ("method", "target", "body", "origin"),
    [
        ("POST", "visits", b"{}", EXTENSION),
        ("POST", "lessons", None, EXTENSION),
        ("POST", "visits?x=1", None, EXTENSION),
        ("GET", "visits", None, EXTENSION),
        ("POST", "visits", None, FIREFOX),
    ],
)
def test_a_signature_holds_for_one_request_as_it_was_made(
    one: Bench, method: str, target: str, body: bytes | None, origin: str
) -> None:
    content = json.dumps(VISIT).encode()
    headers = {"Origin": EXTENSION, **one.paired.signed("POST", f"{API}/visits", content)}
    changed = {**headers, "Origin": origin}
    answer = one.http.request(method, f"{API}/{target}", content=body or content, headers=changed)
    assert answer.status_code == 401
    headers = {"Origin": EXTENSION, **one.paired.signed("POST", f"{API}/visits", content)}
    assert one.http.post(f"{API}/visits", content=content, headers=headers).status_code == 202
    assert one.http.post(f"{API}/visits", content=content, headers=headers).status_code == 401, "twice"


def test_a_challenge_ends_and_many_of_them_do_not_pile_up(tmp_path: Path) -> None:
    from scenthound.desk.pairing import SignedRequest, key_of

    pairings = Pairings(tmp_path)
    key = key_of(pairings.new_code(0.0), EXTENSION)
    pairings.pair(EXTENSION, 0.0)
    request, nonce = SignedRequest("GET", "/", b""), "a" * 64

    def is_accepted(now: float, flood: int = 0) -> bool:
        given = pairings.challenge(EXTENSION, nonce, False, 1, 0.0)
        assert given is not None
        for _ in range(flood):
            pairings.challenge(EXTENSION, nonce, False, 1, 0.0)
        empty = hashlib.sha256(b"").hexdigest()
        proof = mac(key, "request", "1", given["nonce"], "GET", "/", empty)
        return pairings.accepts(f"Scenthound nonce={given['nonce']}, mac={proof}", None, request, 1, now)

    assert is_accepted(CHALLENGE_SECONDS)
    assert not is_accepted(CHALLENGE_SECONDS + 1)
    assert is_accepted(1.0, flood=900)
    assert not is_accepted(1.0, flood=1_000)


def test_the_key_of_one_extension_is_void_for_another(one: Bench) -> None:
    other = Extension(one.http, FIREFOX, "")
    other.key = one.paired.key
    assert other.post("/visits", VISIT).status_code == 401
    assert one.paired.post("/visits", VISIT, Origin="https://evil.example").status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "chrome-extension://"])
def test_pages_of_the_web_can_neither_pair_nor_send(one: Bench, origin: str) -> None:
    page = Extension(one.http, origin, one.pairings.new_code(one.desk.clock()))
    assert page.challenge(is_pairing=True)[0].status_code == 403
    assert one.send("pairings", {"Origin": origin, **WITH_TOKEN}).status_code == 403
    assert one.send("visits", {"Origin": origin, **WITH_TOKEN}).status_code == 403
    assert not is_extension(origin)


def test_a_script_with_the_token_of_the_desk_can_send_but_not_be_paired(one: Bench) -> None:
    assert one.send("visits", WITH_TOKEN).status_code == 202
    one.pairings.new_code(one.desk.clock())
    for path, body in (("pairings", {}), ("challenges", {"nonce": "a" * 64})):
        answer = one.send(path, WITH_TOKEN, **body)
        assert answer.status_code == 400
        assert "only an extension can be paired" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/api/collections", "/api/crawls", "/api/questions"])
def test_an_extension_may_use_the_companion_and_nothing_else(one: Bench, path: str) -> None:
    with_origin = {"Origin": EXTENSION}
    assert one.http.post(path, json={}, headers=with_origin | one.paired.signed("POST", path, b"{}")).status_code == 403
    assert one.http.get(path, headers=with_origin | one.paired.signed("GET", path)).status_code == 403
    assert one.http.post(path, json={}, headers=one.paired.signed("POST", path, b"{}")).status_code == 401


@pytest.mark.parametrize("path", ["codes", "unpair"])
def test_an_extension_can_neither_make_codes_nor_unpair_others(one: Bench, path: str) -> None:
    assert one.paired.post(f"/{path}", {"origin": EXTENSION}).status_code == 403
    assert one.pairings.origins == [EXTENSION]


def test_people_make_codes_and_unpair(one: Bench) -> None:
    code = one.send("codes", WITH_TOKEN).json()["code"]
    assert code.startswith("8770-")
    assert Extension(one.http, FIREFOX, code[5:]).pair().status_code == 201
    assert one.send("unpair", WITH_TOKEN, origin=EXTENSION).json()["paired"] == [FIREFOX]
    assert one.visit().status_code == 401
    assert one.send("unpair", WITH_TOKEN, origin=EXTENSION).status_code == 400


def test_a_code_works_once_for_a_while_and_can_not_be_guessed(one: Bench) -> None:
    now = one.desk.clock()
    assert len(LETTERS) ** CODE_LENGTH > 2**120
    first, second = one.extension(FIREFOX), one.extension(FIREFOX)
    assert first.pair().status_code == 401, "a new code replaces it"
    assert Extension(one.http, FIREFOX, "wrong").pair().status_code == 401
    assert second.pair().status_code == 201
    assert second.pair().status_code == 401, "it was used"
    assert one.paired.post("/pairings", {}).status_code == 401, "a key is not a code"
    one.pairings.new_code(now - CODE_SECONDS - 1)
    assert one.paired.challenge(is_pairing=True)[0].status_code == 401, "it is too old"


def test_a_pairing_outlives_the_desk_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    with bench(tmp_path) as first:
        first.pairings.listen_on(8771)
        key = first.paired.key
    path = tmp_path / "kept" / "pairings.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Pairings(tmp_path / "kept")
    assert (again.port, again.origins) == (8771, [EXTENSION])
    given = again.challenge(EXTENSION, "a" * 64, False, 8771, 0.0)
    assert given is not None
    assert given["proof"] == mac(key, "desk", "8771", "a" * 64, given["nonce"])


def test_pairings_of_the_first_version_keep_the_port_and_have_to_be_made_again(tmp_path: Path) -> None:
    old = {"version": 1, "port": 8771, "extensions": {EXTENSION: "0" * 64}}
    (tmp_path / "pairings.json").write_text(json.dumps(old))
    pairings = Pairings(tmp_path)
    assert (pairings.port, pairings.origins) == (8771, [])


def test_pairings_that_are_a_link_or_damaged_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairings.json"
    for text in ("", "[]", '{"version": 2, "port": 1, "extensions": {"https://evil.example": "x"}}'):
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
    one.visit()
    answer = one.http.get(API + path, headers=headers)
    assert answer.status_code == 401
    assert "balloon" not in answer.text
    assert one.http.get(API + path, headers=WITH_TOKEN).status_code == 200
    page = one.http.get("/companion").text
    assert "balloon" not in page
    assert "a.test" not in page


@pytest.mark.parametrize("host", ["evil.example:8770", "127.0.0.1:9999", "192.168.0.1:8770"])
def test_a_name_that_is_not_the_desk_is_refused(one: Bench, host: str) -> None:
    assert one.paired.post("/visits", VISIT, Host=host).status_code == 421
    assert one.http.get(API, headers={**WITH_TOKEN, "Host": host}).status_code == 421


def test_the_companion_listens_on_loopback_only(tmp_path: Path) -> None:
    companion, pairings = Companion(tmp_path), Pairings(tmp_path)
    with pytest.raises(BadConfig, match="loopback"):
        serve(tmp_path, [], "0.0.0.0", 0, print, companion=companion, pairings=pairings)


@pytest.mark.parametrize("path", ["visits", "lessons"])
def test_a_private_window_is_refused_and_one_that_does_not_say_too(one: Bench, path: str) -> None:
    answer = one.visit(path, private=True)
    assert answer.status_code == 400
    assert "private window" in answer.json()["error"]
    unsaid = {key: value for key, value in CHANGES[path].items() if key != "private"}
    assert one.paired.post(f"/{path}", unsaid).status_code == 400
    assert one.pages == 0


def test_an_excluded_site_is_refused_and_the_extension_gets_the_list(one: Bench) -> None:
    one.send("excluded", WITH_TOKEN, sites=["a.test"])
    answer = one.visit()
    assert answer.status_code == 400
    assert answer.json()["error"] == "a.test is excluded"
    assert one.pages == 0
    assert one.paired.get("").json()["excluded"] == ["a.test"]


def test_too_much_at_once_is_refused_announced_or_not(one: Bench) -> None:
    assert one.visit(text="x" * 1_100_000).status_code == 413
    pieces = iter([b'{"text": "', *[b"x" * 100_000] * 60, b'"}'])
    assert one.http.post(f"{API}/visits", content=pieces, headers={"Origin": EXTENSION}).status_code == 413
    many = [{"url": "http://b.test/", "text": ""}] * 2_001
    assert one.visit(links=many).status_code == 400
    assert one.pages == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "ftp://a.test/"}, {"url": ""}, {"url": "file:///etc/passwd"}, {"text": 5}, {"links": {}},
        {"links": ["x"]}, {"links": [{"url": 1}]}, {"private": "no"},
    ],
)  # fmt: skip
def test_what_is_not_a_page_is_refused(one: Bench, changes: dict[str, Any]) -> None:
    answer = one.visit(**changes)
    assert answer.status_code == 400
    assert answer.json()["hint"]
    assert one.pages == 0


def test_text_is_text_and_links_that_are_none_are_left_out(one: Bench) -> None:
    hostile = "<img src=x onerror=alert(1)> balloon"
    links = [{"url": "javascript:alert(1)", "text": "balloon"}, {"url": "http://b.test/<b>", "text": hostile}]
    assert one.visit(title=hostile, links=links).status_code == 202
    answer = one.paired.get("/suggestions?url=http://a.test/")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    (found,) = answer.json()["suggestions"]
    assert found["title"] == hostile, "as it is: whoever shows it makes text of it"
    assert found["url"].startswith("http://b.test/")


def test_words_can_be_seen_changed_and_forgotten(one: Bench) -> None:
    one.visit()
    state = one.send("words", WITH_TOKEN, word="zeppelins", weight=9).json()
    assert state["profile"]["words"][0] == {"word": "zeppelins", "weight": 9.0}
    state = one.send("words", WITH_TOKEN, word="balloons", weight=0).json()
    assert state["profile"]["removed"] == ["balloons"]
    assert one.send("words", WITH_TOKEN, word="the", weight=1).status_code == 400
    assert one.send("forget", WITH_TOKEN).json()["profile"] == {"pages": 0, "words": [], "removed": []}
    assert one.send("switch", WITH_TOKEN, on=False).json()["on"] is False
    assert "turned off" in one.visit().json()["error"]
    kept = json.loads((one.companion.folder / "profile.json").read_text())
    assert kept["words"] == []


def test_a_desk_without_a_companion_says_how_to_start_it(tmp_path: Path) -> None:
    with client(tmp_path) as desk:
        answer = desk.get(API, headers=WITH_TOKEN)
        assert answer.status_code == 404
        assert "scenthound companion" in answer.json()["hint"]
        assert "scenthound companion" in desk.get("/companion").text
        assert "/companion" not in desk.get("/").text
