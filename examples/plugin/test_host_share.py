"""Host share: one crawl by hand."""

from __future__ import annotations

from my_parts.host_share import host_share


def test_a_crawl_of_one_host_has_a_falling_host_share() -> None:
    one_host = ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
    assert host_share(one_host) == [1.0, 1 / 2, 1 / 3]
    assert host_share(one_host, at=[2, 100]) == [1 / 2, 1 / 3]  # the last value is carried forward
    assert host_share([], at=[1]) == [None]  # undefined is a gap, never 0
