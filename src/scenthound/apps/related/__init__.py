"""Related organisations: given a few sites, others of their kind, ranked, each with its evidence and a confidence.

`facts` reads pages, `owners` says which hosts belong together, `evidence` counts, `confidence` weighs, `answer` puts
it together for a crawl folder, `tables` writes CSV.
"""

from scenthound.apps.related.answer import Hub, Organisation, RelatedOrganisations, answer_from, related
from scenthound.apps.related.tables import write_csv

__all__ = ["Hub", "Organisation", "RelatedOrganisations", "answer_from", "related", "write_csv"]
