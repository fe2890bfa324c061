"""The optional parts of the installation: which there are, according to the package's metadata, and what is missing.

A command that needs an extra calls `require` before it begins to work.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from importlib.util import find_spec

from scenthound.errors import BadConfig

_REQUIRED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
WHAT_FOR = {
    "desk": "the desk: crawls in the browser (`scenthound desk`, `ask`, `companion`)",
    "mcp": "crawls as tools for agents (`scenthound mcp`)",
    "parquet": "`export --to parquet`",
    "text": "language and main text in exports",
    "pandas": "crawl folders as pandas data frames (`to_pandas`)",
    "lab": "metrics, statistics and reports of experiments (`lab run`, `measure`, `report`, `compare`)",
    "pdf": "the text of PDF files (`crawl --pdf`)",
    "socks": "`--proxy socks5://…`",
    "brotli": "pages compressed with Brotli",
    "zstd": "pages compressed with Zstandard",
}
"""What each extra is for; the metadata does not say it."""


@cache
def extras() -> dict[str, tuple[str, ...]]:
    """The packages of each extra, as the metadata declares them."""
    found: dict[str, list[str]] = {name: [] for name in metadata.metadata("scenthound").get_all("Provides-Extra") or ()}
    for line in metadata.requires("scenthound") or ():
        name, extra = _REQUIRED.match(line), _EXTRA.search(line)
        if name is not None and extra is not None:
            found.setdefault(extra[1], []).append(name[1])
    return {name: tuple(packages) for name, packages in found.items()}


def missing(extra: str) -> list[str]:
    """The packages of an extra that can't be imported."""
    return [package for package in extras().get(extra, (extra,)) if find_spec(package.replace("-", "_")) is None]


def require(extra: str, what: str) -> None:
    """Raise `BadConfig`, which names the extra, if `what` can't work because packages are missing."""
    if packages := missing(extra):
        more = f"{', '.join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
        raise BadConfig(f"{what} needs the extra `{extra}`: {more}", f"pip install 'scenthound[{extra}]'")
