"""What would an audit of Texas-100X look like? A synthetic twin that anyone may have.

No record here is a person. `twin_table` draws hospital stays from a declared recipe
(`auditbook.synthetic.recipe`) so that the published figures about the Texas-100X cohort are met: group sizes,
pairwise counts, rates of long stays, hospital volumes, lengths of stay, and how well a model can tell long
stays from short ones. The page *A synthetic twin* of the book (book/texas-twin.md) says what is planted, what
is fitted and what is assumed, and how near each target the twin comes.

References
----------
Joy, Vo and Chua (2026), Verdict flip rate, https://doi.org/10.48550/arXiv.2608.30846.
"""

from auditbook.synthetic.twin import FULL_SIZE, SMALLEST_SIZE, twin_table

__all__ = ["FULL_SIZE", "SMALLEST_SIZE", "twin_table"]
