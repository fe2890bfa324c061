"""Generated webs, each from a seed number: simple and realistic ones (`kinds`), an endless one, and crawler traps."""
