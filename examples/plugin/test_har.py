"""A bed from a recording of a browser."""

from __future__ import annotations

import json
from pathlib import Path

import my_parts.har  # noqa: F401 - registers the importer

from scenthound.lab.beds.bed import Bed
from scenthound.lab.importers import import_bed
from scenthound.model import Url


def test_recorded_pages_are_in_the_bed(tmp_path: Path) -> None:
    page = {"mimeType": "text/html; charset=iso-8859-1", "text": "<title>Bien\u00eatre</title>"}
    entries = [{"request": {"url": "http://a.test/"}, "response": {"content": page}}, {"request": {}}]
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    report = import_bed("har", tmp_path / "a.har", tmp_path / "bed")
    assert report.pages == 1
    assert any("entries without a text" in problem for problem in report.problems)
    response = Bed.open(tmp_path / "bed").get(Url("http://a.test/"))
    assert response is not None
    assert "Bien\u00eatre" in response.body.decode()
