"""One file per algorithm of the literature, named as its authors named it.

Made here: scores for links. A strategy receives each fetched page (`read`) and each failed request (`miss`) and
returns candidates: URLs with a score. It never sees a socket, a clock or a store.

Used by: the loop (`loop.core`), which keeps the frontier and fetches; `wiring` and the laboratory, which choose a
strategy by name in `STRATEGIES`. The frontier pops the best candidate, and its page comes back here.

A strategy is a dataclass. Its fields are its parameters, with the paper's values as defaults; what it learns ends in
`_`. It declares which parts of a page it reads (`ports.Declaration`). The module's docstring gives the formula first,
and under "Ours:" every departure from the paper. Put a file here, or register an entry point of the group
`scenthound.strategies`: it is then chosen by name, listed by `scenthound strategies` and checked by the contract suite.

`parts` has what several strategies share; `hayek` and `spiders` are strategies of several files.
"""

from __future__ import annotations

from typing import Any

from scenthound.plugins import Registry

STRATEGIES: Registry[type[Any]] = Registry("strategy", "scenthound.strategies", __name__)
strategy = STRATEGIES.add
