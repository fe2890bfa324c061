"""Reads a topics file that a user wrote: one JSON object per line. Errors name the lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, from_os_error
from scenthound.formats import replace_unprintable
from scenthound.lab.beds.bed import BedTopic, parse_topic
from scenthound.lab.importers.interface import Notes

MAX_LINE = 64 << 20  # bytes; a topic with 100,000 targets has about 10 MB
MAX_ERRORS = 5  # shown
_FIELDS = {field.name for field in fields(BedTopic)}


def read_topics(path: Path, notes: Notes) -> list[BedTopic]:
    """The topics of a file in the format of a bed's `topics.jsonl`.

    Raises `BadConfig` with the first few lines that are not topics. Invalid URLs and unknown keys are left out and
    noted.
    """
    topics: dict[str, BedTopic] = {}
    errors: list[str] = []
    for number, line in _lines(path):
        try:
            topic = _topic(json.loads(line), f"line {number}", notes)
            if topic.id in topics:
                raise ValueError(f"a second topic called `{replace_unprintable(topic.id)}`")
            topics[topic.id] = topic
        except RecursionError:
            errors.append(f"line {number}: nested too deeply")
        except ValueError as error:
            errors.append(f"line {number}: {replace_unprintable(str(error), 300)}")
    if errors:
        more = f"\n  and {len(errors) - MAX_ERRORS} more" if len(errors) > MAX_ERRORS else ""
        raise BadConfig(
            f"{path} can't be used:\n  " + "\n  ".join(errors[:MAX_ERRORS]) + more,
            "each line is a JSON object with id, keywords, seeds and targets",
        )
    return list(topics.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise BadConfig(f"{path} line {number} has more than {MAX_LINE:,} bytes")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the topics in {path} can't be read: {error.strerror or error}")
        ) from None


def _topic(raw: Any, line: str, notes: Notes) -> BedTopic:
    """The topic of a line, checked more strictly than in a bed, since it was written by hand."""
    topic = parse_topic(raw, lambda key, text, error: notes.count(f"{key} that are not URLs", f"{text} ({line})"))
    if not isinstance(raw.get("description", ""), str):
        raise ValueError("`description` is not text")
    if not topic.id.strip():
        raise ValueError("`id` is empty")
    if not all(isinstance(label, str) for label in raw.get("path", [])):
        raise ValueError("`path` is not a list of texts")
    for key in raw.keys() - _FIELDS:
        notes.count("unknown topic keys", f"{key} ({line})")
    return topic
