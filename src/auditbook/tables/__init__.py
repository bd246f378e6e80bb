"""Which plain table does a data file hold, and what does each of its cells say?"""

from auditbook.tables.held_numbers import held_number
from auditbook.tables.read_table import (
    PlainTable,
    check_file,
    hash_file,
    hash_frame,
    is_there,
    plain_table,
    read_table_file,
)
from auditbook.tables.values import (
    Mask,
    Numbers,
    as_numbers,
    as_text,
    is_missing,
    list_values,
    matches,
    name_value,
)
