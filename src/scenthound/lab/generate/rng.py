"""Random numbers for the generated web: the same on every machine and in every version of Python.

They come from integer arithmetic and SHAKE-128, which are standardised; `random` guarantees less.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

_MASK = (1 << 64) - 1
_A, _B, _C = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_BLOCK = struct.Struct("<256I")

Words = np.ndarray[Any, np.dtype[np.uint64]]


def mix(seed: int, purpose: int, number: int) -> int:
    """64 pseudo-random bits that depend on all three arguments (the finaliser of SplitMix64)."""
    bits = (seed * _A + purpose * _C + (number + 1) * _B) & _MASK
    bits = ((bits ^ (bits >> 30)) * _B) & _MASK
    bits = ((bits ^ (bits >> 27)) * _C) & _MASK
    return bits ^ (bits >> 31)


def mix_all(seed: int, purpose: int, count: int) -> Words:
    """`mix(seed, purpose, n)` for every n below `count`, as an array."""
    bits = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_B)
    bits += np.uint64((seed * _A + purpose * _C) & _MASK)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_B)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_C)
    return np.asarray(bits ^ (bits >> np.uint64(31)), dtype=np.uint64)


def stream(*key: object) -> Iterator[int]:
    """An endless stream of 32-bit numbers, determined by the key."""
    text = "/".join(map(str, key))
    block = 0
    while True:
        yield from _BLOCK.unpack(hashlib.shake_128(f"{text}/{block}".encode()).digest(_BLOCK.size))
        block += 1


def below(draws: Iterator[int], limit: int) -> int:
    """The next number, scaled to 0 .. limit - 1."""
    return (next(draws) * limit) >> 32


def skewed(draws: Iterator[int], limit: int) -> int:
    """The next number squared and scaled to 0 .. limit - 1, so that small ones are more likely: density ~ rank^-1/2."""
    number = next(draws)
    return (((number * number) >> 32) * limit) >> 32


def heavy(draws: Iterator[int], least: int, most: int) -> int:
    """A size with a heavy tail: P(size > x) ~ least/x, at most `most`."""
    return min(most, (least << 32) // (next(draws) + 1))
