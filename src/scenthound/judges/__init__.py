"""Judges: estimate how likely a fetched page is to be relevant to the user.

Their results are verdicts (`judging.Verdict`). They are used by the loop, which records them for harvest rates and best
pages, by reports, and by the lab's benchmark of judges.

`topic` is the default judge (`topic_evidence` has its arithmetic); `keywords` is the rule of earlier versions. The
others are the page-importance measures of the survey [CHAP 4.1] that make sense while a crawl runs: `description`,
`keywords_present`, `seed_pages`, `classifier`, and in-links, PageRank and HITS in `link_importance`.

A judge is a dataclass whose fields are its parameters. Put a file here, or register an entry point of the group
`scenthound.judges`; then it can be chosen by name, as in `--judge keywords:threshold=0.2`.
"""

from __future__ import annotations

from typing import Any

from scenthound.plugins import Registry

JUDGES: Registry[type[Any]] = Registry("judge", "scenthound.judges", __name__)
judge = JUDGES.add
DEFAULT = "topic"
