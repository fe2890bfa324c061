"""Lists of ids as arrays: sort them with their counts, search them, and join many into one array for saving."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from scenthound.text.vocabulary import Ids


def sorted_counts(ids: Ids, times: Ids) -> tuple[array[int], array[int]]:
    """Ids in ascending order and how often each occurs; negative ids, which mean words without an id, are left out.

    >>> sorted_counts(np.array([7, -1, 3], dtype=np.int32), np.array([1, 5, 2], dtype=np.int32))
    (array('i', [3, 7]), array('i', [2, 1]))
    """
    order = np.argsort(ids)[int((ids < 0).sum()) :]
    return array("i", ids[order].tobytes()), array("i", times[order].tobytes())


def known_ids(known: array[int], wanted: array[int]) -> list[int]:
    """The `wanted` ids that are among the `known` ones, which are in ascending order.

    >>> known_ids(array("i", [3, 7, 9]), array("i", [9, 4, 3]))
    [9, 3]
    """
    if not known or not wanted:
        return []
    ids, sorted_ids = np.array(wanted), np.frombuffer(known, dtype=np.int32)
    is_known = sorted_ids.take(np.searchsorted(sorted_ids, ids), mode="clip") == ids
    return list(ids[is_known].tolist())


def pack_lists(lists: Sequence[Sequence[int]]) -> Ids:
    """Lists of numbers as one array: the number of lists, their lengths, then all items.

    >>> pack_lists([[5, 6], [], [7]]).tolist()
    [3, 2, 0, 1, 5, 6, 7]
    """
    flat = array("i", [len(lists), *map(len, lists)])
    for numbers in lists:
        flat.extend(numbers)
    return np.array(flat, dtype=np.int32)


def unpack_lists(packed: Any) -> list[array[int]]:
    """The inverse of `pack_lists`. Raises ValueError if the lists do not fill the array."""
    flat = array("i", np.asarray(packed, dtype=np.int32).tobytes())
    lists, begin = [], 1 + flat[0]
    for length in flat[1 : 1 + flat[0]]:
        lists.append(flat[begin : begin + length])
        begin += length
    if begin != len(flat):
        raise ValueError("the lists do not fill their array")
    return lists
