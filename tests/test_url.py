"""URLs are resolved by the standard, then canonicalised by sheet 10.4."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import url as urls
from scenthound.errors import NotAUrl
from scenthound.url import UrlRules, canonical, make
from support.suites import Suites

HTTP = ("http://", "https://")


@pytest.mark.parametrize(
    ("found", "key"),
    [
        ("HTTP://WWW.Example.org", "http://www.example.org/"),
        ("http://x.test:80/a/index.html", "http://x.test/a/"),
        ("http://x.test:8080/a/Index.HTM?q=1#z", "http://x.test:8080/a/?q=1"),
        ("http://x.test/a/myindex.html", "http://x.test/a/myindex.html"),
        ("https://x.test:443/", "https://x.test/"),
        ("http://x.test/a/./b/../../c/", "http://x.test/c/"),
        ("http://X.test./a b", "http://x.test/a%20b"),
        ("http://x.test/~u/%7ev", "http://x.test/%7Eu/%7Ev"),
        ("http://x.test/a?b=%e4&c=~", "http://x.test/a?b=%e4&c=~"),
        ("http://user:secret@x.test/a", "http://x.test/a"),
        ("http://user@x.test?q", "http://x.test/?q"),
        ("http://b\u00fccher.test/", "http://xn--bcher-kva.test/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::1]:80/a", "http://[::1]/a"),
        ("http://x.test/The_%2528Last%2529", "http://x.test/The_%2528Last%2529"),
    ],
)
def test_a_url_has_one_key(found: str, key: str) -> None:
    assert urls.make(found) == key


@pytest.mark.parametrize(
    "raw",
    ["mailto:a@x.test", "ftp://x.test/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "http://",
     "http://a b/", "x.test/a", "http://x.test:99999/", "http://x.test/" + "a" * 2000, "http:///", "\ud800", "http://[::1"],
)  # fmt: skip
def test_what_is_not_a_web_address_is_refused_by_name(raw: str) -> None:
    with pytest.raises(NotAUrl):
        urls.make(raw)


def test_a_link_is_resolved_against_its_page() -> None:
    assert urls.resolve("../b?x#y", "http://x.test/a/c/d") == "http://x.test/a/b?x"
    assert urls.resolve("//y.test/z", "https://x.test/") == "https://y.test/z"


def test_host_origin_and_domain() -> None:
    assert urls.host("https://a.b.test:8443/x?y") == "a.b.test"
    assert urls.host("http://[::1]:80/") == "[::1]"
    assert urls.origin("https://a.test:8443/x") == "https://a.test:8443"
    assert urls.domain("www.news.example.co.uk") == "example.co.uk"
    assert urls.domain("127.0.0.1") == "127.0.0.1"


def test_a_message_about_a_url_carries_no_escape_sequences() -> None:
    with pytest.raises(NotAUrl) as caught:
        urls.make("\x1b[31mhttp:nothing here")
    assert "\x1b" not in str(caught.value)


@given(st.text(max_size=60), st.sampled_from(["http://x.test/a/b?c", "https://[::1]:8/"]))
def test_whatever_is_found_is_refused_or_has_a_stable_key(raw: str, base: str) -> None:
    try:
        key = urls.make(raw, base)
    except NotAUrl:
        return
    assert key.startswith(HTTP)
    assert urls.make(key) == key
    assert "#" not in key
    assert "@" not in key.split("/")[2]


def test_every_http_case_of_the_standard(suites: Suites) -> None:
    cases = suites.cases("whatwg-url/own", "whatwg-url/urltestdata")
    wrong = []
    for case in (c for c in cases if isinstance(c, dict)):
        base = case.get("base")
        try:
            got = urls.resolve(case["input"], None if base in (None, "about:blank") else base)
        except NotAUrl:
            got = None
        if got != _expected(case):
            wrong.append((case["input"], base, got))
    assert not wrong


@pytest.mark.parametrize(("own", "others"), [("own_hosts", "toascii"), ("own_international", "IdnaTestV2")])
def test_every_international_host_of_the_standard(suites: Suites, own: str, others: str) -> None:
    cases = [c for c in suites.cases(f"whatwg-url/{own}", f"whatwg-url/{others}") if isinstance(c, dict)]
    wrong = []
    for case in cases:
        try:
            got = urls.resolve(f"https://{case['input']}/x").split("/")[2]
        except NotAUrl:
            got = None
        if got != case["output"]:
            wrong.append((case["input"], case["output"], got))
    assert not wrong


def _expected(case: dict[str, str]) -> str | None:
    """The result of the standard without fragment and credentials; None if it fails or is not http(s)."""
    href = case.get("href", "")
    if case.get("failure") or not href.startswith(HTTP):
        return None
    scheme, _, rest = href.partition("#")[0].partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("http://x.test/%61%2D%5f%2e%30", "http://x.test/a-_.0"),
        ("http://x.test/%7euser", "http://x.test/%7Euser"),
        ("http://x.test/a%2fb%3f", "http://x.test/a%2Fb%3F"),
        ("http://x.test/ind%65x.html", "http://x.test/"),
        ("http://x.test/?q=%61", "http://x.test/?q=%61"),
        ("http://x.test/%2561", "http://x.test/%2561"),
    ],
)
def test_percent_codes_of_unreserved_characters_in_a_path_mean_the_character(spelled: str, canonical: str) -> None:
    made = make(spelled)
    assert made == canonical
    assert make(made) == made, "a canonical URL is its own canonical form"


def test_default_pages_stand_for_their_folder_only_if_asked() -> None:
    rules = UrlRules(default_pages=("default.asp", "index.php"))
    for name in ("Default.asp", "index.php", "index.html"):
        assert canonical(f"http://x.test/a/{name}", rules) == "http://x.test/a/"
    assert canonical("http://x.test/a/index.php?id=3", rules) == "http://x.test/a/?id=3"
    assert canonical("http://x.test/a/index.php") == "http://x.test/a/index.php"
    assert canonical("http://x.test/a/old-index.php", rules) == "http://x.test/a/old-index.php"
