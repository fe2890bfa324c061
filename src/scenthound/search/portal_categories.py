"""The categories that a portal has given to the pages of a crawl, for searches within one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadUsage
from scenthound.files import check_file, refuse_link
from scenthound.typed_data import from_json

PORTAL = "portal"  # the folder in a crawl folder
STATE = ".portal"  # the folder in a portal that need not be published
FILES = "files.json"


@dataclass(frozen=True, slots=True)
class PortalState:
    """What the last run left to the next one."""

    crawl: dict[str, Any] | None = None
    """Of which crawl it is the portal."""
    files: list[str] = field(default_factory=list)
    categories: dict[str, list[int]] = field(default_factory=dict)
    """Page numbers by the name of their category."""


def portal_state(path: Path) -> PortalState:
    """Return the state saved by the last run. Raises `UnsafeFile` for a symbolic link, so nothing outside is read."""
    refuse_link(path)
    refuse_link(path / STATE)
    file = path / STATE / FILES
    check_file(file)
    try:
        return from_json(file.read_bytes(), PortalState)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return PortalState()


def categories_of(folder: Path) -> dict[str, list[int]]:
    """The categories in the portal of a crawl folder, with their page numbers; empty if there is no portal."""
    return portal_state(folder / PORTAL).categories


def pages_in(folder: Path, category: str) -> list[int]:
    """The page numbers of a category. Raises `BadUsage` if there is no category with this name."""
    categories = categories_of(folder)
    if not categories:
        raise BadUsage("this crawl has no categories", f"build its portal first: scenthound portal {folder}")
    if category not in categories:
        raise BadUsage(f"no category called `{category[:80]}`", f"categories: {'; '.join(categories)}")
    return categories[category]
