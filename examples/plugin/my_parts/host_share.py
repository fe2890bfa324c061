"""Host share: the number of distinct hosts per fetched page."""

from __future__ import annotations

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import pages, sampled
from scenthound.url import host


@metric("host_share", is_rate=True)
def host_share(trail: Trail, at: Points = None) -> Curve:
    """Distinct hosts among the first t pages / t.

    >>> host_share(["http://a.test/1", "http://a.test/2", "http://b.test/"])
    [1.0, 0.5, 0.6666666666666666]
    """
    hosts: set[str] = set()
    curve: Curve = []
    for t, url in enumerate(pages(trail), start=1):
        hosts.add(host(url))
        curve.append(len(hosts) / t)
    return sampled(curve, at)
