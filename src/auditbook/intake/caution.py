"""How is a caution written: where it applies, what was found, and the line that cures it?"""

from dataclasses import dataclass

from auditbook.errors import printable


@dataclass(frozen=True)
class Caution:
    """What is allowed and still deserves a second look before an audit.

    Examples
    --------
    >>> print(Caution("[site] column", "'ward' holds 1 site", 'name another: column = "…"'))
    [site] column: 'ward' holds 1 site; name another: column = "…"
    """

    where: str  # The table and key of the cohort file, such as "[attributes.race] groups"
    what: str  # What was found: how many, with an example
    cure: str = ""  # The line that cures it; blank where what was found says so itself

    def __str__(self) -> str:
        """Write the caution as one line; what cannot be printed is escaped."""
        return printable(f"{self.where}: {self.what}" + (f"; {self.cure}" if self.cure else ""))
