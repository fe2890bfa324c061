"""One file per algorithm of the literature, named as its authors named it.

A strategy is a dataclass: its fields are its parameters, with the paper's values as defaults, and
what it learns ends in `_`. It hears `start`, `read` and `miss` and answers with candidates; it never
sees a socket, a clock or a store. Put a file here (or register an entry point of the group
`scenthound.strategies`) and it can be chosen by name, is listed by `scenthound strategies`, and is
held by the contract suite; nothing else is edited.
"""

from __future__ import annotations

from typing import Any

from scenthound.plugins import Shelf

SHELF: Shelf[type[Any]] = Shelf("strategy", "scenthound.strategies", __name__)
strategy = SHELF.add
