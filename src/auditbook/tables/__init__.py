"""Which plain table does a data file or a query hold, and what does each of its cells say?"""

from auditbook.tables.chunks import CHUNK_ROWS, Chunk, ChunkedTable, estimate_rows, open_chunks
from auditbook.tables.connections import SAMPLE, Connection, fault_connection
from auditbook.tables.data_files import check_file, check_regular, hash_file, is_there
from auditbook.tables.database_chunks import ConnectedTable, open_rows
from auditbook.tables.databases import HeldRows, count_rows, hold_batch, read_database, stream_database
from auditbook.tables.faults import Faults, count_of, is_number, show
from auditbook.tables.hash_cells import Hashes, hash_cells, hash_numbers, hash_text, mix
from auditbook.tables.held_numbers import held_number
from auditbook.tables.join_files import join_tables
from auditbook.tables.missing_words import is_mark, names_missing, tell_named_missing
from auditbook.tables.people_numbers import SOME_PERCENT, PeopleNumbers, read_people_numbers
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.queries import Query, fault_query, is_file_name, read_query
from auditbook.tables.read_table import hash_frame, read_table_file
from auditbook.tables.row_hashes import RowHash, hash_rows
from auditbook.tables.table_format import AS_FOUND, TableFormat
from auditbook.tables.text_encoding import find_western
from auditbook.tables.text_faults import EncodingError
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
