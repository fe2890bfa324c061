"""Parts for Scenthound: a strategy, a metric, an exporter, a frontier store, a driver. Each guide explains one file."""
