"""Judges: how likely a fetched page is what the user looks for.

Made here: verdicts (`judging.Verdict`). Used by: the loop for harvest rates and best pages, reports, and the
laboratory's benchmark of judges. `topic` is the default; `keywords` is the rule of earlier versions; the others are the
page-importance measures of the survey [CHAP 4.1] that make sense while a crawl runs.

A judge is a dataclass whose fields are its parameters. Put a file here, or register an entry point of the group
`scenthound.judges`; then it is chosen by name, as `--judge keywords:threshold=0.2`.
"""

from __future__ import annotations

from typing import Any

from scenthound.plugins import Registry

JUDGES: Registry[type[Any]] = Registry("judge", "scenthound.judges", __name__)
judge = JUDGES.add
DEFAULT = "topic"
