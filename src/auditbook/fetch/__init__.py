"""How does a public table come here: from its publisher, checked, beside the cohort file that audits it?"""

from auditbook.fetch.bring import Fetched, fetch_table
from auditbook.fetch.sources import Source, list_sources, read_source
