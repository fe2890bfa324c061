"""Programs that some tests need and pip does not install. `scripts/system_tools.sh` has the same switches."""

from __future__ import annotations

import os
import shutil

import pytest


def program(tool: str, switch: str, *names: str) -> str:
    """The path of the first program that is here; the test is skipped if there is none, or if it was declined."""
    if os.environ.get(switch) == "0":
        pytest.skip(f"{switch}=0")
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"there is no {tool}")


def chromium() -> str:
    pytest.importorskip("playwright", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    return program("Chromium (see scripts/system_tools.sh)", "BROWSER_TESTS", *names)


def firefox() -> str:
    return program("Firefox", "BROWSER_TESTS", "firefox-esr", "firefox")


def searx() -> str:
    return program("searx (see scripts/system_tools.sh)", "SEARX_TESTS", "searx-run")
