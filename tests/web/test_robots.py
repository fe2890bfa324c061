"""robots.txt: RFC 9309 by example, the suites of other projects, and malicious files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.url import resolve
from scenthound.web.robots import (
    ALLOW_ALL,
    LARGEST,
    LONGEST_LINE,
    MOST_SITEMAPS,
    REFUSE_ALL,
    RobotsRules,
    parse,
    path_of,
    verdict_for_status,
)
from support.suites import OTHERS, OWN, with_shared

SITE = "http://x.test"


def may(robots: str, path: str, agent: str = "scenthound") -> bool:
    return parse(robots.encode(), agent).may_fetch(SITE + path)


def only(rules: str) -> str:
    return f"User-agent: *\n{rules}\n"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a", "/a/b", False),
        ("Disallow: /a", "/b", True),
        ("Disallow: /a", "/A", True),
        ("Disallow:", "/a", True),
        ("Disallow: /\nAllow: /a", "/a", True),
        ("Allow: /a\nDisallow: /a", "/a", True),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Allow: /page\nDisallow: /*.html", "/page.html", False),
        ("Disallow: /*?", "/a?b=1", False),
        ("Disallow: /*?", "/a", True),
        ("Disallow: /a?b=1", "/a?b=1&c=2", False),
        ("Disallow: /*.pdf$", "/a.pdf", False),
        ("Disallow: /*.pdf$", "/a.pdf?x", True),
        ("Disallow: /*.pdf$", "/a.pdf.pdf", False),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a*$", "/ab", False),
        ("Disallow: *", "/", False),
        ("Disallow: $", "/", True),
        ("Disallow: /ab*ba$", "/aba", True),
        ("Disallow: /a*b*c", "/a-c-b", True),
        ("Disallow: /a*b*c", "/a-b-c", False),
        ("Disallow: a", "/a", True),
        ("Disallow: /x***", "/x", False),
        ("Allow: /fish*\nDisallow: /fish", "/fish", True),
        ("Disallow: /a$b", "/a$b/c", False),
        ("Disallow: /a$b", "/a", True),
        ("Disallow: /a$$", "/a$", False),
        ("Disallow: /a$$", "/a$b", True),
        ("Disallow: /*$x=1", "/a?$x=1&y", False),
        ("Disallow: /a*b", "/a*b", False),
        ("Allow: /x/index.html\nDisallow: /x/", "/x/", True),
        ("Allow: /x/index.htm\nDisallow: /x/", "/x/", True),
        ("Allow: /x/index.html\nDisallow: /x/", "/x/index.html", True),
        ("Allow: /x/index.html\nDisallow: /x/", "/x/index.htm", False),
        ("Allow: /x/index.html\nDisallow: /x/", "/x/?a", False),
        ("Allow: /*/index.html\nDisallow: /", "/x/y/", True),
        ("Allow: index.html\nDisallow: /", "/", False),
        ("Disallow: /x/index.html", "/x/", True),
    ],
)
def test_the_longest_pattern_decides_and_of_equals_the_one_that_allows(rules: str, path: str, allowed: bool) -> None:
    assert may(only(rules), path) is allowed


@pytest.mark.parametrize(
    ("pattern", "path"), [("/ツ", "/%E3%83%84"), ("/%e3%83%84", "/%E3%83%84"), ("/100%", "/100%"), ("/%zz", "/%zz")]
)
def test_a_pattern_is_encoded_before_it_is_compared(pattern: str, path: str) -> None:
    assert not may(only(f"Disallow: {pattern}"), path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/%62%61%7A", "/baz"),
        ("/baz", "/%62%61%7A"),
        ("/a<b", "/a%3Cb"),
        ("/a%24", "/a$"),
        ("/a%2Fb", "/a/b"),
        ("/a/b", "/a%2Fb"),
        ("/%62", "/%2562"),
    ],
)
def test_a_character_and_its_code_are_different_as_for_google(pattern: str, path: str) -> None:
    assert may(only(f"Disallow: {pattern}"), path)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/"),
        ("http://x.test", "/"),
        ("http://x.test/", "/"),
        ("http://x.test/a?b=c#d", "/a?b=c"),
        ("http://x.test?a=/b", "/?a=/b"),
        ("http://x.test;p", "/;p"),
        ("http://x.test#/a", "/"),
        ("//x.test/a", "/a"),
        ("x.test/a://b", "/a://b"),
        ("/a", "/a"),
        ("x.test", "/"),
    ],
)
def test_what_a_pattern_is_compared_with_is_path_and_query(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(
    "line", ["Scenthound", "SCENTHOUND/1.0", "scenthound (see x.test)", "Scenthound*", "scenthound2"]
)
def test_a_group_is_ours_by_its_product_token(line: str) -> None:
    assert not may(f"User-agent: {line}\nDisallow: /\nUser-agent: *\nAllow: /", "/a")


@pytest.mark.parametrize("line", ["scent", "scenthound-news", "otherbot scenthound", "*hound", "", "/scenthound"])
def test_a_group_of_another_name_is_not_ours(line: str) -> None:
    assert may(f"User-agent: {line}\nDisallow: /", "/a")


def test_our_group_replaces_that_of_everyone_even_if_it_is_empty() -> None:
    assert may("User-agent: *\nDisallow: /\n\nUser-agent: scenthound\nDisallow:", "/a")
    assert may("User-agent: scenthound\nAllow: /x\nUser-agent: *\nDisallow: /", "/a")


def test_groups_of_one_name_are_one_group() -> None:
    robots = "User-agent: scenthound\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: Scenthound\nDisallow: /c"
    assert [may(robots, path) for path in ("/a", "/b", "/c")] == [False, True, False]


@pytest.mark.parametrize("agent", ["scenthound/1.0", "Scent hound", "", "*", "ツ"])
def test_an_agent_without_a_product_token_gets_the_default_group(agent: str) -> None:
    robots = "User-agent: scenthound\nDisallow: /a\nUser-agent: *\nDisallow: /b"
    assert may(robots, "/a", agent)
    assert not may(robots, "/b", agent)


def test_other_records_and_empty_lines_do_not_end_a_group() -> None:
    robots = "User-agent: scenthound\n\nSitemap: /s.xml\nCrawl-delay: 3\nNonsense: 1\n\nUser-agent: b\nDisallow: /"
    assert not may(robots, "/a")


def test_rules_before_any_user_agent_are_nobodys() -> None:
    assert may("Disallow: /\nUser-agent: *\nDisallow: /x", "/a")


@pytest.mark.parametrize(
    "robots",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /a",
        b"User-agent: *\rDisallow: /a\r",
        b"User-agent: *\r\n\tdisallow\t:\t/a # because\r\n",
        b"USER-AGENT:*\nDISALLOW:/a",
        b"useragent: *\ndissallow: /a",
        b"User-agent *\nDisallow /a",
        b"\x00\xff\xfe:\x80\nUser-agent: *\nDisallow: /a\n\x00",
        b"\xef\xbbUser-agent: *\nDisallow: /a",
        b"User-agent-of-all: *\nDisallowed: /a",
        b"User-agent: * and more\nDisallow: /a\x00b",
        b"User-agent: *\n\x0bDisallow\x0c: /a\x0b",
    ],
)
def test_odd_spellings_of_a_file_are_understood(robots: bytes) -> None:
    rules = parse(robots, "scenthound")
    assert not rules.may_fetch(SITE + "/a")
    assert rules.may_fetch(SITE + "/b")


def test_only_lines_of_http_end_a_line() -> None:
    assert may("User-agent: *\nAllow: /x\u2028Disallow: /a\x0bDisallow: /a", "/a")


def test_the_two_constants_say_all() -> None:
    assert ALLOW_ALL.may_fetch("https://x.test/")
    assert not REFUSE_ALL.may_fetch("https://x.test/")
    assert not REFUSE_ALL.may_fetch("https://x.test:8080/a?b")


def test_raw_text_is_compared_byte_by_byte_and_its_caller_encodes_it() -> None:
    robots = only("Disallow: /ツ")
    assert may(robots, "/ツ")
    assert not may(robots, resolve("http://x.test/ツ").removeprefix(SITE))
    assert not may(only("Disallow: /"), "/ツ")


def test_a_line_counts_up_to_sixteen_thousand_bytes() -> None:
    pattern = "/" + "a" * 20_000
    kept = parse(only(f"Disallow: {pattern}").encode(), "scenthound").rules[0][0]
    assert len("Disallow: " + kept) == LONGEST_LINE
    assert not may(only(f"Disallow: {pattern}"), kept)


@pytest.mark.parametrize(
    ("robots", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 10 seconds", 10.0),
        ("User-agent: *\nCrawl-delay: .5", 0.5),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2", 3.0),
        ("User-agent: *\nCrawl-delay: 4\nUser-agent: scenthound\nDisallow: /", 4.0),
        ("User-agent: *\nCrawl-delay: 4\nUser-agent: scenthound\nCrawl-delay: 1", 1.0),
        ("User-agent: a\nCrawl-delay: 4\nUser-agent: scenthound\nDisallow: /", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: nan", None),
        ("User-agent: *\nCrawl-delay: inf", None),
        ("Crawl-delay: 9", None),
        ("", None),
    ],
)
def test_crawl_delay_is_ours_or_else_everyones(robots: str, delay: float | None) -> None:
    assert parse(robots.encode(), "scenthound").delay == delay


def test_sitemaps_are_everyones_wherever_they_stand() -> None:
    rules = parse(
        "Sitemap: http://x.test/a.xml\nUser-agent: b\nsite-map: /ツ\nSITEMAP:\nSitemap: /ツ".encode(), "scenthound"
    )
    assert rules.sitemaps == ("http://x.test/a.xml", "/ツ")


def test_sitemaps_are_counted() -> None:
    assert len(parse(b"".join(b"Sitemap: /%d\n" % n for n in range(2000)), "a").sitemaps) == MOST_SITEMAPS


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, "parse"), (204, "parse"), (301, "allow"), (401, "allow"), (403, "allow"), (404, "allow"), (410, "allow"),
     (429, "refuse"), (500, "refuse"), (503, "refuse"), (599, "refuse"), (0, "refuse"), (999, "refuse")],
)  # fmt: skip
def test_a_missing_file_allows_and_a_failing_server_refuses(status: int, verdict: str) -> None:
    assert verdict_for_status(status) == verdict


def test_rules_survive_going_to_text_and_back() -> None:
    rules = parse(b"User-agent: *\nDisallow: /a*b$\nAllow: /\xff\nCrawl-delay: 2\nSitemap: /s", "scenthound")
    assert RobotsRules.from_text(rules.to_text()) == rules
    assert isinstance(json.loads(rules.to_text()), dict)
    assert RobotsRules.from_text(REFUSE_ALL.to_text()) == REFUSE_ALL


GOOD = {"rules": [], "delay": None, "sitemaps": []}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", "[" * 100_000]
    + [json.dumps(GOOD | odd) for odd in (
        {"rules": [["/a", 1]]}, {"rules": [[1, True]]}, {"rules": ["/a"]}, {"rules": 3}, {"delay": -1}, {"delay": "x"},
        {"delay": float("nan")}, {"delay": 10**400}, {"sitemaps": [1]}, {"sitemaps": None},
    )],
)  # fmt: skip
def test_text_that_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the text of robots rules"):
        RobotsRules.from_text(text)


# Properties


def plainly(rules: tuple[tuple[str, bool], ...], path: str) -> bool:
    """RFC 9309 in its simplest form; only for short texts, since it backtracks."""
    best = (0, True)
    for pattern, allows in rules:
        end = r"\Z" if pattern.endswith("$") else ""
        expression = ".*".join(map(re.escape, pattern.removesuffix("$").split("*"))) + end
        if re.match(expression, path):
            best = max(best, (len(pattern), allows))
    return best[1]


@given(
    st.lists(st.tuples(st.text("/ab*$", min_size=1, max_size=7), st.booleans()), max_size=8).map(tuple),
    st.text("/ab$*", max_size=9).map("/".__add__),
)
def test_the_index_answers_as_the_plain_reading_does(rules: tuple[tuple[str, bool], ...], path: str) -> None:
    assert RobotsRules(rules).may_fetch(SITE + path) is plainly(rules, path)


@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_make_the_parser_fail(body: bytes, agent: str) -> None:
    rules = parse(b"User-agent: *\n" + body, agent)
    assert rules.may_fetch(SITE + "/a") in (True, False)
    assert RobotsRules.from_text(rules.to_text()) == rules


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="#"), max_size=60))
def test_a_url_put_in_a_rule_is_matched_by_it(text: str) -> None:
    path = resolve("/a" + text, SITE + "/").removeprefix(SITE)[:2000]
    assert not may(only(f"Disallow: {path.rstrip('$')}"), path)


# Files written to hurt: each must come to an end (the suite has a time limit), with the right answer.

LONG = "/" + "a" * 1980


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        (b"Disallow: /" + b"*" * 10_000 + b"b", LONG, True),
        (b"Disallow: /" + b"*a" * 10_000, LONG, True),
        (b"Disallow: /" + b"*a" * 1_000 + b"*b", LONG, True),
        (b"Disallow: /" + b"*a" * 1_000, LONG, False),
        (b"Disallow: /" + b"%" * 100_000, LONG, True),
        (b"Disallow:" + b"\0" * 100_000, LONG, True),
        (b"".join(b"Disallow: /*" + b"a" * (n % 99) + b"b" + b"a" * n + b"\n" for n in range(900)), LONG, True),
        (b"".join(b"Disallow: /" + b"*a" * 300 + b"*b%d$\n" % n for n in range(400)), LONG, True),
    ],
    ids=["asterisks", "more-parts-than-url", "backtracking", "matching", "percent", "nul", "slow-to-find", "many-slow"],
)
def test_a_hostile_pattern_costs_no_more_than_it_is_long(rules: bytes, path: str, allowed: bool) -> None:
    assert parse(b"User-agent: *\n" + rules, "scenthound").may_fetch(SITE + path) is allowed


def test_only_the_first_500_kib_are_read_and_no_half_line() -> None:
    head = b"User-agent: *\nDisallow: /early\n"
    filler = b"#" * (LARGEST - len(head) - len(b"\nDisallow: /")) + b"\n"
    rules = parse(head + filler + b"Disallow: /late" + b"\nDisallow: /later" * 1000, "scenthound")
    assert not rules.may_fetch(SITE + "/early")
    assert rules.rules == (("/early", False),), "`Disallow: /l`, cut short, would refuse everything"


def test_a_hundred_megabytes_and_a_million_rules_keep_the_first_rules() -> None:
    rules = parse(b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % n for n in range(1_000_000)), "scenthound")
    assert not rules.may_fetch(SITE + "/17")
    assert len(rules.rules) < LARGEST / len("Disallow: /")
    assert parse(b"\0" * 100_000_000, "scenthound") == ALLOW_ALL


@pytest.mark.parametrize(
    "body", [b"", b"x" * 600_000, b"\xff" * 600_000, b":" * 600_000, b"#" * 600_000, b"\n" * 600_000]
)
def test_a_file_without_a_rule_allows_everything(body: bytes) -> None:
    assert parse(body, "scenthound") == ALLOW_ALL


# Other people's suites. The numbers are places in the suite's file.

RAW = "2.2.2: the URL is raw non-ASCII text; its caller has to encode it (`url.resolve` does)"
DECODED = "2.2.2: they compare a character and its code as equal; Google's parser decodes nothing"
TOKEN = "2.2.1: their agent is no product token (letters, `_` and `-`)"
PREFIX = "2.2.1: they match agents by prefix; the RFC wants the same product token"
UNKNOWN = "2.2.4: they let unknown records end a group; the RFC forbids it"
KNOWN_DIFFERENT: dict[str, dict[int, str]] = {
    "consensus": {},
    "google": {},
    "protego": {
        **dict.fromkeys((14, 16, 114, 117, 118, 120, 121), DECODED),
        **dict.fromkeys((40, 46, 84, 92, 93), TOKEN),
        **dict.fromkeys((42, 44, 111, 113), RAW),
        **dict.fromkeys((97, 98, 99), UNKNOWN),
        **dict.fromkeys((128, 134, 135, 137, 138), PREFIX),
    },
    "crawler_commons": {
        **dict.fromkeys((318, 333), TOKEN),
        **dict.fromkeys((327, 329), RAW),
        330: DECODED,
    },
}
CASES = {"consensus": 275, "google": 78, "protego": 154, "crawler_commons": 109, "own": 48}


def cases(suite: str) -> dict[int, dict[str, Any]]:
    all_cases = (OWN if suite == "own" else OTHERS).cases(f"robots/{suite}", f"robots/{suite}")
    return {n: case for n, case in enumerate(all_cases) if case.get("exact_ua_matching", True)}


def answer(case: dict[str, Any], url: str) -> bool:
    body = bytes.fromhex(case["robots_hex"]) if "robots_hex" in case else case["robots"].encode()
    agent = case["user_agent"] if "user_agent" in case else case["user_agents"][0]
    rules = parse(body, agent)
    assert RobotsRules.from_text(rules.to_text()) == rules
    return rules.may_fetch(url)


@pytest.mark.parametrize("suite", with_shared(["own"], list(KNOWN_DIFFERENT)))
def test_cases_are_answered_as_they_say_but_for_the_known_ones_and_as_google_answers(suite: str) -> None:
    by_number = cases(suite)
    assert len(by_number) == CASES[suite]
    answers = {n: answer(case, case["url"]) for n, case in by_number.items()}
    assert {n for n, case in by_number.items() if answers[n] != case["allowed"]} == set(KNOWN_DIFFERENT.get(suite, ()))
    assert all(answers[n] == case["google_oracle"] for n, case in by_number.items() if "google_oracle" in case)


@pytest.mark.parametrize("suite", with_shared(["own"], ["google", "protego", "crawler_commons"]))
def test_a_crawl_resolves_first_and_then_raw_text_matches_as_the_rfc_says(suite: str) -> None:
    """After resolving, two of Google's cases with raw text differ from us; those of the other suites agree."""
    by_number = cases(suite)
    raw = {n for n, why in KNOWN_DIFFERENT.get(suite, {}).items() if why == RAW} or set(by_number)
    wrong = {n for n in raw if answer(by_number[n], resolve(by_number[n]["url"])) != by_number[n]["allowed"]}
    assert wrong == ({20, 22} if suite == "google" else set())
