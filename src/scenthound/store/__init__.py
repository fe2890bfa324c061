"""What a crawl keeps: implementations of the storage ports in memory and on disk.

The loop writes here; resume, reports, exports, the desk and the search read it. All files are in the crawl folder.

Frontier: `memory_frontier` (with `host_schedule`: which host may be asked next; `worst_entries`: which entry to evict;
`score_bins`: ranks without sorting). `spilling_frontier` keeps a bounded part of a large frontier in memory and knows
the rest by `cold_entries`, `cold_order` and `url_index`; `sqlite_frontier` stores it as rows (`frontier_rows`).

History: `memory`, or `sqlite_history` (with `seen_urls`). Repository of replies: `memory`, or `warc_repository` (with
`warc_read`, `warc_write` and `cdxj`, its index).

`database` is the SQLite file of a crawl, with `blobs` (saved state as bytes), `schema_check` and `sqlite_errors`.
`label_table` and `order_table` hold what people tell a crawl; `live_queries` and `live_lists` read a crawl that another
process may be writing. `text_index` is the full-text index, `model_folder` a trained strategy, `lock` keeps a folder to
one process. `warc_repair` and `database_repair` repair a folder after a crash or damage.
"""
