"""The kinds of generated webs by name, the habits that can be set for each, and `write_web`, which writes a bed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.errors import BadUsage, UnknownName
from scenthound.lab.beds.bed import Bed
from scenthound.lab.generate.on_the_fly import write_recipe
from scenthound.lab.generate.realistic_web import VERSION, RealisticWeb
from scenthound.lab.generate.realistic_words import RealisticHabits
from scenthound.lab.generate.simple_plan import LinkRates
from scenthound.lab.generate.simple_web import generate, write_generated
from scenthound.loop.settings import read

SIMPLE, REALISTIC = "simple", "realistic"
HABITS: Mapping[str, type[Any]] = {SIMPLE: LinkRates, REALISTIC: RealisticHabits}
"""The dataclass with the habits of each kind."""
ABOUT: Mapping[str, str] = {
    SIMPLE: "a small web for tests and demonstrations, easy and uniform",
    REALISTIC: "a web like recorded ones in similarity, links and hubs; for experiments",
}


class WebOrder(NamedTuple):
    """Kind, size and settings of a web to be generated."""

    kind: str = SIMPLE
    pages: int = 3000
    seed: int = 1
    topics: int = 12
    companies: bool = False
    page_size: int | None = None
    """Approximate bytes of a page; only for simple webs."""
    habits: Mapping[str, Any] = {}
    """The habits that differ from their defaults, by name."""


def write_web(folder: str | Path, order: WebOrder, on_the_fly: bool = False) -> Bed:
    """Write a generated web as a bed: its pages, or with `on_the_fly` only the recipe for them."""
    if order.kind not in HABITS:
        raise UnknownName.among("web", order.kind, HABITS)
    habits = read(HABITS[order.kind], order.habits, "habit")
    if order.kind == SIMPLE:
        if on_the_fly:
            raise BadUsage("a simple web can't be made on the fly", "add --web realistic")
        size = 5_000 if order.page_size is None else order.page_size
        return generate(
            folder,
            order.pages,
            order.seed,
            topics=order.topics,
            page_size=size,
            companies=order.companies,
            habits=habits,
        )
    if order.page_size is not None:
        raise BadUsage("a realistic web has no page size", "set the number of words instead: --set words=400")
    web = RealisticWeb(order.pages, order.seed, topics=order.topics, companies=order.companies, habits=habits)
    origin = f"scenthound's realistic generator, version {VERSION}, seed {order.seed}"
    about: dict[str, str | int] = {"origin": origin, "html_pages": web.pages, "redirects": len(web.aliases)}
    if on_the_fly:
        title = f"A realistic web of {web.pages} pages, made on the fly"
        return write_recipe(folder, web, web.topics, title=title, licence="Apache-2.0", **about)
    return write_generated(folder, web, web.topics, **about, topics_asked=order.topics)
