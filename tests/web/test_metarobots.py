"""Robots directives in pages and headers, and meta refresh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.robots import Directives, directives, meta_refresh
from support.suites import Suites

NEITHER, NOINDEX, NOFOLLOW, BOTH = (
    Directives(),
    Directives(True, False),
    Directives(False, True),
    Directives(True, True),
)


@pytest.mark.parametrize(
    ("meta", "asked"),
    [
        ([], NEITHER),
        ([("robots", "index, follow")], NEITHER),
        ([("robots", "all")], NEITHER),
        ([("robots", "noindex")], NOINDEX),
        ([("ROBOTS", " NoIndex , NOFOLLOW ")], BOTH),
        ([("robots", "none")], BOTH),
        ([("robots", "nofollow noindex")], BOTH),
        ([("robots", "noindexing, nofollower, noimageindex, noarchive")], NEITHER),
        ([("robots", "max-snippet:-1, nofollow")], NOFOLLOW),
        ([("robots", "index"), ("robots", "noindex")], NOINDEX),
        ([("robots", "index, follow"), ("Scenthound", "nofollow")], NOFOLLOW),
        ([("googlebot", "none"), ("description", "noindex"), ("", "noindex")], NEITHER),
        ([("robots", ""), ("robots", ",,,"), ("robots", ":")], NEITHER),
    ],
)
def test_meta_elements_speak_to_all_or_to_us(meta: list[tuple[str, str]], asked: Directives) -> None:
    assert directives(meta, [], "scenthound") == asked


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        (["noindex"], NOINDEX),
        (["noindex", "nofollow"], BOTH),
        (["NONE"], BOTH),
        (["scenthound: noindex"], NOINDEX),
        (["Scenthound: noindex, nofollow"], BOTH),
        (["otherbot: noindex, nofollow"], NEITHER),
        (["otherbot: noindex", "nofollow"], NOFOLLOW),
        (["otherbot: noindex, scenthound: nofollow"], NOFOLLOW),
        (["scenthound: nofollow, otherbot: noindex"], NOFOLLOW),
        (["*: noindex"], NOINDEX),
        (["robots: noindex"], NOINDEX),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST"], NEITHER),
        (["unavailable_after: Sat, 25 Jun 2030 15:00:00 GMT, noindex"], NOINDEX),
        (["unavailable_after: Saturday, 25-Jun-30 15:00:00 GMT, nofollow"], NOFOLLOW),
        (["unavailable_after: Jun 25, 2030 15:00:00, nofollow"], NOFOLLOW),
        (["otherbot: unavailable_after: Sat, 25 Jun 2030 15:00:00 GMT, noindex"], NEITHER),
        (["max-image-preview: large, noindex"], NOINDEX),
        (["noindex, unavailable_after: 2030-06-25T15:00:00+00:00"], NOINDEX),
        (["", ":", ",", " : , :"], NEITHER),
    ],
)
def test_headers_speak_to_all_or_to_the_agent_they_name(headers: list[str], asked: Directives) -> None:
    assert directives([], headers, "scenthound") == asked


def test_the_strictest_of_page_and_header_holds() -> None:
    assert directives([("robots", "noindex, follow")], ["index", "nofollow"], "scenthound") == BOTH


def test_our_agent_may_be_given_with_its_version() -> None:
    assert directives([("scenthound", "noindex")], ["scenthound: nofollow"], "Scenthound/1.0") == BOTH


def test_an_endless_statement_is_read_from_its_beginning() -> None:
    assert directives([("robots", "noindex," + "mon" * 1_000_000)], ["a:" * 1_000_000], "scenthound") == NOINDEX


@given(
    st.lists(st.tuples(st.text(max_size=8), st.text(max_size=40))), st.lists(st.text(max_size=40)), st.text(max_size=8)
)
def test_no_text_makes_reading_directives_fail(meta: list[tuple[str, str]], headers: list[str], agent: str) -> None:
    assert isinstance(directives(meta, headers, agent), Directives)


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("5", (5.0, "")),
        ("0;url=/next", (0.0, "/next")),
        ("0; URL = '/next'>", (0.0, "/next")),
        ("3; url='a b", (3.0, "a b")),
        ("3; 'quoted' and more", (3.0, "quoted")),
        ("3; url", (3.0, "url")),
        ("3; url x", (3.0, "url x")),
        ("3; url=", (3.0, "")),
        ("3;", (3.0, "")),
        ("3;,x", (3.0, ",x")),
        ("3.75 /x", (3.0, "/x")),
        (".", (0.0, "")),
        ("000000000007", (7.0, "")),
        ("3x", None),
        ("", None),
        (" ", None),
        ("url=x", None),
        ("\u0663; url=x", None),
        ("\u00a03; url=x", None),
        ("9" * 5000 + "; url=x", (1e9, "x")),
    ],
)
def test_a_meta_refresh_is_read_as_the_standard_says(content: str, asked: tuple[float, str] | None) -> None:
    assert meta_refresh(content) == asked


@given(st.text("0123. ;,url='\"=\t\nx", max_size=20))
def test_no_text_makes_reading_a_refresh_fail(content: str) -> None:
    asked = meta_refresh(content)
    assert asked is None or asked[0] >= 0


def test_every_case_of_the_web_platform_holds(suites: Suites) -> None:
    cases = suites.cases("meta-robots/own", "meta-robots/meta_refresh_wpt")
    assert len(cases) == (16 if suites.is_own else 35)
    for case in cases:
        asked = None if case["delay"] is None else (float(case["delay"]), case["url"] or "")
        assert meta_refresh(case["content"]) == asked, case
