"""What the command does to its own process."""

from __future__ import annotations

import ctypes
import os

import pytest

from scenthound.cli import process_limits


def test_memory_is_kept_where_the_c_library_knows_how(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def __init__(self, name: None) -> None:
            self.mallopt = lambda name, value: told.append((name, value))

    monkeypatch.setattr(ctypes, "CDLL", Library)
    process_limits.keep_memory()
    assert told == [(-3, 32 << 20), (-1, 64 << 20), (-2, 8 << 20)]


@pytest.mark.parametrize("error", [OSError("no such library"), AttributeError("no mallopt")])
def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def library(name: None) -> object:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", library)
    process_limits.keep_memory()


def test_numpy_starts_no_threads_unless_the_user_wants_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    process_limits.prepare()
    assert os.environ == {"OPENBLAS_NUM_THREADS": "1"}
    monkeypatch.setattr(os, "environ", {"OPENBLAS_NUM_THREADS": "4"})
    process_limits.prepare()
    assert os.environ == {"OPENBLAS_NUM_THREADS": "4"}
