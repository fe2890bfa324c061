"""Content codings are decoded up to a limit."""

from __future__ import annotations

import gzip
import pickle
import random
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web import decode
from scenthound.web.decode import Undecodable, decompress
from support.suites import SHARED, with_shared

PAGE = b"<p>honey</p>" * 100


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def brotli(data: bytes) -> bytes:
    packed: bytes = pytest.importorskip("brotli").compress(data, quality=5)
    return packed


def zstd(data: bytes) -> bytes:
    packed: bytes = pytest.importorskip("zstandard").compress(data)
    return packed


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw": ("deflate", raw_deflate),
    "br": ("br", brotli),
    "zstd": ("zstd", zstd),
    "identity": ("identity", bytes),
}


def unpack(body: bytes, coding: str, limit: int = 10_000_000, ratio: int = 200) -> tuple[bytes, str]:
    return decompress(body, coding, limit=limit, ratio=ratio)


@pytest.fixture(params=PACKERS)
def packer(request: pytest.FixtureRequest) -> tuple[str, Callable[[bytes], bytes]]:
    return PACKERS[request.param]


def test_what_was_packed_is_unpacked(packer: tuple[str, Callable[[bytes], bytes]]) -> None:
    coding, pack = packer
    assert unpack(pack(PAGE), coding) == (PAGE, "")
    assert unpack(b"", coding) == (b"", "")


def test_it_stops_at_the_limit_and_says_so(packer: tuple[str, Callable[[bytes], bytes]]) -> None:
    coding, pack = packer
    data = random.Random(0).randbytes(300_000)
    assert unpack(pack(data), coding, limit=200_000) == (data[:200_000], "length")
    assert unpack(pack(data), coding, limit=300_000) == (data, "")


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw", "br", "zstd"])
def test_what_breaks_off_gives_what_was_read(name: str) -> None:
    coding, pack = PACKERS[name]
    data = random.Random(0).randbytes(500_000)
    result, _ = unpack(pack(data)[:-10_000], coding)
    assert len(result) > 100_000
    assert data.startswith(result)


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw", "br", "zstd"])
def test_rubbish_behind_the_end_is_passed_over(name: str) -> None:
    coding, pack = PACKERS[name]
    assert unpack(pack(PAGE) + b"rubbish", coding)[0] == PAGE
    data = random.Random(0).randbytes(200_000)
    assert unpack(pack(data) + b"rubbish", coding)[0] == data


@pytest.mark.parametrize("name", ["gzip", "zlib", "br", "zstd"])
def test_what_is_nothing_of_the_kind_is_refused(name: str) -> None:
    coding, pack = PACKERS[name]
    pack(b"")  # skips where the package is missing
    with pytest.raises(Undecodable) as error:
        unpack(b"\xff<html>no such thing</html>", coding)
    assert error.value.reason == "damaged"


def test_gzip_members_are_joined() -> None:
    assert unpack(gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0", "gzip") == (b"one two", "")
    assert unpack(gzip.compress(b"x") * 5000, "gzip") == (b"x" * 1000, "damaged")


def test_chains_are_undone_from_the_outside() -> None:
    assert unpack(zlib.compress(gzip.compress(PAGE)), " gzip ,, Deflate") == (PAGE, "")
    with pytest.raises(Undecodable, match="4 content codings") as error:
        unpack(b"x", "gzip, gzip, gzip, gzip")
    assert error.value.reason == "coding"


def test_words_that_name_no_coding_are_passed_over_and_unknown_codings_are_not() -> None:
    assert unpack(PAGE, "utf-8, none") == (PAGE, "")
    with pytest.raises(Undecodable, match="compress") as error:
        unpack(PAGE, "compress")
    assert error.value.reason == "coding"


@pytest.mark.parametrize(("coding", "module"), [("br", "brotli"), ("zstd", "zstandard")])
def test_a_missing_package_is_named(coding: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Undecodable, match=module) as error:
        unpack(PAGE, coding)
    assert error.value.reason == "coding"


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw", "br", "zstd"])
def test_a_bomb_is_refused_before_it_goes_off(name: str) -> None:
    coding, pack = PACKERS[name]
    with pytest.raises(Undecodable) as error:
        unpack(pack(bytes(20_000_000)), coding)
    assert error.value.reason == "bomb"


def test_a_bomb_in_a_chain_is_refused_too() -> None:
    with pytest.raises(Undecodable) as error:
        unpack(gzip.compress(gzip.compress(bytes(20_000_000))), "gzip, gzip")
    assert error.value.reason == "bomb"


def test_small_blank_pages_are_not_bombs() -> None:
    blank = b" " * 900_000
    assert unpack(gzip.compress(blank), "gzip") == (blank, "")


def test_the_error_survives_the_journey_between_processes() -> None:
    error = pickle.loads(pickle.dumps(Undecodable("m", "h", "u", "bomb")))
    assert (error.message, error.hint, error.url, error.reason) == ("m", "h", "u", "bomb")


CODINGS = ["gzip", "deflate", "br", "zstd", "gzip, br", "deflate, gzip, zstd", "", "x", "compress"]


@given(st.binary(max_size=400), st.sampled_from(CODINGS), st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\x78\x9c"]))
def test_any_bytes_are_unpacked_or_refused(body: bytes, coding: str, magic: bytes) -> None:
    with suppress(Undecodable):
        data, truncated = unpack(magic + body, coding, limit=1000)
        assert len(data) <= 1000
        assert truncated in {"", "length", "damaged"}


# File: coding, and the bytes it gives, or why it is refused. The suite's tar, zip, bz2 and text are no codings.
SUITE: dict[str, tuple[str, int | str]] = {
    "bomb-br.bin": ("br", "bomb"),
    "bomb-deflate.bin": ("deflate", "bomb"),
    "bomb-gzip.bin": ("gzip", "bomb"),
    "bomb-zstd.bin": ("zstd", "bomb"),
    "feed-sample1.xml": ("", 9950),
    "feed-sample1.xml.gz": ("gzip", 9950),
    "html-br.bin": ("br", 74_837),
    "html-gzip-deflate-gzip.bin": ("gzip, deflate, gzip", 74_837),
    "html-gzip-deflate.bin": ("gzip, deflate", 74_837),
    "html-gzip.bin": ("gzip", 74_837),
    "html-rawdeflate.bin": ("deflate", 74_840),
    "html-zlibdeflate.bin": ("deflate", 74_840),
    "html-zstd-static-content-size.bin": ("zstd", 74_837),
    "html-zstd-static-no-content-size.bin": ("zstd", 74_837),
    "html-zstd-streaming-no-content-size.bin": ("zstd", 74_837),
    "truncated-crc-error-short.gz": ("gzip", 3741),
    "truncated-crc-error.gz": ("gzip", 25_542),
    "unexpected-eof.gz": ("gzip", 8576),
}


NOISE = random.Random(4).randbytes(6000) + b"the end "
OWN_STREAMS: dict[str, tuple[str, bytes, int | str]] = {
    "a bomb of two members": ("gzip", gzip.compress(b"x") + gzip.compress(bytes(20_000_000)), "bomb"),
    "three codings": ("gzip, deflate, gzip", gzip.compress(zlib.compress(gzip.compress(NOISE))), len(NOISE)),
    "a wrong check sum": ("gzip", gzip.compress(NOISE)[:-8] + bytes(8), "damaged"),
    "cut inside the check sum": ("gzip", gzip.compress(NOISE)[:-4], len(NOISE)),
    "rubbish behind the end": ("gzip", gzip.compress(NOISE) + b"rubbish", len(NOISE)),
    "the header alone": ("gzip", gzip.compress(NOISE)[:10], "damaged"),
    "not packed at all": ("", NOISE, len(NOISE)),
}


@pytest.mark.parametrize("name", with_shared(list(OWN_STREAMS), list(SUITE)))
def test_bombs_and_broken_streams(name: str) -> None:
    if name in OWN_STREAMS:
        coding, body, expected = OWN_STREAMS[name]
    else:
        (coding, expected), body = SUITE[name], (SHARED / "suites" / "bombs" / "compressed" / name).read_bytes()
    if "br" in coding:
        pytest.importorskip("brotli")
    if "zstd" in coding:
        pytest.importorskip("zstandard")
    try:
        result: int | str = len(unpack(body, coding)[0])
    except Undecodable as error:
        result = error.reason
    assert result == expected


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw"])
@given(st.binary(max_size=300), st.integers(0, 400), st.binary(max_size=9), st.integers(1, 500))
def test_the_fast_library_reads_what_zlib_reads(name: str, text: bytes, cut: int, behind: bytes, times: int) -> None:
    coding, pack = PACKERS[name]
    whole = pack(text * times)
    for body in (whole, whole + behind, whole[: max(1, cut % len(whole))]):
        fast = _outcome(body, coding)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decode, "_zlib", zlib)
            slow = _outcome(body, coding)
        assert fast[0] == slow[0]
        assert abs(len(fast[1]) - len(slow[1])) <= 1, "of a stream that breaks off one may see a byte more"
        assert slow[1].startswith(fast[1]) or fast[1].startswith(slow[1])


def _outcome(body: bytes, coding: str) -> tuple[str, bytes]:
    try:
        result = decompress(body, coding, limit=100_000, ratio=200)
    except Undecodable as error:
        return error.reason, b""
    return result.truncated, result.data
