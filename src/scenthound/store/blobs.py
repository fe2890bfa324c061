"""Values stored as bytes in a database column: saved state (JSON and arrays of numbers) and the links of a page.

Reading never executes code, since a folder may come from a stranger. A state is the length of the JSON part in eight
bytes, the JSON part, and the bytes of the arrays. In the JSON an array is `{"array": [dtype, shape]}`.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from scenthound.model import Url

_ARRAY = "\x00array"
_LONGEST_LINKS = 256 << 20  # bytes of an unpacked list of links: the folder may come from a stranger
_PLAIN = frozenset({str, int, float, bool, type(None)})
_KINDS = "biuf"  # numpy kinds: booleans, signed and unsigned integers, floats


def pack(state: Mapping[str, Any]) -> bytes:
    """Encode a state of dicts, lists, strings, numbers and numpy arrays. Raises ValueError for anything else."""
    arrays: list[bytes] = []
    head = json.dumps(_plain(state, arrays), separators=(",", ":")).encode()
    return b"".join([len(head).to_bytes(8, "big"), head, *arrays])


def unpack(data: bytes) -> dict[str, Any]:
    """The inverse of `pack` (tuples become lists). Raises ValueError for other bytes."""
    end = 8 + int.from_bytes(data[:8], "big")
    if len(data) < 8 or end > len(data):
        raise ValueError("a saved state is cut short")
    try:
        state, used = _revive(json.loads(data[8:end]), data, end)
    except RecursionError:
        raise ValueError("a saved state is nested too deeply") from None
    if used != len(data) or not isinstance(state, dict):
        raise ValueError("a saved state is damaged")
    return state


def _plain(value: Any, arrays: list[bytes]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        bad_keys = [key for key in value if not isinstance(key, str) or key == _ARRAY]
        if bad_keys:
            raise ValueError(f"a key of a saved state must be text, not {bad_keys[0]!r}")
        return {key: _plain(inner, arrays) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        if _PLAIN.issuperset(map(type, value)):  # a long list has only strings or numbers
            return value
        return [_plain(inner, arrays) for inner in value]
    import numpy  # slow to import, and many states hold no array

    if isinstance(value, numpy.ndarray | numpy.generic):
        if value.ndim == 0:
            return _plain(value.item(), arrays)
        if value.dtype.kind not in _KINDS:
            raise ValueError(f"an array of {value.dtype} can't be saved")
        ordered = value.astype(value.dtype.newbyteorder("<"))
        arrays.append(ordered.tobytes())
        return {_ARRAY: [ordered.dtype.str, list(value.shape)]}
    raise ValueError(f"a {type(value).__name__} can't be saved: use dicts, lists, strings, numbers and arrays")


def _revive(value: Any, data: bytes, offset: int) -> tuple[Any, int]:
    """The decoded value with its arrays, and the offset of the next array."""
    if isinstance(value, list):
        if _PLAIN.issuperset(map(type, value)):
            return value, offset
        items = []
        for inner in value:
            item, offset = _revive(inner, data, offset)
            items.append(item)
        return items, offset
    if not isinstance(value, dict):
        return value, offset
    if _ARRAY in value:
        return _array(value[_ARRAY], data, offset)
    revived = {}
    for key, inner in value.items():
        revived[key], offset = _revive(inner, data, offset)
    return revived, offset


def _array(header: Any, data: bytes, offset: int) -> tuple[Any, int]:
    import numpy  # slow to import, and many states hold no array

    try:
        name, shape = header
        dtype = numpy.dtype(name)
        sizes = [int(size) for size in shape]
    except (TypeError, ValueError):
        raise ValueError("a saved array is damaged") from None
    end = offset + math.prod(sizes) * dtype.itemsize
    if dtype.kind not in _KINDS or min(sizes, default=0) < 0 or end > len(data):
        raise ValueError("a saved array is damaged")
    return numpy.frombuffer(data[offset:end], dtype).reshape(sizes).copy(), end


def pack_urls(urls: Iterable[Url]) -> bytes:
    """URLs, one per line, compressed. A canonical URL contains no line break."""
    return zlib.compress("\n".join(urls).encode("utf-8", "replace"), 1)


def unpack_urls(data: bytes) -> list[Url]:
    """The inverse of `pack_urls`. Raises ValueError for other bytes."""
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(data, _LONGEST_LINKS)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if not inflate.eof:
        raise ValueError("cut short, or too large for the links of one page")
    return [Url(line) for line in text.decode("utf-8", "replace").split("\n")] if text else []
