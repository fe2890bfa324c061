"""Every attack that the desk claims to stop is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scenthound.search import index_folder
from support.desk import ADDRESS, TOKEN, WITH_TOKEN, client
from support.small_crawl import small_crawl

CHANGES = [
    ("/api/collections", {"folder": "/tmp"}),
    ("/api/crawls", {"topic": "balloons", "seeds": "http://a.test/"}),
    ("/api/collections/crawl/orders", {"action": "pause"}),
    ("/api/collections/crawl/labels", {"url": "http://a.test/", "on_topic": True}),
    ("/api/collections/crawl/resume", {}),
]
READS = ["/", "/c/crawl", "/api/collections", "/api/collections/crawl", "/metrics", "/api/openapi.json"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("desk")
    folder = small_crawl(home / "crawl")
    index_folder(folder)
    with client(home / "home", folder) as made:
        yield made


@pytest.mark.parametrize(("path", "body"), CHANGES)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Cookie": f"scenthound_reader={TOKEN}"}],
)
def test_no_change_without_the_token(desk: TestClient, path: str, body: object, headers: dict[str, str]) -> None:
    answer = desk.post(path, json=body, headers=headers)
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8770", "127.0.0.1:9999", "127.0.0.1", "", "localhost.evil.example:8770"]
)
def test_a_name_that_is_not_the_desk_is_refused(desk: TestClient, host: str) -> None:
    assert desk.get("/api/collections", headers={"Host": host}).status_code == 421
    assert (
        desk.post(
            "/api/collections/crawl/orders", json={"action": "pause"}, headers={"Host": host, **WITH_TOKEN}
        ).status_code
        == 421
    )


@pytest.mark.parametrize("host", ["127.0.0.1:8770", "localhost:8770", "LOCALHOST:8770", "[::1]:8770"])
def test_the_names_of_the_desk_are_accepted(desk: TestClient, host: str) -> None:
    assert desk.get("/api/collections", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost"])
def test_a_page_of_another_origin_can_change_nothing(desk: TestClient, origin: str) -> None:
    headers = {"Origin": origin, **WITH_TOKEN}
    assert desk.post("/api/collections/crawl/orders", json={"action": "pause"}, headers=headers).status_code == 403
    assert desk.get("/api/collections", headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_can_neither_read_nor_frame(desk: TestClient, site: str) -> None:
    def asked(mode: str, dest: str) -> int:
        fetched = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
        return desk.get("/c/crawl", headers=fetched).status_code

    assert asked("no-cors", "script") == 403
    assert asked("cors", "empty") == 403
    assert asked("navigate", "iframe") == 403
    assert asked("navigate", "document") == 200


@pytest.mark.parametrize("path", READS)
def test_every_reply_has_a_strict_policy(desk: TestClient, path: str) -> None:
    headers = desk.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_pages_have_no_inline_script_style_or_handler(desk: TestClient) -> None:
    for path in ("/", "/c/crawl", "/c/crawl/search?q=balloons", "/c/crawl/why", "/c/crawl/page?url=http://a.test/"):
        html = desk.get(path).text
        assert not re.findall(r"<script(?![^>]* src=)[^>]*>", html)
        assert "<style" not in html
        assert not re.findall(r"<[^>]*\s(?:on\w+|style)=", html)
        assert not re.findall(r'(?:src|href)="(?:https?:)?//(?!a\.test|b\.test|c\.test)', html), (
            "nothing from elsewhere"
        )


def test_scripts_never_parse_markup() -> None:
    for file in resources.files("scenthound.desk").joinpath("static").iterdir():
        if file.name.endswith(".js"):
            code = file.read_text(encoding="utf-8")
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
                assert word not in code, f"{file.name}: {word}"


def test_beyond_loopback_reading_needs_the_token_too(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with client(tmp_path / "home", folder, host="192.0.2.7") as desk:
        assert {desk.get(path).status_code for path in READS} == {401}
        assert desk.get("/api/collections", headers=WITH_TOKEN).status_code == 200
        assert desk.get("/?token=wrong", follow_redirects=False).status_code == 401
        answer = desk.get(f"/?token={TOKEN}", follow_redirects=False)
        assert answer.status_code == 303
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert desk.get("/c/crawl").status_code == 200  # with the cookie
        assert desk.post("/api/collections/crawl/orders", json={"action": "pause"}).status_code == 401


def test_a_stored_page_has_an_opaque_origin_and_nothing_of_its_markup(tmp_path: Path) -> None:
    body = (
        "<h1 onclick=x()>Head</h1><script>alert(1)</script><img src=//evil.test/x onerror=alert(1) alt='a <b>'>"
        "<a href='javascript:alert(1)'>link</a><iframe src=//evil.test></iframe><form action=//evil.test><input></form>"
        "<svg><script>alert(1)</script></svg><style>*{}</style>"
        "<base href=//evil.test><meta http-equiv=refresh content=9>"
    )
    folder = small_crawl(tmp_path / "crawl", pages=1)
    from scenthound.desk.stored_copy import stored_copy
    from scenthound.web.html_document import parse_html

    shown = stored_copy(parse_html(body, "http://a.test/"))
    inside = shown.partition("<body>")[2]
    assert inside == "<h1>Head</h1><small>[image: a &lt;b&gt;]</small><u>link</u></body></html>"
    with client(tmp_path / "home", folder) as desk:
        answer = desk.get("/c/crawl/copy", params={"url": "http://a.test/"})
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none';")
        assert 'sandbox=""' in desk.get("/c/crawl/page", params={"url": "http://a.test/"}).text


def test_a_folder_that_was_not_opened_can_not_be_reached(desk: TestClient, tmp_path: Path) -> None:
    small_crawl(tmp_path / "secret")
    for name in (f"..%2f..%2f{tmp_path}/secret", "%2fetc", "..", "crawl%00", "crawl%2f..%2fsecret"):
        assert desk.get(f"/api/collections/{name}").status_code in (404, 307)
    for name in ("..%2f__init__.py", "%2e%2e/app.py", "desk.py", "../app.py"):
        assert desk.get(f"/static/{name}").status_code == 404


def test_too_much_at_once_is_refused(desk: TestClient) -> None:
    headers = {**WITH_TOKEN, "Content-Type": "application/json"}
    answer = desk.post("/api/crawls", content=b" " * 5_000_001, headers=headers)
    assert answer.status_code == 413
    unstated = desk.post("/api/crawls", content=(b" " * 1_000_000 for _ in range(6)), headers=headers)
    assert (unstated.status_code, unstated.json()["error"]) == (413, "the request body is too large")
    assert ADDRESS  # the desk is still there
    assert desk.get("/").status_code == 200
