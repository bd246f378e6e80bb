"""What do the chapters of the book show of a finished run? Sentences in `say`, figures in `draw`."""

from auditbook.book.opening import open_run
from auditbook.book.worked import WORKED, choose_worked, is_stored, open_worked, place_worked
