"""Find organisations similar to a few examples, which are given by their home pages, with the evidence for each.

The input is the folder of a crawl that started from those home pages; the command line, the desk and the tools for AI
agents show the result.

* `facts` extracts mentions of other hosts and home pages from the stored pages.
* `owners` decides which hosts belong to the same organisation.
* `likeness` compares the texts of sites, against all other sites of the crawl; `link_evidence` counts links and lists;
  `shared_words` finds the words that two sites have in common.
* `names` finds the name of an organisation, `site_names` the name that a home page gives; `link_context` has the text
  around links.
* `confidence` combines the evidence into a probability.
* `related_organisations` runs these steps for a crawl folder; `tables` writes the result as CSV.
"""

from scenthound.desk.apps.related.related_organisations import (
    Hub,
    Organisation,
    RelatedOrganisations,
    related,
    related_in,
)
from scenthound.desk.apps.related.tables import write_csv

__all__ = ["Hub", "Organisation", "RelatedOrganisations", "related", "related_in", "write_csv"]
