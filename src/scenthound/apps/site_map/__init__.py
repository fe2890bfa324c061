"""Site map: what a site has on a topic, as a tree by the links that led to each page.

`tree` makes the tree from a crawl folder and folds branches without the topic; `drawing` draws it as SVG, `files`
writes it as one HTML page, as Markdown and as sitemap.xml.
"""

from scenthound.apps.site_map.drawing import svg_of
from scenthound.apps.site_map.map_files import FORMATS, html_of, markdown_of, sitemap_of, text_of
from scenthound.apps.site_map.tree import Branch, SiteMap, site_map

__all__ = ["FORMATS", "Branch", "SiteMap", "html_of", "markdown_of", "site_map", "sitemap_of", "svg_of", "text_of"]
