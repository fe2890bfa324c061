"""Reads a topics file that a user wrote: one JSON object per line, with every fault named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, of_system
from scenthound.formats import replace_unprintable
from scenthound.lab.beds.bed import BedTopic, parse_topic
from scenthound.lab.importers.interface import Notes

LONGEST_LINE = 64 << 20  # bytes; a topic of 100,000 targets has some 10 MB
MOST_NAMED = 5
_KNOWN = {field.name for field in fields(BedTopic)}


def read_topics(path: Path, notes: Notes) -> list[BedTopic]:
    """The topics of a file in the form of a bed's `topics.jsonl`.

    Raises `BadConfig` that names the first few lines which are not topics. Invalid URLs and unknown keys are left out
    and noted.
    """
    topics: dict[str, BedTopic] = {}
    wrong: list[str] = []
    for number, line in _lines(path):
        try:
            topic = _topic(json.loads(line), f"line {number}", notes)
            if topic.id in topics:
                raise ValueError(f"a second topic called `{replace_unprintable(topic.id)}`")
            topics[topic.id] = topic
        except RecursionError:
            wrong.append(f"line {number}: nested too deep")
        except ValueError as error:
            wrong.append(f"line {number}: {replace_unprintable(str(error), 300)}")
    if wrong:
        more = f"\n  and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        raise BadConfig(
            f"{path} can't be used:\n  " + "\n  ".join(wrong[:MOST_NAMED]) + more,
            "each line is a JSON object with id, keywords, seeds and targets",
        )
    return list(topics.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise BadConfig(f"{path} line {number} has more than {LONGEST_LINE:,} bytes")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise of_system(
            error, path, BadConfig(f"the topics in {path} can't be read: {error.strerror or error}")
        ) from None


def _topic(raw: Any, line: str, notes: Notes) -> BedTopic:
    """The topic, checked more strictly than that of a bed: somebody wrote it by hand."""
    topic = parse_topic(raw, lambda key, text, error: notes.count(f"{key} that are no URLs", f"{text} ({line})"))
    if not isinstance(raw.get("description", ""), str):
        raise ValueError("`description` is not text")
    if not topic.id.strip():
        raise ValueError("`id` is empty")
    if not all(isinstance(label, str) for label in raw.get("path", [])):
        raise ValueError("`path` is not a list of texts")
    for key in raw.keys() - _KNOWN:
        notes.count("topic keys that mean nothing here", f"{key} ({line})")
    return topic
