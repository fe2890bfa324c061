"""How the crawler identifies itself: User-Agent, product token for robots.txt, versions, and the `warcinfo` record."""

from __future__ import annotations

import contextlib
import platform
import re
from importlib.metadata import PackageNotFoundError, version

from scenthound.loop.settings import Settings
from scenthound.model import Topic

PRODUCT = "scenthound"
_TOKEN = re.compile(r"\A[a-zA-Z_-]*")


def versions() -> dict[str, str]:
    """The versions of Python and of this package."""
    installed = {"python": platform.python_version()}
    with contextlib.suppress(PackageNotFoundError):
        installed[PRODUCT] = version(PRODUCT)
    return installed


def software() -> str:
    """Product and version, such as `scenthound/0.1.0`."""
    return f"{PRODUCT}/{versions().get(PRODUCT, '0')}"


def user_agent(settings: Settings) -> str:
    """The User-Agent header: product, version and contact."""
    if settings.user_agent:
        return settings.user_agent
    return software() + (f" (+{settings.contact})" if settings.contact else "")


def product_token(settings: Settings) -> str:
    """The name that is matched in robots.txt: letters, `_` and `-` (RFC 9309, section 2.2.1)."""
    return _TOKEN.findall(settings.user_agent)[0] or PRODUCT


def warc_info(topic: Topic, settings: Settings) -> dict[str, str]:
    """The fields of the `warcinfo` record of each WARC file (WARC 1.1, 6.2)."""
    info = {
        "software": software(),
        "operator": settings.contact,
        "robots": "obey" if settings.robots else "ignore",
        "http-header-user-agent": user_agent(settings),
        "description": topic.keywords,
        "isPartOf": topic.name,
    }
    return {name: value for name, value in info.items() if value}
