"""A custom metric: the number of distinct hosts per fetched page.

A metric is a function of a trail. The decorator registers it under a name, which `measure` and the experiments of the
lab use. The trail here comes from a replay of a tiny web.

    python examples/custom_metric.py
"""

from __future__ import annotations

from scenthound.lab.measure.metrics import Curve, KnownAnswers, Points, Trail, measure, metric
from scenthound.lab.measure.metrics.trails import pages, sampled
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import TinyWeb, walk
from scenthound.url import host


@metric("host_share")
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


def main() -> Curve:
    web = TinyWeb(
        {
            "a.example/": "bees -> a.example/2 b.example/",
            "a.example/2": "more bees -> a.example/3",
            "a.example/3": "no bees",
            "b.example/": "honey",
        }
    )
    trail = walk(web, BreadthFirst(), "bees", "a.example/").steps
    curve = measure("host_share", trail, KnownAnswers(), at=[1, 2, 4])
    print(f"host_share after 1, 2 and 4 pages: {curve}")
    return curve


if __name__ == "__main__":
    main()
