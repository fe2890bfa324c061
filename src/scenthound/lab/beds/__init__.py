"""Beds: recorded webs with topics, their prepared form for replay, and a server for live crawls."""
