"""The error of a plug-in that ended a crawl, as the crawl folder keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from scenthound.errors import PluginFailed
from scenthound.formats import printable
from scenthound.loop.crawl_toml import CrawlRequest, masked
from scenthound.typed_data import from_json

PLUGIN_FAILED = "plugin failed"  # why the crawl ended
LONGEST = 500  # characters of an error that are kept


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """Which plug-in raised which error, and what it was doing."""

    kind: str
    """`strategy` or `judge`."""
    name: str
    """Its name in the settings of the crawl."""
    plugin: str
    """The name of its class."""
    where: str
    """What it was doing, such as `on http://example.org/`."""
    error: str

    @classmethod
    def of(cls, error: PluginFailed, request: CrawlRequest) -> PluginFailure:
        name = request.settings.judge if error.kind == "judge" else request.strategy
        texts = (masked(printable(text, LONGEST)) for text in (name, error.plugin, error.where, error.error))
        return cls(error.kind, *texts)

    def __str__(self) -> str:
        return f"the {self.kind} {self.name} ({self.plugin}) failed {self.where}: {self.error}"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    def as_plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def parse(cls, text: str) -> PluginFailure | None:
        """The inverse of `to_json`; None for any other text."""
        try:
            return cls(**{name: printable(value, LONGEST) for name, value in asdict(from_json(text, cls)).items()})
        except ValueError:
            return None
