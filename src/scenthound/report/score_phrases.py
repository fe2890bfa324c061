"""Put into words why a page was chosen: the parts of its score, as the crawl's strategy explains them."""

from __future__ import annotations

from scenthound.errors import ScenthoundError
from scenthound.formats import printable
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.model import Candidate, Step
from scenthound.ports import Explains

LONGEST = 120


class Wording:
    """Words the reasons for a crawl's choices: in the strategy's own phrases, or else with the names of score parts."""

    def __init__(self, request: CrawlRequest) -> None:
        from scenthound.wiring import make_strategy

        self._strategy: Explains | None = None
        try:
            strategy = make_strategy(request.strategy, request.parameters)
        except ScenthoundError:  # the strategy is a plug-in that is not installed here
            return
        self._strategy = strategy if isinstance(strategy, Explains) else None

    def reasons(self, chosen: Step | Candidate) -> list[str]:
        """Phrases with their values, such as `6 relevant pages link here (+1.2)`, the largest first."""
        if self._strategy is None:
            return [f"{printable(name, 40)} {value:.4g}" for name, value in chosen.parts.items()]
        phrases = self._strategy.reasons(chosen.parts, chosen.carry, printable(chosen.anchor, 60))
        return [printable(phrase, LONGEST) + (f" ({value:+.2g})" if value else "") for phrase, value in phrases]
