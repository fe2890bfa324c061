"""All exceptions, grouped by whose fault they are.

ScenthoundError
├── OurFault        the caller or the configuration is wrong; trying again will not help
│   ├── UnknownName     there is no strategy, exporter, setting … with that name
│   ├── BadConfig       a setting, a topic file or a seed list that can't be used (exit 4)
│   ├── BadUsage        a call that makes no sense (exit 2)
│   ├── PluginFailed    a plug-in raised an error (exit 1); nothing recorded is lost
│   │   ├── StrategyFailed
│   │   ├── JudgeFailed
│   │   └── ExporterFailed
│   ├── PartMissing     a strategy used a part of a page that it did not declare
│   ├── FolderInUse     another process is using the crawl folder
│   ├── FolderBroken    a crawl folder or a model that can't be read, or has a newer version
│   ├── UnsafeFile      a link or a pipe instead of a file that we write (exit 4)
│   ├── DiskFull        no room left; the crawl stopped cleanly (exit 3)
│   └── IoFailed        a disk or the system failed; what was recorded is kept (exit 5)
└── TheirFault      the web misbehaved; carries the url
    ├── NotAUrl         text that is not an http(s) URL
    ├── Unreadable      bytes that are not what they claim to be
    └── SourceFailed    a seed source sent no usable answer

A page that can't be fetched or read is not an exception but a `model.Miss`. Errors carry facts as attributes, so no
code has to search a message for words.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Self

PATH_ERRORS = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)
"""`OSError` codes that concern the path that the user named; other codes concern the disk or the system."""


class ScenthoundError(Exception):
    """The base of all our errors. `message` says what is wrong, `hint` what the user can do about it."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class OurFault(ScenthoundError):
    """The caller or the configuration is wrong; trying again will not help."""


class BadUsage(OurFault):
    exit_code = 2


class UnknownName(OurFault):
    exit_code = 2

    @classmethod
    def among(cls, kind: str, name: str, choices: Iterable[str], way_out: str = "") -> UnknownName:
        """The error for an unknown `name`, with the most similar of the `choices` as the hint."""
        choices = sorted(choices)
        near = get_close_matches(name, choices, n=1, cutoff=0.5)
        if near:
            return cls(f"no {kind} called `{name}`", f"did you mean `{near[0]}`?")
        return cls(f"no {kind} called `{name}`", way_out or "there are: " + ", ".join(choices))


class BadConfig(OurFault):
    exit_code = 4


class PluginFailed(OurFault):
    """A strategy, a judge or an exporter raised an error; the error itself is the `__cause__`.

    `plugin` is the name of its class, `where` what it was doing, such as `on http://…`, and `error` what it raised.
    """

    kind = "plug-in"
    hint_after = "nothing recorded is lost: fix the {kind}, then resume"

    def __init__(self, plugin: str, where: str, error: str, hint: str = "") -> None:
        hint = hint or self.hint_after.format(kind=self.kind)
        super().__init__(f"the {self.kind} {plugin} failed {where}: {error}", hint)
        self.args = (plugin, where, error, hint)
        self.plugin, self.where, self.error = plugin, where, error

    @classmethod
    def of(cls, plugin: object, where: str, error: Exception, hint: str = "") -> Self:
        """The error for something that an object raised."""
        return cls(type(plugin).__name__, where, f"{type(error).__name__}: {error}", hint)


class StrategyFailed(PluginFailed):
    """A strategy raised an error."""

    kind = "strategy"


class JudgeFailed(PluginFailed):
    """A judge raised an error."""

    kind = "judge"


class ExporterFailed(PluginFailed):
    """An exporter raised an error; the crawl itself is not changed."""

    kind = "exporter"
    hint_after = "the crawl is unchanged: fix the {kind}, or choose another format"


class PartMissing(OurFault):
    """A strategy used a part of a page that was not read."""

    def __init__(self, part: str, value: str = "True") -> None:
        super().__init__(f"this page was read without its {part}", f"declare it: Parts({part}={value})")
        self.part = part


class FileFault(OurFault):
    """Something is wrong with the file or folder `path`. The message is `path` followed by `problem`."""

    exit_code = 4

    def __init__(self, path: Path | str, problem: str, hint: str = "") -> None:
        super().__init__(f"{path} {problem}", hint)
        self.args = (path, problem, hint)
        self.path, self.problem = path, problem


class FolderInUse(FileFault):
    """Another process is using the folder; `process` is its id, or None if unknown."""

    process: int | None = None


class FolderBroken(FileFault):
    """A crawl folder or a model can't be read, or was written by a newer version."""


class FileDamaged(FolderBroken):
    """The content is corrupt; part of it may be salvaged."""


class StateDamaged(FolderBroken):
    """The saved state of a strategy or of the loop can't be used; the pages are intact."""


class UnsafeFile(FileFault):
    """A symbolic link, a hard link or something other than a regular file where we would write."""


class DiskFull(OurFault):
    """There is not enough room for `path`; `left` says how much there is."""

    exit_code = 3

    def __init__(self, path: Path | str, hint: str = "make room, then run this again", left: str = "no room") -> None:
        super().__init__(f"{left} left for {path}", hint)
        self.args = (path, hint, left)
        self.path, self.left = path, left


class IoFailed(OurFault):
    """A read, a write or a sync of `path` failed; `cause` is the system's error message."""

    exit_code = 5

    def __init__(self, path: Path | str, cause: str, hint: str = "check the disk, then run this again") -> None:
        super().__init__(f"I/O error on {path}: {cause}", hint)
        self.args = (path, cause, hint)
        self.path, self.cause = path, cause

    @classmethod
    def of(cls, error: OSError, path: Path | str = "", hint: str = "") -> IoFailed:
        """The error for an `OSError` on `path`, or on the file that the `OSError` names."""
        cause = error.strerror or str(error) or type(error).__name__
        return cls(error.filename or path or "a file", cause, hint or "check the disk, then run this again")


def from_os_error(error: OSError, path: Path | str = "", bad_path: OurFault | None = None) -> OurFault:
    """Turn an `OSError` on `path` into an error with a hint: no room, a bad path, or a failing disk.

    `bad_path` is the error to return if the path is wrong or not accessible.
    """
    name = error.filename or path
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(name or "a file")
    if error.errno in PATH_ERRORS and name:
        return bad_path or BadConfig(f"{name}: {error.strerror}", "check the path and its permissions")
    return IoFailed.of(error, path)


class TheirFault(ScenthoundError):
    """The web misbehaved at `url`."""

    def __init__(self, message: str, hint: str = "", url: str = "") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, url)
        self.url = url


class NotAUrl(TheirFault, ValueError):
    """Text that is not an http(s) URL, or a URL that we refuse."""


class Unreadable(TheirFault):
    """Bytes that are not what they claim to be."""


class SourceFailed(TheirFault):
    """A seed source can't be reached, refuses the request, or sends an unusable answer."""

    status: int = 0
    """The HTTP status of its reply, if that is the problem; otherwise 0."""
