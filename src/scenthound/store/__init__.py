"""What a crawl keeps, each port in memory and on disk.

The frontier is `memory_frontier`, with a journal in `sqlite_frontier`; the history is `memory` or `sqlite_history`; the
repository of replies is `memory` or `warc_repository`. `database` is the SQLite file of a crawl, `model_folder` what a
strategy learned. `warc_repair` and `database_repair` bring back a folder after a crash or damage.
"""
