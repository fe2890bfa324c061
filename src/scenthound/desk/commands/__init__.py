"""The commands of the desk, its applications and the tools for agents, and `demo`.

`COMMANDS` is how the crawler's command line finds them (entry points of the group `scenthound.commands`). Each is in
the module named after it, which is imported only when the command is used. The commands parse arguments and print
results; what they call is in the packages beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": (
        "scenthound.desk.commands.demo_command",
        "See it work: a real crawl of an embedded web, no network needed.",
    ),
    "ask": (
        "scenthound.desk.commands.ask_command",
        "Ask a question: a short crawl that shows results as it finds them.",
    ),
    "companion": (
        "scenthound.desk.commands.companion_command",
        "Look ahead while you browse: an extension shows which links are worth following.",
    ),
    "desk": ("scenthound.desk.commands.desk_command", "Start, watch, steer and search crawls in the browser."),
    "map": ("scenthound.desk.commands.map_command", "Map what a site has on a topic."),
    "mcp": (
        "scenthound.desk.commands.mcp_command",
        "Offer crawls as tools for agents, over the Model Context Protocol.",
    ),
    "portal": (
        "scenthound.desk.commands.portal_command",
        "Turn a crawl into a website: categories, citations, search in the browser.",
    ),
    "related": ("scenthound.desk.commands.related_command", "Find organisations similar to a few that you name."),
}
"""For each command, its module and its summary."""
