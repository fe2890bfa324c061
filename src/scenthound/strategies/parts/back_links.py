"""Layers of pages around examples, from what links to them: what several trained crawlers begin with."""

from __future__ import annotations

import random
from collections.abc import Sequence

from scenthound.model import Url
from scenthound.ports import Lessons

MOST_BACK_LINKS = 1000  # of one page: a page that everybody links to would fill a layer by itself


def back_layers(lessons: Lessons, starts: Sequence[Url], depth: int, cap: int, rng: random.Random) -> list[list[Url]]:
    """The starts, the pages that link to them, those that link to these, …; no page twice, at most `cap` a layer."""
    layers, met = [list(starts)], set(starts)
    for _ in range(depth):
        layer_of: dict[Url, None] = {}
        for url in layers[-1]:
            layer_of.update(dict.fromkeys(lessons.back_links(url, MOST_BACK_LINKS)))
        layers.append(sampled([url for url in layer_of if url not in met], cap, rng))
        met.update(layer_of)
    return layers


def sampled(urls: Sequence[Url], most: int, rng: random.Random) -> list[Url]:
    """At most `most` of them, drawn at random, in their old order."""
    if len(urls) <= most:
        return list(urls)
    return [urls[index] for index in sorted(rng.sample(range(len(urls)), most))]
