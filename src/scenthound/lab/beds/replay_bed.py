"""What a replay and its measures ask of a bed, whether its pages lie in tables or are made on the fly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scenthound.graph.link_graph import LinkGraph
from scenthound.lab.beds.prepared_terms import PreparedTerms
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts


class ReplayBed(Protocol):
    """A bed that is ready for replay. Pages have numbers; redirects lead to them."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str:
        """Names everything that determines what `fetch` returns."""
        ...

    @property
    def reopen(self) -> Callable[[], ReplayBed]:
        """Opens this bed in another process."""
        ...

    @property
    def has_terms(self) -> bool:
        """Whether `terms` can be asked: whether all pages were read before."""
        ...

    def read_parts(self, parts: Parts) -> None: ...
    def fetch(self, candidate: Candidate) -> Page | Miss | Moved: ...
    def __contains__(self, url: object) -> bool: ...
    def __len__(self) -> int: ...
    @property
    def pages(self) -> Sequence[Url]: ...
    @property
    def page_rows(self) -> Sequence[int]:
        """The row of each page in `terms`, by the page's number."""
        ...

    @property
    def aliases(self) -> Mapping[str, str]: ...
    def number(self, url: str) -> int | None: ...
    def terms(self, analyser: Analyser) -> PreparedTerms: ...
    def counts(self, url: Url, analyser: Analyser) -> Counts | None: ...
    @property
    def outgoing(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    def links(self, url: Url) -> list[Url]: ...
    @property
    def graph(self) -> LinkGraph: ...
