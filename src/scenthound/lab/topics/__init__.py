"""Topics with known answers, their example pages, seeds, taxonomies and characteristics."""
