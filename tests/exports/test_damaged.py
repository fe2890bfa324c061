"""A crawl whose WARC was damaged is exported as a web archive of the records that can be read."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.root_command import run
from scenthound.exports import EXPORTERS
from scenthound.loop.folder import CrawlFolder
from scenthound.store.cdxj import lines_of
from support.small_crawl import small_crawl


def damaged(folder: Path, how: str) -> Path:
    """A crawl of four pages whose second record is broken, or whose last is cut."""
    small_crawl(folder)
    with CrawlFolder.look(folder) as opened:
        places = dict(opened.history.places())
    (warc,) = (folder / "pages").glob("*.warc.gz")
    raw = bytearray(warc.read_bytes())
    second = next(where for url, where in places.items() if url == "http://b.test/one.html")
    match how:
        case "bits":
            raw[second.offset + 40 : second.offset + 60] = bytes(20)
        case "zeros":
            raw[second.offset : second.offset + second.length] = bytes(second.length)
        case "tail":
            last = max(places.values())
            del raw[last.offset + last.length // 2 :]
        case "all":
            raw[:] = bytes(len(raw))
    warc.write_bytes(raw)
    return folder


def exported(folder: Path) -> tuple[bytes, int, list[str]]:
    out = io.BytesIO()
    with CrawlFolder.look(folder) as opened:
        pages = EXPORTERS.get("wacz")(opened, out)
        return out.getvalue(), pages, opened.recovered


@pytest.mark.parametrize("how", ["bits", "zeros", "tail"])
def test_only_readable_records_are_packed_and_everything_agrees(how: str, tmp_path: Path) -> None:
    raw, pages, notes = exported(damaged(tmp_path / "crawl", how))
    assert pages == 3
    assert len(notes) == 1
    assert "1 recorded pages are not in the archive" in notes[0]
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        warc = archive.read("archive/pages-00001.warc.gz")
        lines = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode().splitlines()
        listed = [json.loads(line)["url"] for line in archive.read("pages/pages.jsonl").splitlines()[1:]]
    gzip.decompress(warc)  # no byte of the damage is left
    indexed = {}
    for line in lines:
        fields = json.loads(line.split(" ", 2)[2])
        start = int(fields["offset"])
        member = gzip.decompress(warc[start : start + int(fields["length"])])
        assert f"WARC-Target-URI: {fields['url']}\r\n".encode() in member
        indexed[fields["url"]] = start
    assert set(listed) <= set(indexed)
    assert ("http://b.test/one.html" in indexed) == (how == "tail")
    file = tmp_path / "crawl.wacz"
    file.write_bytes(raw)
    pytest.importorskip("wacz")
    done = subprocess.run(
        [sys.executable, "-m", "wacz", "validate", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert "Validation succeeded" in done.stdout, done.stdout + done.stderr


def test_an_archive_without_records_is_still_an_archive(tmp_path: Path) -> None:
    raw, pages, notes = exported(damaged(tmp_path / "crawl", "all"))
    assert (pages, len(notes)) == (0, 1)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        assert not [name for name in archive.namelist() if name.startswith("archive/")]


def test_export_reports_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = damaged(tmp_path / "crawl", "zeros")
    assert run(["export", str(folder), "--to", "wacz"]) == 0
    output = capsys.readouterr()
    assert output.out == f"{folder / 'crawl.wacz'}\n"
    assert "note: " in output.err
    assert "damaged bytes and 1 recorded pages are not in the archive" in output.err
    assert run(["export", str(folder), "--to", "wacz", "--force", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["notes"]) == 1


def test_an_undamaged_crawl_has_nothing_missing(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    raw, pages, notes = exported(folder)
    assert (pages, notes) == (4, [])
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        stored = archive.read("archive/pages-00001.warc.gz")
    assert stored == (folder / "pages" / "pages-00001.warc.gz").read_bytes()


def test_a_record_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    warc = small_crawl(tmp_path / "crawl") / "pages" / "pages-00001.warc.gz"
    holes: list[tuple[int, int]] = []
    whole = list(lines_of(warc))
    size = warc.stat().st_size
    assert list(lines_of(warc, size - 1, holes)) == whole[:-1]
    ((start, length),) = holes
    assert start + length == size - 1
