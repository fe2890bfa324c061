"""Implementations of the storage ports, in memory and on disk.

The loop writes these stores; resume, reports, exports, the desk and the search read them. All files are in the crawl
folder.

Frontier: `memory_frontier` (with `host_schedule`: which host may be requested next; `worst_entries`: which entry to
evict; `score_bins`: ranks without sorting). `spilling_frontier` keeps a bounded part of a large frontier in memory; of
the rest it keeps only hashes and the order (`cold_entries`, `cold_order`, `url_index`). `sqlite_frontier` stores the
entries as rows (`frontier_rows`).

History: `memory`, or `sqlite_history` (with `seen_urls`). Repository of replies: `memory`, or `warc_repository` (with
`warc_read`, `warc_write` and `cdxj`, its index).

`database` is the SQLite file of a crawl, with `blobs` (saved state as bytes), `schema_check` and `sqlite_errors`.
`label_table` and `order_table` hold labels and orders from people. `text_index` is the full-text index, `model_folder`
stores a trained strategy, `lock` lets only one process use a folder. `warc_repair` and `database_repair` repair a
folder after a crash or damage.
"""
