"""Crawling as tools for agents that work for people, by the Model Context Protocol.

Made here: `Tools`, which starts crawls within limits and answers questions about collections as JSON data, and
`server`, which offers its methods over stdio. `limits` are set when the server starts; no caller can raise them. What
comes from the web is marked as untrusted.

Crawls run as processes of their own, as those that the desk starts.
"""
