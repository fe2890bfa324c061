"""The cache of prepared beds, keyed by the bed's digest and a fingerprint of our code.

A folder is built under a temporary name and renamed into place, so it is complete or missing. If two processes build
the same folder, the second to finish deletes its copy.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from scenthound.files import new_folder, write_bytes
from scenthound.lab.beds.bed import Bed, Web
from scenthound.page.record import FORMAT as RECORD_FORMAT
from scenthound.text.tokens import FORMAT as TOKENS_FORMAT

VARIABLE = "SCENTHOUND_CACHE"
FORMAT = 4  # of prepared beds; raise it when the same bed would be prepared differently
UNUSED = 30  # days without use after which a bed prepared by another version of the code is removed
LIBRARIES = ("selectolax", "ada-url", "pystemmer", "charset-normalizer")


def cache_folder() -> Path:
    """The folder for everything that the lab can recompute: `SCENTHOUND_CACHE`, or the user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path(user_cache_path("scenthound", appauthor=False))


def sources_digest(modules: Iterable[str]) -> str:
    """A digest of the source of these modules; a missing module counts as empty."""
    digest = hashlib.sha256()
    for name in modules:
        spec = find_spec(name)
        source = Path(spec.origin).read_bytes() if spec is not None and spec.origin else b""
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()


def fingerprint(*more: object) -> str:
    """A digest of everything that determines a prepared bed besides the bed itself: formats, libraries, cut."""
    digest = hashlib.sha256(f"{FORMAT} {RECORD_FORMAT} {TOKENS_FORMAT}".encode())
    for library in LIBRARIES:
        try:
            digest.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError:
            digest.update(f"{library} none\n".encode())
    digest.update(repr(more).encode())
    return digest.hexdigest()


def digest_of(web: Web) -> str:
    """The web's digest. Computing a bed's digest reads all its files, so it is cached by their sizes and times."""
    if not isinstance(web, Bed) or "made" in web.about:
        return web.digest
    files = sorted([*web.folder.glob("*.warc*"), web.folder / "topics.jsonl"])
    stats = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    name = hashlib.sha256((sources_digest(["scenthound.lab.beds.bed"]) + json.dumps(stats)).encode()).hexdigest()
    cached = cache_folder() / "digests" / name[:32]
    try:
        return cached.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        digest = web.digest
    cached.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(cached, digest.encode())
    return digest


def build_folder(folder: Path, build: Callable[[Path], None]) -> None:
    """Let `build` fill a temporary folder, then rename it into place unless another process was faster."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with new_folder(folder) as temporary:
            build(temporary)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def mark_used(folder: Path) -> None:
    """Mark a folder of the cache as used, by setting its modification time."""
    with contextlib.suppress(OSError):  # a cache may be read-only
        os.utime(folder)


def prune(folder: Path, days: int = UNUSED) -> list[Path]:
    """Remove other prepared forms of the same bed, last used `days` or more before `folder`, and return them."""
    bed = folder.name.partition("-")[0]
    removed = []
    oldest_kept = folder.stat().st_mtime - days * 86_400
    for other in folder.parent.glob(f"{bed}-*"):
        if other != folder and other.is_dir() and other.stat().st_mtime < oldest_kept:
            shutil.rmtree(other, ignore_errors=True)
            removed.append(other)
    return removed


def save_about(folder: Path, about: Mapping[str, object]) -> None:
    """Write `about.json` with the size of every file, so that `load_about` detects a damaged folder."""
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}
    write_bytes(folder / "about.json", (json.dumps({**about, "files": sizes}, indent=1) + "\n").encode())


def load_about(folder: Path) -> dict[str, object] | None:
    """The facts that `save_about` wrote; None if the folder is missing or incomplete."""
    try:
        about: dict[str, object] = json.loads((folder / "about.json").read_bytes())
        sizes = about["files"]
        assert isinstance(sizes, dict)
        complete = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, AssertionError):
        return None
    return about if complete else None


def memory_map(folder: Path, name: str, dtype: str) -> npt.NDArray[Any]:
    """A column of numbers as a memory map, which is read on demand and shared between processes."""
    path = folder / name
    if not path.stat().st_size:
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
