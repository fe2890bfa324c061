"""Generated webs: a plan of hosts and links, texts, HTML, and crawler traps, all from a seed number."""
