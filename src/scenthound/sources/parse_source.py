"""Make a seed source from the text that the user writes: `searxng:https://search.example.org/,language=de`."""

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
    """Parse NAME:ADDRESS, with parameters at the end such as `,robots=false`. Raises `BadConfig`."""
    name, colon, rest = text.strip().partition(":")
    if not colon or not rest.strip():
        raise BadConfig(f"`{masked(text)[:120]}` is not a seed source with an address", WAY_OUT)
    source_class = SOURCES.get(name)
    parameter_names = {field.name for field in fields(source_class)} - {"address"}
    parameters: dict[str, str] = {}
    while (match := _PARAMETER.search(rest)) and match[1] in parameter_names:
        parameters.setdefault(match[1], match[2])
        rest = rest[: match.start()]
    if masked(rest) != rest:
        raise BadConfig(f"the address of {name} has a user name or a password", "leave it out: it would never be sent")
    source: SeedSource = read(source_class, {"address": rest.strip(), **parameters}, what=f"parameter of {name}")
    return source
