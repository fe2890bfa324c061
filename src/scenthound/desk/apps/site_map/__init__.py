"""Map the pages of a site on a topic, as a tree in which each page is below the page it was found on.

`tree` builds the tree from a crawl folder and folds branches that have nothing on the topic. `map_files` writes it as
one HTML page, as SVG, as Markdown, as sitemap.xml and as text for a terminal. Used by `scenthound map`, which writes
the files, and by the desk, which shows the tree while it grows.
"""

from scenthound.desk.apps.site_map.map_files import FORMATS, html_of, markdown_of, sitemap_of, svg_of, text_of
from scenthound.desk.apps.site_map.tree import Branch, SiteMap, site_map

__all__ = ["FORMATS", "Branch", "SiteMap", "html_of", "markdown_of", "site_map", "sitemap_of", "svg_of", "text_of"]
