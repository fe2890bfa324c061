"""The probability that an organisation is similar to the seeds, from a logistic model of the evidence.

    confidence = 1 / (1 + exp(-(b + s - RELATIVE * mean of s over the best BEST organisations)))        s = w . x

x has one value for each of `FEATURES`. Each is measured against the other organisations of the same crawl, so that it
means the same in a web with a large directory and in one without, with five sites and with five hundred:

    likeness, described   arcsinh of the likeness, which is in deviations from the other sites of the crawl
    cocitation            -ln of the share of sites that have at least as much of it (0: none)
    has_home              whether there is a home page to compare

Webs differ in how far the sites of a field stand out, much more than in how many of the best answers are right: on the
webs of the benchmark, confidence from s alone missed that share by up to 27 points on a kind of web that it had not
seen. So most of the level of s is taken from the crawl itself.

The functions grow without end, so that two organisations are level only if their evidence is the same. b and w were
fitted by `benchmarks/related.py --fit`; docs/applications.md says on which webs, and how well they do on a web that was
left out. `beside`, `links`, `company`, `from_seeds`, `to_seeds` and `cited_by` are shown as evidence, but have no
weight: on webs that were left out they made the order worse, as most sites link to what everybody uses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from scenthound.desk.apps.related.link_evidence import Evidence

Floats = npt.NDArray[np.float64]
FEATURES = ("likeness", "described", "cocitation", "has_home")
BIAS = -2.46
WEIGHTS = (1.96, 0.73, 0.30, 3.52)
RELATIVE, BEST = 0.75, 20
TYPICAL = 6.3
"""The mean of s over the best organisations of a typical crawl: stands for those that a crawl with fewer lacks."""


def features(evidence: Mapping[str, Evidence], seeds: Collection[str]) -> Floats:
    """Return the vectors x of all organisations, one row for each; those of `seeds` are not compared with."""
    entries = list(evidence.items())
    likeness, described, cocitation, has_home = (
        np.array([float(getattr(found, name)) for _, found in entries]) for name in FEATURES
    )
    compared = (has_home > 0) & np.array([key not in seeds for key, _ in entries], np.bool_)
    return np.column_stack(
        [np.arcsinh(likeness), np.arcsinh(described), surprise(cocitation, cocitation[compared]), has_home]
    )


def confidences(evidence: Mapping[str, Evidence], seeds: Collection[str]) -> dict[str, float]:
    """Return the probability of each organisation, from 0 to 1."""
    if not evidence:
        return {}
    scores = features(evidence, seeds) @ np.array(WEIGHTS)
    others = np.array([key not in seeds for key in evidence], np.bool_)
    return dict(zip(evidence, (1 / (1 + np.exp(-BIAS - relative(scores, others)))).tolist(), strict=True))


def relative(scores: Floats, others: npt.NDArray[np.bool_]) -> Floats:
    """s - RELATIVE * mean of s over the best BEST of the `others`, which are not seeds."""
    best = np.sort(scores[others])[-BEST:]
    return scores - RELATIVE * (float(best.sum()) + (BEST - len(best)) * TYPICAL) / BEST


def surprise(values: Floats, others: Floats) -> Floats:
    """-ln of the share of `others` that are at least as large as each value; 0 for values that are not positive.

    >>> surprise(np.array([3.0, 1.0, 0.0]), np.array([3.0, 1.0, 1.0, 0.0])).round(3).tolist()
    [0.916, 0.223, 0.0]
    """
    ranked = np.sort(others)
    as_large = len(ranked) - np.searchsorted(ranked, values - 1e-12, "left")
    return np.where(values > 0, -np.log((1 + as_large) / (1 + len(ranked))), 0.0)
