"""`ReplayBed`, the interface of beds for replays and measures, prepared or generated on the fly."""

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
    """A bed that is ready for replay. Pages are numbered from 0; redirects are not pages."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str:
        """A key for everything that determines the results of `fetch`."""
        ...

    @property
    def reopen(self) -> Callable[[], ReplayBed]:
        """A function that opens this bed in another process."""
        ...

    @property
    def has_terms(self) -> bool:
        """Whether `terms` is available, which requires that all pages have been read."""
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
