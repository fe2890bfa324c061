"""Topics that somebody wrote: a JSON object a line, every line looked at, every fault named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, NotAUrl
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.importers.interface import Notes, printable
from scenthound.model import Url
from scenthound.url import make

LONGEST_LINE = 64 << 20  # bytes; a topic of 100,000 targets has some 10 MB
MOST_NAMED = 5
_NEEDED = ("id", "keywords", "seeds", "targets")
_TEXTS = ("id", "keywords", "description")
_LISTS = ("seeds", "targets", "examples", "neighbours")
_KNOWN = {*_TEXTS, *_LISTS, "path"}


def read_topics(path: Path, notes: Notes) -> list[BedTopic]:
    """The topics of a file in the form of a bed's `topics.jsonl`.

    A line that is no topic makes the file unusable: `BadConfig` names the first few such lines with
    what is wrong. What is no URL in a list is left out and noted, and so is a key that means nothing.
    """
    topics: dict[str, BedTopic] = {}
    wrong: list[str] = []
    for number, line in _lines(path):
        try:
            topic = _topic(json.loads(line), f"line {number}", notes)
            if topic.id in topics:
                raise ValueError(f"a second topic called `{printable(topic.id)}`")
            topics[topic.id] = topic
        except RecursionError:
            wrong.append(f"line {number}: nested too deep")
        except ValueError as error:
            wrong.append(f"line {number}: {printable(str(error), 300)}")
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
        raise BadConfig(f"the topics in {path} can't be read: {error.strerror or error}") from None


def _topic(fields: Any, place: str, notes: Notes) -> BedTopic:
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    missing = [key for key in _NEEDED if key not in fields]
    if missing:
        raise ValueError(f"`{missing[0]}` is missing")
    for key in _TEXTS:
        if not isinstance(fields.get(key, ""), str):
            raise ValueError(f"`{key}` is not text")
    if not fields["id"].strip():
        raise ValueError("`id` is empty")
    path = fields.get("path", [])
    if not isinstance(path, list) or not all(isinstance(label, str) for label in path):
        raise ValueError("`path` is not a list of texts")
    for key in fields.keys() - _KNOWN:
        notes.count("topic keys that mean nothing here", f"{key} ({place})")
    urls = {key: _urls(key, fields.get(key, []), place, notes) for key in _LISTS}
    return BedTopic(fields["id"], tuple(path), fields["keywords"], fields.get("description", ""), **urls)


def _urls(key: str, raw: Any, place: str, notes: Notes) -> tuple[Url, ...]:
    if not isinstance(raw, list):
        raise ValueError(f"`{key}` is not a list")
    found: dict[Url, None] = {}
    for text in raw:
        try:
            found[make(text if isinstance(text, str) else "")] = None
        except NotAUrl:
            notes.count(f"{key} that are no URLs", f"{text} ({place})")
    return tuple(found)
