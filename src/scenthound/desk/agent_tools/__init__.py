"""Crawls as tools for AI agents, over the Model Context Protocol; `scenthound mcp` starts the server.

`tool_methods` has the tools without the protocol: `Tools` starts crawls, and searches, reads and explains their pages;
every method takes and returns JSON data. `mcp_server` exposes these methods over stdio. `agent_limits` limits how
much agents may crawl; the limits are set when the server starts, and no caller can raise them. Text from the web is
marked as untrusted in every answer.

Crawls run as separate processes, like those that the desk starts, and are written to the same kind of folder.
"""
