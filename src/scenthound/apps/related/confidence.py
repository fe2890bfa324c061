"""The probability that an organisation is similar to the seeds, from a logistic model of the evidence.

    confidence = 1 / (1 + exp(-(b + w . x)))

x holds the `Evidence` fields in `FEATURES`; unbounded counts enter as ln(1 + count). b and w were fitted by
`benchmarks/related.py --fit` on all 30 topics of the `apache` test bed after 100, 250 and 500 pages, with and without
its large directory pages; the leave-one-category-out calibration is in docs/applications.md. `cocitation`, `density`
and `to_seeds` are shown as evidence but have no weight, because their fitted weights were negative, which says more
about that bed than about organisations. The bed is small and all its sites belong to one foundation: elsewhere, the
ranking is more reliable than the probability.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import numpy.typing as npt

from scenthound.apps.related.link_evidence import Evidence

Floats = npt.NDArray[np.float64]
FEATURES = ("beside", "from_seeds", "cited_by", "likeness", "has_home")
LOGARITHMIC = ("beside", "from_seeds", "cited_by")
BIAS = -6.96
WEIGHTS = (0.51, 0.49, -0.33, 2.24, 3.35)


def features(evidence: Evidence) -> Floats:
    """Return the feature vector x of an organisation."""
    values = asdict(evidence)
    return np.array([np.log1p(values[name]) if name in LOGARITHMIC else float(values[name]) for name in FEATURES])


def confidence(evidence: Evidence) -> float:
    """Return the probability, from 0 to 1."""
    return float(1 / (1 + np.exp(-(BIAS + float(np.sum(features(evidence) * np.array(WEIGHTS)))))))
