"""A seed source from what a person writes: `searxng:https://search.example.org/,language=de`."""

from __future__ import annotations

import re
from dataclasses import fields

from scenthound.errors import BadConfig
from scenthound.loop.crawl_toml import masked
from scenthound.loop.settings import read
from scenthound.seeding import SeedSource
from scenthound.sources import SOURCES, WAY_OUT

_PARAMETER = re.compile(r",([a-z_]+)=([^,]*)\Z")


def named_source(text: str) -> SeedSource:
    """The source that is meant: NAME:ADDRESS, and parameters at the end as `,robots=false`. Raises `BadConfig`."""
    name, colon, rest = text.strip().partition(":")
    if not colon or not rest.strip():
        raise BadConfig(f"`{masked(text)[:120]}` names no seed source with an address", WAY_OUT)
    kind = SOURCES.get(name)
    known = {field.name for field in fields(kind)} - {"address"}
    parameters: dict[str, str] = {}
    while (found := _PARAMETER.search(rest)) and found[1] in known:
        parameters.setdefault(found[1], found[2])
        rest = rest[: found.start()]
    if masked(rest) != rest:
        raise BadConfig(f"the address of {name} has a user name or a password", "leave it out: none is ever sent")
    made: SeedSource = read(kind, {"address": rest.strip(), **parameters}, what=f"parameter of {name}")
    return made
