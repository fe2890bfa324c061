"""Messages between the crawl and a worker process: a length, a JSON head, and byte strings after it."""

from __future__ import annotations

import json
import struct
from array import array
from dataclasses import asdict
from typing import Any, NamedTuple

from scenthound.model import Candidate, Miss, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import AHEAD, AheadView, Page
from scenthound.page.read import PageLimits
from scenthound.page.record import Parts, Record
from scenthound.text.term_counts import MOST_NUMBERED, Numbering, SharedIds, TermNumbers
from scenthound.text.tokens import Analyser

_LENGTH = struct.Struct("!I")
_NO_CANDIDATE = Candidate(Url(""), 0.0)


class ReadOptions(NamedTuple):
    """How a worker reads pages. Passed on its command line, as JSON."""

    limits: PageLimits
    agent: str
    parts: Parts
    ahead: tuple[AheadView, ...] = ()
    """Views to compute for every page."""

    def to_json(self) -> list[Any]:
        portable = [analyser for analyser in self.parts.counts if isinstance(analyser.stop_words, str)]
        counts = [[analyser.stop_words, analyser.stem] for analyser in portable]
        ahead = [name for name, view in AHEAD.items() if view in self.ahead]
        return [asdict(self.limits), self.agent, counts, self.parts.leaves, self.parts.elements, ahead]

    @classmethod
    def from_json(cls, fields: list[Any]) -> ReadOptions:
        limits, agent, counts, leaves, elements, ahead = fields
        analysers = tuple(Analyser(words, stem) for words, stem in counts)
        limits["default_pages"] = tuple(limits["default_pages"])
        return cls(
            PageLimits(**limits), agent, Parts(analysers, leaves, elements), tuple(map(AHEAD.__getitem__, ahead))
        )


def pack(head: Any, *parts: bytes) -> bytes:
    """One message: its length, its head (as JSON, with the lengths of the parts), the parts."""
    packed_head = json.dumps([head, [len(part) for part in parts]], separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    size = 4 + len(packed_head) + sum(map(len, parts))
    return b"".join((_LENGTH.pack(size), _LENGTH.pack(len(packed_head)), packed_head, *parts))


def unpack(message: bytes) -> tuple[Any, list[bytes]]:
    """Head and parts of a message without its first length. Raises ValueError for other bytes."""
    try:
        return _unpack(message)
    except (struct.error, TypeError, RecursionError) as error:
        raise ValueError(f"these bytes are not a message: {error}") from error


def _unpack(message: bytes) -> tuple[Any, list[bytes]]:
    begin = 4 + _LENGTH.unpack_from(message)[0]
    head, sizes = json.loads(message[4:begin].decode("utf-8", "surrogatepass"))
    parts = []
    for size in sizes:
        parts.append(message[begin : begin + size])
        begin += size
    return head, parts


def take_messages(buffer: bytearray) -> list[bytes]:
    """Remove all complete messages from the buffer and return them."""
    messages, begin = [], 0
    with memoryview(buffer) as view:
        while len(buffer) - begin >= 4:
            end = begin + 4 + _LENGTH.unpack_from(buffer, begin)[0]
            if end > len(buffer):
                break
            messages.append(bytes(view[begin + 4 : end]))
            begin = end
    del buffer[:begin]
    return messages


def pack_response(response: Response) -> bytes:
    """A response for another process to read."""
    return pack([response.url, response.status, response.reason, response.headers], response.body)


def unpack_response(message: bytes) -> Response:
    (url, status, reason, headers), (body,) = unpack(message)
    return Response(url, status, reason, tuple((name, value) for name, value in headers), body)


def read_response(response: Response, options: ReadOptions, numbers: TermNumbers) -> bytes:
    """The page, miss or redirect that a response represents, as a message. Never raises, whatever the page contains.

    The record is followed by values that the crawl's process then need not compute: the positions of the outlinks, the
    ids of the terms, and the views in `options.ahead`.
    """
    try:
        result = land(_NO_CANDIDATE, response, options.limits, options.parts, agent=options.agent, numbers=numbers)
        if isinstance(result, Page):
            counts = map(result.record.counts, options.parts.counts)
            ids = [term_counts.shared.ids for term_counts in counts if term_counts.shared is not None]
            views = {name: view(result.record) for name, view in AHEAD.items() if view in options.ahead}
            head = ["page", result.status, result.size, numbers.numbering.name, list(views)]
            outlinks = array("I", [link.position for link in result.record.outlinks]).tobytes()
            return pack(head, result.record.to_bytes(), outlinks, *ids, *views.values())
    except Exception as error:  # as in the crawl's own process, one page must not stop the crawl
        result = Miss(_NO_CANDIDATE, "unreadable", f"{type(error).__name__}: {error}"[:200], response.status)
    if isinstance(result, Miss):
        return pack(["miss", result.reason, result.detail, result.status, result.size, result.retry_after])
    assert isinstance(result, Moved)
    return pack(["moved", result.url, result.spelling, result.status, result.size])


def unpack_result(message: bytes, candidate: Candidate) -> Page | Miss | Moved:
    """The result in a message of `read_response`. Raises ValueError for anything else."""
    head, parts = unpack(message)
    match head:
        case ["miss", str(reason), str(detail), int(status), int(size), float() | None as retry_after]:
            return Miss(candidate, reason, detail, status, size, retry_after)
        case ["moved", str(url), str(spelling), int(status), int(size)]:
            return Moved(candidate, Url(url), spelling, status, size)
        case ["page", int(status), int(size), str(name), list(ahead)] if (
            len(parts) >= 2 + len(ahead) and not len(parts[1]) % 4
        ):
            data, outlinks, *ids = parts[: len(parts) - len(ahead)]
            shared = [SharedIds(term_ids, Numbering(name, MOST_NUMBERED)) for term_ids in ids]
            record = Record.from_bytes(data, shared=shared, outlinks=memoryview(outlinks).cast("I"))
            return Page(record.url, candidate, record, status, size, ahead=_views(ahead, parts[len(ids) + 2 :]))
    raise ValueError("a message that no worker sends")


def _views(names: list[Any], views: list[bytes]) -> dict[AheadView, bytes]:
    """Views by their functions."""
    if not all(isinstance(name, str) and name in AHEAD for name in names):
        raise ValueError("a view that no worker computes")
    if any(len(view) % 4 for view in views):
        raise ValueError("a view whose numbers are cut short")
    return {AHEAD[name]: view for name, view in zip(names, views, strict=True)}
