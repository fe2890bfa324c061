"""Group the topics of an experiment by category: topics of different groups are independent.

Several topics may be drawn from one category, with different seeds and targets: the 30 topics of the apache bed are 10
categories with three draws each. Their results vary together, so a test that counts them as 30 independent topics finds
too many differences. By default, topics with the same path are one group.
"""

from __future__ import annotations

from collections.abc import Iterable

from scenthound.errors import BadUsage
from scenthound.topic_list import BedTopic

CATEGORY, TOPIC = "category", "topic"


def topic_groups(topics: Iterable[BedTopic], by: str = CATEGORY) -> dict[str, str]:
    """The group of each topic by its id. `by` is `category` (the whole path), `topic` (each topic is a group), or a
    number N (the first N levels of the path). A topic without a path is a group of its own."""
    if by == TOPIC:
        return {topic.id: topic.id for topic in topics}
    if by != CATEGORY and not (by.isdecimal() and int(by)):
        raise BadUsage(f"topics can't be grouped by `{by}`", "give category, topic, or a number of levels of the path")
    levels = None if by == CATEGORY else int(by)
    return {topic.id: " / ".join(topic.path[:levels]) or topic.id for topic in topics}
