"""A trained strategy as a folder: written by `train`, read by `crawl`.

    model.toml   format, strategy, parameters, versions, topic, training data, and the digest of each file
    model.json   the result of the strategy's `model()`; an array is {"@array": "name.npy"}
    *.npy        one array each, numbers only

A folder may come from a stranger: sizes are checked before anything is read, every file is checked against its digest,
and nothing in it is executed. The folder gets its name only when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import PATH_ERRORS, BadConfig, FolderBroken, IoFailed
from scenthound.files import new_folder, unfinished
from scenthound.formats import toml_key, toml_value
from scenthound.model import NOTHING, Topic

FORMAT = 1
ABOUT, STATE = "model.toml", "model.json"
LARGEST = 1 << 30  # bytes of all files together: a model of a million words has about 100 MB
LARGEST_ABOUT = 4 << 20
MOST_ARRAYS = 20_000  # a taxonomy has three for every inner category
TRAIN = "train one: scenthound train STRATEGY --topic TOPIC.toml --from BED_OR_CRAWL --out model"
_ARRAY = "@array"
_KINDS = "biuf"  # numpy kinds: booleans, signed and unsigned integers, floats
_FILE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}\.npy\Z")
_UNFIT = re.compile(r"[^a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The pages that a strategy learned from."""

    kind: str
    """`bed`, `crawl`, `pages`, `generated` or `live`."""
    name: str
    digest: str
    counts: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    """Number of examples, other pages, categories …"""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The learned state of a strategy, with everything needed to use it, and its origin."""

    strategy: str
    parameters: Mapping[str, Any]
    """All parameters, including defaults."""
    topic: Topic
    trained_on: TrainedOn
    state: Mapping[str, Any] = field(repr=False)
    """The result of `Trains.model`: JSON values and numpy arrays."""
    versions: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    when: str = ""

    @property
    def digest(self) -> str:
        """A hash of strategy, parameters and state, without the time: equal models have equal digests."""
        files = _files(self.state)
        content = [self.strategy, dict(self.parameters), sorted((name, _sha(data)) for name, data in files.items())]
        return _sha(json.dumps(content, sort_keys=True, default=str).encode())


def save_model(folder: Path, model: TrainedModel) -> None:
    """Write a model to a new folder, completely or not at all. Raises `BadConfig` if the folder is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "there is already a model" if (folder / ABOUT).exists() else "there are already files"
        raise BadConfig(f"{what} in {folder}", "choose a new folder")
    files = _files(model.state)
    size = sum(map(len, files.values()))
    if size > LARGEST or len(files) > MOST_ARRAYS + 1:
        raise BadConfig(
            f"a model of {size:,} bytes in {len(files):,} files is too large", f"the limit is {LARGEST:,} bytes"
        )
    files[ABOUT] = _about(model, files).encode()
    with unfinished(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(folder) as unfinished_folder:
            for name, data in files.items():
                (unfinished_folder / name).write_bytes(data)


def load_model(folder: Path) -> TrainedModel:
    """Read the model in a folder. Raises `BadConfig` if there is none, `FolderBroken` if it is damaged or too new."""
    about = _read_about(folder)
    path = folder / ABOUT
    try:
        format_number = about["format"]
        if not isinstance(format_number, int) or format_number > FORMAT:
            problem = f"was written by a newer scenthound (format {format_number}; this version reads up to {FORMAT})"
            raise FolderBroken(path, problem, "install a newer version, or train the model again")
        files = _checked_files(folder, about["files"])
        origin = about["trained_on"]
        counts = {str(key): int(value) for key, value in origin.get("counts", {}).items()}
        return TrainedModel(
            _text(about["strategy"]),
            dict(about.get("parameters", {})),
            _topic(about["topic"]),
            TrainedOn(_text(origin["kind"]), _text(origin["name"]), _text(origin["digest"]), counts),
            _decoded(files),
            {str(key): str(value) for key, value in about.get("versions", {}).items()},
            _text(about.get("when", "")),
        )
    except KeyError as error:
        raise _broken(folder, f"{ABOUT} lacks {error}") from None
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _broken(folder, str(error) or type(error).__name__) from None


# ---- writing


def _files(state: Mapping[str, Any]) -> dict[str, bytes]:
    """The state as a mapping from file names to contents: the JSON, and each array, named after its path."""
    arrays: dict[str, bytes] = {}
    text = json.dumps(_encoded(state, (), arrays), ensure_ascii=True, separators=(",", ":"), sort_keys=False)
    return {STATE: text.encode(), **arrays}


def _encoded(value: Any, path: tuple[str, ...], arrays: dict[str, bytes]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key == _ARRAY:
                raise ValueError(f"a key of a model must be text, not {key!r}")
        return {key: _encoded(inner, (*path, key), arrays) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(inner, (*path, str(index)), arrays) for index, inner in enumerate(value)]
    import numpy  # slow to import, and many states hold no array

    if isinstance(value, numpy.ndarray | numpy.generic):
        if value.ndim == 0:
            return _encoded(value.item(), path, arrays)
        return {_ARRAY: _add_array(value, path, arrays)}
    raise ValueError(f"a {type(value).__name__} can't be in a model: use dicts, lists, strings, numbers and arrays")


def _add_array(array: Any, path: tuple[str, ...], arrays: dict[str, bytes]) -> str:
    """Add an array to `arrays` and return its file name."""
    import numpy

    if array.dtype.kind not in _KINDS:
        raise ValueError(f"an array of {array.dtype} can't be in a model")
    stem = _UNFIT.sub("-", "-".join(path).lower()).strip("-_")[:80] or "array"
    name, suffix = f"{stem}.npy", 1
    while name in arrays:
        suffix += 1
        name = f"{stem}-{suffix}.npy"
    data = io.BytesIO()
    little_endian = numpy.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    numpy.save(data, little_endian, allow_pickle=False)
    arrays[name] = data.getvalue()
    return name


def _about(model: TrainedModel, files: Mapping[str, bytes]) -> str:
    topic = asdict(model.topic)
    origin = model.trained_on
    tables: dict[str, Mapping[str, Any]] = {
        "parameters": model.parameters,
        "versions": model.versions,
        "topic": {key: value for key, value in topic.items() if value or key == "keywords"},
        "trained_on": {"kind": origin.kind, "name": origin.name, "digest": origin.digest},
        "trained_on.counts": origin.counts,
    }
    lines = [
        "# A trained strategy. Made by `scenthound train`; use it with `scenthound crawl … --model`.",
        f"format = {FORMAT}",
        f"strategy = {toml_value(model.strategy)}",
        f"when = {toml_value(model.when)}",
    ]
    for name, table in tables.items():
        rows = [f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items() if value is not None]
        lines += ["", f"[{name}]", *rows]
    for name, data in files.items():
        lines += ["", "[[files]]", f"name = {toml_value(name)}", f"bytes = {len(data)}", f'sha256 = "{_sha(data)}"']
    return "\n".join([*lines, ""])


# ---- reading


def _read_about(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadConfig(f"there is no model in {folder}: no such folder", TRAIN)
    if not (folder / ABOUT).is_file():
        other = {"crawl.toml": "it is a crawl", "bed.toml": "it is a bed"}
        kinds = [what for name, what in other.items() if (folder / name).is_file()]
        raise BadConfig(f"{folder} is not a model: {(kinds or [f'it has no {ABOUT}'])[0]}", TRAIN)
    try:
        return tomllib.loads(_bytes_of(folder / ABOUT, LARGEST_ABOUT).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise _broken(folder, f"{ABOUT}: {error}") from None


def _checked_files(folder: Path, entries: Any) -> dict[str, bytes]:
    """The listed files, each checked against its size and digest."""
    if not isinstance(entries, list) or len(entries) > MOST_ARRAYS + 1:
        raise ValueError(f"{ABOUT} has no valid list of files")
    total = 0
    for entry in entries:
        name, size = entry["name"], entry["bytes"]
        if not isinstance(name, str) or not isinstance(size, int) or not (name == STATE or _FILE.match(name)):
            raise ValueError(f"a model has no file called {name!r}")
        total += max(size, 0)
    if total > LARGEST:
        raise ValueError(f"it has {total:,} bytes; the limit is {LARGEST:,}")
    files = {}
    for entry in entries:
        data = _bytes_of(folder / entry["name"], entry["bytes"])
        if len(data) != entry["bytes"] or _sha(data) != entry["sha256"]:
            raise ValueError(f"{entry['name']} was changed after it was written")
        files[entry["name"]] = data
    return files


def _bytes_of(path: Path, most: int) -> bytes:
    """The bytes of a regular file. Links, pipes and devices are refused: the folder may come from a stranger."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in PATH_ERRORS:
            raise IoFailed.of(error, path) from error
        raise ValueError(f"{path.name} can't be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise ValueError(f"{path.name} was changed after it was written")
        return file.read(most)


def _decoded(files: Mapping[str, bytes]) -> dict[str, Any]:
    state = _with_arrays(json.loads(files[STATE]), files)
    if not isinstance(state, dict):
        raise ValueError(f"{STATE} is not a JSON object")
    return state


def _with_arrays(value: Any, files: Mapping[str, bytes]) -> Any:
    if isinstance(value, list):
        return [_with_arrays(inner, files) for inner in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_ARRAY}:
        return _array(value[_ARRAY], files)
    return {key: _with_arrays(inner, files) for key, inner in value.items()}


def _array(name: Any, files: Mapping[str, bytes]) -> Any:
    import numpy
    from numpy.lib import format as npy

    if not isinstance(name, str) or name not in files or name == STATE:
        raise ValueError(f"{STATE} names the array {name!r}, which is missing")
    data = io.BytesIO(files[name])
    version = npy.read_magic(data)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(data)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(data)
    else:
        raise ValueError(f"{name} has an unknown version")
    if dtype.kind not in _KINDS or math.prod(shape) * dtype.itemsize != len(files[name]) - data.tell():
        raise ValueError(f"{name} is not an array of numbers, or cut short")
    data.seek(0)
    return numpy.load(data, allow_pickle=False)


def _topic(plain: Mapping[str, Any]) -> Topic:
    lists = {key: tuple(map(_text, plain.get(key, ()))) for key in ("examples", "good")}
    return Topic(
        _text(plain["keywords"]), _text(plain.get("name", "")), _text(plain.get("description", "")),
        lists["examples"], lists["good"],
    )  # fmt: skip


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _broken(folder: Path, problem: str) -> FolderBroken:
    return FolderBroken(
        folder, f"is a model that can't be used: {problem[:300]}", "put the original back, or train it again"
    )
