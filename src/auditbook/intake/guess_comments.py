"""What stands beside a guess: what speaks for it and against it, and what else may be meant?"""

from collections.abc import Iterator

from auditbook.intake.guesses import Guess
from auditbook.intake.toml_text import comment, quote


def inline(text: str) -> str:
    """Write what stands behind a value in its line."""
    return f"    {comment('guess: ' + text)}" if text else "    # guess"


def list_doubts(guess: Guess) -> Iterator[str]:
    """Write what speaks against a guess, and what else may be meant."""
    if guess.speaks_against:
        yield comment(f"against it: {'; '.join(guess.speaks_against)}")
    if guess.others:
        yield comment(f"or: {', '.join(map(quote, guess.others))}")
