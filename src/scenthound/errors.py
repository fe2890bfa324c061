"""What goes wrong, and whose fault it is.

ScenthoundError
├── OurFault        the caller's or the configuration's; trying again will not help
│   ├── UnknownName     no strategy, exporter, setting … of that name
│   ├── BadConfig       a setting, a topic file, a seed list that can't be used (exit 4)
│   ├── BadUsage        a call that can't be meant (exit 2)
│   ├── StrategyFailed  a strategy raised an error; nothing recorded is lost
│   ├── PartMissing     a strategy asked for a part of a page that it did not declare
│   ├── FolderInUse     a second process on a crawl folder
│   ├── FolderBroken    a crawl folder that can't be read, or is of a newer version
│   ├── UnsafeFile      a link or a pipe where a file of ours is written (exit 4)
│   └── DiskFull        no room left; the crawl stopped cleanly (exit 3)
└── TheirFault      the web misbehaved; carries the url
    ├── NotAUrl         text that is no http(s) URL
    └── Unreadable      bytes that are not what they claim to be

A page that can't be fetched or read is no exception but a `model.Miss`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ScenthoundError(Exception):
    """Names the thing; `hint` offers the way out."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class OurFault(ScenthoundError):
    """Caller or configuration."""


class BadUsage(OurFault):
    exit_code = 2


class UnknownName(OurFault):
    exit_code = 2

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str], way_out: str = "") -> UnknownName:
        """The error for `name`, with the nearest known one as the hint."""
        known = sorted(known)
        near = get_close_matches(name, known, n=1, cutoff=0.5)
        if near:
            return cls(f"no {kind} called `{name}`", f"did you mean `{near[0]}`?")
        return cls(f"no {kind} called `{name}`", way_out or "there are: " + ", ".join(known))


class BadConfig(OurFault):
    exit_code = 4


class StrategyFailed(OurFault):
    """A strategy raised an error while it read a page."""


class PartMissing(OurFault):
    """A strategy asked for a part of a page that was not read."""

    def __init__(self, part: str, value: str = "True") -> None:
        super().__init__(f"this page was read without its {part}", f"declare it: Parts({part}={value})")
        self.part = part


class FolderInUse(OurFault):
    exit_code = 4


class FolderBroken(OurFault):
    exit_code = 4


class UnsafeFile(OurFault):
    """A symbolic link, a hard link or no regular file where we would write."""

    exit_code = 4


class DiskFull(OurFault):
    exit_code = 3


class TheirFault(ScenthoundError):
    """The web misbehaved."""

    def __init__(self, message: str, hint: str = "", url: str = "") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, url)
        self.url = url


class NotAUrl(TheirFault, ValueError):
    """Text that is no http(s) URL, or one we refuse."""


class Unreadable(TheirFault):
    """Bytes that are not what they claim to be."""
