"""HAR: the pages that a browser recorded, as its developer tools save them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import new_response
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Notes, Options, SourceContent
from scenthound.model import Response


@importer("har", Options)
def har(source: Path, options: Options, notes: Notes) -> SourceContent:
    """Pages that a browser recorded."""
    try:
        entries = json.loads(source.read_bytes())["log"]["entries"]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadConfig(f"{source} is not a HAR file", "save one with the developer tools of a browser") from None
    return SourceContent(_responses(entries, notes), origin=f"recorded by a browser: {source.name}")


def _responses(entries: list[dict[str, Any]], notes: Notes) -> Iterator[Response]:
    for entry in entries:
        try:
            url, response = str(entry["request"]["url"]), entry["response"]
            text, kind = str(response["content"]["text"]), str(response["content"]["mimeType"])
        except (KeyError, TypeError):
            notes.count("entries without a text")
            continue
        yield new_response(url, kind.partition(";")[0] + "; charset=utf-8", text.encode())
