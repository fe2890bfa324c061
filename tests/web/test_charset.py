"""The encoding of a page, and its bytes as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web import content_type
from scenthound.web.content_type import decode, detect, encoding_for, prescan, to_text
from support.suites import Suites, bytes_of


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\xef\xbb\xbf<meta charset=gbk>", "text/html;charset=gbk", ("utf-8", "bom")),
        (b"\xff\xfea\0", "text/html;charset=utf-8", ("utf-16le", "bom")),
        (b"\xfe\xff\0a", "", ("utf-16be", "bom")),
        (b"<meta charset=gbk>", "text/html; charset=ISO-8859-1", ("windows-1252", "header")),
        (b"<meta charset=gbk>", "text/html; charset=nonsense", ("gbk", "meta")),
        (b"<meta charset=gbk>", "text/html", ("gbk", "meta")),
        (b"plain", "text/html", ("windows-1252", "default")),
        ("gr\u00fcn".encode(), "", ("utf-8", "guess")),
        ("gr\u00fcn \u20ac".encode()[:-1], "", ("utf-8", "guess")),
    ],
)
def test_a_byte_order_mark_comes_before_header_meta_and_guess(
    body: bytes, content_type: str, expected: tuple[str, str]
) -> None:
    assert detect(body, content_type) == expected


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<meta charset=utf-8>", "utf-8"),
        (b"<META CharSet = 'KOI8-R' >", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=\"euc-jp\"'>", "euc-jp"),
        (b"<meta content='text/html; charset=euc-jp'>", None),
        (b"<meta content='text/html; charset=euc-jp' http-equiv=content-type>", "euc-jp"),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", "big5"),
        (b"<!--><meta charset=big5>", "big5"),
        (b"<p title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"</p title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"<metacharset=gbk>", None),
        (b"<meta charset=gbk", None),
        (b"<meta charset='gbk>", None),
        (b"<meta/charset=gbk/>", None),
        (b"<meta/charset='gbk'/>", "gbk"),
        (b"<meta charset=nonsense><meta charset=gbk>", "gbk"),
        (b"<?xml version='1.0' encoding='koi8-u'?><html>", "koi8-u"),
        (b"<?xml encoding='koi8-u'?><meta charset=gbk>", "gbk"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
    ],
)
def test_a_meta_is_found_as_the_standard_finds_it(head: bytes, name: str | None) -> None:
    assert prescan(head) == name


def test_labels_are_the_standards() -> None:
    assert encoding_for(" Latin1\n") == "windows-1252"
    assert encoding_for("us-ascii") == "windows-1252"
    assert encoding_for("GB2312") == "gbk"
    assert encoding_for("iso-2022-kr") == "replacement"
    assert encoding_for("utf-7") is None


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("windows-1252", b"\x80uro", "\u20acuro"),
        ("gbk", b"\xa2\xe3", "\u20ac"),
        ("shift_jis", b"\x87\x40", "\u2460"),
        ("euc-kr", b"\x8c\x63", "\ub620"),
        ("utf-8", b"\xef\xbb\xbfa\xff", "a\ufffd"),
        ("utf-16le", b"a\0\x00\xd8b\0", "a\ufffd"),
        ("replacement", b"<script>", "\ufffd"),
        ("x-user-defined", b"a\x80", "a\uf780"),
        ("no such thing", b"a\x80", "a\u20ac"),
    ],
)
def test_bytes_are_read_as_the_standard_reads_them(name: str, body: bytes, text: str) -> None:
    assert decode(body, name)[: len(text)] == text


RUSSIAN = "<html><title>x</title><p>" + "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20
JAPANESE = "<p>" + "色は匂へど散りぬるを我が世誰ぞ常ならむ有為の奥山今日越えて" * 20
FRENCH = "<p>" + "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë au delà des îles. " * 10


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp"), (FRENCH, "cp1252")],
)
def test_a_page_that_does_not_say_is_guessed_right(text: str, encoding: str) -> None:
    assert to_text(text.encode(encoding)) == text


def test_a_late_meta_is_better_than_a_guess() -> None:
    body = ("<!--" + "x" * 3000 + "--><meta charset=windows-1257>\u0161\u012f").encode("cp1257")
    assert detect(body) == ("windows-1257", "meta")


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/html;charset=utf-16", "x", "a/b;charset=\x00"]))
def test_any_bytes_are_some_text(body: bytes, content_type: str) -> None:
    text = to_text(body, content_type)
    assert text.encode("utf-8").decode("utf-8") == text, "no lone surrogates"


def test_the_suite_of_encodings(suites: Suites) -> None:
    """41 of 42 foreign cases. In one the <meta> follows 8,192 ASCII characters: any encoding gives the same text."""
    suite = suites.cases("html-encoding/own", "html-encoding/encoding_cases")
    cases = [(bytes_of(case, "data"), case["encoding"].lower()) for case in suite]
    wrong = [(body, name) for body, name in cases if detect(body).name != name]
    assert len(cases) == (13 if suites.is_own else 42)
    expected = [] if suites.is_own else [(b"<!-- 8192 characters xxx", True, "iso-8859-2")]
    assert [(body[:24], body.isascii(), name) for body, name in wrong] == expected


def test_the_suites_of_media_types(suites: Suites) -> None:
    """All of 39 + 439 cases: the serialised type, and the charset that it means."""
    cases = [
        case
        for own, others in (("own", "mime-types"), ("own_broken", "generated-mime-types"))
        for case in suites.cases(f"http-headers/{own}", f"http-headers/{others}")
        if isinstance(case, dict)
    ]
    wrong = []
    for case in cases:
        media_type = content_type.parse(case["input"])
        if (str(media_type) if media_type else None) != case["output"]:
            wrong.append(case["input"])
        if "encoding" in case:
            name = encoding_for(media_type.parameter("charset") or "") if media_type else None
            if name != (case["encoding"].lower() if case["encoding"] else None):
                wrong.append(case["input"])
    assert len(cases) == (19 if suites.is_own else 478)
    assert wrong == []


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], None),
        (["text/html"], "text/html"),
        (["text/plain", "text/html"], "text/html"),
        (["text/html;charset=gbk", "text/html"], "text/html;charset=gbk"),
        (["text/html;charset=gbk, text/plain, text/html"], "text/html"),
        (["text/html", "*/*"], "text/html"),
        (["text/html", "nonsense"], "text/html"),
        (['text/html;a="b,c";charset=gbk'], 'text/html;a="b,c";charset=gbk'),
        (['text/html;a="b'], "text/html;a=b"),
    ],
)
def test_of_several_content_types_the_last_holds(headers: list[str], expected: str | None) -> None:
    media_type = content_type.extract(headers)
    assert (str(media_type) if media_type else None) == expected


@pytest.mark.parametrize(
    ("body", "html"),
    [
        (b"\n <!DOCTYPE HTML>", True),
        (b"<p>x", True),
        (b"<!-- x", True),
        (b"\xef\xbb\xbf<html lang=de>", True),
        (b"<?xml version='1.0'?><html>", True),
        (b"<?xml version='1.0'?><rss>", False),
        (b"<paragraph>", False),
        (b"%PDF-1.4 <p>", False),
        (b"hello <p>", False),
        (b"", False),
    ],
)
def test_without_a_type_the_first_bytes_tell(body: bytes, html: bool) -> None:
    assert content_type.is_html(None, body) is html


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_header_is_some_type_or_none(values: list[str]) -> None:
    media_type = content_type.extract(values)
    assert media_type is None or content_type.parse(str(media_type)) == media_type


@pytest.mark.parametrize("name", ["utf-8", "windows-1252", "shift_jis", "gb18030", "utf-16le", "euc-kr", "iso-2022-jp"])
@pytest.mark.parametrize("shift", range(4))
def test_the_beginning_of_a_long_body_is_decoded_as_in_the_whole(name: str, shift: int) -> None:
    words = "x" * shift + ("\u6c34\uac00 a " if name in ("utf-8", "gb18030", "utf-16le") else "a b c ") * 40_000
    body = words.encode(name if name != "windows-1252" else "cp1252")
    beginning = decode(body, name, 5_000)
    assert 5_000 < len(beginning) < len(words)
    assert beginning[:5_000] == decode(body, name)[:5_000]


def test_invalid_bytes_far_into_a_long_body_are_found() -> None:
    valid = "\u0436 ".encode() * 100_000
    assert detect(valid[:-2]).name == "utf-8", "the last character may be cut in two"
    assert detect(valid + b"\xe9t\xe9 " * 1_000).name != "utf-8"
