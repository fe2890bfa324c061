"""Sizes of tests that have a long form, which `make hostile` runs."""

from __future__ import annotations

import os

LONG = "SCENTHOUND_LONG_TESTS"
"""If this variable is 1, tests run in their long form."""


def long_form(short: int, long: int) -> int:
    return long if os.environ.get(LONG) == "1" else short
