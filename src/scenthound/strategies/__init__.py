"""Crawling strategies: one file per published algorithm, under the name its authors gave it.

Made here: scores for links. A strategy receives each fetched page (`read`) and each failed request (`miss`) and
returns candidates: URLs with a score. It never sees a socket, a clock or a store.

Used by: the loop (`loop.core`), which keeps the frontier and fetches; `wiring` and the laboratory, which select a
strategy by name from `STRATEGIES`. The frontier pops the best candidate, and its page is passed to `read`.

A strategy is a dataclass. Its fields are its parameters, with the paper's values as defaults; names of learned
attributes end in `_`. It declares which parts of a page it reads (`ports.Declaration`). The module docstring gives the
formula first, and lists every departure from the paper under "Ours:". To add a strategy, put a file here or register
an entry point in the group `scenthound.strategies`: it can then be selected by name, `scenthound strategies` lists it,
and the contract suite checks it.

Here are the default, `hound`, and the two that everybody compares with, `best-first` and `breadth-first`. All others
come from `scenthound.papers`, through the same entry points as anybody's. `sightings` and `topic_words`
are pieces that both packages use.
"""

from __future__ import annotations

from typing import Any

from scenthound.plugins import Registry

STRATEGIES: Registry[type[Any]] = Registry("strategy", "scenthound.strategies", __name__)
strategy = STRATEGIES.add
