"""Where test cases come from: our own in `tests/data/suites`, and other people's in `../shared/suites` if that is here.

Both have the same layout and the same fields, so a test runs on both. Where a suite of other people has a field in
base64 (`body_b64`), ours may have it as text (`body`), one character a byte.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[3] / "shared"))
HAS_SHARED = SHARED.is_dir()


class Suites(NamedTuple):
    """A folder with suites."""

    name: str
    folder: Path

    @property
    def is_own(self) -> bool:
        return self.name == "own"

    def cases(self, own: str, others: str) -> list[Any]:
        """The cases of a file, which has another name in each folder."""
        path = self.folder / f"{own if self.is_own else others}.json"
        found: list[Any] = json.loads(path.read_text(encoding="utf-8"))
        assert found
        return found


OWN = Suites("own", Path(__file__).resolve().parents[1] / "data" / "suites")
OTHERS = Suites("others", SHARED / "suites")


def with_shared(own: list[T], shared: list[T]) -> list[T]:
    """Parameters of a test: `own` always, `shared` too where ../shared is here."""
    return [*own, *(shared if HAS_SHARED else [])]


def bytes_of(case: dict[str, Any], field: str) -> bytes:
    return case[field].encode("latin-1") if field in case else base64.b64decode(case[f"{field}_b64"])
