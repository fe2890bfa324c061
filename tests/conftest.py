"""What several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the project with beds and suites; the test is skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared, which is not here")
    return SHARED
