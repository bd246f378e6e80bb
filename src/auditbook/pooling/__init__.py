"""What do several hospitals say together that only hand over counts: agreed, withheld, added up, compared?"""

from auditbook.pooling.bare_tally import bare_tally
from auditbook.pooling.bounds import bound_withheld
from auditbook.pooling.definitions import define_counts, list_disagreements
from auditbook.pooling.forest import compare_hospitals, tabulate_hospitals
from auditbook.pooling.pool import PooledCounts, count_untold, pool_counts, read_pooled
from auditbook.pooling.random_effects import LEAST_POOLED, LEAST_PREDICTED, PooledEffect, pool_effects
from auditbook.pooling.site_counts import SCHEMA, SiteCounts, read_site_counts, write_site_counts
from auditbook.pooling.suppress import Suppressed, Withheld, suppress_small
