"""Where prepared beds are kept, and when one is still good: by the bed's digest and a fingerprint of our code.

A folder is built aside and renamed into place, so it is there whole or not at all; of two processes that build
the same one the second to finish throws its own away.
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
FORMAT = 3  # of a prepared bed; raise it when the same bed would be prepared differently
UNUSED = 30  # days after which a prepared form that the present code does not read is removed
LIBRARIES = ("selectolax", "ada-url", "pystemmer", "charset-normalizer")


def cache_folder() -> Path:
    """The folder for everything the lab can compute again: `SCENTHOUND_CACHE`, or the user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path(user_cache_path("scenthound", appauthor=False))


def sources_digest(modules: Iterable[str]) -> str:
    """A digest of the source of these modules; one that is not there counts as empty."""
    whole = hashlib.sha256()
    for name in modules:
        found = find_spec(name)
        source = Path(found.origin).read_bytes() if found is not None and found.origin else b""
        whole.update(f"{name} {len(source)}\n".encode() + source)
    return whole.hexdigest()


def fingerprint(*more: object) -> str:
    """Changes when the same bed would be prepared differently: another format, other libraries, another cut."""
    whole = hashlib.sha256(f"{FORMAT} {RECORD_FORMAT} {TOKENS_FORMAT}".encode())
    for library in LIBRARIES:
        try:
            whole.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError:
            whole.update(f"{library} none\n".encode())
    whole.update(repr(more).encode())
    return whole.hexdigest()


def digest_of(web: Web) -> str:
    """The web's digest. A bed folder's costs reading all of it, so it is remembered by the files' sizes and times."""
    if not isinstance(web, Bed):
        return web.digest
    files = sorted([*web.folder.glob("*.warc*"), web.folder / "topics.jsonl"])
    seen = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    name = hashlib.sha256((sources_digest(["scenthound.lab.beds.bed"]) + json.dumps(seen)).encode()).hexdigest()
    note = cache_folder() / "digests" / name[:32]
    try:
        return note.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        digest = web.digest
    note.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(note, digest.encode())
    return digest


def build_folder(folder: Path, build: Callable[[Path], None]) -> None:
    """Have `build` fill a new folder, then put it in place unless another process was faster."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with new_folder(folder) as made:
            build(made)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def used(folder: Path) -> None:
    """Note that a folder of the cache is in use, by its time of change."""
    with contextlib.suppress(OSError):  # a cache may be read-only
        os.utime(folder)


def prune(folder: Path, days: int = UNUSED) -> list[Path]:
    """Remove what older code, or another cut, prepared of the same bed and nobody has used for so many days.

    Counted from when this folder was last used; gives what was removed.
    """
    bed = folder.name.partition("-")[0]
    removed = []
    oldest = folder.stat().st_mtime - days * 86_400
    for other in folder.parent.glob(f"{bed}-*"):
        if other != folder and other.is_dir() and other.stat().st_mtime < oldest:
            shutil.rmtree(other, ignore_errors=True)
            removed.append(other)
    return removed


def save_about(folder: Path, about: Mapping[str, object]) -> None:
    """Write `about.json` with the size of every file, by which a damaged folder is known."""
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}
    write_bytes(folder / "about.json", (json.dumps({**about, "files": sizes}, indent=1) + "\n").encode())


def load_about(folder: Path) -> dict[str, object] | None:
    """What `save_about` wrote; None where the folder is missing or not whole."""
    try:
        about: dict[str, object] = json.loads((folder / "about.json").read_bytes())
        sizes = about["files"]
        assert isinstance(sizes, dict)
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, AssertionError):
        return None
    return about if whole else None


def mapped(folder: Path, name: str, kind: str) -> npt.NDArray[Any]:
    """A column of numbers, mapped into memory: pages of it are read when touched, and shared by processes."""
    path = folder / name
    if not path.stat().st_size:
        return np.zeros(0, dtype=kind)
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))
