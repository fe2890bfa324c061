"""The CPU time of the text processing that a strategy asks for (rule 14): tokens, stems and counts.

A prepared bed stores the terms of every page, so a replay does not spend this time, and a strategy that reads no text
would look no cheaper than one that does. The work is therefore repeated for a sample of the crawl's pages, and timed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.text.tokens import tokens

SAMPLE = 5  # pages, evenly spaced; about 0.8 ms each, where a crawl of 1,000 pages takes 200 ms


def text_seconds(bed: ReplayBed, urls: Sequence[Url], parts: Parts) -> float:
    """Mean CPU seconds per page for these parts: the counts of every analyser, and the tokens of leaves."""
    if not urls or not (parts.counts or parts.leaves or parts.elements):
        return 0.0
    sample = [urls[index * len(urls) // SAMPLE] for index in range(SAMPLE)] if len(urls) > SAMPLE else urls
    pages = [bed.fetch(Candidate(url, 0.0)) for url in sample]
    texts = [page.text for page in pages if isinstance(page, Page)]
    if not texts:
        return 0.0
    before = time.process_time()
    for text in texts:
        for analyser in parts.counts:
            analyser.counts(text)
        if parts.leaves or parts.elements:
            tokens(text)
    return (time.process_time() - before) / len(texts)
