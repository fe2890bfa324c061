"""The categories that a portal has given to the pages of a crawl, for searches within one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scenthound.errors import BadUsage
from scenthound.files import check_file, refuse_link

PORTAL = "portal"  # the folder in a crawl folder
STATE = ".portal"  # the folder in a portal that need not be published
FILES = "files.json"


def portal_state(path: Path) -> dict[str, Any]:
    """Return the state saved by the last run. Raises `UnsafeFile` for a symbolic link, so nothing outside is read."""
    refuse_link(path)
    refuse_link(path / STATE)
    file = path / STATE / FILES
    check_file(file)
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def categories_of(folder: Path) -> dict[str, list[int]]:
    """The categories in the portal of a crawl folder, with their page numbers; empty if there is no portal."""
    categories = portal_state(folder / PORTAL).get("categories", {})
    if not isinstance(categories, dict):
        return {}
    return {
        str(name): [number for number in numbers if isinstance(number, int)]
        for name, numbers in categories.items()
        if isinstance(numbers, list)
    }


def pages_in(folder: Path, category: str) -> list[int]:
    """The page numbers of a category. Raises `BadUsage` if there is no category with this name."""
    categories = categories_of(folder)
    if not categories:
        raise BadUsage("this crawl has no categories", f"build its portal first: scenthound portal {folder}")
    if category not in categories:
        raise BadUsage(f"no category called `{category[:80]}`", f"categories: {'; '.join(categories)}")
    return categories[category]
