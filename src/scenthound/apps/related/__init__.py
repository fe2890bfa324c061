"""Related organisations: given the home pages of a few, find others of the same kind, each with evidence.

Works on a crawl folder that was crawled from those home pages; the command line, the desk and the tools for AI agents
show the result.

* `facts` extracts mentions of other hosts and home pages from the stored pages.
* `owners` decides which hosts belong to one organisation.
* `link_evidence` counts links and lists, and compares home pages; `shared_words` names the words that they share.
* `confidence` combines the evidence into a probability.
* `related_organisations` puts it all together for a crawl folder; `tables` writes the answer as CSV.
"""

from scenthound.apps.related.related_organisations import Hub, Organisation, RelatedOrganisations, answer_from, related
from scenthound.apps.related.tables import write_csv

__all__ = ["Hub", "Organisation", "RelatedOrganisations", "answer_from", "related", "write_csv"]
